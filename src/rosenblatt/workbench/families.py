"""The contestants: every family of models, when it suits, and which settings are tried.

A family joins by being listed in FAMILIES.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from rosenblatt import discriminant_analysis as discriminants
from rosenblatt import kernels, linear_model, naive_bayes
from rosenblatt.preprocessing import BasisExpansion
from rosenblatt.workbench.preparation.problem import Problem
from rosenblatt.workbench.preparation.splines import (
    Bends,
    why_no_products,
    why_no_splines,
    width_of,
)
from rosenblatt.workbench.protocol.scoring import lacking

DECADES = [float(10.0**p) for p in range(-4, 5)]
MOST_ROWS_OF_KERNELS = 5_000
MOST_ROWS_OF_KERNEL_LOGISTIC = 1_500
MOST_COLUMNS_OF_COVARIANCES = 1_000  # of a matrix that is sparse
MOST_COLUMNS_OF_A_TABLE = 2_000  # whose covariances are solved for without anyone being heard


@dataclass(frozen=True)
class Family:
    """A kind of models."""

    name: str
    make: Callable[[], Any]  # the estimator that the grid is tried on
    grid: dict[str, list[Any]]
    task: str
    takes: str  # "numbers" (centred and scaled), "counts" (as they are), or the "table" itself
    when: str  # it is the right choice
    suits: Callable[[Problem], str] = lambda problem: ""  # why it does not
    before: Callable[[], Any] | None = None  # a step between the table's numbers and the model
    halve: bool = False  # whether settings are sorted out on few rows first
    package: str = "rosenblatt"


def _few_rows(problem: Problem) -> str:
    n = len(problem.train)
    if n > MOST_ROWS_OF_KERNELS:
        return f"compares all pairs of rows, and {n:,} are more than {MOST_ROWS_OF_KERNELS:,}"
    return ""


def _very_few_rows(problem: Problem) -> str:
    n = len(problem.train)
    if n > MOST_ROWS_OF_KERNEL_LOGISTIC:
        most = f"{MOST_ROWS_OF_KERNEL_LOGISTIC:,}"
        return f"solves for all pairs of rows, and {n:,} are more than {most}"
    return ""


def _small(problem: Problem) -> str:
    n = len(problem.train)
    if n > MOST_ROWS_OF_KERNELS:
        return f"looks at all rows after each mistake, and {n:,} are many"
    return ""


def _dense(problem: Problem) -> str:
    if "text" in problem.used.values():
        return "needs the covariances of all columns, and of a text each word is one"
    if problem.is_table:
        many = width_of(problem) > MOST_COLUMNS_OF_A_TABLE
    else:
        many = problem.X.shape[1] > MOST_COLUMNS_OF_COVARIANCES
    return "needs the covariances of all columns, of which there are too many" if many else ""


def _two_classes(problem: Problem) -> str:
    return "" if problem.n_classes == 2 else "tells two classes apart, not more"


def _counts(problem: Problem) -> str:
    """Whether all there is to see are counts, or words."""
    if not problem.is_table:
        return "" if problem.X.data.min(initial=0) >= 0 else "needs counts, and some are negative"
    for name, kind in problem.used.items():
        if kind in ("text", "categorical", "boolean"):
            continue
        values = problem.X[name][problem.train]
        if kind == "date" or not _are_counts(values.drop_nulls()):
            return f"needs counts, and {name} is none"
    return ""


def _are_counts(values: pl.Series) -> bool:
    whole = values.dtype.is_integer() or bool((values == values.floor()).all())
    return whole and bool((values >= 0).all())


def _named(problem: Problem) -> str:
    if not problem.is_table:
        return "reads columns of several kinds, and these have neither kinds nor names"
    if not problem.used_by_mixed:
        return "reads columns of several kinds, and there are none but texts"
    return ""


CLASSIFICATION, REGRESSION = "classification", "regression"

FAMILIES: list[Family] = [
    Family(
        "Gaussian naive Bayes", naive_bayes.GaussianNB,
        {"var_smoothing": [1e-9, 1e-4, 1e-2, 1e-1]}, CLASSIFICATION, "numbers",
        "a first answer in one pass over the data; streams, merges and forgets",
    ),
    Family(
        "mixed naive Bayes", naive_bayes.MixedNB, {"alpha": [0.1, 1.0, 10.0]},
        CLASSIFICATION, "table", "numbers, categories and missing values in one table", _named,
    ),
    Family(
        "multinomial naive Bayes", naive_bayes.MultinomialNB, {"alpha": [0.01, 0.1, 1.0, 10.0]},
        CLASSIFICATION, "counts", "counts, above all of words", _counts,
    ),
    Family(
        "Bernoulli naive Bayes", naive_bayes.BernoulliNB, {"alpha": [0.01, 0.1, 1.0, 10.0]},
        CLASSIFICATION, "counts", "short texts, where it matters which words occur", _counts,
    ),
    Family(
        "complement naive Bayes", naive_bayes.ComplementNB, {"alpha": [0.01, 0.1, 1.0, 10.0]},
        CLASSIFICATION, "counts", "texts of classes of very different size", _counts,
    ),
    Family(
        "linear discriminant analysis", lambda: discriminants.LinearDiscriminantAnalysis("lsqr"),
        {"shrinkage": [1e-4, 0.01, 0.1, 0.5]}, CLASSIFICATION, "numbers",
        "classes that differ in their means; few rows, with shrinkage", _dense,
    ),
    Family(
        "quadratic discriminant analysis", discriminants.QuadraticDiscriminantAnalysis,
        {"reg_param": [1e-4, 0.01, 0.1, 0.5]}, CLASSIFICATION, "numbers",
        "classes that differ in their spread as well; many rows", _dense,
    ),
    Family(
        "Fisher's discriminant", discriminants.FisherDiscriminant,
        {"shrinkage": [1e-4, 0.01, 0.1]}, CLASSIFICATION, "numbers",
        "two classes and one direction to look along",
        lambda problem: _two_classes(problem) or _dense(problem),
    ),
    Family(
        "logistic regression", linear_model.LogisticRegression,
        {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}, CLASSIFICATION, "numbers",
        "probabilities to be trusted, and weights to be read",
    ),
    Family(
        "least squares classifier", linear_model.LeastSquaresClassifier, {},
        CLASSIFICATION, "numbers", "a linear answer in one pass, to compare others with", _dense,
    ),
    Family(
        "perceptron", linear_model.Perceptron, {"max_iter": [2, 5, 20]},
        CLASSIFICATION, "numbers", "watching a line being found; the averaged one does better",
    ),
    Family(
        "averaged perceptron", linear_model.AveragedPerceptron, {"max_iter": [2, 5, 20]},
        CLASSIFICATION, "numbers", "very many rows or columns, and little time",
    ),
    Family(
        "pocket perceptron", linear_model.PocketPerceptron, {"max_updates": [2_000]},
        CLASSIFICATION, "numbers", "the fewest mistakes a line can make, on few rows", _small,
    ),
    Family(
        "kernel perceptron", kernels.KernelPerceptron,
        {"gamma": [0.001, 0.01, 0.1, 1.0], "max_iter": [5, 20]}, CLASSIFICATION, "numbers",
        "curved boundaries, on few rows", _few_rows, halve=True,
    ),
    Family(
        "kernel logistic regression", kernels.KernelLogisticRegression,
        {"gamma": [0.01, 0.1, 1.0], "C": [0.1, 1.0, 10.0]}, CLASSIFICATION, "numbers",
        "curved boundaries with probabilities, on few rows", _very_few_rows, halve=True,
    ),
    Family(
        "least squares", linear_model.LinearRegression, {}, REGRESSION, "numbers",
        "few columns beside the rows; coefficients to be read",
    ),
    Family(
        "ridge regression", linear_model.Ridge, {"alpha": DECADES}, REGRESSION, "numbers",
        "many columns that say alike things",
    ),
    Family(
        "lasso", linear_model.Lasso, {"alpha": [float(10.0**p) for p in range(-5, 1)]},
        REGRESSION, "numbers", "many columns of which few matter",
    ),
    Family(
        "elastic net", linear_model.ElasticNet,
        {"alpha": [float(10.0**p) for p in range(-5, 1)], "l1_ratio": [0.2, 0.5, 0.8]},
        REGRESSION, "numbers", "as the lasso, where columns come in groups",
    ),
    Family(
        "ridge on products", linear_model.Ridge, {"alpha": DECADES}, REGRESSION, "numbers",
        "columns that matter together", why_no_products,
        before=partial(BasisExpansion, "polynomial"),
    ),
    Family(
        "ridge on splines", linear_model.Ridge, {"alpha": DECADES}, REGRESSION, "numbers",
        "bends along single columns of many values; straight on beyond the rows learned from",
        why_no_splines, before=Bends,
    ),
]  # fmt: skip


def families_for(
    problem: Problem, peers: bool = False, metric: str = "accuracy"
) -> tuple[list[Family], list[tuple[str, str]]]:
    """The families that suit a problem and a score, and those that do not, with the reason."""
    suiting, others = [], []
    for family in FAMILIES + (peers_of() if peers else []):
        if family.task != problem.task:
            continue
        why = family.suits(problem) or lacking(family.make(), metric)
        if why:
            others.append((family.name, why))
        else:
            suiting.append(family)
    return suiting, others


def baseline_of(problem: Problem) -> Family:
    """What any model should beat: the largest class, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    regression = problem.task == REGRESSION
    always = "the mean" if regression else "the largest class"
    return Family(
        f"always {always}", DummyRegressor if regression else DummyClassifier, {},
        problem.task, "rows", "what any model should beat", package="scikit-learn",
    )  # fmt: skip


def peers_of() -> list[Family]:
    """Models of other libraries, for reference; LightGBM's if it is there."""
    from sklearn import ensemble

    boosted = [
        Family(
            "histogram boosting", partial(make, random_state=0), {}, task, "numbers",
            "a peer's boosted trees", package="scikit-learn",
        )
        for task, make in (
            (CLASSIFICATION, ensemble.HistGradientBoostingClassifier),
            (REGRESSION, ensemble.HistGradientBoostingRegressor),
        )
    ]  # fmt: skip
    # Last, for they take longest: where time is short, there is another peer before.
    forests = [
        Family(
            "random forest", partial(make, random_state=0, n_jobs=-1), {}, task, "numbers",
            "a peer's forest", package="scikit-learn",
        )
        for task, make in (
            (CLASSIFICATION, ensemble.RandomForestClassifier),
            (REGRESSION, ensemble.RandomForestRegressor),
        )
    ]  # fmt: skip
    try:
        import lightgbm
    except ImportError:
        return boosted + forests
    boosters = {CLASSIFICATION: lightgbm.LGBMClassifier, REGRESSION: lightgbm.LGBMRegressor}
    # On one thread: several wait for each other on a busy machine, for so long within one call
    # that no end of time is heard.
    return boosted + [
        Family(
            "LightGBM", partial(make, random_state=0, verbose=-1, n_jobs=1), {}, task, "numbers",
            "a peer's boosted trees", package="lightgbm",
        )
        for task, make in boosters.items()
    ] + forests  # fmt: skip
