"""Linear classifiers: those that minimise a smooth loss, and the perceptrons."""

from .row import Contestant, Contract, Row, Warm, Without

NOT_ADDITIVE = Without("the loss is no polynomial of the weights: no sum over the rows is enough")
BY_VISITS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "visits row by row: a row of weight two is one visit with a double step, not two",
)
NO_SUM_IS_ENOUGH = Without("learns from each row in its turn: no sum over the rows is enough")
PASSES = ("max_iter",)
CV_DEFAULTS_SET = {"scoring": "accuracy", "use_legacy_attributes": False}  # else they warn

ROWS = (
    Row(
        name="LogisticRegression",
        module="linear_model.logistic",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="logistic_regression",
        sklearn=("LogisticRegression", "SGDClassifier"),
        additive=NOT_ADDITIVE,
        path=("C",),
        trace=("weights",),
        warm=Warm(
            ({}, {"solver": "newton-cg"}, {"solver": "sgd"}, {"l1_ratio": 0.5}),
            large="linear_model.logistic.run_large_loop",
        ),
        contract=Contract(
            settings=(
                {},
                {"solver": "lbfgs"},
                {"solver": "newton-cg"},
                {"solver": "gradient", "max_iter": 20},
                {"solver": "sgd", "max_iter": 5, "random_state": 0},
                {"l1_ratio": 0.5, "C": 0.1},
                {"softmax": "reference"},
            ),
            checked=({}, {"l1_ratio": 0.5}, {"softmax": "reference", "solver": "lbfgs"}),
            endless={"solver": "gradient", "eta0": 1e-12},
        ),
        contestants=(
            Contestant(
                "logistic regression",
                "probabilities to be trusted, and weights to be read",
                {"C": (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)},
                short_names=("logreg",),
            ),
        ),
        file_types=(),
        page="logistic_regression.md",
        benchmark="logistic regression, dense 1M x 50",
        parts="logistic",
    ),
    Row(
        name="LogisticRegressionCV",
        module="linear_model.logistic_cv",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="logistic_regression",
        sklearn=("LogisticRegressionCV",),
        additive=NOT_ADDITIVE,
        path=Without("it follows the path of LogisticRegression itself, and chooses on it"),
        trace=("weights",),
        warm=Without("it runs the loops of LogisticRegression"),
        contract=Contract(
            settings=(
                {"Cs": [0.01, 1.0], "tol": 1e-8, "l1_ratios": (0,), **CV_DEFAULTS_SET},
                {"Cs": [0.1, 1.0], "cv": 3, "l1_ratios": [0.0, 0.5], **CV_DEFAULTS_SET},
            ),
            checked=({"Cs": 3, "cv": 3, "l1_ratios": (0,), **CV_DEFAULTS_SET},),
        ),
        contestants=Without("compare searches the penalties of logistic regression itself"),
        file_types=(),
        page="logistic_regression.md",
        benchmark=Without("no wanted ratio of its own: its fits are those of LogisticRegression"),
    ),
    Row(
        name="LeastSquaresClassifier",
        module="linear_model.least_squares",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="discriminants",
        sklearn=Without("scikit-learn has least squares for classes only with a penalty"),
        additive=True,
        path=Without("it has no parameter to follow"),
        trace=Without("it learns in one step: no state moves"),
        warm=Warm(),
        contract=Contract(
            settings=({}, {"fit_intercept": False}), checked=({}, {"fit_intercept": False})
        ),
        contestants=(
            Contestant(
                "least squares classifier",
                "a linear answer in one pass, to compare others with",
                {},
                limits=("few columns",),
            ),
        ),
        file_types=("statistics.moments.Moments", "statistics.counts.ClassCounts"),
        page="discriminants.md",
        benchmark=Without("the statistic is that of LinearDiscriminantAnalysis; no peer has it"),
    ),
    Row(
        name="Perceptron",
        module="linear_model.perceptron",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="perceptron",
        sklearn=("Perceptron",),
        additive=NO_SUM_IS_ENOUGH,
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
        parts="perceptron",
    ),
    Row(
        name="AveragedPerceptron",
        module="linear_model.averaged_perceptron",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="averaged_and_pocket",
        sklearn=Without("scikit-learn averages within SGDClassifier, whose certificate is another"),
        additive=NO_SUM_IS_ENOUGH,
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
        parts="perceptron",
    ),
    Row(
        name="PocketPerceptron",
        module="linear_model.pocket_perceptron",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="averaged_and_pocket",
        sklearn=Without("scikit-learn has no pocket perceptron"),
        additive=NO_SUM_IS_ENOUGH,
        path=Without("the pocket of a shorter run is not kept on the way"),
        trace=("weights", "last_weights"),
        # Twenty passes are long enough for a quick look at many planes.
        warm=Warm(({"max_iter": 20}, {"pick": "first", "max_updates": 2})),
        contract=Contract(
            settings=({"max_iter": 6}, {"pick": "worst", "max_updates": 20}),
            most_rows=3_000,
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
