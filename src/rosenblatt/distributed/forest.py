"""Forests over parts: all trees grow together, level by level, on histograms of their open nodes.

A bootstrap sample of rows that come by and by draws each of them a Poisson number of times. A node
tries some columns; if none of them splits it, others in the next pass.
"""

import uuid
from collections import deque
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from rosenblatt import checks
from rosenblatt.ensemble.boosted_trees import find_cuts, levels_of
from rosenblatt.ensemble.forest import drawn_in_part, n_drawn
from rosenblatt.statistics import ClassCounts
from rosenblatt.tree import pruning
from rosenblatt.tree.inputs import SEEDS
from rosenblatt.tree.structure import Tree

from . import histograms_loops
from .coded_parts import MISSING, keep, read_coded, sample_rows, taken
from .forest_tree import Criterion, GrowingTree
from .passes import PartRows, Passes
from .sums import Sums

Array = NDArray[np.float64]
TREES_AT_ONCE = 64
HISTOGRAM_BYTES = 2**25  # of one pass


class Broadcast(NamedTuple):
    """What every part receives, the same in all passes of a fit."""

    job: str
    cuts: Array
    classes: NDArray[Any] | None
    centre: float  # subtracted of numbers
    share: float  # of the rows that a tree draws; 0 for all of them once
    total: float  # weight of all rows


def fit_parts(model: Any, passes: Passes) -> Any:
    """Find levels, grow all trees, publish them."""
    refuse_settings(model)
    seed = passes.seed()
    seen = passes.total(sample_and_count, seed, is_classifier(model), model.missing != "error")
    shared, criterion = _begin(model, passes, seen, seed)
    drawn = np.random.RandomState(seed).randint(SEEDS, size=model.n_estimators)
    seeds = [int(one) for one in drawn]
    model.estimators_ = []
    for first in range(0, len(seeds), TREES_AT_ONCE):
        some = seeds[first : first + TREES_AT_ONCE]
        grown = passes.condensed(partial(_grown, model, passes, shared, criterion, some))
        for k, one in enumerate(some):
            none = np.zeros(len(shared.cuts), np.int64)
            tree = pruning.cut_by_price(
                Tree.build(**grown[str(k)], n_categories=none), model.ccp_alpha
            )
            model.estimators_.append(model._model(tree, one))
    model.n_iter_, model.stop_reason_ = len(seeds), "converged"
    return model


def refuse_settings(model: Any) -> None:
    """Refuse what parts do not do."""
    given = model.categorical_features
    for name, wrong in (
        ("criterion", model.criterion in ("absolute_error", "poisson")),
        ("oob_score", bool(model.oob_score)),
        ("warm_start", model.warm_start),
        ("max_leaf_nodes", model.max_leaf_nodes is not None),
        ("monotonic_cst", model.monotonic_cst is not None),
        ("missing", model.missing in ("majority", "branch")),
        ("categorical_features", not isinstance(given, str | None) and len(given) > 0),
        ("class_weight", getattr(model, "class_weight", None) == "balanced_subsample"),
    ):
        if wrong:
            raise ValueError(
                f"{type(model).__name__} is not fitted by parts with "
                f"{name}={getattr(model, name)!r}: leave it as it is by default."
            )


def sample_and_count(rows: PartRows, seed: int, classifies: bool, missing: bool) -> Any:
    """A sample of the rows of a part, and how many there are."""
    found = sample_rows(rows, seed, classifies, missing)
    if found is not None:
        found["rows"] = Sums({str(rows.number): np.array([rows.number, rows.n_rows])})
    return found


def _begin(model: Any, passes: Passes, seen: Any, seed: int) -> tuple[Broadcast, Criterion]:
    """Levels of the columns, and what the model publishes of the data."""
    passes.publish_columns(model)
    model.n_outputs_, model.categories_ = 1, [None] * model.n_features_in_
    model._part_rows = np.array(sorted(map(tuple, seen["rows"].values())), np.int64)
    model._n_rows, model._sample_weight = int(model._part_rows[:, 1].sum()), None
    model._n_drawn = n_drawn(model.max_samples, model._n_rows, None)
    X = np.asarray(seen["sample"].X, np.float64)
    none = np.zeros(X.shape[1], np.int64)
    cuts, _ = find_cuts(X, none, MISSING, np.empty(0), seed)
    share = model._n_drawn / model._n_rows if model.bootstrap else 0.0
    shared = Broadcast(uuid.uuid4().hex, cuts, None, 0.0, share, float(model._n_rows))
    targets = seen["targets"]
    if isinstance(targets, ClassCounts):
        model.classes_, model.n_classes_ = targets.classes, len(targets.classes)
        counts = np.asarray(targets.weight)
        totals = checks.row_weights(
            targets.classes, np.arange(len(counts)), counts, model.class_weight
        )
        shared = shared._replace(classes=targets.classes, total=float(totals.sum()))
        criterion = Criterion(model.criterion, totals / counts, 0.0)
    else:
        centre = float(targets[1] / targets[0])
        shared, criterion = shared._replace(centre=centre), Criterion("numbers", np.ones(1), centre)
    model.estimator_ = model._make_estimator()
    return shared, criterion


# The trees as they grow.


def _grown(
    model: Any, passes: Passes, shared: Broadcast, criterion: Criterion, seeds: list[int]
) -> Sums:
    """The arrays of some trees, grown together."""
    total, trees = shared.total * (shared.share or 1.0), []
    for seed in seeds:
        random = model._random_thresholds
        settings = model._settings(model._n_rows, np.array([total]), seed, random)
        trees.append(GrowingTree(criterion, settings, shared.cuts))
    waiting = deque((t, 0) for t in range(len(trees)))
    tried = trees[0].n_tried
    most = max(1, HISTOGRAM_BYTES // (tried * 256 * criterion.width * 8))
    while waiting:
        wanted = [waiting.popleft() for _ in range(min(most, len(waiting)))]
        hist = passes.total(
            count, shared, _asked(trees, seeds, wanted), len(wanted), criterion.width
        )
        for (t, v), own in zip(wanted, criterion.weighed(hist), strict=True):
            waiting.extend((t, u) for u in trees[t].measure(v, own))
    arrays = [tree.finished() for tree in trees]
    return Sums({str(k): Sums(own) for k, own in enumerate(arrays)})


class Asked(NamedTuple):
    """A tree whose open nodes a part counts."""

    seed: int
    shape: tuple[Any, ...]  # left, column, level, missing_left by node
    slot: NDArray[np.int64]  # of each node in the histograms of the pass, -1 for none
    tried: NDArray[np.int64]  # (slots, m) columns


def _asked(trees: list[GrowingTree], seeds: list[int], wanted: list[tuple[int, int]]) -> Any:
    """The trees that have nodes to be measured; the nodes of one stand together or not."""
    m = trees[0].n_tried
    tried = np.full((len(wanted), m), -1, np.int64)
    slots: dict[int, dict[int, int]] = {}
    for place, (t, v) in enumerate(wanted):
        columns = trees[t].columns_to_try(v)
        tried[place, : len(columns)] = columns
        slots.setdefault(t, {})[v] = place
    asked = []
    for t, places in slots.items():
        slot = np.full(len(trees[t].nodes), -1, np.int64)
        slot[list(places)] = list(places.values())
        asked.append(Asked(seeds[t], trees[t].shape(), slot, tried))
    return asked


def count(rows: PartRows, shared: Broadcast, asked: list[Asked], n_slots: int, width: int) -> Any:
    """Histograms (slots, m, 256, width) of the open nodes of all trees over one part."""
    known = taken(shared.job, rows, lambda: _read(rows, shared))
    levels, y = known
    keep(shared.job, rows, known, levels.nbytes + y.nbytes)
    rows.n_rows = rows.n_rows or len(y)
    if not len(y):
        return None
    hist = np.zeros((n_slots, asked[0].tried.shape[1], 256, width))
    found, place = histograms_loops, np.empty(len(y), np.int64)
    add = found.add_number_histograms if shared.classes is None else found.add_class_histograms
    for tree in asked:
        times = np.ones(len(y), np.int64)
        if shared.share:
            times = drawn_in_part(tree.seed, rows.number, len(y), shared.share)
        found.find_slots(levels, times, *tree.shape, tree.slot, place)
        add(levels, times, y, place, tree.tried, hist)
    return hist


def _read(rows: PartRows, shared: Broadcast) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    codes, y = read_coded(rows, shared.cuts, shared.classes)
    return levels_of(codes), y - shared.centre if shared.classes is None else y.astype(np.int64)
