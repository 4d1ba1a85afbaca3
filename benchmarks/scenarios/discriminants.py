"""Linear and quadratic discriminant analysis: fit and predict, two classes."""

from importlib import import_module

import numpy as np

from benchmarks.data import dense, iris, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario

LINEAR, QUADRATIC = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"
HOME = "discriminant_analysis"
ROWS, FEATURES = 1_000_000, 50


def scenarios(scale: float) -> list[Scenario]:
    def table():
        return kept(dense, int(ROWS * scale), FEATURES, 2)

    return [
        Scenario(
            name="LDA fit, dense 1M x 50",
            job="Means, shares and one covariance of 1,000,000 x 50 float64, two classes.",
            data=table,
            ours=fit("rosenblatt", LINEAR, None, solver="lsqr"),
            peers=(fit("sklearn", LINEAR, 8, solver="lsqr"),),
            quality=ACCURACY,
            limits=read_and_multiply,
            rounds=7,
            memory_wanted=0.05,
            tried=FIT_TRIED,
        ),
        Scenario(
            name="LDA predict, dense 1M x 50",
            job="The classes of 1,000,000 x 50 float64, two classes.",
            data=table,
            ours=predict("rosenblatt", LINEAR, None, solver="lsqr"),
            peers=(predict("sklearn", LINEAR, 4, solver="lsqr"),),
            quality=AGREEMENT,
            limits=read_once,
            rounds=11,
            memory_wanted=0.05,
            tried="The peer reads X twice, to look for NaN and to multiply, each near read "
            "bandwidth; ours reads it once, four rows together, and finds NaN in the scores: 20 ms "
            "in the loop, 19 being the time of reading alone, so that four times as fast as the "
            "peer cannot be. BLAS on 2,000 rows at a time took 36; rows asked from memory ahead, "
            "which helps the other loops, 30.",
        ),
        Scenario(
            name="QDA fit, dense 1M x 50",
            job="Means, shares and two covariances of 1,000,000 x 50 float64, two classes; the "
            "peer by a singular value decomposition of the rows, its default.",
            data=table,
            ours=fit("rosenblatt", QUADRATIC, None),
            peers=(fit("sklearn", QUADRATIC, 40),),
            quality=ACCURACY,
            limits=read_and_multiply,
            rounds=5,
            memory_wanted=0.05,
            tried=FIT_TRIED,
        ),
        Scenario(
            name="QDA predict, dense 1M x 50",
            job="The classes of 1,000,000 x 50 float64, two classes.",
            data=table,
            ours=predict("rosenblatt", QUADRATIC, None),
            peers=(predict("sklearn", QUADRATIC, 7),),
            quality=AGREEMENT,
            limits=read_and_multiply,
            rounds=7,
            memory_wanted=0.05,
            tried="One quadratic form, the difference of both classes', instead of two products "
            "with full matrices: a quarter of the multiplications, in tiles of four rows by twelve "
            "columns kept in registers. Groups of 4, 16 and 64 rows were as fast as 32 with two "
            "classes, those of 4 slower with more; panels with a row in each lane took 175 ms of "
            "what are now 100, BLAS with two products 420.",
        ),
        Scenario(
            name="LDA, small data 150 x 4",
            job="Fit on iris, three classes; accuracy on the same rows.",
            data=iris,
            ours=fit("rosenblatt", LINEAR, None),
            peers=(fit("sklearn", LINEAR, 1),),
            quality=Quality("accuracy", accuracy, slack=0.01),
            limits=read_once,
            rounds=21,
            memory_wanted=None,
        ),
    ]


FIT_TRIED = (
    "The products of blocks in cache, rows sorted by class, are summed in tiles of 4 x 12 kept in "
    "registers: 68 ms, a little faster than this machine's dgemm for the same work; reading and "
    "sorting take 29, and 19 is the time of reading alone. Only half of a symmetric product at the "
    "dgemm rate, and reading, would take 79 ms. Tried without much gain: a tile of its own for "
    "the diagonal, 4 ms; asking memory for the next block while one is multiplied, 3 ms; blocks of "
    "128 to 1,024 rows, none. BLAS on the gathered rows of each class took 210 in all."
)


def fit(package: str, name: str, wanted: float | None, home: str = HOME, **settings) -> Contender:
    def run(data: Data, seed: int):
        return model(package, home, name, settings).fit(data.X, data.y)

    return Contender(words(package), shown(name, settings), words(package), run, wanted)


def predict(
    package: str, name: str, wanted: float | None, home: str = HOME, **settings
) -> Contender:
    """A model fitted on a part of the rows, which then predicts all."""

    def prepare(data: Data):
        few = min(len(data.y), 50_000)
        return model(package, home, name, settings).fit(data.X[:few], data.y[:few]), data.X

    def run(prepared, seed: int):
        fitted, X = prepared
        return fitted.predict(X)

    return Contender(
        words(package), f"{shown(name, settings)}.predict", words(package), run, wanted, prepare
    )


def model(package: str, home: str, name: str, settings: dict):
    return getattr(import_module(f"{package}.{home}"), name)(**settings)


def words(package: str) -> str:
    return "scikit-learn" if package == "sklearn" else package


def shown(name: str, settings: dict) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})"


def accuracy(fitted, data: Data) -> float:
    return float((fitted.predict(data.X_test) == data.y_test).mean())


def right(labels, data: Data) -> float:
    return float(np.mean(labels == data.y))


ACCURACY = Quality("held-out accuracy", accuracy, slack=1e-5)
AGREEMENT = Quality("accuracy on the rows", right, slack=1e-6)


def read_once(data: Data) -> dict[str, float]:
    """Every value is read once."""
    return {"read": data.nbytes}


def read_and_multiply(data: Data) -> dict[str, float]:
    """And multiplied with every other of its row; of a symmetric product half is enough."""
    n, d = data.X.shape
    return {"read": data.nbytes, "dgemm": n * d * d}
