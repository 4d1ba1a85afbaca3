"""Every public estimator, by being public, and the settings in which it is tested."""

import inspect

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_regressor
from sklearn.datasets import make_classification
from sklearn.utils import get_tags

import rosenblatt

ESTIMATORS = [
    member
    for name in rosenblatt.__all__
    if inspect.isclass(member := getattr(rosenblatt, name))
    and issubclass(member, BaseEstimator)
    and not issubclass(member, MetaEstimatorMixin)  # which have no behaviour of their own
]

# Settings that take other paths through the code than the defaults.
SETTINGS = {
    "ElasticNet": [
        {"tol": 1e-12},
        {"alpha": 0.01, "l1_ratio": 0.9, "fit_intercept": False, "tol": 1e-12},
    ],
    "ElasticNetCV": [{"alphas": [0.01, 0.1, 0.5], "tol": 1e-12}],
    "Lasso": [
        {"alpha": 0.01, "tol": 1e-12},
        {"alpha": 0.05, "positive": True, "fit_intercept": False, "tol": 1e-12},
        {"alpha": 0.01, "selection": "random", "random_state": 0, "tol": 1e-12},
    ],
    "LassoCV": [{"alphas": [0.01, 0.1, 0.5], "tol": 1e-12}],
    "BasisExpansion": [
        {},
        {"basis": "gaussian", "n_functions": 4},
        {"basis": ["powers", "fourier"]},
    ],
    "AveragedPerceptron": [{}, {"tol": None, "max_iter": 5}, {"early_stopping": True}],
    "BernoulliNB": [
        {},
        {"alpha": 0},
        {"beta_prior": (2, 3), "fit_prior": False},
        {"missing": "ignore"},
    ],
    "CategoricalNB": [{}, {"alpha": 0.5, "unknown": "smooth", "missing": "ignore"}],
    "ComplementNB": [{}, {"norm": True, "alpha": 0.1}, {"missing": "ignore"}],
    "FisherDiscriminant": [{}, {"threshold": "prior", "shrinkage": 0.2}, {"threshold": "scan"}],
    "GaussianNB": [
        {},
        {"variance": "feature", "ddof": 1},
        {"variance": "class"},
        {"variance": "single", "missing": "ignore"},
    ],
    "KernelLogisticRegression": [
        {"tol": 1e-8},
        {"kernel": "poly", "coef0": 1.0, "solver": "lbfgs"},
        {"kernel": "linear", "softmax": "reference", "fit_intercept": False},
        {"kernel": "sigmoid", "gamma": 0.1, "class_weight": "balanced"},
    ],
    "KernelPerceptron": [
        {"max_updates": 200},
        {"kernel": "poly", "coef0": 1.0, "max_updates": 200, "cache_size": 1.0},
        {"kernel": "linear", "pick": "worst", "max_updates": 20},
        {"early_stopping": True, "max_updates": 200},
    ],
    "LeastSquaresClassifier": [{}, {"fit_intercept": False}],
    "LinearRegression": [{}, {"fit_intercept": False, "tol": 0}, {"positive": True}],
    "LinearDiscriminantAnalysis": [
        {},
        {"solver": "lsqr", "shrinkage": 0.1},
        {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
        {"covariance": "diagonal"},
    ],
    "LogisticRegression": [
        {},
        {"solver": "lbfgs"},
        {"solver": "newton-cg"},
        {"solver": "gradient", "max_iter": 20},
        {"solver": "sgd", "max_iter": 5, "random_state": 0},
        {"l1_ratio": 0.5, "C": 0.1},
        {"softmax": "reference"},
    ],
    "LogisticRegressionCV": [
        {"Cs": [0.01, 1.0], "tol": 1e-8, "use_legacy_attributes": False},
        {"Cs": [0.1, 1.0], "l1_ratios": [0.0, 0.5], "cv": 3, "use_legacy_attributes": False},
    ],
    "MixedNB": [{}, {"alpha": 0, "variance": "feature"}],
    "MultinomialNB": [{}, {"alpha": 0}, {"fit_prior": False}, {"missing": "ignore"}],
    "Perceptron": [
        {},
        {"tol": None, "max_iter": 5},
        {"penalty": "elasticnet", "max_iter": 5},
        {"pick": "worst", "max_updates": 20},
        {"pick": "random", "max_updates": 20},
        {"early_stopping": True},
    ],
    "PocketPerceptron": [{"max_iter": 6}, {"pick": "worst", "max_updates": 20}],
    "QuadraticDiscriminantAnalysis": [
        {"reg_param": 0.01},
        {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
        {"covariance": "diagonal"},
    ],
    "Ridge": [
        {},
        {"alpha": 0.01, "fit_intercept": False},
        {"solver": "svd"},
        {"solver": "lbfgs", "positive": True},
    ],
    "RidgeCV": [{}, {"alphas": "decades", "cv": 3}, {"scoring": "r2", "fit_intercept": False}],
    "Standardizer": [
        {},
        {"with_mean": False, "ddof": 0},
        {"method": "min-max", "feature_range": (-1, 1)},
        {"method": "sigmoid"},
        {"method": "l1"},
        {"method": "l2"},
        {"missing": "ignore"},
        {"method": "min-max", "missing": "ignore"},
    ],
}

# scikit-learn's checks that an estimator may fail, with the reason.
EXPECTED_FAILURES = {
    name: dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ],
        "visits row by row: a row of weight two is one visit with a double step, not two",
    )
    for name in ("AveragedPerceptron", "KernelPerceptron", "Perceptron", "PocketPerceptron")
}

# The rows that those take whose work grows with the cube of them.
MOST_ROWS = {"KernelLogisticRegression": 500}

# What keeps an iterative fit going until it is interrupted, where tol=None does not.
ENDLESS = {
    "LogisticRegression": {"solver": "gradient", "eta0": 1e-12},
    "KernelLogisticRegression": {"solver": "sgd", "random_state": 0},
}

# Of these, the ones for scikit-learn's own checks. The rest hold out rows of tiny tables, with
# which scikit-learn's own class fails a dozen of them, too, or make too few updates for them.
CHECKED_SETTINGS = {
    "AveragedPerceptron": [{}],
    "BernoulliNB": [{}, {"alpha": 0}, {"beta_prior": (2, 3), "missing": "ignore"}],
    "CategoricalNB": [{}, {"unknown": "smooth", "missing": "ignore"}],
    "ComplementNB": [{}, {"norm": True, "alpha": 0, "missing": "ignore"}],
    "GaussianNB": [{}, {"variance": "feature"}, {"variance": "single", "missing": "ignore"}],
    "KernelLogisticRegression": [{"gamma": 0.1}, {"kernel": "linear"}],
    "KernelPerceptron": [{}, {"kernel": "poly", "coef0": 1.0}],
    "LogisticRegression": [{}, {"l1_ratio": 0.5}, {"softmax": "reference", "solver": "lbfgs"}],
    "LogisticRegressionCV": [{"Cs": 3, "cv": 3}],
    "MultinomialNB": [{}, {"alpha": 0, "missing": "ignore"}],
    "Perceptron": [{}, {"tol": None, "max_iter": 5}, {"penalty": "elasticnet"}],
    "PocketPerceptron": [{"max_updates": 1000}],
    # Settings that read the rows a second time know no partial_fit, and the solver "lsqr" no
    # transform, which the checks would call.
    "FisherDiscriminant": [{}, {"threshold": "prior", "shrinkage": 0.2}],
    "LeastSquaresClassifier": [{}, {"fit_intercept": False}],
    "LinearRegression": [{}, {"fit_intercept": False}, {"positive": True}],
    "Ridge": [{}, {"solver": "svd"}, {"positive": True}],
    "RidgeCV": [{}, {"alphas": "decades"}, {"alphas": [0.1, 1.0], "scoring": "r2"}],
    "LinearDiscriminantAnalysis": [
        {},
        {"solver": "eigen", "shrinkage": 0.1},
        {"covariance": "diagonal"},
    ],
    # Nor "eigen", which refuses a class that is one row again and again: nothing can be shrunk.
    "QuadraticDiscriminantAnalysis": [{}, {"reg_param": 0.1, "covariance": "diagonal"}],
    "BasisExpansion": SETTINGS["BasisExpansion"],
    "Standardizer": SETTINGS["Standardizer"],
}


def instances(settings=SETTINGS):
    """One estimator for each class and setting."""
    return [
        estimator(**setting)
        for estimator in ESTIMATORS
        for setting in settings.get(estimator.__name__, [{}])
    ]


def speaks(estimator):
    """Whether it tells callbacks of its steps: transformers have none, and tell of their fit."""
    return hasattr(estimator, "set_callbacks") and hasattr(estimator, "predict")


def iterative(estimator):
    """Whether it learns in passes: it then speaks to callbacks and says why it stopped.

    What follows from an additive statistic has a closed form, and one step to tell of.
    """
    return speaks(estimator) and not hasattr(estimator, "merge")


def mistake_driven(estimator):
    """Whether it learns example by example, and has updates and visits to tell of."""
    return iterative(estimator) and hasattr(estimator, "pick")


def holds_out(estimator):
    """Whether it keeps rows aside to stop early by."""
    return getattr(estimator, "early_stopping", False)


def n_passes(model):
    """How many passes or iterations a fit made, as one number; a closed form is one."""
    return int(np.max(getattr(model, "n_iter_", 1)))


def predicts(estimator):
    """Whether it predicts: transformers do not."""
    return hasattr(estimator, "predict")


def takes_sparse(estimator):
    """Whether it accepts sparse rows."""
    return get_tags(estimator).input_tags.sparse


def takes_missing(estimator):
    """Whether it accepts NaN."""
    return get_tags(estimator).input_tags.allow_nan


def has_precision(estimator):
    """Whether it reads numbers: the names of categories have no precision."""
    return not get_tags(estimator).input_tags.categorical


def only(ability, estimators):
    """Those that have an ability, one of the functions above."""
    return [estimator for estimator in estimators if ability(estimator)]


def name_of(estimator):
    """A test's name for it."""
    return repr(estimator)


def problem(
    n_classes=2, n_rows=120, n_features=5, dtype=np.float64, sparse=False, seed=0, estimator=None
):
    """A noisy table with its labels; of counts, two classes, or numbers, for who asks for such."""
    tags = None if estimator is None else get_tags(estimator)
    if tags is not None and tags.classifier_tags and not tags.classifier_tags.multi_class:
        n_classes = 2
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=min(n_features, 4),
        n_redundant=0,
        n_classes=n_classes,
        random_state=seed,
    )
    if estimator is not None and is_regressor(estimator):
        noise = np.random.default_rng(seed).normal(size=n_rows)
        y = X @ np.linspace(-1, 2, n_features) + 0.5 * noise + 3
    X = X.astype(dtype)
    if tags is not None and (tags.input_tags.positive_only or tags.input_tags.categorical):
        X = np.clip(np.round(X), 0, 2)
    if sparse:
        X[np.abs(X) < 0.3] = 0
        X = sp.csr_matrix(X)
    return X, y if y.dtype.kind == "f" else np.array(["a", "b", "c", "d"])[y]


def learned(model):
    """The numbers that were learned: one array."""
    for name in ("coef_", "dual_coef_", "theta_", "feature_log_prob_"):
        if hasattr(model, name):
            found = getattr(model, name)
            return np.hstack([p.ravel() for p in found]) if isinstance(found, list) else found
    tables = [a for a in fitted_arrays(model).values() if a.dtype.kind == "f"]
    return np.concatenate([table.ravel() for table in tables])


def scores(model, X):
    """What it decides by, a number for each row or each row and class; or what it makes of X."""
    for method in ("decision_function", "predict_joint_log_proba", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError(f"{model} has nothing to say")


def fitted_arrays(model):
    """The public fitted attributes that are numbers."""
    values = {
        name: value.toarray() if sp.issparse(value) else value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    return {
        name: np.asarray(value)
        for name, value in values.items()
        if isinstance(value, np.ndarray | int)
    }
