"""Support vector machines."""

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
        trace=("weights",),
        warm=Warm(
            ({}, {"loss": "hinge"}, IN_DUAL, {"multi_class": "joint"}, JOINT, {"penalty": "l1"})
        ),
        contract=Contract(
            settings=(
                {},
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
                short_names=("linear svm",),
            ),
        ),
        file_types=(),
        page="svm.md",
        benchmark="LinearSVC, CSR 200k x 50k",
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
        trace=("weights",),
        warm=Warm(({}, {"loss": "squared_epsilon_insensitive"}, IN_DUAL)),
        contract=Contract(
            settings=(
                {},
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
    ),
)
