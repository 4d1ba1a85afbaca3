"""Support vector machines."""

from .kernels import KERNELS
from .row import Contestant, Contract, Row, Warm, Without

NOT_ADDITIVE = Without("the rows on the margin decide: no sum over the rows is enough")
POWERS_OF_C = (1e-3, 1e-2, 0.1, 1.0, 10.0)
ENDLESS = {"loss": "hinge", "dual": True, "tol": 1e-15}
JOINT = {"multi_class": "joint", "dual": True}
IN_DUAL = {"dual": True, "random_state": 0}

ROWS = (
    Row(
        name="LinearSVC",
        module="svm.linear",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="linear_svm",
        sklearn=("LinearSVC",),
        additive=NOT_ADDITIVE,
        path=("C",),
        trace=("weights", "supports"),
        warm=Warm(
            ({}, {"loss": "hinge"}, IN_DUAL, {"multi_class": "joint"}, JOINT, {"penalty": "l1"})
        ),
        contract=Contract(
            settings=(
                {"random_state": 0},
                {"loss": "hinge"},
                {"loss": "hinge", "C": 0.01, **IN_DUAL},
                {"penalty": "l1", "C": 1.0, "tol": 1e-8},
                {"penalize_intercept": False},
                {"multi_class": "crammer_singer"},
                {"multi_class": "joint", "dual": True, "C": 0.01, "random_state": 0},
            ),
            checked=({}, {"loss": "hinge"}, {"penalty": "l1"}),
            endless=ENDLESS,
        ),
        contestants=(
            Contestant(
                "linear machine",
                "classes that a plane nearly separates; many columns, as in text",
                {"C": POWERS_OF_C},
                short_names=("linear svm", "linear support vector machine"),
            ),
            Contestant(
                "support vector machine on landmarks",
                "curved boundaries with a wide margin, from 5,000 rows on: each row is compared "
                "with 300 of them by a Gaussian kernel",
                {"C": (0.1, 1.0, 10.0)},
                limits=("many rows for pairs",),
                expansion="landmarks",
            ),
        ),
        file_types=(),
        page="svm.md",
        benchmark="LinearSVC, CSR 200k x 50k",
        parts="linear_svm",
    ),
    Row(
        name="LinearSVR",
        module="svm.linear",
        task="regression",
        inputs=("dense", "sparse"),
        verifier="linear_svm",
        sklearn=("LinearSVR",),
        additive=NOT_ADDITIVE,
        path=("C",),
        trace=("weights", "supports"),
        warm=Warm(({}, {"loss": "squared_epsilon_insensitive"}, IN_DUAL)),
        contract=Contract(
            settings=(
                {"random_state": 0},
                {"epsilon": 0.1, "penalize_intercept": False},
                {"loss": "squared_epsilon_insensitive", "epsilon": 1.0, "C": 10.0},
                {"epsilon": 0.1, "C": 0.01, **IN_DUAL},
            ),
            checked=({}, {"loss": "squared_epsilon_insensitive"}),
            endless={"dual": True, "tol": 1e-15},
        ),
        contestants=(
            Contestant(
                "linear support vector regression",
                "a straight line where some targets are far off: errors count, not their squares",
                {"C": POWERS_OF_C},
                short_names=("linear svr",),
            ),
        ),
        file_types=(),
        page="svm.md",
        benchmark=Without("its loops and solvers are those of LinearSVC"),
        parts="linear_svm",
    ),
    Row(
        name="SVC",
        module="svm.kernel",
        task="classification",
        inputs=("dense", "sparse", "precomputed"),
        verifier="kernel_machine",
        sklearn=("SVC",),
        additive=NOT_ADDITIVE,
        path=("C",),
        trace=("supports", "support_weights"),
        warm=Warm(({}, {"kernel": "linear"}, {"multi_class": "joint"})),
        contract=Contract(
            settings=(
                {},
                {"kernel": "linear", "C": 0.1},
                {"kernel": "poly", "coef0": 1.0, "cache_size": 1.0, "multi_class": "ovr"},
                {"kernel": "laplacian", "decision_function_shape": "ovo"},
                {"multi_class": "joint"},
            ),
            checked=({}, {"kernel": "linear"}),
            most_rows=2_000,
            endless={"kernel": "linear", "C": 1e6, "tol": 1e-12},
        ),
        contestants=(
            Contestant(
                "support vector machine",
                "curved boundaries with a wide margin, up to some ten thousand rows",
                {"gamma": (0.001, 0.01, 0.1, 1.0), "C": (0.1, 1.0, 10.0, 100.0)},
                limits=("few rows for pairs",),
                halve="rows",
                short_names=("svm", "kernel svm"),
            ),
        ),
        file_types=KERNELS,
        page="kernel_machines.md",
        benchmark="SVC, Gaussian, noisy 10k x 50",
    ),
    Row(
        name="SVR",
        module="svm.kernel",
        task="regression",
        inputs=("dense", "sparse", "precomputed"),
        verifier="kernel_machine",
        sklearn=("SVR",),
        additive=NOT_ADDITIVE,
        path=("C",),
        trace=("supports", "support_weights"),
        warm=Warm(({}, {"kernel": "linear"})),
        contract=Contract(
            settings=({}, {"kernel": "linear", "epsilon": 0.5}, {"kernel": "poly", "degree": 2}),
            checked=({}, {"kernel": "linear"}),
            most_rows=2_000,
            endless={"kernel": "linear", "C": 1e6, "tol": 1e-12},
        ),
        contestants=(
            Contestant(
                "support vector regression",
                "curves in any direction that few large errors should not bend",
                {"gamma": (0.001, 0.01, 0.1), "C": (0.1, 1.0, 10.0, 100.0)},
                limits=("few rows for pairs",),
                halve="rows",
                short_names=("svm", "kernel svm"),
            ),
        ),
        file_types=KERNELS,
        page="kernel_machines.md",
        benchmark="SVR, Gaussian, 5,000 x 20",
    ),
)
