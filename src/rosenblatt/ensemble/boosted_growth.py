"""The rounds of gradient boosting: losses, and trees that grow on their derivatives.

All trees of a fit grow on the same coded rows, one after the other, in the same memory.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.base import warn
from rosenblatt.runtime import threads

from . import boosted_growth_loops as loop
from . import boosted_split_loops as split
from . import boosting_loops, fork_join_loops
from .boosted_trees import LEAF, BoostedTrees, code, quantiles

MOST_NEAREST = 2**14  # rows: with more, gradients are rounded at random
MOST_COUNTED = 2**19  # rows: with more, of a changing hessian, counts are estimated from it
HISTOGRAM_BYTES = 2**28
HELPED_CELLS = 400_000  # of a table whose trees threads grow together
MOST_HELPERS = 7
SHARED_CELLS = 32_768  # of a histogram that they share
FEWEST_SUMMED = 2**15  # rows, of which the sums are taken in parts
SUMMED_PARTS = 8

Floats = NDArray[np.float64]
Derivatives = tuple[Floats, Floats, float, float]  # g, h, their sums
Nodes = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint64]]  # of one tree
TREES_A_THREAD = 2  # of a round with more than these, each thread grows its own
NO_WEIGHT = np.empty(0)
NEAREST_TO_BOUNDS = 10 * np.finfo(np.float64).eps
REGRESSION = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
MANY_OUTPUTS, BINARY = -1, 5  # beside the places of those, the numbers of losses in the loops


class Loss:
    """A loss of one output; `constant_hessian` if every row of weight one has the same."""

    n_outputs = 1
    number = MANY_OUTPUTS
    constant_hessian = False
    leaf_share: float | None = None  # leaves are this quantile of the residuals, not Newton steps

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        """The best raw prediction (K,) that is the same for all rows."""
        raise NotImplementedError

    def derive(self, raw: Floats, y: Floats, weight: Floats) -> None:
        """Prepare the derivatives at raw (K, n); sets `total`, the sum of the losses."""
        n = raw.shape[1]
        self.gradient = getattr(self, "gradient", np.empty(n))
        constant = self.constant_hessian and not len(weight)
        self.hessian = getattr(self, "hessian", np.empty(1 if constant else n))
        if self.constant_hessian:
            self.hessian[:1] = 1.0

        def derive(first: int, last: int) -> Any:
            return boosting_loops.derivatives(
                raw[0], y, weight, self.number, self.leaf_share or 0.0, first, last,
                self.gradient, self.hessian,
            )  # fmt: skip

        self.set_totals(threads.over_chunks(derive, n, 8 * n))

    def set_totals(self, parts: Any) -> None:
        """Keep the sums over rows of the losses, of the |g| and of the h; parts (m, 3) of them."""
        self.total, self.sum_g, self.sum_h = map(float, np.sum(parts, axis=0))

    def of_output(self, k: int, y: Floats, weight: Floats, scratch: Floats) -> Derivatives:
        """g, h, and the sums of |g| and h of output k; may be written to scratch (2, n)."""
        return self.gradient, self.hessian, self.sum_g, self.sum_h

    def mean(self, raw: Floats, y: Floats, weight: Floats) -> float:
        """The mean loss of other rows."""
        other = type(self).__new__(type(self))
        vars(other).update({k: v for k, v in vars(self).items() if k not in SCRATCH})
        other.derive(raw, y, weight)
        return other.total / (weight.sum() if len(weight) else len(y))


SCRATCH = ("gradient", "hessian", "p")


class BinaryLogLoss(Loss):
    """log(1 + exp(raw)) - y raw."""

    number = BINARY

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        share = np.average(y, weights=weight if len(weight) else None)
        share = np.clip(share, NEAREST_TO_BOUNDS, 1 - NEAREST_TO_BOUNDS)
        return np.array([np.log(share) - np.log1p(-share)])

    def probabilities(self, raw: Floats) -> Floats:
        """Class probabilities (n, 2) of raw (1, n)."""
        return np.stack([expit(-raw[0]), expit(raw[0])], axis=1)


class MultinomialLogLoss(Loss):
    """log(sum over k of exp(raw[k])) - raw[y]: one tree a class and round."""

    def __init__(self, n_classes: int) -> None:
        self.n_outputs = n_classes

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        mass = np.bincount(y.astype(np.intp), weight if len(weight) else None, self.n_outputs)
        share = np.clip(mass / mass.sum(), NEAREST_TO_BOUNDS, 1 - NEAREST_TO_BOUNDS)
        logs = np.log(share)
        return np.asarray(logs - logs.mean())

    def derive(self, raw: Floats, y: Floats, weight: Floats) -> None:
        n = raw.shape[1]
        self.p = p = getattr(self, "p", np.empty((self.n_outputs, n)))

        def derive(first: int, last: int) -> float:
            boosting_loops.probabilities(raw, first, last, p, np.empty(last - first))
            return float(boosting_loops.log_loss_of_classes(p, y, weight, first, last))

        self.total = float(np.sum(threads.over_chunks(derive, n, 8 * n * self.n_outputs)))

    def of_output(self, k: int, y: Floats, weight: Floats, scratch: Floats) -> Derivatives:
        g, h = scratch
        arguments = self.p[k], y, weight, k, 0, len(y), g, h
        _, sum_g, sum_h = boosting_loops.log_loss_of_class(*arguments)
        return g, h, sum_g, sum_h

    def probabilities(self, raw: Floats) -> Floats:
        """Class probabilities (n, K) of raw (K, n)."""
        return np.asarray(softmax(raw.T, axis=1))


class RegressionLoss(Loss):
    """Half the squared error, the absolute error, a quantile's loss, or half a deviance."""

    def __init__(self, name: str, quantile: float | None) -> None:
        self.number, self.log_link = REGRESSION.index(name), name in ("poisson", "gamma")
        self.constant_hessian = not self.log_link
        share = {"absolute_error": 0.5, "quantile": quantile}
        self.leaf_share = share.get(name)

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        if self.leaf_share is not None:
            return np.array([self.quantile_of(y, weight)])
        mean = np.average(y, weights=weight if len(weight) else None)
        return np.array([np.log(max(mean, NEAREST_TO_BOUNDS)) if self.log_link else mean])

    def quantile_of(self, residual: Floats, weight: Floats) -> float:
        """The quantile of residuals that minimises the loss over a leaf."""
        order = np.argsort(residual, kind="stable")
        heavy = weight[order] if len(weight) else weight
        return float(quantiles(residual[order], heavy, [self.leaf_share])[0])

    def inverse(self, raw: Floats) -> Floats:
        """Return the predictions for raw predictions (n,)."""
        return np.exp(raw) if self.log_link else raw


class BoostedGrowth:
    """The coded rows and the memory in which trees grow."""

    def __init__(
        self, codes: NDArray[np.uint64], cuts: Floats, columns: NDArray[np.int64],
        groups: NDArray[np.uint8], model: Any, loss: Loss,
    ) -> None:  # fmt: skip
        self.codes, self.cuts, self.columns, self.groups = codes, cuts, columns, groups
        self.model, self.loss = model, loss
        self.n, self.d = codes.shape[1], columns.shape[1]
        self.least_rows = min(model.min_samples_leaf, self.n)
        blocks, leaves = len(codes), self._most_leaves()
        nodes = 2 * leaves
        few = columns[split.N_LEVELS].max() < split.FEW_LEVELS
        cells = split.COLUMNS_A_BLOCK * (split.FEW_LEVELS if few else split.LEVELS)
        slots = max(2, min(leaves, HISTOGRAM_BYTES // (blocks * cells * 8))) + 1
        self.rows = np.zeros((2, self.n + split.AHEAD), np.int32)
        self.values = np.empty(self.n, np.int64)
        self.hist = np.empty((slots + 1, blocks, cells), np.int64)
        self.node = np.zeros((nodes, 11), np.int64)
        self.number = np.zeros((nodes, 4))
        has_categories = bool(columns[split.CATEGORICAL].any())
        self.sets = np.zeros((nodes if has_categories else 0, 4), np.uint64)
        self.active = np.zeros((nodes if len(groups) else 0, len(groups)), np.uint8)
        self.state, self.board = np.zeros(9, np.int64), np.zeros(fork_join_loops.BOARD, np.int64)
        self.whole, self.real = np.zeros(10, np.int64), np.zeros(7)
        parts = SUMMED_PARTS if self.n >= FEWEST_SUMMED else 1
        self.totals = np.zeros((parts, 3))
        self._tree = loop.Tree(
            codes, self.rows, self.values, columns, groups, self.hist, self.whole, self.real,
            self.node, self.number, self.sets, self.active, np.zeros(nodes, np.int64),
            np.zeros(slots - 1, np.int64), self.state, np.zeros((2, self.d), np.uint8),
            np.zeros((2, 3, max(256, self.d)), np.int64), np.zeros((2, 2, 256)),
            np.zeros((parts, nodes, 2)), self.totals,
        )  # fmt: skip

    @cached_property
    def scratch(self) -> NDArray[np.float64]:
        """Space (2, n) for derivatives."""
        return np.empty((2, self.n))

    def _most_leaves(self) -> int:
        model, most = self.model, max(self.n // self.least_rows, 1)
        if model.max_leaf_nodes is not None:
            most = min(most, model.max_leaf_nodes)
        if model.max_depth is not None and model.max_depth < 31:
            most = min(most, 2**model.max_depth)
        return int(most)

    def grow(
        self, derivatives: Derivatives, number: int, seed: int, raw: Floats, y: Floats,
        weight: Floats,
    ) -> int:  # fmt: skip
        """Grow a tree on the derivatives of n rows; return its number of nodes.

        If leaves are Newton steps, they get their values, which are added to raw (n,); of a loss
        with one output, the derivatives are then those at raw, and `totals` their sums.
        """
        gradient, hessian, sum_g, sum_h = derivatives
        self._set(len(hessian) == 1, sum_g, sum_h, number, seed)
        work = self.board, self._tree, loop.Derived(gradient, hessian, raw, y, weight)
        with self._helpers(work):
            found = loop.grow_tree(False, *work)
            while found == loop.PAUSE:
                found = loop.grow_tree(True, *work)
        return int(self.state[split.N_NODES])

    @contextmanager
    def _helpers(self, work: Any) -> Iterator[None]:
        """Let other threads help with a tree."""
        board = fork_join_loops
        ticket = int(self.board[board.TICKET])
        most = MOST_HELPERS if self.n * self.d > HELPED_CELLS else 0
        helpers = threads.start(lambda: loop.help_leader(ticket, *work), most)
        self.board[board.N_HELPERS] = len(helpers)
        try:
            yield
        finally:  # those that come late find another ticket
            self.board[board.TICKET] = (ticket + 1) % 2**30

    def _set(self, constant: bool, sum_g: float, sum_h: float, number: int, seed: int) -> None:
        """Write the settings: how many bits of a cell count rows, sum h and g, in which steps."""
        counted = constant or self.n <= MOST_COUNTED
        count_bits = self.n.bit_length() if counted else 0
        hessian_bits = 0 if constant else (63 - count_bits) // 2
        # Rounding adds at most one step a row; a double holds 2**50 exactly, with sums of them.
        gradient_bits = min(64 - count_bits - hessian_bits, 50)
        steps_g = max(2.0 ** (gradient_bits - 1) - 2 - self.n, 1.0)
        steps_h = max(2.0**hessian_bits - 2 - self.n, 1.0)
        model = self.model
        self.whole[:] = (
            self._most_leaves(), model.max_depth or 2**62, self.least_rows, count_bits,
            hessian_bits, SHARED_CELLS, seed, number * self.n + 1 if self.n > MOST_NEAREST else 0,
            self.loss.number, self.loss.leaf_share is None,
        )  # fmt: skip
        self.real[:] = (
            model.l2_regularization, max(sum_g, 1e-300) / steps_g, max(sum_h, 1e-300) / steps_h,
            constant, 0.0 if counted else self.n * (1 / steps_h), model.max_features,
            model.learning_rate,
        )  # fmt: skip

    def leaves(self, n_nodes: int) -> NDArray[np.intp]:
        """The nodes that are leaves."""
        return np.flatnonzero(self.node[:n_nodes, split.LEFT] == 0)

    def rows_of(self, v: int) -> NDArray[np.int32]:
        """The rows of a node."""
        return self.rows[0, self.node[v, split.START] : self.node[v, split.STOP]]

    def send_missing(self, n_nodes: int, weight: NDArray[np.float64]) -> None:
        """Send missing values to the heavier side where training had none, by weights (n,)."""
        node = self.node[:n_nodes]
        if not len(weight):  # counted as the tree grew
            return
        below = np.append(0.0, np.cumsum(weight[self.rows[0, : self.n]]))
        mass = below[node[:, split.STOP]] - below[node[:, split.START]]
        free = np.flatnonzero(node[:, split.LEFT])
        free = free[self.columns[split.HAS_MISSING][node[free, split.COLUMN]] == 0]
        left = node[free, split.LEFT]
        node[free, split.MISSING_LEFT] = mass[left] > mass[left + 1]

    def nodes(self, n_nodes: int) -> Nodes:
        """The nodes of the tree that has just grown, for `trees`."""
        return self.node[:n_nodes].copy(), self.number[:n_nodes].copy(), self.sets[:n_nodes].copy()

    def trees(self, grown: Sequence[Nodes]) -> BoostedTrees:
        """The trees that have grown, by their nodes."""
        node, number, sets = (np.concatenate(arrays) for arrays in zip(*grown, strict=True))
        sizes = [len(nodes) for nodes, _, _ in grown]
        starts = np.cumsum([0, *sizes])
        left = node[:, split.LEFT] + np.repeat(starts[:-1], sizes)
        inner = node[:, split.LEFT] > 0
        column = np.where(inner, node[:, split.COLUMN], LEAF)
        by_set = inner & (self.columns[split.CATEGORICAL][column] > 0)
        level = np.where(inner & ~by_set, node[:, split.LEVEL], LEAF)
        # A cut at the last level divides known values from missing ones.
        threshold = np.where(level >= 0, self.cuts[column, np.minimum(level, 254)], np.nan)
        return BoostedTrees(
            starts=starts,
            column=column.astype(np.int32),
            left=np.where(inner, left, LEAF).astype(np.int32),
            level=level.astype(np.int16),
            threshold=threshold,
            missing_left=inner & (node[:, split.MISSING_LEFT] > 0),
            value=number[:, split.VALUE].copy(),
            gain=np.where(inner, number[:, split.GAIN], 0.0),
            count=node[:, split.STOP] - node[:, split.START],
            depth=node[:, split.DEPTH].astype(np.int32),
            sets=np.where(by_set[:, np.newaxis], sets, np.uint64(0)) if len(sets) else sets,
        )

    def bounds(self, n_nodes: int, value_of: Callable[[int], float]) -> NDArray[np.float64]:
        """The least and the largest value (nodes, 2) that keep the order along monotonic columns.

        They are those of the parent; below a split of such a column, the middle of both children's
        values is one of them.
        """
        node = self.node
        found = np.tile([-np.inf, np.inf], (n_nodes, 1))
        signs = self.columns[split.MONOTONIC]
        for v in np.flatnonzero(node[:n_nodes, split.LEFT]) if signs.any() else ():
            first, sign = node[v, split.LEFT], signs[node[v, split.COLUMN]]
            found[first : first + 2] = found[v]
            if sign:
                middle = np.mean([np.clip(value_of(v), *found[v]) for v in (first, first + 1)])
                low, high = (first, first + 1) if sign > 0 else (first + 1, first)
                found[low, 1] = found[high, 0] = middle
        return found


class BoostingRows:
    """Some rows of a fit: their matrix, targets, weights, codes and raw predictions."""

    def __init__(
        self, X: Floats, y: Floats, weight: Floats | None, places: NDArray[np.int64] | None = None
    ) -> None:
        self.X, self.y = X, y
        self.places = np.arange(len(y)) if places is None else places  # among those of the fit
        self.weight = NO_WEIGHT if weight is None else weight
        self.codes: NDArray[np.uint64]
        self.raw: Floats

    def taken(self, places: Any) -> "BoostingRows":
        """The rows at some places."""
        weight = self.weight[places] if len(self.weight) else None
        return BoostingRows(self.X[places], self.y[places], weight, self.places[places])

    def begin(self, cuts: Floats, baseline: Floats, trees: BoostedTrees | None) -> None:
        """Code the rows and predict them."""
        self.codes = code(self.X, cuts)
        self.raw = np.repeat(baseline[:, np.newaxis], len(self.y), axis=1)
        if trees is not None:
            trees.add_coded(self.codes, self.raw)


class Rounds:
    """Trees that grow one after the other on the same rows, each on the derivatives at the last."""

    def __init__(
        self, model: Any, loss: Loss, rows: BoostingRows, columns: NDArray[np.int64],
        groups: NDArray[np.uint8],
    ) -> None:  # fmt: skip
        self.loss, self.rows, self.K = loss, rows, loss.n_outputs
        self._make = partial(BoostedGrowth, rows.codes, model._cuts, columns, groups, model, loss)
        self.growths = [self._make()]  # memory of those that do not grow a tree now
        self.loss.derive(rows.raw, rows.y, rows.weight)
        self.first_loss = self.mean_loss()

    def warn_if_diverged(self) -> None:
        """Warn if the log loss has more than doubled: steps of nearly certain rows have no end."""
        last = self.mean_loss()
        if self.loss.number in (BINARY, MANY_OUTPUTS) and last > 2 * self.first_loss + 1e-3:
            warn(
                f"Boosting diverged: the training loss rose from {self.first_loss:.3g} to "
                f"{last:.3g}. Lower learning_rate, or raise l2_regularization.",
                ConvergenceWarning,
            )

    def mean_loss(self) -> float:
        """The loss of the rows as they are predicted now."""
        weight = self.rows.weight
        return self.loss.total / (float(weight.sum()) if len(weight) else len(self.rows.y))

    def grow(self, number: int, seed: int) -> BoostedTrees:
        """Grow the trees of a round, `number` of them before; add them to the predictions."""
        cells = self.K * self.rows.codes.size * 8
        together = TREES_A_THREAD * threads.count() < self.K
        if together:
            chunks = threads.over_chunks(partial(self._grow, number, seed), self.K, cells)
        else:
            chunks = [self._grow(number, seed, 0, self.K)]
        if self.loss.leaf_share is None and self.K == 1:
            self.loss.set_totals(self.growths[0].totals)
        else:
            self.loss.derive(self.rows.raw, self.rows.y, self.rows.weight)
        return self.growths[0].trees(list(chain(*chunks)))

    def _grow(self, number: int, seed: int, first: int, last: int) -> list[Nodes]:
        """Grow the trees of outputs first to last."""
        loss, rows, grown = self.loss, self.rows, []
        growth = self.growths.pop() if self.growths else self._make()
        for k in range(first, last):
            derived, tree = loss.of_output(k, rows.y, rows.weight, growth.scratch), number + k
            n_nodes = growth.grow(derived, tree, seed + tree, rows.raw[k], rows.y, rows.weight)
            if loss.leaf_share is not None:
                self._fit_leaves(growth, n_nodes)
            growth.send_missing(n_nodes, rows.weight)
            grown.append(growth.nodes(n_nodes))
        self.growths.append(growth)
        return grown

    def _fit_leaves(self, growth: BoostedGrowth, n_nodes: int) -> None:
        """Leaves that are quantiles of their rows' residuals: the loss has no curvature."""
        rows, loss = self.rows, self.loss
        residual = rows.y - rows.raw[0]

        def step(v: int) -> float:
            places = growth.rows_of(v)
            weight = rows.weight[places] if len(rows.weight) else NO_WEIGHT
            return float(loss.quantile_of(residual[places], weight))  # type: ignore[attr-defined]

        bounds = growth.bounds(n_nodes, step)
        for leaf in growth.leaves(n_nodes):
            value = growth.model.learning_rate * np.clip(step(leaf), *bounds[leaf])
            growth.number[leaf, split.VALUE] = value
            rows.raw[0, growth.rows_of(leaf)] += value


def run_helper_loop(model: Any, X: Any, y: Any) -> None:
    """Call the loop of threads that help, which only large tables reach, for a leader that left."""
    nothing, columns, groups = np.zeros(1), np.ones((4, 1), np.int64), np.zeros((0, 1), np.uint8)
    codes, cuts = np.zeros((1, 1), np.uint64), np.zeros((1, 255))
    growth = BoostedGrowth(codes, cuts, columns, groups, model, BinaryLogLoss())
    derived = loop.Derived(nothing, nothing, nothing, nothing, nothing)
    loop.help_leader(-1, growth.board, growth._tree, derived)
