"""Linear regression: least squares, plain and penalised."""

from typing import Any

from .row import Contestant, Contract, Row, Warm, Without

GRAM = (
    "statistics.grams.Gram",
    "statistics.moments.Moments",
    "statistics.counts.ClassCounts",
)
DECADES = tuple(float(10.0**p) for p in range(-4, 5))
LASSO_DECADES = tuple(float(10.0**p) for p in range(-5, 1))
CHOOSES = Without("it follows a path itself, and chooses on it")
SEARCHED = Without("compare searches the penalties of the model itself")
SAME_LOOPS = Without("it runs the loops of the model that it chooses")
NOT_ADDITIVE = Without("the choice of the penalty needs folds, and its fit the rows")

SHARED: dict[str, Any] = {  # cells of most rows
    "task": "regression",
    "trace": ("weights",),
    "verifier": "linear_regression",
}

ROWS = (
    Row(
        name="LinearRegression",
        module="linear_model.least_squares",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("LinearRegression",),
        additive=True,
        path=Without("it has no parameter to follow"),
        warm=Warm(),
        contract=Contract(
            settings=({}, {"fit_intercept": False, "tol": 0}, {"positive": True}),
            checked=({}, {"fit_intercept": False}, {"positive": True}),
        ),
        contestants=(
            Contestant(
                "least squares",
                "few columns beside the rows; coefficients to be read",
                {},
                short_names=("ols",),
            ),
        ),
        file_types=GRAM,
        page="regression.md",
        benchmark="LinearRegression fit, 1M x 50",
    ),
    Row(
        name="Ridge",
        module="linear_model.ridge",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("Ridge",),
        additive=True,
        path=("alpha",),
        warm=Warm(),
        contract=Contract(
            settings=(
                {},
                {"alpha": 0.01, "fit_intercept": False},
                {"solver": "svd"},
                {"solver": "lbfgs", "positive": True},
            ),
            checked=({}, {"solver": "svd"}, {"positive": True}),
        ),
        contestants=(
            Contestant(
                "ridge regression", "many columns that say alike things", {"alpha": DECADES}
            ),
            Contestant(
                "ridge on products",
                "columns that matter together",
                {"alpha": DECADES},
                limits=("products",),
                expansion="products",
            ),
            Contestant(
                "ridge on splines",
                "bends along single columns of many values; straight on beyond the rows learned "
                "from",
                {"alpha": DECADES},
                limits=("splines",),
                expansion="splines",
            ),
            Contestant(
                "kernel ridge on landmarks",
                "curves in any direction, from 5,000 rows on: each row is compared with 300 of "
                "them by a Gaussian kernel",
                {"alpha": DECADES},
                limits=("many rows for pairs",),
                expansion="landmarks",
            ),
        ),
        file_types=GRAM,
        page="regression.md",
        benchmark="grid search, Ridge, 100 penalties x 5 folds, 100k x 50",
    ),
    Row(
        name="RidgeCV",
        module="linear_model.ridge_cv",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("RidgeCV",),
        additive=NOT_ADDITIVE,
        path=CHOOSES,
        warm=SAME_LOOPS,
        contract=Contract(
            settings=(
                {},
                {"alphas": "decades", "cv": 3},
                {"scoring": "r2", "fit_intercept": False},
            ),
            checked=({}, {"alphas": "decades"}, {"alphas": [0.1, 1.0], "scoring": "r2"}),
        ),
        contestants=SEARCHED,
        file_types=(),
        page="regression.md",
        benchmark="ridge, 100 penalties x 5 folds, 100k x 50",
    ),
    Row(
        name="Lasso",
        module="linear_model.lasso",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("Lasso",),
        additive=Without("a Gram matrix would do where columns are few; wide tables need the rows"),
        path=("alpha",),
        warm=Warm(
            ({"alpha": 0.01},), widths=(3, 20), large="linear_model.elastic_net_base.run_large_loop"
        ),
        contract=Contract(
            settings=(
                {"alpha": 0.01, "tol": 1e-12},
                {"alpha": 0.05, "positive": True, "fit_intercept": False, "tol": 1e-12},
                {"alpha": 0.01, "selection": "random", "random_state": 0, "tol": 1e-12},
            )
        ),
        contestants=(
            Contestant("lasso", "many columns of which few matter", {"alpha": LASSO_DECADES}),
        ),
        file_types=(),
        page="lasso.md",
        benchmark="lasso path, 100 penalties, dense 100k x 500",
        parts="lasso",
    ),
    Row(
        name="LassoCV",
        module="linear_model.lasso_cv",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("LassoCV",),
        additive=NOT_ADDITIVE,
        path=CHOOSES,
        warm=SAME_LOOPS,
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        contestants=SEARCHED,
        file_types=(),
        page="lasso.md",
        benchmark=Without("no wanted ratio of its own: its time is that of lasso paths"),
    ),
    Row(
        name="ElasticNet",
        module="linear_model.lasso",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("ElasticNet",),
        additive=Without("a Gram matrix would do where columns are few; wide tables need the rows"),
        path=("alpha",),
        warm=Warm(
            ({"alpha": 0.01},), widths=(3, 20), large="linear_model.elastic_net_base.run_large_loop"
        ),
        contract=Contract(
            settings=(
                {"tol": 1e-12},
                {"alpha": 0.01, "l1_ratio": 0.9, "fit_intercept": False, "tol": 1e-12},
            )
        ),
        contestants=(
            Contestant(
                "elastic net",
                "as the lasso, where columns come in groups",
                {"alpha": LASSO_DECADES, "l1_ratio": (0.2, 0.5, 0.8)},
            ),
        ),
        file_types=(),
        page="lasso.md",
        benchmark=Without("the loops are those of the lasso"),
        parts="lasso",
    ),
    Row(
        name="ElasticNetCV",
        module="linear_model.lasso_cv",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("ElasticNetCV",),
        additive=NOT_ADDITIVE,
        path=CHOOSES,
        warm=SAME_LOOPS,
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        contestants=SEARCHED,
        file_types=(),
        page="lasso.md",
        benchmark=Without("no wanted ratio of its own: its time is that of lasso paths"),
    ),
)
