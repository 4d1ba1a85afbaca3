"""Perceptrons: learners that correct their mistakes row by row."""

from .row import Contestant, Contract, Row, Warm, Without

BY_VISITS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "visits row by row: a row of weight two is one visit with a double step, not two",
)
NOT_ADDITIVE = Without("learns from each row in its turn: no sum over the rows is enough")
PASSES = ("max_iter",)

ROWS = (
    Row(
        name="Perceptron",
        module="linear_model.perceptron",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="perceptron",
        sklearn=("Perceptron",),
        additive=NOT_ADDITIVE,
        path=PASSES,
        trace=("weights",),
        warm=Warm(
            (
                {"max_iter": 2},
                {"fit_intercept": False, "max_iter": 1},
                {"penalty": "l2", "max_iter": 2},
                {"pick": "first", "max_updates": 2},
            )
        ),
        contract=Contract(
            settings=(
                {},
                {"tol": None, "max_iter": 5},
                {"penalty": "elasticnet", "max_iter": 5},
                {"pick": "worst", "max_updates": 20},
                {"pick": "random", "max_updates": 20},
                {"early_stopping": True},
            ),
            # The rest hold out rows of tiny tables, with which scikit-learn's own class fails a
            # dozen checks, too, or make too few updates for them.
            checked=({}, {"tol": None, "max_iter": 5}, {"penalty": "elasticnet"}),
            expected_failures=BY_VISITS,
        ),
        contestants=(
            Contestant(
                "perceptron",
                "watching a line being found; the averaged one does better",
                {"max_iter": (2, 5, 20)},
            ),
        ),
        file_types=(),
        page="perceptron.md",
        benchmark="perceptron pass, dense 1M x 50",
    ),
    Row(
        name="AveragedPerceptron",
        module="linear_model.averaged",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="averaged",
        sklearn=Without("scikit-learn averages within SGDClassifier, whose certificate is another"),
        additive=NOT_ADDITIVE,
        path=PASSES,
        trace=("weights", "last_weights"),
        warm=Warm(({"max_iter": 2},)),
        contract=Contract(
            settings=({}, {"tol": None, "max_iter": 5}, {"early_stopping": True}),
            expected_failures=BY_VISITS,
        ),
        contestants=(
            Contestant(
                "averaged perceptron",
                "very many rows or columns, and little time",
                {"max_iter": (2, 5, 20)},
            ),
        ),
        file_types=(),
        page="perceptron.md",
        benchmark="averaged perceptron pass, dense 1M x 50",
    ),
    Row(
        name="PocketPerceptron",
        module="linear_model.pocket",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="pocket",
        sklearn=Without("scikit-learn has no pocket perceptron"),
        additive=NOT_ADDITIVE,
        path=Without("the pocket of a shorter run is not kept on the way"),
        trace=("weights", "last_weights"),
        # Twenty passes are long enough for a quick look at many planes.
        warm=Warm(({"max_iter": 20}, {"pick": "first", "max_updates": 2})),
        contract=Contract(
            settings=({"max_iter": 6}, {"pick": "worst", "max_updates": 20}),
            checked=({"max_updates": 1000},),
            expected_failures=BY_VISITS,
        ),
        contestants=(
            Contestant(
                "pocket perceptron",
                "the fewest mistakes a line can make, on few rows",
                {"max_updates": (2_000,)},
                limits=("few rows for each mistake",),
            ),
        ),
        file_types=(),
        page="perceptron.md",
        benchmark="pocket, dense 10k x 50, 10,000 updates",
    ),
)
