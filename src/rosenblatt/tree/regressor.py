"""Regression trees."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._metadata_requests import UNUSED
from sklearn.utils._param_validation import StrOptions

from rosenblatt.base import fitting, store_parameters
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .base import DecisionTree
from .inputs import Targets, number_targets, warn_of_friedman


class DecisionTreeRegressor(RegressorMixin, DecisionTree):  # type: ignore[misc]
    """A tree of tests on single columns, with the mean target of its rows in each leaf.

    Each node takes the split that lowers the criterion most: a threshold on a column of numbers,
    half-way between two values, or a branch for each value of a column of categories. A node is
    a leaf when its targets are equal or no split leaves two parts [1]_. Equal gains: the first
    column is taken.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}
        Squares about the mean; deviations from the median, which the leaves then hold; half
        Poisson deviance, for counts. "friedman_mse" is deprecated and means squared_error.
    splitter : {"best", "random"}
        Whether thresholds are searched for, or one is drawn for each column.
    max_depth, max_leaf_nodes : int or None
        Limits on the depth and the number of leaves; with `max_leaf_nodes` growth is best first.
    min_samples_split, min_samples_leaf : int or float
        Rows of a node that is split, and of a leaf; a fraction is of all rows.
    min_weight_fraction_leaf : float
        The weight of a leaf as a share of all.
    max_features : int, float, {"sqrt", "log2"} or None
        How many columns are tried at each node, drawn anew.
    random_state : int, RandomState or None
        Of the draws.
    min_impurity_decrease : float
        Least impurity decrease of a split, times the share of its node.
    ccp_alpha : float
        The price of a leaf: the smallest tree that is best for it is kept.
    monotonic_cst : array-like of -1, 0, 1 or None
        How the prediction must change along each column.
    categorical_features : "from_dtype", array-like or None
        Columns that hold categories: by default those of categorical type in a data frame; else
        given by index, name or mask.
    unknown : {"error", "majority"}
        How a category without training rows is predicted: an error, or the node's mean.
    missing : {"best", "majority", "branch", "error"}
        Where NaN goes: to the side with the larger gain, to the larger side, to its own branch,
        or it is an error. Where training had no NaN, it goes to the larger side.
    pruning : {"held-out", "stop-growth"} or None
        Cut what does not help on rows held out, or stop at the depth where they do worse.
    validation_fraction : float
        The rows held out, carved from those given.

    Attributes
    ----------
    tree_ : the nodes, a `Tree` with scikit-learn's arrays.
    categories_ : the categories of each column, None of one of numbers.
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    growth_rows_ : with `pruning`, the rows that the tree was grown on.
    n_iter_, stop_reason_ : how many splits were made, and why growth stopped.
    max_features_, n_features_in_, feature_names_in_, n_outputs_ : as in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[1], [2], [3], [4]], [5.0, 5.0, 9.0, 9.0])
    >>> model.predict([[1.5], [10]])
    array([5., 9.])

    References
    ----------
    .. [1] L. Breiman and others (1984), *Classification and Regression Trees*.
    """

    # As in scikit-learn, routing leaves this parameter out.
    __metadata_request__fit: ClassVar[Any] = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar[Any] = {"check_input": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "absolute_error", "poisson", "friedman_mse"})],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
        pruning: str | None = None,
        validation_fraction: float = 0.2,
    ) -> None:
        store_parameters(self, locals())

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, o)
        sample_weight : array-like of shape (n,) or None
        check_input : bool
        """
        self._validate_params()
        warn_of_friedman(self.criterion)
        rows = self._check_rows(X, reset=True)
        targets = number_targets(self, y, rows.shape[0])
        weights = self._weights(sample_weight, rows)
        tree = self._grown(rows, targets, weights)
        self.tree_ = self._report_growth(tree, X, y, sample_weight)
        return self

    def _loss(self, targets: Targets, weights: Any) -> Any:
        numbers = targets.numbers
        assert numbers is not None
        power = 1 if self.criterion == "absolute_error" else 2

        def errors(value: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
            apart = (np.abs(value[:, :, 0] - numbers[rows]) ** power).mean(axis=1)
            return np.asarray(apart if weights is None else apart * weights[rows])

        return errors

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Predict the targets of X, shape (n,) or (n, o).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        check_input : bool
        """
        value = self._leaf_values(X)
        return value[:, 0, 0] if self.n_outputs_ == 1 else value[:, :, 0]


ROW = Row(
    "DecisionTreeRegressor",
    page="trees.md",
    certificate="tree",
    also=("ExtraTreeRegressor",),
    compare=(
        Candidate(
            "regression tree",
            "readable rules",
            {"min_samples_leaf": (1, 3, 10, 30, 100)},
            reads="columns",
            settings={"random_state": 0},
            limits=("columns beside texts",),
            short_names=("tree", "cart", "decision tree"),
            order=91,
            rank=2,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"max_depth": 3, "min_samples_leaf": 3},
            {"criterion": "absolute_error", "max_depth": 4},
            {"splitter": "random", "max_features": "sqrt", "random_state": 0},
        ),
        checked=({}, {"criterion": "absolute_error"}),
    ),
    warm=Warm(({}, {"criterion": "absolute_error"})),
    file_types=("tree.structure.Tree",),
    slow_peer_tests=("tree/tests/test_tree.py", "tree/tests/test_monotonic_tree.py"),
)
