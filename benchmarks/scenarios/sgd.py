"""Stochastic gradient descent: dense, sparse, many classes, small."""

from importlib import import_module

from benchmarks.data import dense, documents, iris, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    return [
        Scenario(
            name="SGDClassifier, dense 100k x 50, 5 epochs",
            job="Five shuffled epochs of the hinge loss over 100,000 x 50 float64, two classes.",
            data=lambda: kept(dense, rows(100_000), 50, 2),
            ours=contender("rosenblatt", "SGDClassifier"),
            peers=(contender("sklearn", "SGDClassifier", 2),),
            quality=ACCURACY,
            limits=read_epochs,
        ),
        Scenario(
            name="SGDClassifier, dense 100k x 50, 10 classes, 5 epochs",
            job="Five shuffled epochs of the hinge loss over 100,000 x 50 float64, ten classes.",
            data=lambda: kept(dense, rows(100_000), 50, 10),
            ours=contender("rosenblatt", "SGDClassifier"),
            peers=(contender("sklearn", "SGDClassifier", 2),),
            quality=ACCURACY,
            limits=read_epochs,
            rounds=5,
        ),
        Scenario(
            name="SGDClassifier, CSR 40k x 50k, 5 epochs",
            job="Five shuffled epochs of the logistic loss over 40,000 x 50,000 CSR with about 75 "
            "non-zeros a row, two classes.",
            data=lambda: kept(documents, rows(40_000), 50_000, 2),
            ours=contender("rosenblatt", "SGDClassifier", **LOGISTIC),
            peers=(contender("sklearn", "SGDClassifier", 1.5, **LOGISTIC),),
            quality=ACCURACY,
            limits=read_epochs,
        ),
        Scenario(
            name="SGDClassifier, small data 150 x 4",
            job="Ten shuffled epochs over iris, three classes; accuracy on the same rows.",
            data=iris,
            ours=contender("rosenblatt", "SGDClassifier", max_iter=10),
            peers=(contender("sklearn", "SGDClassifier", 1, max_iter=10),),
            quality=Quality("accuracy", accuracy, slack=0.1),
            limits=read_epochs,
            rounds=21,
            memory_wanted=None,
        ),
        Scenario(
            name="SGDRegressor, dense 100k x 50, 5 epochs",
            job="Five shuffled epochs of the squared error over 100,000 x 50 float64, with the "
            "class numbers as targets.",
            data=lambda: kept(dense, rows(100_000), 50, 2),
            ours=contender("rosenblatt", "SGDRegressor"),
            peers=(contender("sklearn", "SGDRegressor", 2),),
            quality=Quality("held-out R2", r2, slack=0.01),
            limits=read_epochs,
        ),
    ]


LOGISTIC = {"loss": "log_loss"}


def contender(package: str, name: str, wanted: float | None = None, **settings) -> Contender:
    """Five epochs, unless the settings say otherwise."""
    settings = {"max_iter": 5, "tol": None, **settings}

    def run(data: Data, seed: int):
        model = getattr(import_module(f"{package}.linear_model"), name)
        return model(**settings, random_state=seed).fit(data.X, data.y)

    title = "scikit-learn" if package == "sklearn" else package
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(title, f"{name}({words})", title, run, wanted)


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def r2(model, data: Data) -> float:
    return float(model.score(data.X_test, data.y_test))


ACCURACY = Quality("held-out accuracy", accuracy, slack=0.005)


def read_epochs(data: Data) -> dict[str, float]:
    """Five epochs read every value five times."""
    return {"read": 5 * data.nbytes}
