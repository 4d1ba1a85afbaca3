"""What a model says of rows, beside what its published numbers say.

A certificate speaks of published numbers. Users call `predict`, which may read other ones: copies,
factors, tables made for speed. Here the model's own answers are compared with those that follow
from what is published, row by row, so that what was checked is also what is used.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim
from .comparing import EPS, ClassData, Floats, is_ours, unit


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of rows that follow from published numbers, up to a number common to all classes."""

    values: Floats  # (n, K)
    blur: Floats  # (n,): what rounding may do to a difference of two of them, at most

    @staticmethod
    def of(model: Any, values: Floats, sizes: Floats, d: int, published: Any) -> "Scores":
        """Sums of about d terms with absolute values `sizes` (n, K).

        Sums of some of them may be rounded to the precision of the published numbers.
        """
        work = EPS if is_ours(model) else unit(published)
        blur = (8 * work * (d + 8) + 4 * unit(published)) * sizes.max(axis=1, initial=0.0)
        return Scores(values, blur)

    def where_possible(self, fallback: Floats) -> "Scores":
        """Rows that are impossible in every class get `fallback` (K,), the log shares."""
        impossible = np.asarray(np.isneginf(self.values).all(axis=1))
        return Scores(np.where(impossible[:, np.newaxis], fallback, self.values), self.blur)


def decision_claims(model: Any, data: ClassData, scores: Scores) -> list[Claim]:
    """The training error, and that the model's own answers are those of the published numbers."""
    values, blur = scores.values, scores.blur + 1e-12
    best = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
    try:
        labels, own = answers(model, data.X)
        codes = _codes(data, labels)
    except Exception as error:  # whatever it is: a model that cannot answer is not as published
        refused = f"predict refuses the rows given: {error}"
        failed = Claim("predictions", refused, np.inf, 0.0, False, "checked")
        return [training_error(data, best), failed]
    everyone = np.arange(len(best))
    with np.errstate(invalid="ignore"):
        # On a boundary, up to rounding, either side is right.
        follows = (codes >= 0) & (values[everyone, codes] >= values[everyone, best] - blur)
    n_wrong = int(np.count_nonzero(~follows))
    claims = [
        training_error(data, np.where(follows, codes, best)),
        Claim(
            "predictions",
            f"{len(best) - n_wrong:,} of {len(best):,} rows are given the class that the published "
            "numbers give them",
            n_wrong, 0.0, n_wrong == 0, "checked",
        ),
    ]  # fmt: skip
    if values.shape[1] > 1:
        claims.append(_scores_claim(values, own, best, blur))
    return claims


def answers(model: Any, X: Any) -> tuple[NDArray[Any], Floats]:
    """The labels (n,) that a model gives, and its scores (n, K)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # names of columns, impossible rows
        labels = np.asarray(model.predict(X))
        if hasattr(model, "decision_function"):
            own = np.asarray(model.decision_function(X), np.float64)
        else:
            own = np.asarray(model.predict_log_proba(X), np.float64)
    if own.ndim == 1:
        own = np.column_stack([np.zeros_like(own), own])
    return labels, own


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
    return Claim("training error", statement, n, None, True, "checked")


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
    statement = f"the model's scores are those of the published numbers, up to {off:.2g}"
    return Claim("scores", statement, off, allowed, bool(off <= allowed), "checked")
