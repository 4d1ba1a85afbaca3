"""Logistic regression with an L2 penalty, to a relative duality gap of 1e-6.

Every contender has the loosest tolerance of its own that reaches the gap, found by halving decades;
the gap is worked out by one function for all of them. skglm is left out: its L-BFGS has no
intercept, and its ProxNewton, which has one, was not done with either dense table in two minutes.
"""

import math

from benchmarks.data import dense, documents, kept
from benchmarks.logistic_gap import relative_gap
from benchmarks.scenario import Contender, Data, Quality, Scenario

DIGITS = 6.0


def scenarios(scale: float) -> list[Scenario]:
    return [
        Scenario(
            name="logistic regression, dense 1M x 50",
            job="L2, C=1, two classes, to a relative duality gap of 1e-6.",
            data=lambda: kept(dense, int(1_000_000 * scale), 50, 2),
            ours=ours(tol=6e-7),
            peers=(sklearn(4, solver="lbfgs", tol=1e-6), sklearnex(2, tol=1e-4)),
            quality=GAP,
            limits=read_passes(3),
            rounds=5,
            memory_wanted=0.10,
        ),
        Scenario(
            name="logistic regression, dense 100k x 500",
            job="L2, C=1, two classes, to a relative duality gap of 1e-6.",
            data=lambda: kept(dense, int(100_000 * scale), 500, 2),
            ours=ours(tol=1e-6),
            peers=(sklearn(1.2, solver="lbfgs", tol=2e-7), sklearnex(1, tol=1e-4)),
            quality=GAP,
            limits=read_passes(8),
            rounds=5,
            memory_wanted=0.10,
        ),
        Scenario(
            name="logistic regression, CSR 200k x 50k",
            job="L2, C=1, two classes, 75 non-zeros a row, to a relative duality gap of 1e-6; "
            "liblinear penalises the intercept, made harmless by a scale of 100.",
            data=lambda: kept(documents, int(200_000 * scale), 50_000, 2),
            ours=ours(tol=2e-6),
            peers=(
                sklearn(1.2, solver="newton-cg", tol=1e-6),
                sklearn(1.25, solver="liblinear", tol=1e-4, intercept_scaling=100),
            ),
            quality=GAP,
            limits=read_passes(20),
            rounds=3,
            memory_wanted=0.20,
        ),
        Scenario(
            name="softmax regression, 20 classes, 300k x 50",
            job="L2, C=1, twenty classes, to a relative duality gap of 1e-6.",
            data=lambda: kept(dense, int(300_000 * scale), 50, 20),
            ours=ours(tol=1e-6),
            peers=(sklearn(4, solver="lbfgs", tol=1e-7), sklearnex(1.3, tol=1e-5)),
            quality=GAP,
            limits=read_passes(10),
            rounds=3,
            memory_wanted=0.60,
        ),
    ]


def ours(**settings) -> Contender:
    def run(data: Data, seed: int):
        from rosenblatt import LogisticRegression

        return LogisticRegression(max_iter=1000, **settings).fit(data.X, data.y)

    return Contender("rosenblatt", shown(settings), "rosenblatt", run)


def sklearn(wanted: float | None, **settings) -> Contender:
    def run(data: Data, seed: int):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000, **settings).fit(data.X, data.y)

    name = f"scikit-learn {settings['solver']}"
    return Contender(name, shown(settings), "scikit-learn", run, wanted)


def sklearnex(wanted: float | None, **settings) -> Contender:
    def run(data: Data, seed: int):
        from sklearnex.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000, **settings).fit(data.X, data.y)

    return Contender("scikit-learn-intelex", shown(settings), "scikit-learn-intelex", run, wanted)


def shown(settings: dict) -> str:
    return f"LogisticRegression({', '.join(f'{key}={value!r}' for key, value in settings.items())})"


def digits(fitted, data: Data) -> float:
    """Minus the decimal logarithm of the relative gap, at most 15."""
    gap = relative_gap(fitted.coef_, fitted.intercept_, data.X, data.y)
    return min(15.0, -math.log10(max(gap, 1e-16)))


# How far below a peer's digits ours may be does not matter, once both have six.
GAP = Quality("digits of the relative duality gap", digits, slack=20.0, least=DIGITS)


def read_passes(n_passes: int):
    """Every value is read in each pass over the rows."""
    return lambda data: {"read": n_passes * data.nbytes}
