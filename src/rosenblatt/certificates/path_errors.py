"""What cross-validated lassos and elastic nets publish of their paths, derived again.

The penalties tried follow from the rows; the one chosen has the least mean error. Each error on
held-out rows is compared with that of the best coefficients of its fold, and may be as far from it
as fits within `tol` can be. What cannot be derived, as of folds that no seed draws again, is listed
as not checked.
"""

from hashlib import blake2b
from typing import Any

import numpy as np

from .claims import Claim, unchecked, within
from .fitted_attributes import nearness
from .fold_lassos import Errors, Fold, best_coefficients, held_out_errors
from .rounded_matrix import TINY, Floats, RegressionFit

WORK = (2e8, 2e9)  # multiplications, by effort
MOST_CELLS = 2e7  # of coefficients of all penalties
ENOUGH = 1e-3  # of the gap that a fit may have
LOOSE = 0.5  # of an error: what is known no better is as good as unknown

Path = tuple[float, Floats, Floats]  # share of l1, penalties (A,), errors (A, F)


def path_claims(model: Any, fit: RegressionFit) -> list[Claim]:
    """That penalties tried are those of the rows given, and the one chosen has the least error."""
    if getattr(model, "mse_path_", None) is None or getattr(model, "alphas_", None) is None:
        return []
    paths = _paths(model)
    if not paths:
        said = "mse_path_ has not a row for each of alphas_"
        return [Claim("path", said, np.inf, 0.0, False, "checked")]
    return [_tried_claim(model, fit, paths), _chosen_claim(model, paths)]


def _tried_claim(model: Any, fit: RegressionFit, paths: list[Path]) -> Claim:
    """That `alphas_` fall; that they are those given, or begin where all coefficients are zero."""
    given, name = getattr(model, "alphas", None), "penalties tried"
    falls = all((np.diff(alphas) <= 0).all() and (alphas >= 0).all() for _, alphas, _ in paths)
    statement, off, near = "alphas_ falls", 0.0 if falls else np.inf, nearness(model)
    if isinstance(given, int | np.integer):
        off = max(off, *(_off_grid(model, fit, ratio, alphas) for ratio, alphas, _ in paths))
        statement += " from the least penalty without coefficients, in equal steps of its logarithm"
    elif given is not None and not isinstance(given, str):
        wanted = np.sort(np.ravel(np.asarray(given, np.float64)))[::-1]
        same = all(np.array_equal(alphas, wanted) for _, alphas, _ in paths)
        off, statement = max(off, 0.0 if same else np.inf), "alphas_ are those given, falling"
    return within(name, statement + ("" if off <= near else f", but for {off:.2g}"), off, near)


def _off_grid(model: Any, fit: RegressionFit, ratio: float, alphas: Floats) -> float:
    """The largest share by which penalties are off those of the grid, less what rounding did."""
    slopes, rounding = fit.table.transposed(fit.table.share * fit.centred_target)
    steepest = slopes if getattr(model, "positive", False) else np.abs(slopes)
    largest = max(float(steepest.max(initial=0.0)), 0.0) / ratio
    # Theirs takes the mean off products, where large numbers cancel.
    unit = 64 * fit.unit * float((np.abs(fit.table.mean) + fit.table.norms()).max(initial=0.0))
    blur = (float(rounding.max(initial=0.0)) + unit * float(np.sqrt(fit.size))) / ratio
    if largest - blur <= 2 * float(np.finfo(np.float64).resolution):
        return 0.0  # a target without slopes, for which any penalty will do
    if len(alphas) != int(model.alphas):
        return float("inf")
    grid = np.geomspace(largest, largest * float(model.eps), len(alphas))
    off = float(np.abs(alphas / grid - 1).max()) - blur / largest
    return max(off, 0.0) if off == off else float("inf")


def _chosen_claim(model: Any, paths: list[Path]) -> Claim:
    """That `alpha_`, with `l1_ratio_` where shares were tried, has the least mean error."""
    own, means = np.inf, []
    for ratio, alphas, errors in paths:
        means.append(errors.mean(axis=1))
        if len(paths) == 1 or ratio == getattr(model, "l1_ratio_", ratio):
            own = min(own, float(means[-1][alphas == model.alpha_].min(initial=np.inf)))
    best = float(np.concatenate(means).min())
    sound = np.isfinite(own) and all((errors >= 0).all() for _, _, errors in paths)
    off = own - best if sound else np.inf
    what = "alpha_" if len(paths) == 1 else "alpha_ with l1_ratio_"
    statement = f"{what} has the least mean of mse_path_" + ("" if off <= 0 else ", but it has not")
    return within("path", statement, off, 1e-9 * abs(best))


def path_errors_claims(model: Any, X: Any, t: Floats, weight: Floats, effort: int) -> list[Claim]:
    """That `mse_path_` is what fits of the folds give, and what of it is not known."""
    paths = _paths(model)
    if not paths:
        return []
    folds, why = _folds(model, X, t)
    if not TINY < float(np.abs(t).max(initial=0.0)) < 1 / TINY:
        why = "the targets are out of the range in which numbers can be squared"
    if why:
        return [unchecked("mse_path_", why)]
    if any(errors.shape[1] != len(folds) for _, _, errors in paths):
        said = f"mse_path_ has not a column for each of the {len(folds)} folds"
        return [Claim("path errors", said, np.inf, 0.0, False, "checked")]
    drawn = _drawn(paths, len(folds))[: _most_folds(paths, X.shape, len(folds), effort)]
    published, known = [], []
    for f in drawn:
        if not all(weight[rows].any() for rows in folds[f]):
            continue  # no fit is to be had
        fold = Fold(X, t, weight, folds[f], bool(getattr(model, "fit_intercept", True)))
        for ratio, alphas, errors in paths:
            published.append(errors[:, f])
            known.append(_errors(model, fold, ratio, alphas))
    if not known:
        return [unchecked("mse_path_", "its folds are too large to be fitted again")]
    whole = sum(errors.size for _, _, errors in paths)
    together = Errors(*(np.concatenate(part) for part in zip(*known, strict=True)))
    return _judged(model, np.concatenate(published), together, whole)


def _judged(model: Any, published: Floats, errors: Errors, whole: int) -> list[Claim]:
    """What is claimed of numbers of folds that were fitted again."""
    best, room = errors.best, errors.room
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where(published == best, 0.0, np.abs(published - best) / room)
        apart, allowed = (np.abs(published - best) + errors.blur) / best, room / best
    worst = float(np.nan_to_num(off, nan=np.inf).max(initial=0.0))
    close = room <= LOOSE * best
    n, found, left = int(np.count_nonzero(close)), [], []
    if n or not worst <= 1.0:
        farthest, most = (float(x[close].max(initial=0.0)) for x in (apart, allowed))
        statement = (
            f"{n:,} of {whole:,} numbers of mse_path_ are within {farthest:.2%} of the errors of "
            f"the best fits of the folds; tol={model.tol:g} allows up to {most:.2%}"
        )
        if not worst <= 1.0:
            statement += f"; one is off by {worst:.3g} times what it allows"
        found.append(within("path errors", statement, worst, 1.0))
    if whole > len(published):
        left.append(f"{whole - len(published):,} of {whole:,} numbers are of folds not drawn")
    if n < len(published):
        loose = f"{len(published) - n:,} of {whole:,} numbers are uncertain by more than half"
        left.append(f"{loose}, of fits within tol={model.tol:g}")
    return [*found, *([unchecked("mse_path_", "; ".join(left))] if left else [])]


def _errors(model: Any, fold: Fold, ratio: float, alphas: Floats) -> Errors:
    """Errors of the best fits of a fold and the room there is for those within tol."""
    l1, l2 = ratio * alphas, (1 - ratio) * alphas
    tol, positive = float(model.tol), bool(getattr(model, "positive", False))
    unit = 2.0**-24 if np.asarray(model.coef_).dtype == np.float32 else 2.0**-53
    found = best_coefficients(fold, l1, l2, positive, ENOUGH * tol * fold.size)
    return held_out_errors(fold, found, l2, (tol + 64 * unit) * fold.size, unit)


def _paths(model: Any) -> list[Path]:
    """Each path that was followed; none if penalties and errors differ in number."""
    tables, tried = getattr(model, "mse_path_", None), getattr(model, "alphas_", None)
    if tables is None or tried is None or not len(tried):
        return []
    ratios = np.ravel(np.asarray(getattr(model, "l1_ratio", 1.0), np.float64))
    tables = [tables] if len(ratios) == 1 else list(tables)
    alphas = list(tried) if np.ndim(tried[0]) else [tried] * len(ratios)
    if not len(ratios) == len(tables) == len(alphas):
        return []
    if not all(map(_have_rows, tables, alphas)):
        return []
    return [
        (float(ratio), np.ravel(np.asarray(alpha, np.float64)),
         np.asarray(table, np.float64).reshape(np.size(alpha), -1))
        for ratio, alpha, table in zip(ratios, alphas, tables, strict=True)
    ]  # fmt: skip


def _have_rows(table: Any, alphas: Any) -> bool:
    """Whether a table, from which axes of length one are left out, has a row for each penalty."""
    n, size = np.size(alphas), np.size(table)
    return bool(n and size and size % n == 0 and (np.ndim(table) < 2 or len(table) == n))


def _folds(model: Any, X: Any, t: Floats) -> tuple[list[tuple[Any, Any]], str]:
    """Rows to fit and to test; or why they cannot be drawn again."""
    cv, n = getattr(model, "cv", None), X.shape[0]
    if cv is None or isinstance(cv, int | np.integer):
        parts = np.array_split(np.arange(n), 5 if cv is None else int(cv))
        return [(np.setdiff1d(np.arange(n), part), part) for part in parts], ""
    if isinstance(cv, list | tuple):
        return [(np.arange(n)[train], np.arange(n)[test]) for train, test in cv], ""
    kind = type(cv).__name__
    by_chance = getattr(cv, "shuffle", hasattr(cv, "random_state"))
    if by_chance and not isinstance(getattr(cv, "random_state", None), int | np.integer):
        return [], f"{kind} draws its folds without a seed, so that nobody can draw them again"
    try:
        return [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, t)], ""
    except Exception:  # whatever it is: a splitter that wants groups, or is none
        return [], f"{kind} does not give its folds again from the rows and the target"


def _most_folds(paths: list[Path], shape: tuple[int, int], n_folds: int, effort: int) -> int:
    """How many folds there is time for."""
    (n, d), n_alphas = shape, sum(len(alphas) for _, alphas, _ in paths)
    if n_alphas * d > MOST_CELLS:
        return 0
    tall = n * d * d + n_alphas * 100.0 * d * d
    wide = n_alphas * (10.0 * n * d + 300.0 * n * n)
    price, most = min(tall, wide) if n < d else tall, WORK[effort > 0]
    return min(n_folds, max(int(most // price), int(price < 10 * most)))


def _drawn(paths: list[Path], n_folds: int) -> list[int]:
    """The folds in an order that follows from the published numbers, as by chance."""
    digest = blake2b(digest_size=8)
    for _, alphas, errors in paths:
        digest.update(alphas.tobytes() + errors.tobytes())
    order = np.random.default_rng(int.from_bytes(digest.digest())).permutation(n_folds)
    return [int(f) for f in order]
