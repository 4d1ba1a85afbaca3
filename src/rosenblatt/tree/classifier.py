"""Classification trees."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._metadata_requests import UNUSED
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from rosenblatt.base import fitting, store_parameters, warn
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from . import pruning
from .base import DecisionTree
from .inputs import Targets, class_targets, class_weights, with_weight
from .optimal import Found, best_tree, check_search
from .structure import Tree


class DecisionTreeClassifier(ClassifierMixin, DecisionTree):  # type: ignore[misc]
    """A tree of tests on single columns, with class shares in its leaves.

    Each node takes the split that lowers the impurity most: a threshold on a column of numbers,
    half-way between two values, or a branch for each value of a column of categories. A node is
    a leaf when its rows share a class or no split leaves two parts; a gain of zero does not stop
    growth, so XOR is learned at depth two. Without limits the training error is zero unless
    equal rows have different classes [1]_. Equal gains: the first column is taken.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}
        The impurity: ``1 - sum p_k**2``, or ``-sum p_k log2 p_k`` by either other name.
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
    class_weight : dict, list of dicts, "balanced" or None
        Weights of the classes.
    ccp_alpha : float
        The price of a leaf: the smallest tree that is best for it is kept.
    monotonic_cst : array-like of -1, 0, 1 or None
        How the second class's probability must change along each column.
    categorical_features : "from_dtype", array-like or None
        Columns that hold categories: by default those of categorical type in a data frame; else
        given by index, name or mask.
    unknown : {"error", "majority"}
        How a category without training rows is predicted: an error, or the node's majority.
    missing : {"best", "majority", "branch", "error"}
        Where NaN goes: to the side with the larger gain, to the larger side, to its own branch,
        or it is an error. Where training had no NaN, it goes to the larger side.
    max_p_chance : float or None
        Splits at the bottom whose chi-square test has a larger p-value are cut.
    pruning : {"held-out", "stop-growth"} or None
        Cut what does not help on rows held out, or stop at the depth where they do worse.
    validation_fraction : float
        The rows held out, carved from those given.
    leaf_smoothing : float
        Laplace smoothing of the shares in the leaves: what is added to each class.
    search : {"greedy", "optimal"}
        Whether each node takes its best split, or all splits together make the fewest mistakes
        that a tree of `max_depth` 1, 2 or 3 can make; over at most 255 thresholds a column.
    time_limit : float
        Seconds after which a search at depth three stops.

    Attributes
    ----------
    classes_, n_classes_ : the classes and their number; lists if there are several outputs.
    tree_ : the nodes, a `Tree` with scikit-learn's arrays.
    categories_ : the categories of each column, None of one of numbers.
    feature_importances_ : the share of each column in the total impurity decrease, shape (d,).
    growth_rows_ : with `pruning`, the rows that the tree was grown on.
    lower_bound_ : with ``search="optimal"``, the weight of the mistakes that every tree of this
        depth makes; the tree is the best if its own weigh no more.
    n_iter_, stop_reason_ : how many splits were made, and why growth stopped.
    max_features_, n_features_in_, feature_names_in_, n_outputs_ : as in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> print(model.to_text())
    x1 <= 0.5
    |   x2 <= 0.5: no  [1 row]
    |   x2 > 0.5: yes  [1 row]
    x1 > 0.5
    |   x2 <= 0.5: yes  [1 row]
    |   x2 > 0.5: no  [1 row]

    References
    ----------
    .. [1] J. R. Quinlan (1986), Induction of decision trees. *Machine Learning* 1.
    """

    classes_: Any
    n_classes_: Any

    # As in scikit-learn, routing leaves this parameter out.
    __metadata_request__fit: ClassVar[Any] = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar[Any] = {"check_input": UNUSED}
    __metadata_request__predict_proba: ClassVar[Any] = {"check_input": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None, Hidden(str)],
        "max_p_chance": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "leaf_smoothing": [Interval(Real, 0.0, None, closed="left")],
        "search": [StrOptions({"greedy", "optimal"})],
        "time_limit": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
        max_p_chance: float | None = None,
        pruning: str | None = None,
        validation_fraction: float = 0.2,
        leaf_smoothing: float = 0.0,
        search: str = "greedy",
        time_limit: float = 60.0,
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
        rows = self._check_rows(X, reset=True)
        targets = class_targets(self, y, rows.shape[0])
        weights = class_weights(self, y, self._weights(sample_weight, rows))
        self.__dict__.pop("lower_bound_", None)
        if self.search == "optimal":
            found = self._searched(rows, targets, weights)
            tree = found.tree
        else:
            tree = self._grown(rows, targets, weights)
        if self.leaf_smoothing:
            tree = smoothed(tree, targets.n_classes, self.leaf_smoothing)
        self.tree_ = self._report_growth(tree, X, y, sample_weight)
        if self.search == "optimal":
            self._publish_bound(found)
        return self

    def _searched(self, X: Any, targets: Targets, weights: Any) -> Found:
        """The tree with the fewest mistakes, and what all others make."""
        depth = check_search(self)
        if weights is not None:
            X, targets, weights = with_weight(X, targets, weights)
        return best_tree(X, targets, weights, depth, self.criterion, self.time_limit)

    def _publish_bound(self, found: Found) -> None:
        """Publish what every tree of this depth gets wrong; warn if the search was not finished."""
        self.lower_bound_ = found.lower_bound
        if found.mistakes > found.lower_bound:
            self.stop_reason_ = "time_limit"
            proved = f"no tree of depth {self.max_depth} makes less than {found.lower_bound:.6g}"
            warn(
                f"The search stopped after {self.time_limit:g} s: this tree makes mistakes of "
                f"weight {found.mistakes:.6g}, and "
                f"{proved if found.lower_bound > 0 else 'nothing is proved of others yet'}. A "
                "larger time_limit goes on.",
                ConvergenceWarning,
            )

    def _takes_missing(self) -> bool:
        return self.search == "greedy" and super()._takes_missing()

    def _who_refuses_missing(self) -> str:
        if self.search == "greedy":
            return super()._who_refuses_missing()
        return "search='optimal' takes none: fill such values, or use search='greedy'."

    def _prune_by_chance(self, tree: Tree) -> Tree:
        if self.max_p_chance is None:
            return tree
        return pruning.cut_by_chance(tree, self.max_p_chance)

    def _loss(self, targets: Targets, weights: Any) -> Any:
        classes = targets.classes
        assert classes is not None

        def mistakes(value: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
            wrong = (value.argmax(axis=2) != classes[rows]).mean(axis=1)
            return np.asarray(wrong if weights is None else wrong * weights[rows])

        return mistakes

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the class shares of the leaves, shape (n, K); a list for several outputs.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        check_input : bool
        """
        value = self._leaf_values(X)
        if self.n_outputs_ == 1:
            return value[:, 0]
        return [value[:, k, :m] for k, m in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(p) for p in shares]

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Predict the class with the largest share in the leaf of each row, the first of equals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        check_input : bool
        """
        leaves = self._leaves(X)
        places = self.tree_.value.argmax(axis=2)[leaves]
        if self.n_outputs_ == 1:
            return np.asarray(self.classes_[places[:, 0]])
        columns = [known[places[:, k]] for k, known in enumerate(self.classes_)]
        return np.transpose(columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.search == "greedy"
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags


def smoothed(tree: Tree, n_classes: tuple[int, ...], strength: float) -> Tree:
    """A tree whose class shares have `strength` rows of each class added."""
    weight = tree.weighted_n_node_samples[:, np.newaxis]
    value = tree.value.copy()
    for o, K in enumerate(n_classes):
        value[:, o, :K] = (value[:, o, :K] * weight + strength) / (weight + strength * K)
    return Tree(dict(tree.arrays, value=value), tree.n_categories)


ROW = Row(
    "DecisionTreeClassifier",
    page="trees.md",
    certificate="tree",
    also=("ExtraTreeClassifier",),
    compare=(
        Candidate(
            "decision tree",
            "readable rules",
            {"ccp_alpha": (0.0, 1e-05, 3e-05, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)},
            reads="columns",
            settings={"random_state": 0},
            limits=("columns beside texts",),
            short_names=("tree", "cart", "id3", "classification tree"),
            order=90,
            rank=2,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"criterion": "entropy", "max_depth": 3},
            {"splitter": "random", "max_features": "sqrt", "random_state": 0},
            {"ccp_alpha": 0.01, "min_samples_leaf": 3, "leaf_smoothing": 1.0},
        ),
        checked=({}, {"criterion": "entropy", "splitter": "random", "random_state": 0}),
    ),
    warm=Warm(({}, {"search": "optimal", "max_depth": 2})),
    file_types=("tree.structure.Tree",),
    slow_peer_tests=("tree/tests/test_tree.py", "tree/tests/test_monotonic_tree.py"),
)
