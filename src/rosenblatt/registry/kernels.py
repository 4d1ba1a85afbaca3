"""Kernel models: weighted sums over rows."""

from .linear_classifiers import BY_VISITS, NO_SUM_IS_ENOUGH
from .row import Contestant, Contract, Row, Warm, Without

KERNELS = tuple(
    f"kernels.functions.{name}"
    for name in ("Gaussian", "Laplacian", "Linear", "Polynomial", "Sigmoid")
)

ROWS = (
    Row(
        name="KernelPerceptron",
        module="kernels.perceptron",
        task="classification",
        inputs=("dense", "sparse", "precomputed"),
        verifier="kernel_perceptron",
        sklearn=Without("scikit-learn has no kernel perceptron"),
        additive=NO_SUM_IS_ENOUGH,
        path=Without("the supports of a shorter run are not kept on the way"),
        trace=("supports", "support_weights"),
        warm=Warm(({"max_iter": 2},)),
        contract=Contract(
            settings=(
                {"max_updates": 200},
                {"kernel": "poly", "coef0": 1.0, "max_updates": 200, "cache_size": 1.0},
                {"kernel": "linear", "pick": "worst", "max_updates": 20},
                {"early_stopping": True, "max_updates": 200},
            ),
            checked=({}, {"kernel": "poly", "coef0": 1.0}),
            expected_failures=BY_VISITS,
        ),
        contestants=(
            Contestant(
                "kernel perceptron",
                "curved boundaries, on few rows",
                {"gamma": (0.001, 0.01, 0.1, 1.0), "max_iter": (5, 20)},
                limits=("few rows for pairs",),
                halve="rows",
            ),
        ),
        file_types=KERNELS,
        page="kernels.md",
        benchmark="kernel perceptron, dense 10k x 20, Gaussian",
    ),
    Row(
        name="KernelLogisticRegression",
        module="kernels.logistic",
        task="classification",
        inputs=("dense", "sparse", "precomputed"),
        verifier="kernel_logistic",
        sklearn=Without("scikit-learn has no kernel logistic regression"),
        additive=Without(
            "the loss is no polynomial of the weights: no sum over the rows is enough"
        ),
        path=Without("each C is a fit of its own: no fit starts from the one before"),
        trace=("support_weights",),
        warm=Without("it runs the loops of LogisticRegression on the rows of a matrix"),
        contract=Contract(
            settings=(
                {"tol": 1e-8},
                {"kernel": "poly", "coef0": 1.0, "solver": "lbfgs"},
                {"kernel": "linear", "softmax": "reference", "fit_intercept": False},
                {"kernel": "sigmoid", "gamma": 0.1, "class_weight": "balanced"},
            ),
            checked=({"gamma": 0.1}, {"kernel": "linear"}),
            most_rows=500,
            endless={"solver": "sgd", "random_state": 0},
        ),
        contestants=(
            Contestant(
                "kernel logistic regression",
                "curved boundaries with probabilities, on few rows",
                {"gamma": (0.01, 0.1, 1.0), "C": (0.1, 1.0, 10.0)},
                limits=("few rows for solving pairs",),
                halve="rows",
            ),
        ),
        file_types=KERNELS,
        page="logistic_regression.md",
        benchmark=Without("no peer solves it"),
    ),
    Row(
        name="KernelRidge",
        module="kernels.ridge",
        task="regression",
        inputs=("dense", "sparse", "precomputed"),
        verifier="kernel_ridge",
        sklearn=("KernelRidge",),
        additive=Without("the matrix of all pairs of rows is no sum over the rows"),
        path=("alpha",),
        trace=Without("its equations are solved at once: no state moves"),
        warm=Without("it runs no loop of ours"),
        contract=Contract(
            settings=({}, {"kernel": "rbf", "alpha": 0.1}, {"kernel": "poly", "degree": 2}),
            checked=({}, {"kernel": "rbf"}),
            most_rows=500,
        ),
        contestants=(
            Contestant(
                "kernel ridge regression",
                "curves in any direction, on few rows",
                {"gamma": (0.001, 0.01, 0.1), "alpha": (0.001, 0.01, 0.1, 1.0, 10.0)},
                settings={"kernel": "rbf"},
                limits=("few rows for solving pairs",),
                halve="rows",
            ),
        ),
        file_types=KERNELS,
        page="kernel_machines.md",
        benchmark="kernel ridge, 20 penalties x 5 folds, 5,000 x 20",
    ),
)
