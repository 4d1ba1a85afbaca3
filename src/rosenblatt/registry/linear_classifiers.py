"""Linear classifiers that minimise a smooth loss: logistic and squared."""

from .row import Contestant, Contract, Row, Warm, Without

NOT_ADDITIVE = Without("the loss is no polynomial of the weights: no sum over the rows is enough")

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
        warm=Warm(({}, {"solver": "newton-cg"}, {"solver": "sgd"}, {"l1_ratio": 0.5})),
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
                {"Cs": [0.01, 1.0], "tol": 1e-8, "use_legacy_attributes": False},
                {
                    "Cs": [0.1, 1.0],
                    "l1_ratios": [0.0, 0.5],
                    "cv": 3,
                    "use_legacy_attributes": False,
                },
            ),
            checked=({"Cs": 3, "cv": 3},),
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
)
