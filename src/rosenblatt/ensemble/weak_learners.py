"""Weak learners for the rounds of boosting: stumps, whose columns are sorted once, and others."""

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from rosenblatt.runtime import threads
from rosenblatt.tree import DecisionTreeClassifier
from rosenblatt.tree.growth import sorted_columns
from rosenblatt.tree.inputs import SEEDS, Targets, column_of
from rosenblatt.tree.structure import Tree
from rosenblatt.tree.tree_loops import TO_THE_HEAVIER

from . import stump_loops

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
EQUAL = 1.0 - 1e-12  # of a gain: what rounding may take from it
DRAWS = 100  # of rows, until two classes are among them


def weak_learner(boosting: Any, X: Any, y: Any, codes: Codes, weight: Floats) -> Any:
    """What trains the learners of `boosting` on rows X and labels y (n,).

    Its `fit(weight, rng)` returns a fitted model, and the class codes (n,) that it predicts.
    """
    if is_stump(boosting.estimator_, X):
        return Stumps(boosting, X, codes, weight)
    return AnyLearner(boosting, X, y)


def is_stump(learner: Any, X: Any) -> bool:
    """Whether a learner on these rows is a plain stump: a tree of depth one, all else default."""
    if type(learner) is not DecisionTreeClassifier or X.ndim != 2:
        return False
    plain = DecisionTreeClassifier(max_depth=1, random_state=learner.random_state)
    numbers = X.dtype.kind in "biuf" and X.shape[0] < 2**31
    return bool(numbers and learner.get_params() == plain.get_params())


class AnyLearner:
    """Any classifier: on weighted rows, or on rows drawn by their weights if it takes none."""

    def __init__(self, boosting: Any, X: Any, y: NDArray[Any]) -> None:
        self.boosting, self.X, self.y, self.classes = boosting, X, y, boosting.classes_
        self.takes_weights = has_fit_parameter(boosting.estimator_, "sample_weight")

    def fit(self, weight: Floats, rng: Any) -> tuple[Any, Codes]:
        """A model fitted under weight (n,), and the class codes (n,) that it predicts."""
        model = self.boosting._make_estimator(append=False, random_state=rng)
        if self.takes_weights:
            model.fit(self.X, self.y, sample_weight=weight)
        else:
            rows = self._drawn(weight, rng)
            model.fit(_safe_indexing(self.X, rows), self.y[rows])
        return model, self._codes(model, np.asarray(model.predict(self.X)))

    def _drawn(self, weight: Floats, rng: Any) -> Codes:
        """As many rows as there are, drawn by their weights, of two classes if possible."""
        n = len(weight)
        for _ in range(DRAWS):
            rows = rng.choice(n, n, p=weight / weight.sum())
            if len(np.unique(self.y[rows])) > 1:
                break
        return np.asarray(rows)

    def _codes(self, model: Any, labels: NDArray[Any]) -> Codes:
        """The places of labels (n,) among the classes."""
        match = labels[:, np.newaxis] == self.classes
        if match.shape != (len(self.y), len(self.classes)) or not match.any(axis=1).all():
            raise ValueError(
                f"estimator must be a classifier; {type(model).__name__} predicts values that are "
                f"no class of y, such as {np.ravel(labels)[0]!r}."
            )
        return np.asarray(match.argmax(axis=1))


class Stumps:
    """The best stump of fixed rows X (n, d) and classes (n,) under weights that change."""

    def __init__(self, boosting: Any, X: Any, codes: Codes, weight: Floats) -> None:
        self.boosting, self.K = boosting, boosting.n_classes_
        self.X = X.tocsc() if sp.issparse(X) else X
        self.rows = np.flatnonzero(weight)  # a row of weight zero keeps it
        self.codes = codes[self.rows].astype(np.int32)
        targets = Targets(self.codes[:, np.newaxis], None, (self.K,))
        numbers = np.zeros(X.shape[1], np.int64)  # no column has categories
        kept = self.X if len(self.rows) == X.shape[0] else self.X[self.rows]
        self.entries, _, _, self.shift = sorted_columns(kept, numbers, targets)
        self.gains = np.empty(X.shape[1])
        self.cuts = np.empty(X.shape[1], np.int64)

    def fit(self, weight: Floats, rng: Any) -> tuple[Any, Codes]:
        """The best stump under weight (n,), and the class codes (n,) that it predicts."""
        tree, predicted = self.best(weight)
        return self._model(tree, int(rng.randint(SEEDS))), predicted

    def best(self, weight: Floats) -> tuple[Tree, Codes]:
        """The nodes of the best stump, and the class codes (n,) that it predicts."""
        w = weight if len(self.rows) == len(weight) else weight[self.rows]
        whole: Floats = np.bincount(self.codes, w, self.K).astype(np.float64)
        self._scan(w, whole)
        j = int((self.gains >= self.gains.max() * EQUAL).argmax())  # the first if equal
        if self.gains.max() < 0 or np.count_nonzero(whole) < 2:
            constant = np.full(len(weight), whole.argmax())
            return self._tree(0, 0.0, whole[np.newaxis], [len(w)]), constant
        column = column_of(self.X, j)
        threshold = self._threshold(j, column)
        right = column > threshold
        side = right if len(self.rows) == len(right) else right[self.rows]
        sums = np.bincount(self.codes + self.K * side, w, 2 * self.K).reshape(2, self.K)
        counts = [len(w), int(self.cuts[j]), len(w) - int(self.cuts[j])]
        tree = self._tree(j, threshold, np.vstack([whole, sums]), counts)
        return tree, sums.argmax(axis=1)[right.astype(np.intp)]

    def _scan(self, weight: Floats, whole: Floats) -> None:
        """Find the best cut of every column."""
        total = float(whole.sum())
        shares = whole / total
        pairs = np.column_stack([weight, weight * (self.codes - shares[-1])])

        def two(a: int, b: int) -> None:
            stump_loops.scan_two_classes(self.entries, a, b, pairs, total, self.gains, self.cuts)

        def more(a: int, b: int) -> None:
            stump_loops.scan_classes(
                self.entries, a, b, weight, self.codes, shares, total, np.empty(self.K),
                self.gains, self.cuts,
            )  # fmt: skip

        threads.over_chunks(two if self.shift else more, len(self.gains), self.entries.size)

    def _threshold(self, j: int, column: Floats) -> float:
        """The middle of the two values (n,) that the best cut of column j parts."""
        places = (self.entries[j, self.cuts[j] - 1 : self.cuts[j] + 1] & 0xFFFFFFFF) >> self.shift
        low, high = map(float, column[self.rows[places.astype(np.int64)]])
        middle = low / 2.0 + high / 2.0
        return middle if low <= middle < high else low

    def _tree(self, j: int, threshold: float, sums: Floats, counts: list[int]) -> Tree:
        """A tree of one leaf or three nodes, whose class weights are sums (nodes, K)."""
        weight = sums.sum(axis=1)
        value = sums / weight[:, np.newaxis]
        return Tree.build(
            parent=np.array([-1, 0, 0])[: len(sums)], feature=j, threshold=threshold,
            missing_left=TO_THE_HEAVIER, impurity=1.0 - (value**2).sum(axis=1),
            n_samples=np.array(counts), weight=weight, value=value[:, np.newaxis],
            depth=np.array([0, 1, 1])[: len(sums)],
            n_categories=np.zeros(self.X.shape[1], np.int64),
        )  # fmt: skip

    def _model(self, tree: Tree, seed: int) -> Any:
        """The model of a stump's tree, as if the learner itself had been fitted."""
        model = copy(self.boosting.estimator_)
        model.random_state, model.tree_ = seed, tree
        model.classes_, model.n_classes_, model.n_outputs_ = self.boosting.classes_, self.K, 1
        model.n_features_in_ = model.max_features_ = tree.n_features
        model.categories_ = [None] * tree.n_features
        model.n_iter_, model.stop_reason_ = 1, "converged"
        return model
