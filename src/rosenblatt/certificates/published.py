"""What a fit says of itself, beside what the data say: its objective, gap and gradient.

An objective and the length of a gradient are numbers to agree on. A gap is a promise, that no
coefficients are better by more than it: one too large is true, one too small is not.
"""

from typing import Any

import numpy as np

from .claims import Claim

NAMES = ("objective_", "dual_gap_", "gradient_norm_")
NEAR = 1e-6  # of the size of a problem, to which two ways of adding it up must agree
NEAR_IN_32_BITS = 1e-3  # numbers were worked out before coefficients were cut to these


def numbers_of(model: Any, target: int = 0) -> dict[str, float]:
    """What is published for one target, by name."""
    found = {}
    for name in NAMES:
        values = np.ravel(np.asarray(getattr(model, name, ()), np.float64))
        if len(values):
            found[name] = float(values[target % len(values)])
    return found


def nearness(model: Any) -> float:
    """To what share of a problem's size published numbers must agree with the data."""
    coef = model.coef_ if hasattr(model, "coef_") else model.dual_coef_
    return NEAR_IN_32_BITS if coef.dtype == np.float32 else NEAR


def held_to(model: Any, tol: float, of: float = 1.0) -> float:
    """A fit that promises more than `tol` asks for is held to its promise, as far as digits go.

    The promise, its own tolerance, is on `of` times what `tol` is relative to.
    """
    own = getattr(model, "tol", None)
    least = 1e-4 if model.coef_.dtype == np.float32 else 1e-7
    return tol if own is None else min(tol, max(of * float(own), least))


def agreement(
    said: dict[str, float],
    derived: dict[str, float],
    sizes: dict[str, float],
    near: float,
    blurs: dict[str, float] | None = None,
) -> list[Claim]:
    """The claim, or nothing where nothing is published; names without a derived number are left.

    `blurs` is what rounding may have done to the derived numbers, where that is worth a word.
    """
    names = [name for name in NAMES if name in said and name in derived]
    if not names:
        return []
    off = {}
    for name in names:
        apart = derived[name] - said[name]
        apart = (apart if name == "dual_gap_" else abs(apart)) - (blurs or {}).get(name, 0.0)
        off[name] = max(apart, 0.0) / max(sizes[name], 1e-300) if apart == apart else np.inf
    worst = max(names, key=lambda name: off[name])
    holds = bool(off[worst] <= near)
    statement = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} what the data give"
    if not holds:
        relation = "at least " if worst == "dual_gap_" else ""
        statement = (
            f"{worst} is published as {said[worst]:.6g}, and the data give {relation}"
            f"{derived[worst]:.6g}"
        )
    return [Claim("published numbers", statement, off[worst], near, holds, "checked")]


def penalty_claim(model: Any) -> list[Claim]:
    """That the penalty a fit says it used is the one it was given, or one of those it tried."""
    if not getattr(model, "refit", True):
        return []  # a mean over folds
    for name in ("alpha", "C"):
        used = np.ravel(np.asarray(getattr(model, f"{name}_", ()), np.float64))
        tried, words = getattr(model, f"{name}s_", None), f"one of {name}s_"
        if tried is None and not getattr(model, "n_features", None):
            tried, words = getattr(model, name, None), f"the {name} given"
        if not len(used) or tried is None:
            continue
        given = np.ravel(np.asarray(tried, np.float64))
        off = float(np.max([np.min(np.abs(given - value)) for value in used]))
        near = 1e-9 * float(np.max(np.abs(used)))
        statement = f"{name}_ is {', '.join(f'{value:.6g}' for value in used)}, {words}"
        if not off <= near:
            statement = statement.replace(words, f"which is not {words}")
        return [Claim("penalty", statement, off, near, bool(off <= near), "checked")]
    return []


def choice_claim(model: Any) -> list[Claim]:
    """That a penalty chosen by scores has the best of them; nothing where none are published."""
    scores, tried = getattr(model, "scores_", None), getattr(model, "alphas_", None)
    if tried is None or not isinstance(scores, np.ndarray) or not hasattr(model, "best_score_"):
        return []
    scores = scores.reshape(len(tried), -1)
    best, said = np.nanmax(scores, axis=0), np.ravel(np.asarray(model.best_score_, np.float64))
    used = np.broadcast_to(np.ravel(np.asarray(model.alpha_, np.float64)), best.shape)
    places = np.abs(np.asarray(tried, np.float64)[:, np.newaxis] - used).argmin(axis=0)
    own = scores[places, np.arange(len(best))]
    off = float(np.max(np.abs(np.concatenate([best - said, best - own]))))
    near = 1e-9 * float(np.max(np.abs(best)))
    statement = "alpha_ has the best of scores_, which is best_score_"
    if not off <= near:
        statement += f", but for {off:.3g}"
    return [Claim("choice", statement, off, near, bool(off <= near), "checked")]
