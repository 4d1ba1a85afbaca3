"""Cross-validation and grid search of additive models: five folds, fifty, and eight alphas.

What is timed includes splitting and scoring, which all contenders do alike.
"""

from importlib import import_module

import numpy as np

from benchmarks.data import dense, documents, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario

ALPHAS = np.logspace(-3, 2, 8)


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    def table(n):
        return lambda: kept(dense, rows(n), 50, 2)

    def texts():
        return kept(documents, rows(100_000), 60_000, 2)

    return [
        scenario(
            "cross-validation, GaussianNB, 5 folds, 1M x 50",
            "Five folds of 1,000,000 x 50 float64, two classes.",
            table(1_000_000),
            *pair("naive_bayes.GaussianNB", 5, 38),
            rounds=3,
        ),
        *(
            scenario(
                f"cross-validation, GaussianNB, {folds} folds, 200k x 50",
                f"{folds} folds of 200,000 x 50 float64, two classes; see the row of "
                f"{55 - folds} folds.",
                table(200_000),
                *pair("naive_bayes.GaussianNB", folds, wanted),
                rounds=3,
            )
            for folds, wanted in ((5, 38), (50, 100))
        ),
        scenario(
            "cross-validation, GaussianNB after StandardScaler, 5 folds, 200k x 50",
            "The same with rows standardised by the training rows of each fold.",
            table(200_000),
            *pair("naive_bayes.GaussianNB", 5, 5, scaled=True),
            rounds=3,
        ),
        *(
            scenario(
                f"cross-validation, LinearDiscriminantAnalysis, {folds} folds, 200k x 50",
                f"{folds} folds of 200,000 x 50 float64, two classes.",
                table(200_000),
                *pair("discriminant_analysis.LinearDiscriminantAnalysis", folds, 68),
                contender(
                    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis", folds, 17,
                    name="scikit-learn, lsqr", solver="lsqr",
                ),
                rounds=3,
            )
            for folds in (5, 50)
        ),
        *(
            scenario(
                f"cross-validation, MultinomialNB, {folds} folds, CSR 100k x 60k",
                f"{folds} folds of 100,000 x 60,000 CSR, tf-idf with about 75 non-zeros a row; see "
                f"the row of {55 - folds} folds.",
                texts,
                *pair("naive_bayes.MultinomialNB", folds, 6),
                rounds=3,
                limits=read_twice,
                tried=TRIED_TEXTS,
            )
            for folds in (5, 50)
        ),
        scenario(
            "grid search, MultinomialNB, 8 alphas, 5 folds, CSR 100k x 60k",
            "Eight alphas by five folds of the same, and a refit of the best.",
            texts,
            search("rosenblatt", None),
            search("sklearn", 12),
            rounds=3,
            limits=read_twice,
            tried=TRIED_TEXTS,
        ),
    ]  # fmt: skip


TRIED = (
    "Rows are read twice, once to train and once to be predicted: half of the time at 1,000,000 "
    "rows. The folds are assigned without a sort of the labels, and rows that are most of a "
    "stretch are predicted where they lie: 217 ms became 87. What is left are labels, folds and "
    "models: some 10 ms at 200,000 rows, and 1 for each fold."
)

TRIED_TEXTS = (
    "The rows are read once to train and once to score, where they are, all alphas of a fold "
    "together. Of 53 ms for five folds scikit-learn's splitter takes 12, as it does for the other "
    "side; counting 14, scoring 8, logarithms 6. Tried for counting, which was 30: the pairs of "
    "doubles that a fit keeps side by side in memory (25), the cheaper exact sum of numbers that "
    "are not negative (23), rows in the order of their folds (29), the low half in 32 bits (29), "
    "plain doubles, since nothing is taken out of these sums again (14). Logarithms written out "
    "for several numbers at once gained nothing once their results are stored by feature."
)


def scenario(
    name: str, job: str, data, ours: Contender, *peers: Contender, rounds, limits=None, tried=TRIED
):
    quality = Quality("mean accuracy of the folds", mean_score, slack=1e-9)
    limits = limits or read_once
    return Scenario(
        name, job, data, ours, peers, quality, limits,
        rounds=rounds, memory_wanted=None, tried=tried,
    )  # fmt: skip


def pair(path: str, folds: int, wanted: float, scaled: bool = False) -> tuple[Contender, ...]:
    """Our class and function, and scikit-learn's of the same names."""
    return (
        contender(f"rosenblatt.{path}", folds, None, scaled=scaled),
        contender(f"sklearn.{path}", folds, wanted, scaled=scaled),
    )


def contender(
    path: str,
    folds: int,
    wanted: float | None,
    name: str | None = None,
    scaled: bool = False,
    **settings,
) -> Contender:
    """`cross_validate` and a model, both of one package."""
    module, _, model = path.rpartition(".")
    package = "scikit-learn" if path.startswith("sklearn") else "rosenblatt"

    def run(data: Data, seed: int):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        selection = import_module(f"{module.partition('.')[0]}.model_selection")
        estimator = getattr(import_module(module), model)(**settings)
        if scaled:
            estimator = make_pipeline(StandardScaler(), estimator)
        return selection.cross_validate(estimator, data.X, data.y, cv=folds)["test_score"]

    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    shown = f"cross_validate({model}({words}), cv={folds})"
    return Contender(name or package, shown, package, run, wanted)


def search(package: str, wanted: float | None) -> Contender:
    """`GridSearchCV` and MultinomialNB, both of one package."""

    def run(data: Data, seed: int):
        selection = import_module(f"{package}.model_selection")
        model = import_module(f"{package}.naive_bayes").MultinomialNB()
        found = selection.GridSearchCV(model, {"alpha": ALPHAS}).fit(data.X, data.y)
        return found.cv_results_["mean_test_score"]

    name = "scikit-learn" if package == "sklearn" else package
    return Contender(name, "GridSearchCV(MultinomialNB(), 8 alphas)", name, run, wanted)


def mean_score(scores, data: Data) -> float:
    return float(np.mean(scores))


def read_once(data: Data) -> dict[str, float]:
    """The rows are read once to train."""
    return {"read": data.nbytes}


def read_twice(data: Data) -> dict[str, float]:
    """And once to score."""
    return {"read": 2 * data.nbytes}
