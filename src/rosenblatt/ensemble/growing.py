"""The trees of a forest, on as many threads as there are: the same trees on any number."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_sample_weight

from rosenblatt.runtime import threads
from rosenblatt.tree import pruning
from rosenblatt.tree.coded_growth import CodedColumns, CodedGrowth, can_be_coded
from rosenblatt.tree.growth import Growth
from rosenblatt.tree.settings import Targets
from rosenblatt.tree.structure import Tree

TREES_A_CHUNK = 4  # share a thread's memory


class Grower:
    """Grows trees of one forest; sorts or codes the columns once for all of them."""

    def __init__(self, forest: Any, rows: Any, targets: Targets, weights: Any, y: Any) -> None:
        self.forest, self.targets, self.weights, self.y = forest, targets, weights, y
        self.rows = sp.csc_matrix(rows) if sp.issparse(rows) else rows
        self.stopped = False
        self.n_categories = np.array(
            [0 if known is None else len(known) for known in forest.categories_], np.int64
        )
        settings = forest._settings(rows.shape[0], weights, 0)
        self.by_sample = getattr(forest, "class_weight", None) == "balanced_subsample"
        self.coded = can_be_coded(targets, settings)
        if self.coded:
            self.columns: Any = CodedColumns.of(self.rows, self.n_categories)
        else:
            self.columns = None

    def grow(self, seeds: list[int]) -> list[Tree]:
        """One tree a seed, in order."""
        chunks = -(-len(seeds) // TREES_A_CHUNK)

        def work(first: int, last: int) -> list[Tree]:
            mine = seeds[first * TREES_A_CHUNK : last * TREES_A_CHUNK]
            return self._grow_some(mine)

        parts = threads.over_chunks(work, chunks, chunks * threads.CELLS_PER_CHUNK)
        return [tree for part in parts for tree in part]

    def _grow_some(self, seeds: list[int]) -> list[Tree]:
        growth = None
        if self.coded and not self.by_sample:
            weights = None if self.forest.bootstrap else self.weights
            growth = CodedGrowth(self.columns, self.targets, weights)
        return [self._grow_one(seed, growth) for seed in seeds if not self.stopped]

    def _grow_one(self, seed: int, growth: Any) -> Tree:
        forest, n = self.forest, self.rows.shape[0]
        sample = forest._sample(seed)
        drawn = np.bincount(sample, minlength=n)
        weights = None if forest.bootstrap else self.weights  # a sample is drawn by the weights
        if weights is not None:
            drawn = np.where(weights > 0, drawn, 0)
        if self.by_sample:
            balanced = compute_sample_weight("balanced", np.asarray(self.y), indices=sample)
            weights = np.asarray(balanced) * (1.0 if weights is None else weights)
        total = drawn.astype(np.float64) if weights is None else drawn * weights
        settings = forest._settings(n, total, seed)
        if self.coded:
            growth = growth or CodedGrowth(self.columns, self.targets, weights)
            tree: Tree = growth.grow(drawn, settings, lambda: self.stopped)
        else:
            tree = self._grow_exactly(total, settings)
        if forest.ccp_alpha > 0:
            tree = tree.cut(pruning.cost_complexity_path(tree)[2] <= forest.ccp_alpha)
        return tree

    def _grow_exactly(self, weights: Any, settings: Any) -> Tree:
        """A tree that codes cannot grow: on sorted columns of the rows that have weight."""
        kept = np.flatnonzero(weights > 0)
        rows, targets = self.rows[kept], self.targets
        some = Targets(
            None if targets.classes is None else np.ascontiguousarray(targets.classes[kept]),
            None if targets.numbers is None else np.ascontiguousarray(targets.numbers[kept]),
            targets.n_classes,
        )
        return Growth(rows, self.n_categories, some, weights[kept], settings).run()
