"""What separability answers, and how anyone can check the answer from the data alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .inputs import UNIT, Floats, Table, check_labels, check_table
from .nearest_point import WOLFE_WORK, bits_of, nearest_point, work_of
from .plane_proofs import integers

MOST_ENTRIES = 200_000  # of the rows that are looked at in integers
ROUNDED = 1e-12  # published weights are rounded: averages agree to this share of their terms


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """Whether some plane separates the classes, with the proof.

    Attributes
    ----------
    separable : True if every row lies strictly on its own class's side.
    classes : the labels, sorted; of two, the plane is positive on ``classes[1]``.
    grade : "proved" (exact or interval arithmetic) or "checked" (floating point, see `gap`).
    coef, intercept : the plane ``w.x + b``, |w| = 1; jointly (K, d) and (K,), |(W, b)| = 1. None if
        there is no plane, and with several pairs. The intercept is a float, or a Fraction between
        classes so close that no float64 lies between them.
    margin : the distance from the plane to the nearest row; jointly the smallest lead of a row's
        own score; with several pairs the smallest of theirs. None if not separable.
    combination : the proof that there is no plane: weights (n,), >= 0, that sum to one in each
        class and give both classes the same average. Without intercept they sum to one overall
        and ``sum p_i y_i x_i = 0``. Jointly (n, K): ``sum c_ik (e_yi - e_k) (x) (x_i, 1) = 0``.
    gap : an e such that no unit plane has a margin above e: zero when proved, None if separable.
    fit_intercept, joint : what was asked.
    pairs : with more than two classes and not jointly, the answer for each two of them.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> answer = separability([[0, 0], [1, 1]], ["ham", "spam"])
    >>> answer.separable, round(answer.margin, 6)
    (True, 0.707107)
    """

    separable: bool
    classes: NDArray[Any]
    grade: str = "proved"
    coef: Floats | None = None
    intercept: Any = None
    margin: float | None = None
    combination: Floats | None = None
    gap: float | None = None
    fit_intercept: bool = True
    joint: bool = False
    pairs: "Mapping[tuple[Any, Any], Separability] | None" = None

    def verify(self, X: Any, y: Any) -> bool:
        """Check the proof against X (n, d) and y (n,) with plain sums; True if it holds.

        A plane is checked row by row, in fractions where rounding leaves a sign in doubt, its
        margin to one part in 1e9. Weights must be >= 0 and sum to one, and their averages must
        agree to 1e-12 of the terms added, for the weights are rounded, or to `gap` if checked.
        If few rows carry weight, integers show in addition that exact weights exist for them.
        What is said of several pairs must follow from the pairs, which must be all there are.

        Examples
        --------
        >>> from rosenblatt import separability
        >>> separability([[0], [1], [2]], [0, 0, 1]).verify([[0], [1], [2]], [0, 0, 1])
        True
        >>> separability([[0], [1], [2]], [0, 0, 1]).verify([[0], [1], [2]], [0, 1, 0])
        False
        """
        table = check_table(X)
        classes, code = check_labels(y, table.shape[0])
        if self.pairs is not None:
            same = np.array_equal(classes, self.classes)
            return same and self._follows() and all(p.verify(X, y) for p in self.pairs.values())
        labels = classes[code]
        if not np.isin(self.classes, labels).all():
            return False
        mine = np.isin(labels, self.classes)
        code = np.searchsorted(self.classes, labels[mine])
        table = table[mine]
        if self.separable:
            return self._plane_holds(table, code)
        return self._combination_holds(table, code, mine)

    def _follows(self) -> bool:
        """The pairs are all two classes each, and this answer is what theirs amount to."""
        pairs, names = dict(self.pairs or {}), self.classes.tolist()
        if set(pairs) != set(combinations(names, 2)) or self.joint:
            return False
        for key, pair in pairs.items():
            asked = (pair.fit_intercept, pair.joint, pair.pairs)
            if pair.classes.tolist() != list(key) or asked != (self.fit_intercept, False, None):
                return False
        whole = summary(pairs)
        return all(getattr(self, name) == value for name, value in whole.items())

    def _plane_holds(self, X: Table, code: NDArray[np.intp]) -> bool:
        """Every row's own score leads all others, by the margin claimed."""
        W, b = self._scores()
        if self.margin is None or not 0.0 < self.margin < np.inf or W.shape[1] != X.shape[1]:
            return False
        if self.grade != "proved" or self.gap is not None or self.combination is not None:
            return False
        if not self.fit_intercept and np.any(b):
            return False
        length = np.sqrt((W**2).sum() + (b**2).sum()) if self.joint else np.linalg.norm(W[-1])
        if not 0.0 < length < np.inf or not np.isfinite(b).all():
            return False
        scores = X @ W.T + b  # (n, K); b may be a fraction that is rounded here
        error = (X.shape[1] + 3) * UNIT * 1.01 * (abs(X) @ abs(W).T + abs(b)) + 1e-300
        own = np.arange(len(W)) == code[:, None]
        if not np.isfinite(error).all():
            return False
        lead = np.where(own, np.inf, scores[own][:, None] - scores)
        error = error + error[own][:, None] + 2 * UNIT * abs(scores)
        slack = error[lead == lead.min()].max() / length
        if abs(lead.min() / length - self.margin) > 1e-9 * self.margin + 2 * slack:
            return False
        doubt = [(int(i), int(k)) for i, k in zip(*np.nonzero(lead <= error), strict=True)]
        exact_b = [Fraction(0), Fraction(self.intercept)] if not self.joint else b
        return all(_exact_lead(X, W, exact_b, i, int(code[i]), k) > 0 for i, k in doubt)

    def _scores(self) -> tuple[Floats, Floats]:
        """Return one row of weights and one intercept a class; of two, the first has zeros."""
        if self.coef is None:
            return np.zeros((len(self.classes), 0)), np.zeros(len(self.classes))
        if self.joint:
            return self.coef, np.asarray(self.intercept)
        return np.vstack([0.0 * self.coef, self.coef]), np.array([0.0, float(self.intercept)])

    def _combination_holds(self, X: Table, code: NDArray[np.intp], mine: NDArray[np.bool_]) -> bool:
        """Weights are >= 0, sum to one, and the rows they weigh cancel."""
        p, gap = self.combination, self.gap
        if p is None or gap is None or len(p) != len(mine) or not (p >= 0).all() or p[~mine].any():
            return False
        if self.coef is not None or self.margin is not None:
            return False
        p = p[mine]
        sign = np.where(code == 1, 1.0, -1.0)
        if self.joint:
            own = np.arange(len(self.classes)) == code[:, None]
            if p.shape != own.shape or p[own].any():
                return False
            flow, parts = own * p.sum(axis=1, keepdims=True) - p, [p]
        elif self.fit_intercept:
            flow, parts = (sign * p)[:, None], [p[code == 0], p[code == 1]]
        else:
            flow, parts = (sign * p)[:, None], [p]
        if any(abs(part.sum() - 1.0) > ROUNDED for part in parts):
            return False
        if self.fit_intercept:
            X = _with_ones(X)
        rest, terms = abs(X.T @ flow), abs(X).T @ abs(flow)
        if self.grade == "proved":
            nearly = bool((rest <= ROUNDED * terms).all())
            return nearly and gap == 0 and self._exact_weights_exist(X, code, p)
        # Two class averages at distance 2e leave room for a margin e.
        shrink = 0.5 if self.fit_intercept and not self.joint else 1.0
        length = shrink * hypot(*rest.ravel())
        return self.grade == "checked" and length <= gap + ROUNDED * hypot(*terms.ravel())

    def _exact_weights_exist(self, X: Table, code: NDArray[np.intp], p: Floats) -> bool:
        """Rows that carry weight p cancel for some exact weights; taken as shown if too many."""
        carrying = np.nonzero(p)
        X = X[carrying[0]]
        n, m = X.shape[0], X.shape[1] * (len(self.classes) if self.joint else 1)
        if n * m > MOST_ENTRIES:
            return True
        A = integers(X.toarray() if sparse.issparse(X) else X)[0]
        side = np.where(code[carrying[0]] == 1, 1, -1)[:, None]
        if self.joint:
            one = np.eye(len(self.classes), dtype=int)
            side = one[code[carrying[0]]] - one[carrying[1]]
        A = (side.astype(object)[:, :, None] * A[:, None, :]).reshape(n, m)
        if work_of(n, m, bits_of(A)) > WOLFE_WORK:
            return True
        return not nearest_point(A, np.zeros(n, dtype=np.intp)).point.any()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        names = [repr(name) for name in self.classes.tolist()]
        if self.pairs is not None:
            return self._pairs_sentence(names)
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        through = "" if self.fit_intercept else " through the origin"
        if self.separable:
            kind = "One score a class" if self.joint else f"A plane{through}"
            what = "the smallest lead" if self.joint else "the margin"
            return f"{kind} separates {listed}: {what} is {self.margin:.6g} ({self.grade})."
        used = np.count_nonzero(self.combination) if self.combination is not None else 0
        kind = "set of linear scores" if self.joint else f"plane{through}"
        if self.grade == "proved":
            same = "cancel" if self.joint or not self.fit_intercept else "have the same average"
            return f"No {kind} separates {listed}: {used} weighted rows {same} (proved)."
        return f"No {kind} separates {listed} by a margin above {self.gap:.3g} (checked)."

    def _pairs_sentence(self, names: list[str]) -> str:
        pairs = self.pairs or {}
        failing = [key for key, pair in pairs.items() if not pair.separable]
        if not failing:
            return (
                f"A plane separates each two of the {len(names)} classes: "
                f"the smallest margin is {self.margin:.6g} ({self.grade})."
            )
        first = " and ".join(repr(name) for name in failing[0])
        return (
            f"{len(failing)} of {len(pairs)} pairs of classes cannot be separated by a plane, "
            f"the first being {first} ({self.grade})."
        )


def summary(pairs: Mapping[tuple[Any, Any], Separability]) -> dict[str, Any]:
    """Return what the answers for each two classes say of all of them."""
    failing = [pair for pair in pairs.values() if not pair.separable]
    if not failing:
        margin = min(pair.margin or 0.0 for pair in pairs.values())
        return {"separable": True, "grade": "proved", "margin": margin, "gap": None}
    checked = all(pair.grade == "checked" for pair in failing)
    return {
        "separable": False,
        "grade": "checked" if checked else "proved",
        "margin": None,
        "gap": min(pair.gap or 0.0 for pair in failing),
    }


@dataclass(frozen=True, eq=False)
class Widest:
    """The unit vector u = (w, b) of largest margin ``min sign_i u.(x_i, bias)``, or why none.

    Attributes
    ----------
    separable : True if some u has a positive margin.
    direction : u (d + 1,), or (d,) without bias; None if not separable.
    margin : the margin of `direction`, exact to a few units in the last place.
    combination : weights (n,), >= 0, summing to one, with ``sum p_i sign_i (x_i, bias) = 0``.
    grade : "proved" or "checked".
    gap : an e that no unit vector's margin exceeds; zero when proved, None if separable.

    Examples
    --------
    >>> from rosenblatt.separation import widest
    >>> widest([[1.0], [-1.0]], [1, -1]).margin
    1.0
    """

    separable: bool
    direction: Floats | None
    margin: float | None
    combination: Floats | None
    grade: str
    gap: float | None


def _exact_lead(X: Table, W: Floats, b: Any, i: int, y: int, k: int) -> Fraction:
    """Return ``(w_y - w_k).x_i + b_y - b_k`` in fractions."""
    row = X[[i]]
    x = row.toarray()[0] if sparse.issparse(row) else row[0]
    total = Fraction(b[y]) - Fraction(b[k])
    for j in np.flatnonzero(x):
        total += Fraction(x[j]) * (Fraction(W[y, j]) - Fraction(W[k, j]))
    return total


def _with_ones(X: Table) -> Table:
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])
