"""Discriminants: Gaussian classes, and Fisher's direction."""

from typing import Any

from .row import Contestant, Contract, Row, Warm, Without

MOMENTS = ("statistics.moments.Moments", "statistics.counts.ClassCounts")
NO_PATH = Without("one statistic serves every shrinkage; each conclusion factors a matrix anew")
NO_STATES = Without("the fit is one step in closed form: no state moves")

SHARED: dict[str, Any] = {  # cells of most rows
    "task": "classification",
    "additive": True,
    "path": NO_PATH,
    "trace": NO_STATES,
    "warm": Warm(),
    "verifier": "discriminants",
    "page": "discriminants.md",
}

ROWS = (
    Row(
        name="LinearDiscriminantAnalysis",
        module="discriminant_analysis.linear",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("LinearDiscriminantAnalysis",),
        contract=Contract(
            settings=(
                {},
                {"solver": "lsqr", "shrinkage": 0.1},
                {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
                {"covariance": "diagonal"},
            ),
            # The solver "lsqr" has no transform, which the checks would call.
            checked=({}, {"solver": "eigen", "shrinkage": 0.1}, {"covariance": "diagonal"}),
        ),
        contestants=(
            Contestant(
                "linear discriminant analysis",
                "classes that differ in their means; few rows, with shrinkage",
                {"shrinkage": (1e-4, 0.01, 0.1, 0.5)},
                settings={"solver": "lsqr"},
                limits=("few columns",),
                short_names=("lda",),
            ),
        ),
        file_types=MOMENTS,
        benchmark="LDA fit, dense 1M x 50",
    ),
    Row(
        name="QuadraticDiscriminantAnalysis",
        module="discriminant_analysis.quadratic",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=("QuadraticDiscriminantAnalysis",),
        contract=Contract(
            settings=(
                {"reg_param": 0.01},
                {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
                {"covariance": "diagonal"},
            ),
            # "eigen" refuses a class that is one row again and again: nothing can be shrunk.
            checked=({}, {"reg_param": 0.1, "covariance": "diagonal"}),
        ),
        contestants=(
            Contestant(
                "quadratic discriminant analysis",
                "classes that differ in their spread as well; many rows",
                {"reg_param": (1e-4, 0.01, 0.1, 0.5)},
                limits=("few columns",),
                short_names=("qda",),
            ),
        ),
        file_types=("discriminant_analysis.quadratic.Factors", *MOMENTS),
        benchmark="QDA fit, dense 1M x 50",
    ),
    Row(
        name="FisherDiscriminant",
        module="discriminant_analysis.fisher",
        **SHARED,
        inputs=("dense", "sparse"),
        sklearn=Without("scikit-learn has Fisher's direction only as a discriminant's transform"),
        contract=Contract(
            settings=({}, {"threshold": "prior", "shrinkage": 0.2}, {"threshold": "scan"}),
            # A threshold that is scanned for reads the rows again, and has no partial_fit.
            checked=({}, {"threshold": "prior", "shrinkage": 0.2}),
        ),
        contestants=(
            Contestant(
                "Fisher's discriminant",
                "two classes and one direction to look along",
                {"shrinkage": (1e-4, 0.01, 0.1)},
                limits=("two classes", "few columns"),
            ),
        ),
        file_types=MOMENTS,
        benchmark=Without("the statistic is that of LinearDiscriminantAnalysis; no peer has it"),
    ),
)
