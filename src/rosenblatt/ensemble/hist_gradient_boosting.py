"""Histogram gradient boosting of classes and of numbers, under scikit-learn's names."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d, compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import store_parameters
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .boosted_growth import BinaryLogLoss, Floats, MultinomialLogLoss, RegressionLoss
from .boosting import HistGradientBoosting


class HistGradientBoostingClassifier(ClassifierMixin, HistGradientBoosting):  # type: ignore[misc]
    """Boosted trees on histograms, for classes: descent on the log loss, each step a tree [1]_.

    One tree a round for two classes, one for each class for more. Columns are read as at most
    255 levels; each tree grows leaf by leaf, where the loss falls most; a leaf's value is the
    Newton step of its rows.

    Parameters
    ----------
    loss : "log_loss"
        The logarithm of the true class's probability, negative.
    learning_rate : float
        Shrinkage: factor of each tree's values. Smaller values need more rounds.
    max_iter : int
        The most rounds.
    max_leaf_nodes, max_depth, min_samples_leaf : int or None, int or None, int
        Limits of a tree: its leaves, the tests on a path, and the rows of a leaf.
    l2_regularization : float
        L2 penalty on leaf values: added to the second derivatives of a leaf.
    max_features : float
        The share of the columns that each node tries, drawn at random.
    max_bins : int
        The most levels of a column, missing values apart.
    categorical_features : array-like of names, places or a mask, "from_dtype" or None
        Which columns hold categories, at most `max_bins` each; by default those of a data frame
        that hold words or categories. Of other values, and missing ones, the fit learns the side.
    monotonic_cst : array-like of shape (d,) or dict or None
        1 where the prediction must not fall as the column grows, -1 where it must not rise.
    interaction_cst : list of sets of int, {"pairwise", "no_interactions"} or None
        Which columns may meet on a path from the root to a leaf.
    warm_start : bool
        Whether another fit keeps the trees and adds more.
    early_stopping : bool or "auto"
        Whether to stop once held-out rows are predicted no better; "auto" with more than 10,000.
    scoring : str, callable or None
        Score for early stopping; "loss" for the loss.
    validation_fraction : float, int or None
        The share or number of rows held out for it; None to stop by the training rows.
    n_iter_no_change, tol : int, float
        It stops when this many rounds improve the score by no more than this.
    verbose : int
        Whether to print a line a round.
    random_state : int, RandomState or None
        Of the held-out rows, the columns drawn, and the rows that quantiles are taken of.
    class_weight : dict, "balanced" or None
        Weights of the classes.

    Attributes
    ----------
    classes_ : the classes, in order.
    trees_ : the nodes of all trees, as arrays.
    baseline_ : the raw predictions before the first tree.
    n_iter_, n_trees_per_iteration_ : the number of rounds, and of trees in each.
    train_score_, validation_score_ : scores before the first and after each round, if it may
        stop early.
    do_early_stopping_, validation_rows_ : whether it may, and which rows are held out for it.
    stop_reason_ : "max_iter", "early_stopping" or "callback".
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    is_categorical_, categories_ : which columns hold categories, and which these are.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import HistGradientBoostingClassifier
    >>> X, y = [[i] for i in range(100)], [i // 50 for i in range(100)]
    >>> HistGradientBoostingClassifier(max_iter=10).fit(X, y).predict([[3], [70]])
    array([0, 1])

    References
    ----------
    .. [1] J. H. Friedman (2001), Greedy function approximation: a gradient boosting machine.
       *Annals of Statistics* 29. G. Ke et al. (2017), LightGBM. *NeurIPS*.
    """

    classes_: NDArray[Any]
    loss: str
    class_weight: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HistGradientBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: Any = None,
    ) -> None:
        store_parameters(self, locals())

    def _targets(self, y: Any, reset: bool) -> Floats:
        """Classes by their number."""
        classes, codes = checks.labels(y)
        if reset:
            self.classes_ = classes
        elif not np.isin(classes, self.classes_).all():
            raise ValueError(
                f"y_val contains previously unseen labels: "
                f"{np.setdiff1d(classes, self.classes_).tolist()}"
            )
        else:
            codes = np.searchsorted(self.classes_, classes)[codes]
        return codes.astype(np.float64)

    def _class_weights(self, y: Floats, weight: Floats | None) -> Floats | None:
        if self.class_weight is None:
            return weight
        by_class = compute_sample_weight(self.class_weight, self.classes_[y.astype(np.intp)])
        return np.asarray(by_class if weight is None else weight * by_class)

    def _make_loss(self) -> BinaryLogLoss | MultinomialLogLoss:
        K = len(self.classes_)
        return BinaryLogLoss() if K <= 2 else MultinomialLogLoss(K)

    def _scores(self, raw: Floats) -> Floats:
        """(n,) of two classes, (n, K) of more."""
        return raw[0] if len(raw) == 1 else raw.T

    def _labels(self, raw: Floats) -> NDArray[Any]:
        places = (raw[0] > 0).astype(np.intp) if len(raw) == 1 else raw.argmax(axis=0)
        return np.asarray(self.classes_[places])

    def _probabilities(self, raw: Floats) -> Floats:
        return self._make_loss().probabilities(raw)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of X, shape (n,).

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        return self._labels(self._raw_predict(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        for raw in self._staged_raw_predict(X):
            yield self._labels(raw)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the class probabilities of X, shape (n, K).

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        return self._probabilities(self._raw_predict(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        for raw in self._staged_raw_predict(X):
            yield self._probabilities(raw)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the sums over the trees, shape (n,) for two classes, else (n, K).

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        return self._scores(self._raw_predict(X))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        for raw in self._staged_raw_predict(X):
            yield self._scores(raw)


class HistGradientBoostingRegressor(RegressorMixin, HistGradientBoosting):  # type: ignore[misc]
    """Boosted trees on histograms, for numbers: descent on a loss, each step a tree [1]_.

    Columns are read as at most 255 levels; each tree grows leaf by leaf, where the loss falls
    most; a leaf's value is the Newton step of its rows, or for the absolute error and quantiles
    the median or quantile of their residuals.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "gamma", "poisson", "quantile"}
        What to minimise; "gamma" and "poisson" predict the logarithm of a mean that is positive.
    quantile : float or None
        Which quantile, of loss "quantile".
    learning_rate : float
        Shrinkage: factor of each tree's values. Smaller values need more rounds.
    max_iter : int
        The most rounds.
    max_leaf_nodes, max_depth, min_samples_leaf : int or None, int or None, int
        Limits of a tree: its leaves, the tests on a path, and the rows of a leaf.
    l2_regularization : float
        L2 penalty on leaf values: added to the second derivatives of a leaf.
    max_features : float
        The share of the columns that each node tries, drawn at random.
    max_bins : int
        The most levels of a column, missing values apart.
    categorical_features : array-like of names, places or a mask, "from_dtype" or None
        Which columns hold categories, at most `max_bins` each; by default those of a data frame
        that hold words or categories. Of other values, and missing ones, the fit learns the side.
    monotonic_cst : array-like of shape (d,) or dict or None
        1 where the prediction must not fall as the column grows, -1 where it must not rise.
    interaction_cst : list of sets of int, {"pairwise", "no_interactions"} or None
        Which columns may meet on a path from the root to a leaf.
    warm_start : bool
        Whether another fit keeps the trees and adds more.
    early_stopping : bool or "auto"
        Whether to stop once held-out rows are predicted no better; "auto" with more than 10,000.
    scoring : str, callable or None
        Score for early stopping; "loss" for the loss.
    validation_fraction : float, int or None
        The share or number of rows held out for it; None to stop by the training rows.
    n_iter_no_change, tol : int, float
        It stops when this many rounds improve the score by no more than this.
    verbose : int
        Whether to print a line a round.
    random_state : int, RandomState or None
        Of the held-out rows, the columns drawn, and the rows that quantiles are taken of.

    Attributes
    ----------
    trees_ : the nodes of all trees, as arrays.
    baseline_ : the raw predictions before the first tree.
    n_iter_, n_trees_per_iteration_ : the number of rounds, and of trees in each.
    train_score_, validation_score_ : scores before the first and after each round, if it may
        stop early.
    do_early_stopping_, validation_rows_ : whether it may, and which rows are held out for it.
    stop_reason_ : "max_iter", "early_stopping" or "callback".
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    is_categorical_, categories_ : which columns hold categories, and which these are.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import HistGradientBoostingRegressor
    >>> X, y = [[i] for i in range(100)], [float(i >= 50) for i in range(100)]
    >>> HistGradientBoostingRegressor().fit(X, y).predict([[3], [70]]).round(3)
    array([0., 1.])

    References
    ----------
    .. [1] J. H. Friedman (2001), Greedy function approximation: a gradient boosting machine.
       *Annals of Statistics* 29. G. Ke et al. (2017), LightGBM. *NeurIPS*.
    """

    loss: str
    quantile: float | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HistGradientBoosting._parameter_constraints,
        "loss": [StrOptions({"squared_error", "absolute_error", "gamma", "poisson", "quantile"})],
        "quantile": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        store_parameters(self, locals())

    def _targets(self, y: Any, reset: bool) -> Floats:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = column_or_1d(
            check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), warn=True
        )
        if self.loss == "gamma" and not (y > 0).all():
            raise ValueError("loss='gamma' requires strictly positive y.")
        if self.loss == "poisson" and not ((y >= 0).all() and y.sum() > 0):
            raise ValueError("loss='poisson' requires non-negative y and sum(y) > 0.")
        return np.ascontiguousarray(y)

    def _make_loss(self) -> RegressionLoss:
        if self.loss == "quantile" and self.quantile is None:
            raise ValueError("quantile must be a number from 0 to 1 if loss is 'quantile'.")
        return RegressionLoss(self.loss, self.quantile)

    def _means(self, raw: Floats) -> Floats:
        return self._make_loss().inverse(raw[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the targets of X, shape (n,).

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        return self._means(self._raw_predict(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        for raw in self._staged_raw_predict(X):
            yield self._means(raw)


SETTINGS = {
    "max_iter": 5, "min_samples_leaf": 1, "max_leaf_nodes": 6, "early_stopping": False,
    "random_state": 0,
}  # fmt: skip
CONTRACT = Contract(
    settings=(SETTINGS, SETTINGS | {"early_stopping": True, "max_features": 0.5, "max_depth": 3}),
    checked=(SETTINGS,),
    endless={"max_iter": 100000, "tol": 0.0, "early_stopping": False},
)
SHORT_NAMES = (
    "gb", "gbdt", "gbm", "hgb", "boosting", "boosted trees", "lightgbm", "xgboost",
)  # fmt: skip
PEER_TESTS = (
    "ensemble/_hist_gradient_boosting/tests/test_gradient_boosting.py",
    "ensemble/_hist_gradient_boosting/tests/test_monotonic_constraints.py",
    "ensemble/_hist_gradient_boosting/tests/test_warm_start.py",
)
CANDIDATE = Candidate(
    "gradient boosting",
    "tables of numbers and categories with 1,000 rows or more; try it first",
    {"max_leaf_nodes": (31, 127, 8), "max_features": (1.0, 0.5), "min_samples_leaf": (20, 5)},
    reads="levels",
    settings={"random_state": 0, "l2_regularization": 1.0},
    limits=("a table or few cells", "columns beside texts"),
    halve="boosting rounds",
    short_names=SHORT_NAMES,
    order=40,
    rank=0,
)
WARM = Warm(({"max_iter": 2},), sparse=False, large="ensemble.boosted_growth.run_helper_loop")
ROWS = (
    Row(
        "HistGradientBoostingClassifier",
        page="gradient_boosting.md",
        certificate="gradient_boosting",
        compare=(CANDIDATE,),
        contract=CONTRACT,
        warm=WARM,
        parts="boosting",
        file_types=("ensemble.boosted_trees.BoostedTrees",),
        slow_peer_tests=PEER_TESTS,
    ),
    Row(
        "HistGradientBoostingRegressor",
        page="gradient_boosting.md",
        certificate="gradient_boosting",
        compare=(
            CANDIDATE._replace(
                name="gradient boosting regression",
                short_names=(*SHORT_NAMES, "gradient boosting"),
                order=41,
            ),
        ),
        contract=CONTRACT,
        warm=WARM,
        parts="boosting",
        file_types=("ensemble.boosted_trees.BoostedTrees",),
        slow_peer_tests=PEER_TESTS,
    ),
)
