"""Random forests: bagged trees that try a few columns at each node."""

from rosenblatt.registry.row import Candidate, Contract, Row, Warm, unlike_repeated_rows

from .forest import ForestClassifier, ForestRegressor


class RandomForestClassifier(ForestClassifier):
    """Trees grown on bootstrap samples, each node on a few columns drawn at random [1]_.

    A tree that is grown out has little bias and much variance; the mean of many trees that err
    in different places has less variance. Each bootstrap sample leaves out about 36.8% of the
    rows: predicted by the trees that have not seen them, these estimate the error out of bag.

    Columns of numbers with more than 255 values are read as 255 quantiles; thresholds lie
    half-way between values of the data.

    Parameters
    ----------
    n_estimators : int
        How many trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, \
    categorical_features, unknown, missing
        As in `DecisionTreeClassifier`.
    bootstrap : bool
        Whether each tree has its own sample, drawn with replacement.
    oob_score : bool or callable
        Whether rows are scored by the trees that have not seen them.
    n_jobs : int or None
        The most threads; None for all that the process may use. The trees are the same.
    random_state : int, RandomState or None
        Of the samples and draws.
    verbose : int
        Accepted for compatibility; callbacks report the trees.
    warm_start : bool
        Whether another fit keeps the trees and adds more.
    class_weight : dict, list of dicts, {"balanced", "balanced_subsample"} or None
        Weights of the classes, of all rows or of each sample's.
    max_samples : int, float or None
        How many rows a sample draws; None for as many as there are.

    Attributes
    ----------
    estimators_ : the trees.
    estimators_samples_ : the rows that each tree drew.
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_ : of the data.
    categories_ : the categories of each column, None of one of numbers.
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    oob_score_, oob_decision_function_ : the accuracy and class shares out of bag.

    Examples
    --------
    >>> from rosenblatt import RandomForestClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> RandomForestClassifier(20, random_state=0).fit(X, y).predict([[0, 1], [1, 1]])
    array([1, 0])

    References
    ----------
    .. [1] L. Breiman (2001), Random forests. *Machine Learning* 45.
    """


class RandomForestRegressor(ForestRegressor):
    """Regression trees grown on bootstrap samples, their predictions averaged [1]_.

    Columns of numbers with more than 255 values are read as 255 quantiles; thresholds lie
    half-way between values of the data.

    Parameters
    ----------
    n_estimators : int
        How many trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, \
    categorical_features, unknown, missing
        As in `DecisionTreeRegressor`.
    bootstrap : bool
        Whether each tree has its own sample, drawn with replacement.
    oob_score : bool or callable
        Whether rows are scored by the trees that have not seen them.
    n_jobs : int or None
        The most threads; None for all that the process may use. The trees are the same.
    random_state : int, RandomState or None
        Of the samples and draws.
    verbose : int
        Accepted for compatibility; callbacks report the trees.
    warm_start : bool
        Whether another fit keeps the trees and adds more.
    max_samples : int, float or None
        How many rows a sample draws; None for as many as there are.

    Attributes
    ----------
    estimators_ : the trees.
    estimators_samples_ : the rows that each tree drew.
    n_outputs_, n_features_in_, feature_names_in_ : of the data.
    categories_ : the categories of each column, None of one of numbers.
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    oob_score_, oob_prediction_ : R2 and predictions out of bag.

    Examples
    --------
    >>> from rosenblatt import RandomForestRegressor
    >>> X, y = [[i] for i in range(20)], [float(i >= 10) for i in range(20)]
    >>> RandomForestRegressor(20, random_state=0).fit(X, y).predict([[2], [17]])
    array([0., 1.])

    References
    ----------
    .. [1] L. Breiman (2001), Random forests. *Machine Learning* 45.
    """


SETTINGS = {"n_estimators": 8, "random_state": 0}
REGRESSOR_CONTRACT = Contract(
    settings=(SETTINGS, SETTINGS | {"max_depth": 4, "min_samples_leaf": 2}),
    checked=(SETTINGS,),
    endless={"n_estimators": 200},
)
CLASSIFIER_CONTRACT = REGRESSOR_CONTRACT._replace(
    settings=(SETTINGS, SETTINGS | {"criterion": "entropy", "max_depth": 4, "min_samples_leaf": 2})
)
DRAWN_ROWS = unlike_repeated_rows(
    "a forest draws rows: of one of weight two it may draw one, two or none"
)
PEER_TESTS = ("tree/tests/test_monotonic_tree.py", "ensemble/tests/test_forest.py")
CLASSIFIER = Candidate(
    "random forest",
    "interactions between columns; few settings to tune",
    {"max_features": ("sqrt", 0.5), "min_samples_leaf": (1, 3)},
    reads="codes",
    settings={"random_state": 0},
    limits=("columns beside texts",),
    halve="forest",
    short_names=("rf", "forest"),
    order=92,
    rank=1,
)
REGRESSOR = CLASSIFIER._replace(
    name="random forest regression",
    grid={"max_features": (0.3, 0.6), "min_samples_leaf": (1, 3)},
    short_names=("rf", "forest", "random forest"),
    order=93,
)
WARM = Warm(({"n_estimators": 2},))
ROWS = (
    Row(
        "RandomForestClassifier",
        page="forests.md",
        certificate="forest",
        compare=(CLASSIFIER,),
        contract=CLASSIFIER_CONTRACT._replace(expected_failures=DRAWN_ROWS),
        warm=WARM,
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=PEER_TESTS,
    ),
    Row(
        "RandomForestRegressor",
        page="forests.md",
        certificate="forest",
        compare=(REGRESSOR,),
        contract=REGRESSOR_CONTRACT._replace(expected_failures=DRAWN_ROWS),
        warm=WARM,
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=PEER_TESTS,
    ),
)
