"""Gradient boosting on histograms by parts: parts count, the driver splits.

A pass adds up the histograms of all nodes that may be split next; each tree takes about as many
passes as it is deep. `boosting_tree.py` has the tree, and which of its nodes are measured next.

A worker keeps the coded rows of its parts, and their predictions, as long as it has room; what it
does not have it reads and predicts again, to the same bits.
"""

import uuid
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from rosenblatt import checks
from rosenblatt.data import TableError
from rosenblatt.ensemble.boosted_growth import (
    BinaryLogLoss,
    Loss,
    MultinomialLogLoss,
    RegressionLoss,
)
from rosenblatt.ensemble.boosted_trees import BoostedTrees, levels_of
from rosenblatt.statistics import ClassCounts

from . import histograms_loops
from .boosting_tree import GrowingTree, Shape
from .coded_parts import keep, read_coded, sample_rows, taken
from .passes import PartRows, Passes
from .sums import Sample, Sums

Array = NDArray[np.float64]


class Broadcast(NamedTuple):
    """What every part receives, the same in all passes of a fit."""

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
    seen = passes.total(sample_rows, seed, is_classifier(model))
    _begin(model, passes, seen["sample"], seed)
    shared = _broadcast(model, passes, seen["targets"])
    model.baseline_ = shared.baseline
    trees: list[BoostedTrees] = []
    for _ in range(model.max_iter):
        grown = passes.condensed(partial(_round, model, passes, shared, BoostedTrees.join(trees)))
        trees.append(BoostedTrees(**grown))
    model.trees_ = BoostedTrees.join(trees)
    model.n_trees_per_iteration_, model.stop_reason_ = len(shared.baseline), "max_iter"
    return model


def _round(model: Any, passes: Passes, shared: Broadcast, before: BoostedTrees) -> Sums:
    """The arrays of the trees of one round, one for each output."""
    outputs = range(len(shared.baseline))
    grown = BoostedTrees.join([_grow(model, passes, shared, before, k) for k in outputs])
    return Sums({entry.name: getattr(grown, entry.name) for entry in fields(grown)})


def _grow(
    model: Any, passes: Passes, shared: Broadcast, trees: BoostedTrees, output: int
) -> BoostedTrees:
    """One tree, on the derivatives of one output."""
    tree = GrowingTree(model)
    while wanted := tree.wanted():
        hist = passes.total(count, shared, trees, output, tree.shape(), wanted)
        tree.measure(wanted, hist)
    return tree.finished(shared.cuts, float(model.learning_rate))


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
    passes.publish_columns(model)


def _broadcast(model: Any, passes: Passes, targets: Any) -> Broadcast:
    job, cuts = uuid.uuid4().hex, model._cuts
    if not isinstance(targets, ClassCounts):
        n, level = targets
        baseline = RegressionLoss(model.loss, None).baseline(np.array([level / n]), np.ones(1))
        return Broadcast(job, cuts, baseline, None, np.empty(0), model.loss)
    classes, counts, K = targets.classes, np.asarray(targets.weight), len(targets.classes)
    if K < 2:
        raise TableError(
            f"The number of classes has to be greater than one; {passes.source.target} has "
            f"{K}: {classes.tolist()}."
        )
    model.classes_ = classes
    totals = checks.row_weights(classes, np.arange(K), counts, model.class_weight)
    price = np.empty(0) if model.class_weight is None else totals / counts
    shared = Broadcast(job, cuts, np.empty(0), classes, price, model.loss)
    return shared._replace(baseline=shared.make_loss().baseline(np.arange(K, dtype=float), totals))


# The rows of a part, as a worker keeps them.


class Coded(NamedTuple):
    """Coded rows with their targets, weights and predictions (K, n) by some trees."""

    codes: NDArray[np.uint64]
    y: Array
    weight: Array
    raw: Array
    n_trees: int


def coded(rows: PartRows, shared: Broadcast, trees: BoostedTrees) -> Coded:
    """The rows of a part, predicted by all trees so far."""
    known: Coded = taken(shared.job, rows, lambda: _read(rows, shared))
    rows.n_rows = rows.n_rows or len(known.y)
    trees.part(known.n_trees, len(trees)).add_coded(known.codes, known.raw)
    known = known._replace(n_trees=len(trees))
    keep(shared.job, rows, known, known.codes.nbytes + known.y.nbytes + known.raw.nbytes)
    return known


def _read(rows: PartRows, shared: Broadcast) -> Coded:
    codes, y = read_coded(rows, shared.cuts, shared.classes)
    weight = shared.price[y.astype(np.intp)] if len(shared.price) else np.empty(0)
    raw = np.repeat(shared.baseline[:, np.newaxis], len(y), axis=1)
    return Coded(codes, y, weight, raw, 0)


def count(
    rows: PartRows,
    shared: Broadcast,
    trees: BoostedTrees,
    output: int,
    tree: Shape,
    measured: list[int],
) -> Any:
    """Histograms of a part: rows, gradients and curvatures of some nodes by column and level."""
    known = coded(rows, shared, trees)
    if not len(known.y):
        return None
    loss = shared.make_loss()
    loss.derive(known.raw, known.y, known.weight)
    g, h, _, _ = loss.of_output(output, known.y, known.weight, np.empty((2, len(known.y))))
    levels = levels_of(known.codes)
    number = np.full(len(tree.left), -1, np.int64)
    number[measured] = np.arange(len(measured))
    hist = np.zeros((len(measured), len(shared.cuts), 256, 3))
    place, h = number[tree.nodes_of(levels)], np.broadcast_to(h, len(known.y))
    histograms_loops.add_histograms(levels, place, g, np.ascontiguousarray(h), hist)
    return hist
