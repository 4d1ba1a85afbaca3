"""Base class of classification and regression trees."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, StopReason
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.explanation import Explanation

from . import category_growth, pruning, text
from .growth import Growth
from .inputs import TableInput, Targets, take_rows, with_weight
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

    def _grown(self, X: Any, targets: Targets, weights: Any) -> Tree:
        """The tree of these rows, pruned as the parameters ask for."""
        held_out = None
        rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        if weights is not None:
            X, targets, weights = with_weight(X, targets, weights)
        self.__dict__.pop("growth_rows_", None)
        if self.pruning is not None:
            X, targets, weights, held_out = self._hold_out(X, targets, weights, rows)
        n_categories = self._n_categories()
        if n_categories.any() and self.criterion == "absolute_error":
            raise ValueError("criterion='absolute_error' takes no categories; use 'squared_error'.")
        random = self.splitter == "random"
        settings = self._settings(X.shape[0], weights, self.random_state, random)
        self.max_features_, signs = settings.max_features, self._signs()
        if category_growth.can_grow(X, n_categories, targets, weights, settings):
            tree = category_growth.grow(X, n_categories, targets, settings)
        else:
            tree = Growth(X, n_categories, targets, weights, settings, signs).run()
        if held_out is not None:
            cut = {"held-out": pruning.cut_by_held_out, "stop-growth": pruning.stop_by_held_out}
            tree = cut[self.pruning](tree, held_out[0], self._loss(*held_out[1:]))
        tree = self._prune_by_chance(tree)
        return pruning.cut_by_price(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

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
        held_rows = take_rows(X, held)
        held_rows = held_rows.tocsr() if sp.issparse(held_rows) else held_rows
        held_out = (held_rows, targets.taken(held), rest)
        weights = None if weights is None else weights[kept]
        return take_rows(X, kept), targets.taken(kept), weights, held_out

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
        """The share of each column (d,) in the total impurity decrease."""
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
        """
        check_is_fitted(self)
        return text.to_text(self, feature_names, max_depth, digits)

    def wording(self, feature_names: Any = None, digits: int = 4) -> text.Wording:
        """Return the texts of `to_text`: an object with `test(node, code)` and `answer(node)`.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        digits : of the numbers.
        """
        check_is_fitted(self)
        return text.Wording(self, feature_names, digits)

    def rules(self, feature_names: Any = None, digits: int = 4) -> list[str]:
        """Return each leaf as an if-then sentence with the rows behind it, the largest first.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        digits : of the numbers.
        """
        check_is_fitted(self)
        return text.rules(self, feature_names, digits)

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: how much the splits on each column add to it.

        For classes they add to the lead of the predicted class.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second best if None. Numbers have no rivals.
        feature_names : array-like of shape (d,) or None
        """
        return text.explain(self, x, rival, feature_names)

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
