"""Extremely randomised trees: forests whose thresholds are drawn."""

from types import FunctionType
from typing import Any

from rosenblatt.registry.row import Row

from . import random_forest
from .forest import ForestClassifier, ForestRegressor


def with_defaults(constructor: Any, **defaults: Any) -> Any:
    """Return a copy of a constructor whose parameters have other defaults."""
    made = FunctionType(
        constructor.__code__, constructor.__globals__, "__init__", constructor.__defaults__
    )
    made.__kwdefaults__ = constructor.__kwdefaults__ | defaults
    return made


class ExtraTreesClassifier(ForestClassifier):
    """Trees whose thresholds are drawn at random, one for each column tried at a node [1]_.

    The best of the drawn splits is taken. Trees differ more than those of a random forest, grow
    faster, and see all rows unless `bootstrap` is set. Columns of numbers with more than 255
    values are read as 255 quantiles.

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
    >>> from rosenblatt import ExtraTreesClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> ExtraTreesClassifier(20, random_state=0).fit(X, y).predict([[0, 1], [1, 1]])
    array([1, 0])

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006), Extremely randomized trees. *Machine Learning*
       63.
    """

    _random_thresholds = True
    __init__ = with_defaults(ForestClassifier.__init__, bootstrap=False)


class ExtraTreesRegressor(ForestRegressor):
    """Regression trees whose thresholds are drawn at random, their predictions averaged [1]_.

    Columns of numbers with more than 255 values are read as 255 quantiles.

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
    >>> from rosenblatt import ExtraTreesRegressor
    >>> X, y = [[i] for i in range(20)], [float(i >= 10) for i in range(20)]
    >>> ExtraTreesRegressor(20, random_state=0).fit(X, y).predict([[2], [17]])
    array([0., 1.])

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006), Extremely randomized trees. *Machine Learning*
       63.
    """

    _random_thresholds = True
    __init__ = with_defaults(ForestRegressor.__init__, bootstrap=False)


WHEN = "like a random forest; random thresholds make it smoother and faster"
ROWS = (
    Row(
        "ExtraTreesClassifier",
        page="forests.md",
        certificate="forest",
        compare=(
            random_forest.CLASSIFIER._replace(
                name="extra trees", when=WHEN, short_names=("et", "extratrees"), order=94
            ),
        ),
        contract=random_forest.CLASSIFIER_CONTRACT,
        warm=random_forest.WARM,
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=random_forest.PEER_TESTS,
    ),
    Row(
        "ExtraTreesRegressor",
        page="forests.md",
        certificate="forest",
        compare=(
            random_forest.REGRESSOR._replace(
                name="extra trees regression",
                when=WHEN,
                short_names=("et", "extratrees", "extra trees"),
                order=95,
            ),
        ),
        contract=random_forest.REGRESSOR_CONTRACT,
        warm=random_forest.WARM,
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=random_forest.PEER_TESTS,
    ),
)
