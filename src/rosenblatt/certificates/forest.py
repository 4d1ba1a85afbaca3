"""Forests and bagging: means over the models, and what they say of rows that they did not see.

Nothing is claimed of new data: an out-of-bag estimate is an estimate. X must be that of the fit,
in its order, for samples are known by the numbers of their rows.
"""

from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Certificate, Claim, total_weight, weights_in_range
from .closed_form import agrees
from .input_checks import check_fitted
from .tree import (
    class_weights,
    least_mistakes_claim,
    least_squares_claim,
    output_of,
    targets_of,
)
from .tree_counts import NodeRows, branch_claims, count_claims
from .tree_routing import Floats, Ints, PublishedTree, as_matrix, matrix_blocks, some_rows
from .tree_splits import Targets

ROWS_CHECKED = (100_000, 800_000)  # sent down trees again, by effort
NODES_CHECKED = (2_000, 500_000)  # of trees whose counts are derived again
ROWS_COUNTED = (100_000, 300_000)  # that are in the samples of these trees


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Route the rows down every tree again, and compare with what is published."""
    check_fitted(model, "estimators_")
    weight = weights_in_range(weight)  # as our fits do
    if not hasattr(model, "n_outputs_"):
        model_outputs = 1 if y.ndim == 1 else y.shape[1]
    else:
        model_outputs = int(model.n_outputs_)
    targets = targets_of(_Reader(model, model_outputs), y)
    n, T = X.shape[0], len(model.estimators_)
    some = checked_rows(n, ROWS_CHECKED[effort > 0] // T)
    part, of_part = (X, targets) if len(some) == n else (X[some], rows_of(targets, some))
    trees = [PublishedTree(m) if hasattr(m, "tree_") else None for m in model.estimators_]
    values = [values_of(model, i, trees[i], part, of_part) for i in range(T)]
    mean = np.mean(values, axis=0)
    samples = getattr(model, "estimators_samples_", None)
    check_samples(model, samples, n)
    claims = [
        *error_claims(model, part, y[some], of_part, weight[some], mean),
        *out_of_bag_claims(model, targets, values, samples, some),
        *tree_claims(model, trees, X, y, targets, weight, samples, effort),
    ]
    problem = f"the mean of {T:,} models, each fitted to its own sample"
    given = np.count_nonzero(weight)
    data = f"the {given:,} rows and {X.shape[1]:,} columns given"
    data += f", {total_weight(weight[weight > 0])}"
    if len(some) < n:
        data += f"; {len(some):,} rows were sent down the trees again"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def check_samples(model: Any, samples: Any, n: int) -> None:
    """Raise if members were fitted to rows that are not among the n given."""
    if samples is None:
        return
    last = max((int(np.max(sample, initial=-1)) for sample in samples), default=-1)
    if last >= n:
        raise ValueError(
            f"{type(model).__name__} is certified on the rows of its fit, in their order: a "
            f"sample has row {last:,}, and X has {n:,} rows."
        )


def checked_rows(n: int, most: int) -> Ints:
    """All rows, or as many as may be checked, drawn at random in their order."""
    if n <= max(most, 1000):
        return np.arange(n)
    return np.sort(np.random.default_rng(0).permutation(n)[: max(most, 1000)])


def rows_of(targets: Targets, some: Ints) -> Targets:
    """The targets of some rows."""
    return Targets(
        None if targets.classes is None else targets.classes[some],
        None if targets.numbers is None else targets.numbers[some],
        targets.n_classes,
    )


class _Reader:
    """What `targets_of` reads of a model; scikit-learn's bagging publishes no n_outputs_."""

    def __init__(self, model: Any, n_outputs: int) -> None:
        self.n_outputs_ = n_outputs
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_


def values_of(model: Any, i: int, tree: PublishedTree | None, X: Any, targets: Targets) -> Floats:
    """The class shares or predictions (n, o, K) of member i for all rows."""
    member = model.estimators_[i]
    columns = getattr(model, "estimators_features_", None)
    rows = X if columns is None else X[:, columns[i]]
    K = max(targets.n_classes)
    if tree is not None:
        blocks = matrix_blocks(member, rows)
        value = np.concatenate([tree.value[tree.ends(block)] for _, block in blocks])
        if targets.classes is not None and columns is not None:
            return _in_classes(member, value[:, 0], K)
        return value
    if targets.numbers is not None:
        return np.asarray(member.predict(rows), np.float64).reshape(len(rows), -1, 1)
    if hasattr(member, "predict_proba"):
        return _in_classes(member, np.asarray(member.predict_proba(rows)), K)
    guess = np.asarray(member.predict(rows)).astype(np.int64)
    return np.eye(K)[guess][:, np.newaxis]


def _in_classes(member: Any, shares: Floats, K: int) -> Floats:
    """Class shares (n, 1, K) of a member of a bag, whose classes are numbers of the bag's."""
    value = np.zeros((len(shares), 1, K))
    value[:, 0, np.asarray(member.classes_).astype(np.int64)] = shares[:, : len(member.classes_)]
    return value


def error_claims(
    model: Any, X: Any, y: NDArray[Any], targets: Targets, weight: Floats, mean: Floats
) -> list[Claim]:
    """The training error, and that predictions are means over the members."""
    given = np.flatnonzero(weight > 0)
    first = model.estimators_[0]
    whole = hasattr(first, "tree_") and not hasattr(model, "estimators_features_")
    matrix = None
    if whole:
        ours = type(model).__module__.startswith("rosenblatt.")
        matrix = X.astype(np.float64 if ours else np.float32) if sp.issparse(X) else (
            as_matrix(model, X)
        )  # fmt: skip
    if targets.classes is None:
        assert targets.numbers is not None
        guess, w = mean[:, :, 0], weight[given][:, np.newaxis]
        said = output_of(model, X).reshape(guess.shape)
        error = float((w * (guess - targets.numbers)[given] ** 2).sum())
        claims = [
            Claim(
                "training error", f"the squared error on these rows is {error:.6g}", error, None,
                True, "checked",
            ),
            agrees("means", "predictions", said, guess, np.abs(guess).max(initial=1e-300)),
        ]  # fmt: skip
        if matrix is not None:
            claims.append(
                least_squares_claim(some_rows(matrix, given), targets.numbers[given], w, error)
            )
        return claims
    said_wrong = output_of(model, X).reshape(len(y), -1) != y.reshape(len(y), -1)
    wrong = said_wrong.any(axis=1)
    errors = int(np.count_nonzero(wrong[given]))
    statement = f"{errors:,} of {len(given):,} rows are predicted wrongly"
    claims = [Claim("training error", statement, errors, None, True, "proved")]
    if hasattr(model, "predict_proba"):
        shares = output_of(model, X, "predict_proba")
        parts = shares if isinstance(shares, list) else [shares]
        off = [agrees("means", "class shares", part, mean[:, o, : part.shape[1]], 1.0)
               for o, part in enumerate(parts)]  # fmt: skip
        claims.append(max(off, key=lambda claim: claim.value))
    if matrix is not None:
        classes = targets.classes[given]
        claims.append(
            least_mistakes_claim(some_rows(matrix, given), classes, weight[given], wrong[given])
        )
    return claims


def out_of_bag_claims(
    model: Any, targets: Targets, values: list[Floats], samples: Any, some: Ints
) -> list[Claim]:
    """The estimate from members that have not seen a row, derived again for some rows."""
    if samples is None or not getattr(model, "bootstrap", False):
        return []
    targeted = targets.numbers if targets.classes is None else targets.classes
    assert targeted is not None
    n = len(targeted)
    total, seen_by, missed = np.zeros_like(values[0]), np.zeros(len(some)), []
    for value, sample in zip(values, samples, strict=True):
        out = np.ones(n, bool)
        out[np.asarray(sample)] = False
        missed.append(out.mean())
        total += value * out[some, np.newaxis, np.newaxis]
        seen_by += out[some]
    scored = seen_by > 0
    if not scored.any():
        return []
    mean = total / np.maximum(seen_by, 1)[:, np.newaxis, np.newaxis]
    words = f"the sample of a model leaves out {float(np.mean(missed)):.1%} of the rows on average"
    of_some = rows_of(targets, some)
    score = _score(of_some, mean, np.flatnonzero(scored))
    rows = f"{int(scored.sum()):,} rows"
    statement = f"out of bag R2 is {score:.4f} on {rows}; {words}"
    if targets.classes is not None:
        statement = f"out of bag {score:.4f} of {rows} are right; {words}"
    claims = [Claim("out of bag", statement, score, None, True, "checked")]
    name = "oob_prediction_" if targets.classes is None else "oob_decision_function_"
    by_row = _published_by_row(model, targets, name, n)
    known = len(some) == n or hasattr(model, name)
    if hasattr(model, "oob_score_") and not callable(model.oob_score) and known:
        # Rows that every member has seen count as the first class, or as predicted zero; of rows
        # that were not checked, what is published by row is taken.
        whole = mean if len(some) == n else by_row
        everywhere = _score(targets, np.nan_to_num(whole), np.arange(n))
        claims.append(
            agrees("published estimate", "oob_score_", np.array([model.oob_score_]),
                   np.array([everywhere]), max(1.0, abs(everywhere)))
        )  # fmt: skip
    if hasattr(model, name):
        scale = max(float(np.abs(mean).max(initial=0.0)), 1e-300)
        claims.append(agrees("out of bag by row", name, by_row[some][scored], mean[scored], scale))
    return claims


def _published_by_row(model: Any, targets: Targets, name: str, n: int) -> Floats:
    """What is published of each row (n, o, K); NaN if nothing is."""
    K = max(targets.n_classes)
    if not hasattr(model, name):
        return np.full((n, targets.n_outputs, K), np.nan)
    said = np.asarray(getattr(model, name), np.float64)
    if targets.classes is None:
        return said.reshape(n, -1, 1)
    return said.reshape(n, K, -1).transpose(0, 2, 1)


def _score(targets: Targets, mean: Floats, rows: Any) -> float:
    """The accuracy, or R2, of means (n, o, K) on some rows."""
    if targets.classes is not None:
        return float((mean.argmax(axis=2) == targets.classes).all(axis=1)[rows].mean())
    assert targets.numbers is not None
    y = targets.numbers[rows]
    spread = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    left = ((y - mean[rows][:, :, 0]) ** 2).sum(axis=0)
    return float(np.mean(1 - left / np.maximum(spread, 1e-300)))


def tree_claims(
    model: Any, members: list[PublishedTree | None], X: Any, y: NDArray[Any], targets: Targets,
    weight: Floats, samples: Any, effort: int,
) -> list[Claim]:  # fmt: skip
    """That in all trees branches add up to their nodes, and that nodes count their samples.

    The second is checked in as many trees as there is time for, which the model's own numbers
    draw: who changes a tree draws others. Monotonic trees, and those pruned by held-out rows, are
    not checked; class weights of each sample and weights of scikit-learn's forests not counted.
    """
    first, columns = model.estimators_[0], getattr(model, "estimators_features_", None)
    trees = [tree for tree in members if tree is not None]
    if len(trees) < len(members) or getattr(first, "monotonic_cst", None) is not None:
        return []
    if getattr(first, "pruning", None):
        return []
    criterion = str(first.criterion)
    found = [branch_claims(first, tree, targets, criterion) for tree in trees]
    failing = [claim for claims in found for claim in claims if not claim.holds]
    statement = f"in all {len(trees):,} trees the branches of a node add up to it"
    claims = [_unless("branches", statement, failing)]
    given = getattr(model, "class_weight", None)
    weighted = given is not None or not (weight == 1).all()
    ours = type(model).__module__.startswith("rosenblatt.")
    if given == "balanced_subsample" or (weighted and columns is None and not ours):
        return claims
    every = row_weights(model, y, targets, weight)
    checked, n_nodes, n_rows, failing = 0, 0, 0, []
    for i in drawn_trees(trees):
        member, tree = model.estimators_[i], trees[i]
        drawn = np.bincount(np.asarray(samples[i]), minlength=len(y)) * every
        rows = np.flatnonzero(drawn)
        n_nodes, n_rows = n_nodes + len(tree), n_rows + len(rows)
        much = n_nodes > NODES_CHECKED[effort > 0] or n_rows > ROWS_COUNTED[effort > 0]
        if checked and much:
            break
        own = X[rows] if columns is None else X[rows][:, columns[i]]
        end = np.concatenate([tree.ends(block) for _, block in matrix_blocks(member, own)])
        nodes = NodeRows(tree, rows, end, partial(as_matrix, member, own))
        counted = count_claims(member, nodes, targets, drawn, criterion)
        failing += [claim for claim in counted if not claim.holds]
        checked += 1
    statement = f"the nodes of all {len(trees):,} trees count their samples"
    if checked < len(trees):
        statement = (
            f"the nodes of {checked:,} of {len(trees):,} trees, drawn by the numbers of all, count "
            f"their samples; a split changed in one tree passes with a chance of "
            f"{1 - checked / len(trees):.0%}"
        )
    return [*claims, _unless("counts", statement, failing)]


def _unless(name: str, statement: str, failing: list[Claim]) -> Claim:
    """A claim on trees that holds unless one about a tree fails."""
    if failing:
        statement += f", but: {failing[0].statement}"
    return Claim(name, statement, float(len(failing)), 0.0, not failing, "checked")


def row_weights(model: Any, y: NDArray[Any], targets: Targets, weight: Floats) -> Floats:
    """What a row (n,) weighs each time that a sample has it."""
    columns = getattr(model, "estimators_features_", None)
    by_parts = getattr(model, "_part_rows", None) is not None
    if columns is not None and targets.classes is not None:
        return class_weights(model.estimators_[0], targets.classes[:, 0])
    if columns is None and (by_parts or not model.bootstrap):
        return np.asarray(weight * class_weights(model, y))
    return np.ones(len(y))  # samples are drawn by the weights, but not by parts


def drawn_trees(trees: list[PublishedTree]) -> list[int]:
    """The trees in an order that follows from their numbers, as by chance."""
    digest = blake2b(digest_size=8)
    for tree in trees:
        for numbers in (tree.feature, tree.threshold, tree.value):
            digest.update(np.ascontiguousarray(numbers).tobytes())
    order = np.random.default_rng(int.from_bytes(digest.digest())).permutation(len(trees))
    return [int(i) for i in order]
