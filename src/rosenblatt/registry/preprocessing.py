"""Transformers, which stand before models, and the search, which stands around them."""

from .row import Contract, Row, Settings, Warm, Without

EXPANSIONS: tuple[Settings, ...] = (
    {},
    {"basis": "gaussian", "n_functions": 4},
    {"basis": ["powers", "fourier"]},
)
SCALINGS: tuple[Settings, ...] = (
    {},
    {"with_mean": False, "ddof": 0},
    {"method": "min-max", "feature_range": (-1, 1)},
    {"method": "sigmoid"},
    {"method": "l1"},
    {"method": "l2"},
    {"missing": "ignore"},
    {"method": "min-max", "missing": "ignore"},
)
BINS: tuple[Settings, ...] = (
    {},
    {"strategy": "quantile", "max_bins": 4, "encode": "onehot"},
    {"strategy": "uniform", "encode": "thresholds"},
)
NOTHING_PROVED = Without("it predicts nothing that could be proved; certify reads its output")
NO_PATH = Without("it has no penalty or number of steps to follow")
NOT_A_MODEL = Without("compare tries models; this stands before one")

ROWS = (
    Row(
        name="BasisExpansion",
        module="preprocessing.basis_expansion",
        task="transformation",
        inputs=("dense", "sparse"),
        verifier=NOTHING_PROVED,
        sklearn=NOTHING_PROVED,
        additive=Without("its functions are set from a few quantiles, and never revised"),
        path=NO_PATH,
        trace=Without("it learns in one step: no state moves"),
        warm=Warm(({"basis": "spline"},), sparse=False),
        contract=Contract(settings=EXPANSIONS, checked=EXPANSIONS),
        contestants=Without("ridge regression brings it along: on products, on splines"),
        file_types=(
            "preprocessing.basis_expansion._Part",
            "preprocessing.basis_functions.Bumps",
            "preprocessing.basis_functions.Given",
            "preprocessing.basis_functions.Polynomial",
            "preprocessing.basis_functions.Powers",
            "preprocessing.basis_functions.Splines",
            "preprocessing.basis_functions.Waves",
        ),
        page="preprocessing.md",
        benchmark=Without("its time is that of the products with what it makes"),
    ),
    Row(
        name="Discretizer",
        module="preprocessing.discretizer",
        task="transformation",
        inputs=("dense",),
        verifier=NOTHING_PROVED,
        sklearn=NOTHING_PROVED,
        additive=Without("where to cut depends on the order of all values of a column"),
        path=NO_PATH,
        trace=Without("it learns in one step: no state moves"),
        warm=Without("it compiles no loop: NumPy sorts and adds up"),
        contract=Contract(settings=BINS, checked=BINS[:2]),
        contestants=NOT_A_MODEL,
        file_types=(),
        page="rules.md",
        benchmark=Without("its time is that of one sort of each column"),
    ),
    Row(
        name="Standardizer",
        module="preprocessing.standardizer",
        task="transformation",
        inputs=("dense", "sparse", "missing"),
        verifier=NOTHING_PROVED,
        sklearn=NOTHING_PROVED,
        additive=True,
        path=NO_PATH,
        trace=Without("it learns in one step: no state moves"),
        warm=Warm(({}, {"with_mean": False}, {"method": "min-max"}, {"method": "l2"})),
        contract=Contract(settings=SCALINGS, checked=SCALINGS),
        contestants=NOT_A_MODEL,
        file_types=(
            "statistics.counts.ClassCounts",
            "statistics.counts.RowCounts",
            "statistics.extremes.Extremes",
            "statistics.moments.Moments",
        ),
        page="preprocessing.md",
        benchmark=Without("measured together with the model behind it"),
    ),
    Row(
        name="GridSearchCV",
        module="model_selection.search",
        task="search",
        inputs=("dense", "sparse"),
        verifier=Without("certify reads the model that the search chose"),
        sklearn=Without("certify reads the model that the search chose"),
        additive=Without("it is as additive as the model that it searches for"),
        path=Without("it follows the path of the model that it searches for"),
        trace=Without("its steps are fits: the trace view is that of the model"),
        warm=Without("it compiles no loop: the model's are compiled already"),
        contract=Without("its behaviour is that of the model; tests/model_selection has its own"),
        contestants=Without("compare searches by a protocol of its own"),
        file_types=Without("a model file holds the model that the search chose"),
        page="model_selection.md",
        benchmark="grid search, MultinomialNB, 8 alphas, 5 folds, CSR 100k x 60k",
    ),
)
