"""Random forests: bagged trees that try a few columns at each node."""

from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt.base import fitting
from rosenblatt.explanation import Explanation, as_row, two_classes
from rosenblatt.registry.row import Candidate, Contract, Row, Warm, unlike_repeated_rows
from rosenblatt.tree import DecisionTreeClassifier, DecisionTreeRegressor
from rosenblatt.tree.inputs import (
    class_targets,
    number_targets,
    refuse_other_classes,
    warn_of_friedman,
)

from .base import Forest


class ForestClassifier(ClassifierMixin, Forest):  # type: ignore[misc]
    """A forest of classification trees, whose class shares are averaged."""

    classes_: Any
    n_classes_: Any
    _tree = DecisionTreeClassifier

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Forest._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [
            StrOptions({"balanced_subsample", "balanced"}), dict, list, None,
        ],
    }  # fmt: skip

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.unknown = unknown
        self.missing = missing

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, o)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        rows = self._check_rows(X, reset=not self._goes_on())
        before = self.classes_ if self._goes_on() else None
        targets = class_targets(self, y, rows.shape[0])
        refuse_other_classes(before, self)
        weights = self._all_weights(y, self._weights(sample_weight, rows))
        self._grow(X, y, sample_weight, rows, targets, weights)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the mean class shares of the leaves, shape (n, K); a list for several outputs.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        value = self._mean_values(X)
        if self.n_outputs_ == 1:
            return value[:, 0]
        return [value[:, k, :m] for k, m in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class shares.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(p) for p in shares]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest mean share, the first if equal.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        places = self._mean_values(X).argmax(axis=2)
        if self.n_outputs_ == 1:
            return np.asarray(self.classes_[places[:, 0]])
        return np.transpose([known[places[:, k]] for k, known in enumerate(self.classes_)])

    def vote_shares(self, X: Any) -> NDArray[np.float64]:
        """Return which share of the trees votes for each class: how sure the forest is.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        shares : ndarray of shape (n, K)
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise ValueError("vote_shares takes a forest of one output.")
        rows = self._check_rows(X, reset=False)
        shares = np.zeros((rows.shape[0], int(self.n_classes_)))
        for tree in (model.tree_ for model in self.estimators_):
            shares += tree.votes[tree.apply(rows), 0]
        return shares / len(self.estimators_)

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Return what the tests on each column add to the lead of one row's class.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second best if None.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise ValueError("explain takes a forest of one output.")
        shares = self.predict_proba(as_row(self, x))[0]
        winner, second = two_classes(self.classes_, shares, rival)
        classes = (self.classes_[winner], self.classes_[second])
        return self._explain(
            x, lambda value: value[:, 0, winner] - value[:, 0, second], classes, feature_names
        )

    def _publish_out_of_bag(self, value: NDArray[np.float64], targets: Any) -> None:
        several = self.n_outputs_ > 1
        self.oob_decision_function_ = value.transpose(0, 2, 1) if several else value[:, 0]
        right = (value.argmax(axis=2) == targets.classes).all(axis=1)
        self.oob_score_ = float(np.mean(right))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class ForestRegressor(RegressorMixin, Forest):  # type: ignore[misc]
    """A forest of regression trees, whose predictions are averaged."""

    _tree = DecisionTreeRegressor

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Forest._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "absolute_error", "poisson", "friedman_mse"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.unknown = unknown
        self.missing = missing

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, o)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        warn_of_friedman(self.criterion)
        rows = self._check_rows(X, reset=not self._goes_on())
        targets = number_targets(self, y, rows.shape[0])
        self._grow(X, y, sample_weight, rows, targets, self._weights(sample_weight, rows))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean of the trees' predictions.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        value = self._mean_values(X)
        return value[:, 0, 0] if self.n_outputs_ == 1 else value[:, :, 0]

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Return what the tests on each column add to the prediction for one row.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : None
            Numbers have no rivals.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise ValueError("explain takes a forest of one output.")
        return self._explain(x, lambda value: value[:, 0, 0], ("prediction", None), feature_names)

    def _publish_out_of_bag(self, value: NDArray[np.float64], targets: Any) -> None:
        from sklearn.metrics import r2_score

        guess = value[:, :, 0]
        self.oob_prediction_ = guess[:, 0] if self.n_outputs_ == 1 else guess
        self.oob_score_ = float(r2_score(targets.numbers, guess))


def with_defaults(constructor: Any, **defaults: Any) -> Any:
    """Return a copy of a constructor whose parameters have other defaults."""
    made = FunctionType(
        constructor.__code__, constructor.__globals__, "__init__", constructor.__defaults__
    )
    made.__kwdefaults__ = constructor.__kwdefaults__ | defaults
    return made


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
    feature_importances_ : the share of each column in what the splits gained, shape (d,).
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
    feature_importances_ : the share of each column in what the splits gained, shape (d,).
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
ROWS = (
    Row(
        "RandomForestClassifier",
        page="forests.md",
        certificate="forest",
        compare=(
            Candidate(
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
            ),
        ),
        contract=CLASSIFIER_CONTRACT._replace(expected_failures=DRAWN_ROWS),
        warm=Warm(({"n_estimators": 2},)),
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=PEER_TESTS,
    ),
    Row(
        "RandomForestRegressor",
        page="forests.md",
        certificate="forest",
        compare=(
            Candidate(
                "random forest regression",
                "interactions between columns; few settings to tune",
                {"max_features": (0.3, 0.6), "min_samples_leaf": (1, 3)},
                reads="codes",
                settings={"random_state": 0},
                limits=("columns beside texts",),
                halve="forest",
                short_names=("rf", "forest", "random forest"),
                order=93,
                rank=1,
            ),
        ),
        contract=REGRESSOR_CONTRACT._replace(expected_failures=DRAWN_ROWS),
        warm=Warm(({"n_estimators": 2},)),
        parts="forest",
        file_types=("tree.structure.Tree",),
        slow_peer_tests=PEER_TESTS,
    ),
)
