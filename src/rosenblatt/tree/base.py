"""What classification and regression trees share: checks, growth, pruning, routing, words."""

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, StopReason
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.explanation import Explanation, names_of_features, one_row

from . import pruning, text
from .inputs import TableInput
from .settings import NO_DEPTH, Settings, Targets
from .structure import Tree


class DecisionTree(CallbackSupportMixin, TableInput, BaseEstimator):  # type: ignore[misc]
    """A tree of tests on single columns; see its two kinds for the parameters."""

    tree_: Tree
    n_features_in_: int
    n_outputs_: int
    categories_: list[NDArray[Any] | None]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "splitter": [StrOptions({"best", "random"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "unknown": [StrOptions({"error", "majority"})],
        "missing": [StrOptions({"best", "majority", "branch", "error"})],
        "pruning": [StrOptions({"held-out", "stop-growth"}), None],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def _settings(self, n: int, weights: Any) -> Settings:
        """The parameters in numbers of rows and columns."""
        d, seed = self.n_features_in_, check_random_state(self.random_state)
        leaf, split = self.min_samples_leaf, self.min_samples_split
        leaf = leaf if isinstance(leaf, Integral) else ceil(leaf * n)
        split = split if isinstance(split, Integral) else max(2, ceil(split * n))
        total = float(n if weights is None else weights.sum())
        self.max_features_ = n_features_of(self.max_features, d)
        return Settings(
            criterion=self.criterion,
            max_depth=NO_DEPTH if self.max_depth is None else int(self.max_depth),
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_split=min(max(int(split), 2 * int(leaf)), n + 1),
            min_samples_leaf=min(int(leaf), n + 1),  # more is none, and need not fit into 64 bits
            min_weight_leaf=self.min_weight_fraction_leaf * total,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=self.max_features_,
            random_thresholds=self.splitter == "random",
            missing="best" if self.missing == "error" else self.missing,
            monotonic_cst=self._signs(),
            seed=int(seed.randint(np.iinfo(np.int32).max)),
        )

    def _signs(self) -> NDArray[np.int8] | None:
        """The monotonic constraints (d,), or None."""
        if self.monotonic_cst is None:
            return None
        signs = np.asarray(self.monotonic_cst)
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        if signs.shape[0] != self.n_features_in_:
            raise ValueError(
                f"monotonic_cst has shape {signs.shape[0]} but the input data X has "
                f"{self.n_features_in_} features."
            )
        if not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
                f"{np.unique(signs)}"
            )
        named = zip(signs, self.categories_, strict=True)
        unordered = [j for j, (sign, known) in enumerate(named) if sign and known is not None]
        if unordered:
            raise ValueError(
                f"monotonic_cst asks for an order along column {unordered[0]}, whose categories "
                "have none: its entry must be 0, or categorical_features must leave it out."
            )
        return signs.astype(np.int8)

    def _grown(self, X: Any, targets: Targets, weights: Any) -> Tree:
        """The tree of these rows, pruned as the parameters ask for."""
        held_out = None
        rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        if weights is not None:
            X, targets, weights = with_weight(X, targets, weights)
        self.__dict__.pop("growth_rows_", None)
        if self.pruning is not None:
            X, targets, weights, held_out = self._hold_out(X, targets, weights, rows)
        n_categories = np.array([0 if c is None else len(c) for c in self.categories_], np.int64)
        if n_categories.any() and self.criterion == "absolute_error":
            raise ValueError("criterion='absolute_error' takes no categories; use 'squared_error'.")
        settings = self._settings(X.shape[0], weights)
        tree = _grow(X, n_categories, targets, weights, settings)
        if held_out is not None:
            cut = {"held-out": pruning.cut_by_held_out, "stop-growth": pruning.stop_by_held_out}
            tree = cut[self.pruning](tree, held_out[0], self._loss(*held_out[1:]))
        tree = self._prune_by_chance(tree)
        if self.ccp_alpha > 0:
            tree = tree.cut(pruning.cost_complexity_path(tree)[2] <= self.ccp_alpha)
        return tree

    def _prune_by_chance(self, tree: Tree) -> Tree:
        return tree

    def _hold_out(self, X: Any, targets: Targets, weights: Any, rows: NDArray[np.int64]) -> Any:
        """The rows to grow on and those, carved from them, to prune on."""
        kept, held = train_test_split(
            np.arange(X.shape[0]), test_size=self.validation_fraction,
            random_state=self.random_state,
        )  # fmt: skip
        kept, held = np.sort(kept), np.sort(held)
        self.growth_rows_ = rows[kept]
        rest = None if weights is None else weights[held]
        held_rows = _take(X, held)
        held_rows = held_rows.tocsr() if sp.issparse(held_rows) else held_rows
        held_out = (held_rows, _some(targets, held), rest)
        weights = None if weights is None else weights[kept]
        return _take(X, kept), _some(targets, kept), weights, held_out

    @abstractmethod
    def _loss(self, targets: Targets, weights: Any) -> Any:
        """What rows of values lose: a function of values (m, o, K) and rows (m,)."""

    def _report_growth(self, tree: Tree, X: Any, y: Any, sample_weight: Any) -> Tree:
        """Report the tree to the callbacks, one split after the other, the largest gains first."""
        self.n_iter_ = max(int((~tree.is_leaf).sum()), 1)
        self.stop_reason_: StopReason | None = "converged"
        if not getattr(self, "_skl_callbacks", ()):
            return tree
        order = splits_in_order(tree)
        passes = Passes(self, X, y, sample_weight, max(len(order), 1))
        grown = [tree.cut(np.ones(tree.node_count, bool))]
        passes.attributes = lambda: {"tree_": grown[0]}
        for step in passes:
            cut = np.ones(tree.node_count, bool)
            cut[order[:step]] = False
            grown[0] = tree.cut(cut)
            if step >= len(order):
                passes.stop("converged")
        self.n_iter_, self.stop_reason_ = passes.n_iter, passes.stop_reason
        return grown[0]

    def _leaf_values(self, X: Any) -> NDArray[np.float64]:
        """The values (n, o, K) of the leaves of the rows."""
        leaves = self._leaves(X)
        return np.take(self.tree_.value, leaves, axis=0)

    def _leaves(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        return self.tree_.apply(self._check_rows(X, reset=False))

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the leaf of each row, shape (n,); an unknown category ends in an inner node.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        check_input : bool
        """
        return self._leaves(X)

    def decision_path(self, X: Any, check_input: bool = True) -> sp.csr_matrix:
        """Return the nodes that each row passes, as a sparse indicator (n, n_nodes).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        check_input : bool
        """
        check_is_fitted(self)
        return self.tree_.decision_path(self._check_rows(X, reset=False))

    def get_depth(self) -> int:
        """Return the largest number of tests before a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in all that the splits gained, shape (d,)."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return a Bunch of the effective alphas of pruning and the impurities of the leaves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, o)
        sample_weight : array-like of shape (n,) or None
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        alphas, impurities, _ = pruning.cost_complexity_path(whole.tree_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def path_parameters(self) -> tuple[str, ...]:
        """Return the parameters that a tree has a path over: the price of a leaf."""
        return () if getattr(self, "search", "greedy") == "optimal" else ("ccp_alpha",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with many values of `ccp_alpha`: grow one tree and prune it for each.

        Parameters
        ----------
        data : tuple (X, y) or (X, y, sample_weight)
        parameter : "ccp_alpha"
        values : sequence of float
            The prices, >= 0.
        """
        values = checks.path_values(self, parameter, values)
        whole = clone(self).set_params(ccp_alpha=0.0).fit(*rows_of(data))
        price_of = pruning.cost_complexity_path(whole.tree_)[2]
        return ModelPath([whole._pruned_at(alpha, price_of) for alpha in values])

    def _pruned_at(self, ccp_alpha: float, price_of: NDArray[np.float64]) -> Self:
        """The tree whose nodes are leaves from a price on."""
        model: Self = clone(self).set_params(ccp_alpha=ccp_alpha)
        model._validate_params()
        kept = {k: v for k, v in vars(self).items() if k.endswith("_") or k == "_booleans"}
        model.__dict__.update(kept)
        if ccp_alpha > 0:
            model.tree_ = self.tree_.cut(price_of <= ccp_alpha)
        model.n_iter_ = max(int((~model.tree_.is_leaf).sum()), 1)
        return model

    def trace_view(self) -> dict[str, Any]:
        """Return the splits in the order of growth (column, threshold, depth), and the last."""
        tree, inner = self.tree_, splits_in_order(self.tree_)
        columns = (tree.feature[inner], tree.threshold[inner], tree.depth[inner])
        news = text.split_in_words(text.Wording(self), int(inner[-1])) if len(inner) else ""
        splits = np.column_stack(columns).astype(np.float64)
        return {"splits": splits, "unit": "split", "news": news}

    def pruned(self, ccp_alpha: float) -> Self:
        """Return the tree that a fit with another `ccp_alpha` gives; no row is read again.

        Parameters
        ----------
        ccp_alpha : the price of a leaf, no lower than that of this fit.

        Returns
        -------
        model : the same kind of tree, fitted.
        """
        check_is_fitted(self)
        if ccp_alpha < self.ccp_alpha:
            raise ValueError(
                f"ccp_alpha must be at least that of the fit, {self.ccp_alpha}; got {ccp_alpha}."
            )
        return self._pruned_at(ccp_alpha, pruning.cost_complexity_path(self.tree_)[2])

    def to_text(
        self, feature_names: Any = None, max_depth: int | None = None, digits: int = 4
    ) -> str:
        """Return the tree as indented lines, a line for each branch.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        max_depth : how many levels to show.
        digits : of the numbers.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        return text.to_text(self, feature_names, max_depth, digits)

    def wording(self, feature_names: Any = None, digits: int = 4) -> text.Wording:
        """Return the words for tests and answers, by node: what `to_text` and pictures print.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        digits : of the numbers.

        Returns
        -------
        words : with `test(node, code)` and `answer(node)`.
        """
        check_is_fitted(self)
        return text.Wording(self, feature_names, digits)

    def rules(self, feature_names: Any = None, digits: int = 4) -> list[str]:
        """Return each leaf as an if-then sentence with the rows behind it, the largest first.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        digits : of the numbers.

        Returns
        -------
        rules : list of str
        """
        check_is_fitted(self)
        return text.rules(self, feature_names, digits)

    def _explain(
        self, x: Any, value: Any, classes: tuple[Any, Any], feature_names: Any
    ) -> Explanation:
        """The path of one row: what each test adds to a value (nodes,)."""
        X = one_row(self, x, lambda X: _dense(self._check_rows(X, reset=False)))
        node = int(self.tree_.apply(X)[0])
        parts = text.path_contributions(self.tree_, node, value)
        names = names_of_features(self, self.n_features_in_, feature_names)
        start = float(value[0])
        return Explanation(
            *classes,
            start + float(parts.sum()),
            start,
            parts,
            names,
            ("at the root", "at the leaf"),
            text.path_in_words(self, node, feature_names),
        )

    def to_sklearn(self) -> Any:
        """Return scikit-learn's fitted tree with the same splits, for its tools and others'.

        Its trees read X as float32, and know no branches for categories.
        """
        check_is_fitted(self)
        from .to_sklearn import sklearn_tree

        return sklearn_tree(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self._takes_missing()
        return tags


def rounded_gains(tree: Tree) -> NDArray[np.float64]:
    """The gains of the splits as shares of the root's impurity, to nine digits."""
    whole = max(float(tree.impurity[0] * tree.weighted_n_node_samples[0]), 1e-300)
    return np.round(tree.gains() / whole, 9)


def _grow(X: Any, n_categories: Any, targets: Targets, weights: Any, settings: Settings) -> Tree:
    from . import category_growth  # prediction does without Numba
    from .growth import Growth

    if category_growth.can_grow(X, n_categories, targets, weights, settings):
        return category_growth.grow(X, n_categories, targets, settings)
    return Growth(X, n_categories, targets, weights, settings).run()


def n_features_of(max_features: Any, d: int) -> int:
    """How many columns are tried at a node."""
    if max_features is None:
        return d
    if isinstance(max_features, str):
        root = np.sqrt(d) if max_features == "sqrt" else np.log2(d)
        return max(1, int(root))
    if isinstance(max_features, Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))


def splits_in_order(tree: Tree) -> NDArray[np.int64]:
    """The inner nodes in the order of best-first growth: parents first, then the largest gain."""
    import heapq

    gains, leaf = rounded_gains(tree), tree.is_leaf
    heap, order = [(-gains[0], 0)] if not leaf[0] else [], []
    while heap:
        _, node = heapq.heappop(heap)
        order.append(node)
        for _, child in tree.branches(node):
            if not leaf[child]:
                heapq.heappush(heap, (-gains[child], child))
    return np.array(order, np.int64)


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _take(X: Any, rows: Any) -> Any:
    return sp.csc_matrix(X)[rows] if sp.issparse(X) else X[rows]


def _some(targets: Targets, rows: Any) -> Targets:
    return Targets(
        None if targets.classes is None else targets.classes[rows],
        None if targets.numbers is None else targets.numbers[rows],
        targets.n_classes,
    )


def with_weight(X: Any, targets: Targets, weights: NDArray[np.float64]) -> Any:
    """The rows whose weight is not zero; weights of one are none."""
    if (weights == 0).any():
        rows = np.flatnonzero(weights)
        X, targets, weights = _take(X, rows), _some(targets, rows), weights[rows]
    return X, targets, None if (weights == 1).all() else weights
