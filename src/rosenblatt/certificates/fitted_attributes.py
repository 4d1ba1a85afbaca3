"""What a fit says of itself, beside what the data say: its objective, gap and gradient.

An objective and the length of a gradient are numbers to agree on. A gap is a promise, that no
coefficients are better by more than it: one too large is true, one too small is not.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim, measured, within
from .closed_form import EPS, ClassData, Floats, is_ours, unit

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
    """A fit that promises more than `tol` asks for is held to its promise, as far as digits go."""
    # The promise, its own tolerance, is on `of` times what `tol` is relative to.
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
    """The claim, or nothing where nothing is published; names without a derived number are left."""
    # `blurs` is what rounding may have done to the derived numbers, where that is worth a word.
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
    equal = [name for name in names if name != "dual_gap_"]
    words = [f"{', '.join(equal)} {'is' if len(equal) == 1 else 'are'} what the data give"]
    words = words[: len(equal)] + ["dual_gap_ is not below the true gap"] * ("dual_gap_" in names)
    statement = ", and ".join(words)
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
        return [within("penalty", statement, off, near)]
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
    return [within("choice", statement, off, near)]


# What a model says of rows, beside what its published numbers say.
#
# A certificate speaks of published numbers. Users call `predict`, which may read other ones:
# copies, factors, tables made for speed. Here the model's own answers are compared with those
# that follow from what is published, row by row, so that what was checked is also what is used.


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of rows that follow from published numbers, up to a number common to all classes."""

    values: Floats  # (n, K)
    blur: Floats  # (n,): what rounding may do to a difference of two of them, at most

    @staticmethod
    def of(model: Any, values: Floats, sizes: Floats, d: int, published: Any) -> "Scores":
        """Sums of about d terms with absolute values `sizes` (n, K)."""
        # Sums of some of them may be rounded to the precision of the published numbers.
        work = EPS if is_ours(model) else unit(published)
        # logarithms of probabilities have at least the size of log K somewhere
        largest = sizes.max(axis=1, initial=0.0) + 1 + np.log(values.shape[1])
        blur = (8 * work * (d + 8) + 4 * unit(published)) * largest
        return Scores(values, blur)

    @property
    def best(self) -> NDArray[np.intp]:
        """The class of the highest score of each row, (n,)."""
        values = np.where(np.isnan(self.values), -np.inf, self.values)
        return np.asarray(values.argmax(axis=1))

    @property
    def allowed(self) -> Floats:
        """How far a difference may be off, (n,)."""
        return self.blur + 1e-12

    def where_possible(self, fallback: Floats) -> "Scores":
        """Rows that are impossible in every class get `fallback` (K,), the log shares."""
        impossible = np.asarray(np.isneginf(self.values).all(axis=1))
        return Scores(np.where(impossible[:, np.newaxis], fallback, self.values), self.blur)


def decision_claims(model: Any, data: ClassData, scores: Scores) -> list[Claim]:
    """The training error, and that the model's own answers are those of the published numbers."""
    try:
        labels, own = answers(model, data.X)
        claims = label_claims(data, labels, scores)
    except Exception as error:  # whatever it is: a model that cannot answer is not as published
        return refusal_claims(data, scores, error)
    return [*claims, *score_claims(own, scores)]


def label_claims(data: ClassData, labels: NDArray[Any], scores: Scores) -> list[Claim]:
    """The training error, and that labels (n,) are those of the highest scores."""
    values, best, codes = scores.values, scores.best, _codes(data, labels)
    everyone = np.arange(len(best))
    with np.errstate(invalid="ignore"):
        # On a boundary, up to rounding, either side is right.
        near = values[everyone, codes] >= values[everyone, best] - scores.allowed
        follows = (codes >= 0) & near
    n_wrong = int(np.count_nonzero(~follows))
    given = f"{len(best) - n_wrong:,} of {len(best):,} rows are given the class that the published"
    error = training_error(data, np.where(follows, codes, best))
    return [error, within("predictions", f"{given} numbers give them", n_wrong, 0.0)]


def refusal_claims(data: ClassData, scores: Scores, error: Exception) -> list[Claim]:
    """What is left to say of a model that refuses the rows."""
    refused = f"predict refuses the rows given: {error}"
    failed = Claim("predictions", refused, np.inf, 0.0, False, "checked")
    return [training_error(data, scores.best), failed]


def score_claims(own: Floats, scores: Scores) -> list[Claim]:
    """That the model's own scores (n, K) are those of the published numbers; not of one class."""
    if scores.values.shape[1] == 1:
        return []
    return [_scores_claim(scores.values, own, scores.best, scores.allowed)]


def answers(model: Any, X: Any) -> tuple[NDArray[Any], Floats]:
    """The labels (n,) that a model gives, and its scores (n, K)."""
    labels = labels_of(model, X)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if hasattr(model, "decision_function"):
            own = np.asarray(model.decision_function(X), np.float64)
        else:
            own = np.asarray(model.predict_log_proba(X), np.float64)
    if own.ndim == 1:
        own = np.column_stack([np.zeros_like(own), own])
    return labels, own


def labels_of(model: Any, X: Any) -> NDArray[Any]:
    """The labels (n,) that a model gives."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # names of columns, impossible rows
        return np.asarray(model.predict(X))


def _codes(data: ClassData, labels: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class; -1 if the model has no such class."""
    known = np.isin(labels, data.classes)
    codes = np.full(len(labels), -1, np.intp)
    codes[known] = data.places(labels[known])
    return codes


def training_error(data: ClassData, codes: NDArray[np.intp]) -> Claim:
    """How many rows are given another class than theirs."""
    wrong = codes != data.codes
    n, share = int(np.count_nonzero(wrong)), float(data.weight[wrong].sum() / data.weight.sum())
    statement = f"{n:,} of {len(wrong):,} rows are predicted wrongly ({share:.3%} of the weight)"
    return measured("training error", statement, n)


def _scores_claim(values: Floats, own: Floats, best: NDArray[np.intp], blur: Floats) -> Claim:
    """That log-odds against the best class are the published ones, not only their signs."""
    if own.shape != values.shape:
        statement = f"the model's scores have shape {own.shape}, not {values.shape}"
        return Claim("scores", statement, np.inf, 0.0, False, "checked")
    everyone = np.arange(len(best))
    with np.errstate(invalid="ignore"):
        odds, published = (t - t[everyone, best][:, np.newaxis] for t in (own, values))
        odds[everyone, best] = published[everyone, best] = 0.0
        apart = np.where(odds == published, 0.0, np.abs(odds - published))
    apart = np.where(np.isnan(apart), np.inf, apart).max(axis=1)
    row = int((apart / blur).argmax())
    off, allowed = float(apart[row]), float(blur[row])
    statement = (
        f"the model's scores differ from those of the published numbers by {off:.2g} at most"
    )
    n_strange = int(np.count_nonzero(np.isnan(own).any(axis=1)))
    if n_strange:
        statement = f"the model's scores of {n_strange:,} rows are no numbers"
    return within("scores", statement, off, allowed)
