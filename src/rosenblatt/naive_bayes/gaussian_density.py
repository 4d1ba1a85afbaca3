"""Log-densities of rows under Gaussians with independent features, and the class they are for.

Legend as in `quadratic_forms_loops`: mean, half_precision (K, d), start (K,), gap None or (K, d).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import quadratic_forms_loops
from rosenblatt.base import warn
from rosenblatt.prediction import in_cells
from rosenblatt.runtime.storage import summed_duplicates

Table = NDArray[np.float64]
Choice = Callable[[NDArray[Any]], NDArray[Any] | None]  # rows to classes; None if one has none

MOST_APART = 1e6  # multiplying out loses this share of the digits of a score


def chooser(
    X: NDArray[Any], mean: Table, half_precision: Table, start: Table, gap: Table | None
) -> Choice:
    """The function that gives the best class (b,) of rows like those of X, which are many."""
    # A score is start - h (x - m)^2, summed over features. Multiplied out, it takes fewer steps,
    # for two classes a third, since their difference is enough: start - h m^2 + x (2 h m - h x),
    # where both x and m are less a centre amid the classes.
    centre = mean.mean(axis=0)
    away = mean - centre
    constant = start - (half_precision * away**2).sum(axis=1)
    digits = np.abs(constant - start).max() < MOST_APART and np.isfinite(start).all()
    if gap is not None or X.shape[1] < 4 or not digits:
        return by_distances(mean, half_precision, start, gap)
    form = (-half_precision, 2 * half_precision * away, constant)
    return by_difference(centre, *form) if len(mean) == 2 else by_parabolas(centre, *form)


def by_distances(mean: Table, half_precision: Table, start: Table, gap: Table | None) -> Choice:
    """The class of the highest score."""

    def choose(rows: NDArray[Any]) -> NDArray[Any] | None:
        codes = np.empty(len(rows), np.int64)
        lost = quadratic_forms_loops.choose_classes(rows, mean, half_precision, start, gap, codes)
        return None if lost else codes

    return choose


def by_parabolas(centre: Table, square: Table, linear: Table, constant: Table) -> Choice:
    """The class with the highest constant + x (linear + square x)."""
    form = (in_cells(centre[None])[0], in_cells(square), in_cells(linear), constant)

    def choose(rows: NDArray[Any]) -> NDArray[Any] | None:
        codes, z = np.empty(len(rows), np.int64), np.empty((4, form[1].shape[1]))
        lost = quadratic_forms_loops.choose_by_parabolas(rows, *form, codes, z)
        return None if lost else codes

    return choose


def by_difference(centre: Table, square: Table, linear: Table, constant: Table) -> Choice:
    """The second class where its parabolas are above the first's."""
    square, linear = (in_cells(np.diff(table, axis=0)) for table in (square, linear))
    form = (in_cells(centre[None])[0], square, linear, np.diff(constant))

    def choose(rows: NDArray[Any]) -> NDArray[Any] | None:
        difference = np.empty((1, len(rows)))
        quadratic_forms_loops.one_parabola_score(rows, *form, difference)
        with np.errstate(invalid="ignore", over="ignore"):
            return (difference[0] > 0).view(np.int8) if np.isfinite(difference.sum()) else None

    return choose


def score(
    X: NDArray[Any], mean: Table, half_precision: Table, start: Table, gap: Table | None
) -> Table:
    """As `quadratic_forms_loops.score_rows`, in NumPy."""
    far = X[:, None, :] - mean  # (n, K, d), of few rows
    far *= far
    if gap is None:
        return np.asarray(start - np.einsum("nkd,kd->nk", far, half_precision))
    far *= half_precision
    return np.asarray(start - np.where(np.isnan(far), gap, far).sum(axis=2))


def score_sparse(
    X: Any, mean: Table, half_precision: Table, start: Table, gap: Table | None
) -> Table:
    """The same for CSR: the score of a row of zeros, and what each stored number changes in it."""
    # h (x - m)^2 = h m^2 + h x (x - 2 m)
    at_zero = half_precision * mean**2  # (K, d)
    scores = start - at_zero.sum(axis=1)
    if gap is not None:
        X = summed_duplicates(X)  # a number and NaN in one place are missing together
        missing = np.isnan(X.data)
        where = sp.csr_array((missing.astype(np.float64), X.indices, X.indptr), shape=X.shape)
        X = sp.csr_array((np.where(missing, 0, X.data), X.indices, X.indptr), shape=X.shape)
        scores = scores + where @ (at_zero - gap).T
    X = summed_duplicates(sp.csr_array(X, dtype=np.float64))
    return np.asarray(scores - X.power(2) @ half_precision.T + X @ (2 * half_precision * mean).T)


# Variances of features within classes, each of its own or shared.
#
# Legend: K classes, d features; w weights (K, d), or (K, 1) when no value is missing.


# The axes of (class, feature) that share a variance.
SHARED: dict[str, tuple[int, ...]] = {
    "class-feature": (),
    "feature": (0,),
    "class": (1,),
    "single": (0, 1),
}


def variances_of(
    w: Table, scatter: Table, spread: Table, shared: tuple[int, ...], ddof: float
) -> Table:
    """The variances (K, d), pooled over the axes `shared`; `spread` (d,) where nothing is known."""
    if not shared and ddof == 0 and w.all():
        return np.asarray(scatter / w)
    w = np.broadcast_to(w, scatter.shape)
    pooled, weight, n_means = (
        table.sum(axis=shared, keepdims=True) for table in (scatter, w, w > 0)
    )
    divisor = weight - ddof * n_means
    short = (divisor <= 0) & (weight > 0)
    if short.any():
        warn(
            f"{np.count_nonzero(short)} of {short.size} variances cannot be estimated with "
            f"ddof={ddof}: their rows weigh no more than that. They are taken as zero, "
            "plus smoothing. More rows, ddof=0, or a variance shared more widely would do."
        )
    variances = np.where(weight > 0, pooled / np.where(divisor > 0, divisor, np.inf), spread)
    return np.broadcast_to(variances, scatter.shape)


def of_all(w: Table, mean_pairs: Table, scatter: Table) -> tuple[Table, Table]:
    """Mean and variance (d,) of all classes together; 0 and 1 for a feature nobody knows."""
    total = w.sum(axis=0)
    if not total.all():
        nothing = np.broadcast_to(total == 0, scatter.shape[1:])
        w, scatter = np.where(nothing, 1.0, w), np.where(nothing, 1.0, scatter)
        total = w.sum(axis=0)
    centre = (w * mean_pairs[0]).sum(axis=0) / total
    # The distances are exact to the last digits even if the centre is rounded, and a rounded
    # centre changes their squares by its square only.
    away = (mean_pairs[0] - centre) + mean_pairs[1]
    return centre, (scatter + w * away * away).sum(axis=0) / total
