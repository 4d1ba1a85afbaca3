"""One pass of the perceptron: dense, sparse, many classes, small."""

from importlib import import_module

from benchmarks import by_hand, peers
from benchmarks.data import dense, documents, iris, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    return [
        Scenario(
            name="perceptron pass, dense 1M x 50",
            job="One shuffled pass over 1,000,000 x 50 float64, two classes.",
            data=lambda: kept(dense, rows(1_000_000), 50, 2),
            ours=ours(),
            peers=(scikit_learn(3), peers.vowpal_wabbit(), peers.river(rows(1_000_000))),
            quality=ACCURACY,
            limits=read_once,
        ),
        Scenario(
            name="perceptron pass, dense 1M x 50, in order",
            job="One pass in the order of the rows over 1,000,000 x 50 float64, two classes.",
            data=lambda: kept(dense, rows(1_000_000), 50, 2),
            ours=ours(shuffle=False),
            peers=(scikit_learn(6, shuffle=False),),
            quality=ACCURACY,
            limits=read_once,
            tried="The pass itself runs at read bandwidth (400 MB in 21 ms); the rest of the fit "
            "is parameter checks, labels and the signed steps. Checking that X is finite was moved "
            "into the pass, labels are not sorted, steps are not spread over the rows.",
        ),
        Scenario(
            name="perceptron pass, dense 100k x 500",
            job="One shuffled pass over 100,000 x 500 float64, two classes.",
            data=lambda: kept(dense, rows(100_000), 500, 2),
            ours=ours(),
            peers=(scikit_learn(3),),
            quality=ACCURACY,
            limits=read_once,
            tried="Prefetching 1, 2, 3, 4, 8 and 16 rows ahead, whole rows or their first 256, 512 "
            "or 1,024 bytes, into the first, second or no cache level: two rows and 512 bytes "
            "won. Blocks of 32 shuffled rows gain no more at this row length.",
        ),
        Scenario(
            name="perceptron pass, CSR 200k x 50k, 75-88 non-zeros",
            job="One shuffled pass over 200,000 x 50,000 CSR, float64 tf-idf of Zipf words with "
            "about 75 non-zeros a row, two classes, no intercept.",
            data=lambda: kept(documents, rows(200_000), 50_000, 2),
            ours=ours(**NO_INTERCEPT),
            peers=(
                scikit_learn(1.8, **NO_INTERCEPT),
                peers.vowpal_wabbit(4, "--noconstant"),
                peers.river(rows(200_000), 20),
            ),
            quality=ACCURACY,
            limits=read_and_gather,
        ),
        Scenario(
            name="averaged perceptron pass, dense 1M x 50",
            job="One shuffled pass over 1,000,000 x 50 float64, two classes, weights averaged over "
            "every visit.",
            data=lambda: kept(dense, rows(1_000_000), 50, 2),
            ours=averaged(),
            peers=(averaged_sgd(3),),
            quality=ACCURACY,
            limits=read_once,
        ),
        Scenario(
            name="averaged perceptron pass, CSR 200k x 50k, 75-88 non-zeros",
            job="The same on 200,000 x 50,000 CSR with about 75 non-zeros a row, no intercept.",
            data=lambda: kept(documents, rows(200_000), 50_000, 2),
            ours=averaged(**NO_INTERCEPT),
            peers=(averaged_sgd(2, **NO_INTERCEPT),),
            quality=ACCURACY,
            limits=read_and_gather,
        ),
        Scenario(
            name="multiclass perceptron pass, dense 200k x 50, 20 classes",
            job="One shuffled pass over 200,000 x 50 float64, 20 classes: ours is the multiclass "
            "perceptron (argmax, two rows of weights updated), the peer's is one-versus-rest.",
            data=lambda: kept(dense, rows(200_000), 50, 20),
            ours=ours(),
            peers=(scikit_learn(5),),
            quality=ACCURACY,
            limits=read_once,
            rounds=7,
        ),
        Scenario(
            name="multiclass perceptron pass, CSR 100k x 50k, 20 classes",
            job="One shuffled pass over 100,000 x 50,000 CSR with about 75 non-zeros a row, 20 "
            "classes, no intercept: the multiclass perceptron against one-versus-rest.",
            data=lambda: kept(documents, rows(100_000), 50_000, 20),
            ours=ours(**NO_INTERCEPT),
            peers=(scikit_learn(5, **NO_INTERCEPT),),
            quality=ACCURACY,
            limits=read_and_gather,
            rounds=7,
        ),
        Scenario(
            name="pocket, dense 10k x 50, 10,000 updates",
            job="The best plane of a run of 10,000 corrections in the order of the rows, tried on "
            "all 10,000 x 50 float64 after each; two classes, 6% wrong at best.",
            data=lambda: kept(dense, rows(10_000), 50, 2),
            ours=contender(
                "rosenblatt.linear_model.PocketPerceptron",
                None,
                {"max_iter": 1000, "max_updates": rows(10_000), "shuffle": False},
            ),
            peers=(by_hand.pocket(rows(10_000), 20),),
            quality=Quality("accuracy", training_accuracy),
            limits=lambda data: {"sgemm": 2 * data.X.size * rows(10_000)},
            rounds=7,
            memory_wanted=None,
        ),
        Scenario(
            name="kernel perceptron, dense 10k x 20, Gaussian",
            job="Ten passes in the order of the rows over 10,000 x 20 float64, two classes, with a "
            "Gaussian kernel; ours within 100 MB for kernel values, the peer's matrix has 800 MB.",
            data=lambda: kept(dense, rows(10_000), 20, 2),
            ours=contender(
                "rosenblatt.kernels.KernelPerceptron",
                None,
                {"max_iter": 10, "shuffle": False, "cache_size": 100},
            ),
            peers=(by_hand.kernel_perceptron(10, 5),),
            quality=ACCURACY,
            limits=read_once,
            rounds=5,
            memory_wanted=100 * 2**20 / (rows(10_000) * 20 * 8),
        ),
        Scenario(
            name="averaged perceptron, small data 150 x 4",
            job="Ten shuffled passes over iris, three classes; accuracy on the same rows.",
            data=iris,
            ours=averaged(max_iter=10),
            peers=(averaged_sgd(1, max_iter=10),),
            quality=Quality("accuracy", accuracy, slack=0.05),
            limits=read_once,
            rounds=21,
            memory_wanted=None,
        ),
        Scenario(
            name="perceptron, small data 150 x 4",
            job="Ten shuffled passes over iris, three classes; accuracy on the same rows.",
            data=iris,
            ours=ours(max_iter=10),
            peers=(scikit_learn(1, max_iter=10),),
            quality=Quality("accuracy", accuracy, slack=0.05),
            limits=read_once,
            rounds=21,
            memory_wanted=None,
        ),
    ]


# scikit-learn moves the intercept by a hundredth of a step on sparse rows and by a whole one on
# dense rows; ours does the same on both, and is less accurate for it after one pass over text
# (0.842 against 0.859). Without an intercept ours and scikit-learn's make the same updates; Vowpal
# Wabbit also corrects rows that are right by less than 1, and River keeps its intercept.
NO_INTERCEPT = {"fit_intercept": False}


def ours(**settings) -> Contender:
    return contender("rosenblatt.linear_model.Perceptron", None, settings)


def scikit_learn(wanted: float, **settings) -> Contender:
    return contender("sklearn.linear_model.Perceptron", wanted, settings)


def averaged(**settings) -> Contender:
    return contender("rosenblatt.linear_model.AveragedPerceptron", None, settings)


def averaged_sgd(wanted: float, **settings) -> Contender:
    perceptron = {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0}
    settings = {**perceptron, "average": True, **settings}
    return contender("sklearn.linear_model.SGDClassifier", wanted, settings)


def contender(path: str, wanted: float | None, settings: dict) -> Contender:
    """One pass, unless the settings say otherwise, of the class at a dotted path."""
    settings = {"max_iter": 1, "tol": None, "shuffle": True, **settings}
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        model = getattr(import_module(module), name)(**settings, random_state=seed)
        return model.fit(data.X, data.y)

    package = "scikit-learn" if path.startswith("sklearn") else "rosenblatt"
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(package, f"{name}({words})", package, run, wanted)


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def training_accuracy(model, data: Data) -> float:
    return float((model.predict(data.X) == data.y).mean())


# What may be lost beyond the luck of the seeds, which `ratios.luck` allows for.
ACCURACY = Quality("held-out accuracy", accuracy, slack=0.003)


def read_once(data: Data) -> dict[str, float]:
    """A pass reads every value once."""
    return {"read": data.nbytes}


def read_and_gather(data: Data) -> dict[str, float]:
    """A sparse pass also gathers one weight for each non-zero."""
    return {"read": data.nbytes, "gather": data.X.nnz}
