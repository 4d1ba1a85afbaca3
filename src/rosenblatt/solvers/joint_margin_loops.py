# mypy: ignore-errors
"""Dual coordinate descent for all classes in one problem: a row's multipliers at a time, exactly.

    minimise  |W|^2 / 2 - sum_i alpha[i, y_i],   W = sum_i (x_i, bias) alpha_i',
    alpha[i, k] <= c_i for k = y_i and <= 0 for others,  sum_k alpha[i, k] = 0

The multipliers of a row take weight from other classes and give it to the row's own. The scores of
a row are ``(x, bias) W + centre``.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows

from .dual_coordinate_loops import shuffle

NO_STEP = 1e-12  # of a score


class Rows(NamedTuple):
    """What a pass reads, an entry for each row."""

    X: Any  # (n, d), see `rows`
    y: Any  # class numbers
    c: Any
    lengths: Any  # |x|^2 + bias^2
    bias: float  # the value of one more column; 0 for none


@compiled
def joint_pass(table, centre, order, n_active, firm, seed, alpha, W, scores, new):
    """Visit the active rows, ``order[:n_active]``, in a new random order and set their multipliers.

    A row without multipliers whose own class leads all others by `firm` more than it must becomes
    inactive. Changes order (n,), seed (1,), alpha (n, K), W (d + 1, K); scores and new (K,) are
    scratch space. Returns how many rows are still active, and the largest violation met: by how
    much another class's slope was above that of a class whose multiplier could grow.
    """
    K = scores.shape[0]
    shuffle(order, n_active, seed)
    largest, t = 0.0, 0
    while t < n_active:
        rows.prefetch_row(table.X, table.c, order[:n_active], t)
        i = order[t]
        own = table.y[i]
        slopes_of(table, i, centre, W, scores)
        violation, rest = standing(scores, alpha[i], own, table.c[i])
        if rest > firm:
            n_active -= 1
            order[t], order[n_active] = order[n_active], i
            continue
        largest = max(largest, violation)
        if violation > NO_STEP and table.lengths[i] > 0:
            best(scores, alpha[i], own, table.c[i], table.lengths[i], new)
            spread(table, i, alpha[i], new, W)
            for k in range(K):
                alpha[i, k] = new[k]
        t += 1
    return n_active, largest


@compiled
def slopes_of(table, i, centre, W, scores):
    """Fill scores (K,) with the slope of the objective by each multiplier of row i."""
    rows.dots(table.X, i, W, scores)
    for k in range(scores.shape[0]):
        scores[k] += table.bias * W[W.shape[0] - 1, k] + centre[k]
        if k != table.y[i]:
            scores[k] += 1.0


@compiled
def standing(slopes, alpha, own, c):
    """How far a row is from rest; and, with no multiplier, how firmly its own class leads."""
    # Weight can move from any class to one whose multiplier is below its limit.
    most, least, other, empty = -np.inf, np.inf, -np.inf, True
    for k in range(slopes.shape[0]):
        most = max(most, slopes[k])
        if k == own:
            if alpha[k] < c:
                least = min(least, slopes[k])
        else:
            other = max(other, slopes[k])
            if alpha[k] < 0:
                least = min(least, slopes[k])
                empty = False
    rest = slopes[own] - other if empty else -1.0
    return max(most - least, 0.0), rest


@compiled
def best(slopes, alpha, own, c, curvature, new):
    """Fill new (K,) with the best multipliers of a row while all others stay.

    They are ``min(limit, wish - level)``, with the level at which they sum to zero: those at their
    limit are found in a few rounds, each of which can only lower the level.
    """
    K = slopes.shape[0]
    level = np.inf
    while True:
        total, n_free = 0.0, 0
        for k in range(K):
            wish = alpha[k] - slopes[k] / curvature
            limit = c if k == own else 0.0
            if wish - level > limit:
                total += limit
            else:
                total += wish
                n_free += 1
        lower = total / n_free
        if not lower < level:
            break
        level = lower
    for k in range(K):
        limit = c if k == own else 0.0
        new[k] = min(limit, alpha[k] - slopes[k] / curvature - level)


@compiled
def spread(table, i, old, new, W):
    """Add row i to the columns of W, as often as its multipliers have changed."""
    K, last = new.shape[0], W.shape[0] - 1
    for k in range(K):
        W[last, k] += table.bias * (new[k] - old[k])
    if isinstance(table.X, tuple):
        data, indices, indptr = table.X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            for k in range(K):
                W[j, k] += data[p] * (new[k] - old[k])
    else:
        for j in range(last):
            for k in range(K):
                W[j, k] += table.X[i, j] * (new[k] - old[k])
