"""Gradient boosting on histograms by parts: parts count, the driver splits.

A pass adds up the histograms of all nodes that may be split next; each tree takes about as many
passes as it is deep. Leaves are split in the order of their gains, as in memory: `Tree.wanted`
plays that order through, and asks for a pass where it comes to a node that nobody has measured.

A worker keeps the coded rows of its parts, and their predictions, as long as it has room; what it
does not have it reads and predicts again, to the same bits.
"""

import heapq
import uuid
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from rosenblatt import loops
from rosenblatt.base import row_weights
from rosenblatt.data import TableError
from rosenblatt.ensemble.boosted_trees import LEAF, BoostedTrees, levels_of
from rosenblatt.ensemble.boosting_losses import (
    BinaryLogLoss,
    Loss,
    MultinomialLogLoss,
    RegressionLoss,
)
from rosenblatt.statistics import ClassCounts

from .coded_parts import MISSING, keep, look, read_coded, taken
from .passes import PartRows, Passes
from .sums import Sample, Sums

Array = NDArray[np.float64]
MOST_NODES = 256  # measured in one pass
NOTHING_GAINED = 1e-12  # of a node's own term


class Form(NamedTuple):
    """What a part needs of the fit."""

    job: str
    cuts: Array
    baseline: Array
    classes: NDArray[Any] | None
    price: Array  # of a row of each class; empty if all count one
    loss: str

    def make_loss(self) -> Loss:
        """The loss of some rows."""
        if self.classes is None:
            return RegressionLoss(self.loss, None)
        return BinaryLogLoss() if len(self.classes) == 2 else MultinomialLogLoss(len(self.classes))


def fit_parts(model: Any, passes: Passes) -> Any:
    """Rounds of trees, each grown on the derivatives at the last."""
    _refuse_settings(model)
    seed = passes.seed()
    seen = passes.total(look, seed, is_classifier(model))
    _begin(model, passes, seen["sample"], seed)
    form = _form(model, passes, seen["targets"])
    model.baseline_ = form.baseline
    trees: list[BoostedTrees] = []
    for _ in range(model.max_iter):
        grown = passes.condensed(partial(_round, model, passes, form, BoostedTrees.join(trees)))
        trees.append(BoostedTrees(**grown))
    model.trees_ = BoostedTrees.join(trees)
    model.n_trees_per_iteration_, model.stop_reason_ = len(form.baseline), "max_iter"
    return model


def _round(model: Any, passes: Passes, form: Form, before: BoostedTrees) -> Sums:
    """The arrays of the trees of one round, one for each output."""
    outputs = range(len(form.baseline))
    grown = BoostedTrees.join([_grow(model, passes, form, before, k) for k in outputs])
    return Sums({entry.name: getattr(grown, entry.name) for entry in fields(grown)})


def _refuse_settings(model: Any) -> None:
    """Refuse what parts do not do."""
    given = model.categorical_features
    categories = given is not None and not isinstance(given, str) and len(given) > 0
    for name, wrong in (
        ("early_stopping", model.early_stopping is True),
        ("warm_start", model.warm_start),
        ("max_features", model.max_features != 1.0),
        ("monotonic_cst", model.monotonic_cst is not None),
        ("interaction_cst", model.interaction_cst is not None),
        ("categorical_features", categories),
        ("loss", model.loss in ("absolute_error", "quantile")),
    ):
        if wrong:
            raise ValueError(
                f"{type(model).__name__} is not fitted by parts with "
                f"{name}={getattr(model, name)!r}: leave it as it is by default."
            )


def _begin(model: Any, passes: Passes, sample: Sample, seed: int) -> None:
    """Levels of the columns, and what a model checks rows by: those of a fit to a sample."""
    rounds = {name: getattr(model, name) for name in ("max_iter", "early_stopping", "random_state")}
    model.set_params(max_iter=1, early_stopping=False, random_state=seed)
    model.fit(sample.X, sample.y)
    model.set_params(**rounds)
    passes.describe(model)


def _form(model: Any, passes: Passes, targets: Any) -> Form:
    job, cuts = uuid.uuid4().hex, model._cuts
    if not isinstance(targets, ClassCounts):
        n, level = targets
        baseline = RegressionLoss(model.loss, None).baseline(np.array([level / n]), np.ones(1))
        return Form(job, cuts, baseline, None, np.empty(0), model.loss)
    classes, counts, K = targets.classes, np.asarray(targets.weight), len(targets.classes)
    if K < 2:
        raise TableError(
            f"The number of classes has to be greater than one; {passes.source.target} has "
            f"{K}: {classes.tolist()}."
        )
    model.classes_ = classes
    totals = row_weights(classes, np.arange(K), counts, model.class_weight)
    price = np.empty(0) if model.class_weight is None else totals / counts
    form = Form(job, cuts, np.empty(0), classes, price, model.loss)
    return form._replace(baseline=form.make_loss().baseline(np.arange(K, dtype=float), totals))


# The rows of a part, as a worker keeps them.


class Coded(NamedTuple):
    """Coded rows with their targets, weights and predictions (K, n) by some trees."""

    codes: NDArray[np.uint64]
    y: Array
    weight: Array
    raw: Array
    n_trees: int


def coded(rows: PartRows, form: Form, trees: BoostedTrees) -> Coded:
    """The rows of a part, predicted by all trees so far."""
    known: Coded = taken(form.job, rows, lambda: _read(rows, form))
    rows.n_rows = rows.n_rows or len(known.y)
    trees.part(known.n_trees, len(trees)).add_coded(known.codes, known.raw)
    known = known._replace(n_trees=len(trees))
    keep(form.job, rows, known, known.codes.nbytes + known.y.nbytes + known.raw.nbytes)
    return known


def _read(rows: PartRows, form: Form) -> Coded:
    codes, y = read_coded(rows, form.cuts, form.classes)
    weight = form.price[y.astype(np.intp)] if len(form.price) else np.empty(0)
    raw = np.repeat(form.baseline[:, np.newaxis], len(y), axis=1)
    return Coded(codes, y, weight, raw, 0)


def count(
    rows: PartRows, form: Form, trees: BoostedTrees, output: int, tree: "Shape", measured: list[int]
) -> Any:
    """Histograms of a part: rows, gradients and curvatures of some nodes by column and level."""
    known = coded(rows, form, trees)
    if not len(known.y):
        return None
    loss = form.make_loss()
    loss.derive(known.raw, known.y, known.weight)
    g, h, _, _ = loss.of_output(output, known.y, known.weight, np.empty((2, len(known.y))))
    levels = levels_of(known.codes)
    number = np.full(len(tree.left), -1, np.int64)
    number[measured] = np.arange(len(measured))
    hist = np.zeros((len(measured), len(form.cuts), 256, 3))
    place, h = number[tree.nodes_of(levels)], np.broadcast_to(h, len(known.y))
    loops.part_histograms.add_histograms(levels, place, g, np.ascontiguousarray(h), hist)
    return hist


# A tree as it grows.


class Shape(NamedTuple):
    """The tests of a tree, by node; leaves have no left child."""

    left: NDArray[np.int64]  # the right child follows
    column: NDArray[np.int64]
    level: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    depth: int

    def nodes_of(self, levels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The leaf (n,) that each row ends in."""
        at, every = np.zeros(len(levels), np.int64), np.arange(len(levels))
        for _ in range(self.depth):
            level = levels[every, self.column[at]].astype(np.int64)
            left = np.where(level == MISSING, self.missing_left[at], level <= self.level[at])
            at = np.where(self.left[at] >= 0, self.left[at] + ~left, at)
        return at


@dataclass
class Node:
    """A node: its sums (rows, g, h), its best split if it was measured, its children if any."""

    sums: Array
    depth: int
    measured: bool = False
    gain: float = 0.0
    column: int = 0
    level: int = 0
    missing_left: bool = False
    left_sums: Array = field(default_factory=lambda: np.zeros(3))
    left: int = LEAF


def _grow(model: Any, passes: Passes, form: Form, trees: BoostedTrees, output: int) -> BoostedTrees:
    """One tree, on the derivatives of one output."""
    tree = Tree(model)
    while wanted := tree.wanted():
        hist = passes.total(count, form, trees, output, tree.shape(), wanted)
        tree.measure(wanted, hist)
    return tree.finished(form.cuts, float(model.learning_rate))


class Tree:
    """A tree that grows by passes."""

    def __init__(self, model: Any) -> None:
        self.nodes = [Node(np.zeros(3), 0)]
        self.l2, self.least = float(model.l2_regularization), int(model.min_samples_leaf)
        self.most_leaves = model.max_leaf_nodes or MOST_NODES * 256
        self.most_depth = model.max_depth or 2**62
        self.split: list[int] = []  # in order

    def wanted(self) -> list[int]:
        """Play the order of splits through; return the nodes that must be measured to go on."""
        if not self.nodes[0].measured:
            return [0]
        self.split, heap = [], [(-self.nodes[0].gain, 0)]
        while heap and len(self.split) + 1 < self.most_leaves:
            gain, v = heapq.heappop(heap)
            if gain >= 0:
                break
            if not self._has_children(v):
                last = len(self.split) + 2 == self.most_leaves
                if not last:
                    return self._expand([v, *(u for g, u in heap if g < 0)])
                self._add_children(v)
            self.split.append(v)
            for child in (self.nodes[v].left, self.nodes[v].left + 1):
                heapq.heappush(heap, (-self.nodes[child].gain, child))
        return []

    def _has_children(self, v: int) -> bool:
        left = self.nodes[v].left
        return left >= 0 and self.nodes[left].measured

    def _expand(self, places: list[int]) -> list[int]:
        """Children of all nodes that may be split next."""
        wanted: list[int] = []
        for v in places:
            if not self._has_children(v) and len(wanted) < MOST_NODES:
                self._add_children(v)
                wanted += [self.nodes[v].left, self.nodes[v].left + 1]
        return wanted

    def _add_children(self, v: int) -> None:
        node = self.nodes[v]
        if node.left < 0:
            node.left = len(self.nodes)
            sides = node.left_sums, node.sums - node.left_sums
            self.nodes += [Node(side, node.depth + 1) for side in sides]

    def shape(self) -> Shape:
        """All tests there are, of nodes that may not be split in the end, too."""
        nodes = self.nodes
        return Shape(
            np.array([node.left for node in nodes]),
            np.array([node.column for node in nodes]),
            np.array([node.level for node in nodes]),
            np.array([node.missing_left for node in nodes]),
            max(node.depth for node in nodes),
        )

    def measure(self, wanted: list[int], hist: Array) -> None:
        """Find the best splits of nodes by their histograms."""
        for v, own in zip(wanted, hist, strict=True):
            node = self.nodes[v]
            node.measured = True
            if v == 0:
                node.sums = own[0].sum(axis=0)
            if node.depth < self.most_depth:
                self._find_split(node, own)

    def _find_split(self, node: Node, hist: Array) -> None:
        """The split with the highest gain, the first of several."""
        rows, g, h = node.sums
        own = g * g / (h + self.l2 + loops.gradient_boosting.TINY)
        below, missing = hist[:, : MISSING - 1].cumsum(axis=1), hist[:, MISSING]
        # Two ways for what is missing: right, then left.
        left = np.stack([below, below + missing[:, None]], axis=2)
        right = node.sums - left
        enough = (left[..., 0] >= self.least) & (right[..., 0] >= self.least)
        enough &= np.minimum(left[..., 2], right[..., 2]) >= loops.gradient_boosting.LEAST_HESSIAN
        enough[missing[:, 0] == 0, :, 1] = False
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = sum(s[..., 1] ** 2 / (s[..., 2] + self.l2) for s in (left, right)) - own
        gain = np.where(enough, gain, -np.inf)
        j, level, side = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[j, level, side] > NOTHING_GAINED * own:
            node.gain, node.column, node.level = float(gain[j, level, side]), int(j), int(level)
            node.left_sums = left[j, level, side]
            none = missing[j, 0] == 0  # then what comes goes with most rows
            node.missing_left = bool(2 * node.left_sums[0] > rows if none else side)

    def finished(self, cuts: Array, learning_rate: float) -> BoostedTrees:
        """The tree of the splits that were made, children beside each other."""
        order, split = [0], set(self.split)
        left = {}
        for v in order:
            if v in split:
                left[v] = len(order)
                order += [self.nodes[v].left, self.nodes[v].left + 1]
        nodes = [self.nodes[v] for v in order]
        inner = np.array([v in split for v in order])
        values = np.array([-n.sums[1] / (n.sums[2] + self.l2 + 1e-300) for n in nodes])
        column = np.array([n.column for n in nodes])
        level = np.array([n.level for n in nodes])
        return BoostedTrees(
            starts=np.array([0, len(order)], np.int64),
            column=np.where(inner, column, LEAF).astype(np.int32),
            left=np.array([left.get(v, LEAF) for v in order], np.int32),
            level=np.where(inner, level, LEAF).astype(np.int16),
            threshold=np.where(inner, cuts[column, level], np.nan),
            missing_left=np.array([n.missing_left for n in nodes]) & inner,
            value=np.where(inner, values, learning_rate * values),
            gain=np.where(inner, [n.gain for n in nodes], 0.0),
            count=np.array([n.sums[0] for n in nodes]).astype(np.int64),
            depth=np.array([n.depth for n in nodes], np.int32),
            sets=np.zeros((0, 4), np.uint64),
        )
