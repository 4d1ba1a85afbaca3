"""Naive Bayes: models that count."""

from typing import Any

from .row import Contestant, Contract, Row, Warm, Without

LABELS = "statistics.counts.ClassCounts"
COUNTS = ("statistics.features.FeatureCounts", LABELS)
ALPHAS = {"alpha": (0.01, 0.1, 1.0, 10.0)}
NO_PATH = Without("one statistic serves every setting; each conclusion is as cheap as a path")
NO_STATES = Without("the fit is one step in closed form: no state moves")

SHARED: dict[str, Any] = {  # cells of most rows
    "task": "classification",
    "additive": True,
    "path": NO_PATH,
    "trace": NO_STATES,
    "warm": Warm(),
    "page": "naive_bayes.md",
}

ROWS = (
    Row(
        name="GaussianNB",
        module="naive_bayes.gaussian",
        task="classification",
        inputs=("dense", "sparse", "missing"),
        verifier="gaussian_naive_bayes",
        sklearn=("GaussianNB",),
        additive=True,
        path=NO_PATH,
        trace=NO_STATES,
        warm=Warm(({}, {"missing": "ignore"})),
        contract=Contract(
            settings=(
                {},
                {"variance": "feature", "ddof": 1},
                {"variance": "class"},
                {"variance": "single", "missing": "ignore"},
            ),
            checked=({}, {"variance": "feature"}, {"variance": "single", "missing": "ignore"}),
        ),
        contestants=(
            Contestant(
                "Gaussian naive Bayes",
                "a first answer in one pass over the data; streams, merges and forgets",
                {"var_smoothing": (1e-9, 1e-4, 1e-2, 1e-1)},
                short_names=("nb",),
            ),
        ),
        file_types=("statistics.moments.Moments", LABELS),
        page="gaussian_naive_bayes.md",
        benchmark="GaussianNB fit and predict, dense 1M x 50, 2 classes",
    ),
    Row(
        name="MixedNB",
        module="naive_bayes.mixed",
        **SHARED,
        inputs=("dense", "missing", "categorical"),
        verifier="mixed_naive_bayes",
        sklearn=Without("scikit-learn has no naive Bayes model for columns of several kinds"),
        contract=Contract(settings=({}, {"alpha": 0, "variance": "feature"})),
        contestants=(
            Contestant(
                "mixed naive Bayes",
                "numbers, categories and missing values in one table",
                {"alpha": (0.1, 1.0, 10.0)},
                reads="table",
                limits=("named columns",),
            ),
        ),
        file_types=(
            "naive_bayes.gaussian.GaussianNB",
            "statistics.categories.CategoryCounts",
            "statistics.moments.Moments",
            "statistics.product.Together",
            LABELS,
        ),
        benchmark=Without("no peer fits columns of several kinds"),
    ),
    Row(
        name="MultinomialNB",
        module="naive_bayes.multinomial",
        **SHARED,
        inputs=("dense", "sparse", "missing", "counts"),
        verifier="count_naive_bayes",
        sklearn=("MultinomialNB",),
        contract=Contract(
            settings=({}, {"alpha": 0}, {"fit_prior": False}, {"missing": "ignore"}),
            checked=({}, {"alpha": 0, "missing": "ignore"}),
        ),
        contestants=(
            Contestant(
                "multinomial naive Bayes",
                "counts, above all of words",
                ALPHAS,
                reads="counts",
                limits=("counts",),
            ),
        ),
        file_types=COUNTS,
        benchmark="MultinomialNB, CSR 100k x 60k, 2 classes",
    ),
    Row(
        name="BernoulliNB",
        module="naive_bayes.bernoulli",
        **SHARED,
        inputs=("dense", "sparse", "missing"),
        verifier="count_naive_bayes",
        sklearn=("BernoulliNB",),
        contract=Contract(
            settings=(
                {},
                {"alpha": 0},
                {"beta_prior": (2, 3), "fit_prior": False},
                {"missing": "ignore"},
            ),
            checked=({}, {"alpha": 0}, {"beta_prior": (2, 3), "missing": "ignore"}),
        ),
        contestants=(
            Contestant(
                "Bernoulli naive Bayes",
                "short texts, where it matters which words occur",
                ALPHAS,
                reads="counts",
                limits=("counts",),
            ),
        ),
        file_types=COUNTS,
        benchmark="BernoulliNB, CSR 100k x 60k, 2 classes",
    ),
    Row(
        name="ComplementNB",
        module="naive_bayes.multinomial",
        **SHARED,
        inputs=("dense", "sparse", "missing", "counts"),
        verifier="count_naive_bayes",
        sklearn=("ComplementNB",),
        contract=Contract(
            settings=({}, {"norm": True, "alpha": 0.1}, {"missing": "ignore"}),
            checked=({}, {"norm": True, "alpha": 0, "missing": "ignore"}),
        ),
        contestants=(
            Contestant(
                "complement naive Bayes",
                "texts of classes of very different size",
                ALPHAS,
                reads="counts",
                limits=("counts",),
            ),
        ),
        file_types=COUNTS,
        benchmark=Without("the statistic and the loop are those of MultinomialNB"),
    ),
    Row(
        name="CategoricalNB",
        module="naive_bayes.categorical",
        **SHARED,
        inputs=("dense", "missing", "counts", "categorical"),
        verifier="count_naive_bayes",
        sklearn=("CategoricalNB",),
        contract=Contract(
            settings=({}, {"alpha": 0.5, "unknown": "smooth", "missing": "ignore"}),
            checked=({}, {"unknown": "smooth", "missing": "ignore"}),
        ),
        contestants=Without("mixed naive Bayes reads the categories of a table, and the rest too"),
        file_types=("statistics.categories.CategoryCounts", LABELS),
        benchmark=Without("no wanted ratio: tables of categories are small"),
    ),
    Row(
        name="TreeAugmentedNB",
        module="naive_bayes.tree_augmented",
        **{**SHARED, "page": "tree_augmented.md"},
        inputs=("dense", "missing", "counts", "categorical"),
        verifier="tree_augmented",
        sklearn=Without("scikit-learn has no naive Bayes model with edges between features"),
        contract=Contract(
            settings=({}, {"alpha": 0.5, "unknown": "smooth", "missing": "ignore"}),
            checked=({}, {"unknown": "smooth", "missing": "ignore"}),
        ),
        contestants=Without("a table is searched with trees of any depth, which read all kinds"),
        file_types=("statistics.pairs.PairCounts", LABELS),
        benchmark=Without("no peer in Python fits it"),
    ),
)
