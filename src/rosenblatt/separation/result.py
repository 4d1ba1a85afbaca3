"""Answers of `separability` and `widest`, and their verification from the data alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exact import (
    ROUNDED,
    integers,
    least_margin,
    nearest_point,
    weights_by_elimination,
    weights_by_intervals,
)
from .homogeneous_rows import dense, homogeneous_rows, needed_columns, standardize
from .inputs import Floats, Table, check_labels, check_table

MOST_ENTRIES = 200_000  # of the rows whose exact weights are verified


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """Whether some plane separates the classes, with the proof.

    Attributes
    ----------
    separable : True if every row lies strictly on its own class's side.
    classes : the labels, sorted; of two, the plane is positive on ``classes[1]``.
    grade : "proved" (exact or interval arithmetic) or "checked" (floating point, see `gap`).
    coef, intercept : the plane ``w.x + b``, |w| = 1; jointly (K, d) and (K,), |(W, b)| = 1. None
        without a plane, and with several pairs. The intercept is a float, or a Fraction between
        classes so close that no float64 lies between them.
    margin : the distance from the plane to the nearest row; jointly the smallest lead of a row's
        own score; with several pairs the smallest margin of all. None if not separable.
    combination : the proof that no plane exists: weights (n,), >= 0, that sum to one in each
        class and give both classes the same average. Without intercept they sum to one overall
        and ``sum p_i y_i x_i = 0``. Jointly (n, K): ``sum c_ik (e_yi - e_k) (x) (x_i, 1) = 0``.
    gap : an upper bound on the margin of any unit plane: zero when proved, None if separable.
    fit_intercept, joint : the arguments.
    pairs : with more than two classes and not jointly, the answer for each pair of classes.

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
        agree to 1e-12 of the terms added, because weights are rounded, or to `gap` if checked.
        If few rows have weights, integers prove in addition that exact weights exist. With several
        pairs, all pairs are checked, and the summary must follow from them.

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
            return same and self._is_summary() and all(p.verify(X, y) for p in self.pairs.values())
        labels = classes[code]
        if not np.isin(self.classes, labels).all():
            return False
        mine = np.isin(labels, self.classes)
        code = np.searchsorted(self.classes, labels[mine])
        table = table[mine]
        if self.separable:
            return self._plane_holds(table, code)
        return self._combination_holds(table, code, mine)

    def _is_summary(self) -> bool:
        """Return whether the pairs are complete and this answer is their summary."""
        pairs, names = dict(self.pairs or {}), self.classes.tolist()
        if set(pairs) != set(combinations(names, 2)) or self.joint:
            return False
        for key, pair in pairs.items():
            settings = (pair.fit_intercept, pair.joint, pair.pairs)
            if pair.classes.tolist() != list(key) or settings != (self.fit_intercept, False, None):
                return False
        whole = summary(pairs)
        return all(getattr(self, name) == value for name, value in whole.items())

    def _rows(self, X: Table, code: NDArray[np.intp]) -> Table:
        n_scores = len(self.classes) if self.joint else 1
        return homogeneous_rows(X, code, float(self.fit_intercept), n_scores)

    def _plane_holds(self, X: Table, code: NDArray[np.intp]) -> bool:
        """Return whether every row's own score leads all others by the margin."""
        if self.coef is None or self.margin is None or not 0.0 < self.margin < np.inf:
            return False
        if self.grade != "proved" or self.gap is not None or self.combination is not None:
            return False
        W, b = np.atleast_2d(self.coef), np.atleast_1d(np.asarray(self.intercept, np.float64))
        if W.shape != (len(self.classes) if self.joint else 1, X.shape[1]) or len(b) != len(W):
            return False
        if not self.fit_intercept and b.any():
            return False
        u = np.column_stack([W, b]) if self.joint and self.fit_intercept else W
        length = float(np.linalg.norm(u))
        if not 0.0 < length < np.inf or not np.isfinite(b).all():
            return False
        is_free = self.fit_intercept and not self.joint
        exact_b = Fraction(self.intercept) if is_free else None
        least = least_margin(self._rows(X, code), u.ravel(), exact_b)
        return least is not None and abs(float(least) / length - self.margin) <= 1e-9 * self.margin

    def _combination_holds(self, X: Table, code: NDArray[np.intp], mine: NDArray[np.bool_]) -> bool:
        """Return whether the weights are >= 0, sum to one, and cancel the rows."""
        p, gap = self.combination, self.gap
        if p is None or gap is None or len(p) != len(mine) or not (p >= 0).all() or p[~mine].any():
            return False
        if self.coef is not None or self.margin is not None:
            return False
        p = p[mine]
        if p.shape != ((len(code), len(self.classes)) if self.joint else (len(code),)):
            return False
        if self.joint:
            own = np.arange(len(self.classes)) == code[:, None]
            if p[own].any():
                return False
            p = p[~own]
        in_classes = self.fit_intercept and not self.joint
        parts = [p[code == 0], p[code == 1]] if in_classes else [p]
        if any(abs(part.sum() - 1.0) > ROUNDED for part in parts):
            return False
        A = self._rows(X, code)
        rest, terms = abs(A.T @ p), abs(A).T @ p
        if self.grade == "proved":
            nearly = bool((rest <= ROUNDED * terms).all())
            return nearly and gap == 0 and self._exact_weights_exist(X, code, p)
        # Two class averages at distance 2e allow a margin of at most e.
        length = hypot(*rest) * (0.5 if in_classes else 1.0)
        return self.grade == "checked" and length <= gap + ROUNDED * hypot(*terms)

    def _exact_weights_exist(self, X: Table, code: NDArray[np.intp], p: Floats) -> bool:
        """Return whether exact weights cancel the rows with weights p; True if too many."""
        index = np.flatnonzero(p)
        if len(index) * X.shape[1] > MOST_ENTRIES:
            return True
        A = self._rows(standardize(X, self.fit_intercept)[0], code)
        A = dense(A[index])
        with np.errstate(all="ignore"):
            B = needed_columns(A, len(self.classes) if self.joint else 1)
            if weights_by_intervals(B) is not None or (
                weights_by_elimination(B, p[index]) is not None
            ):
                return True
        found = nearest_point(integers(A)[0])
        return found is None or not found[0].any()

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
    """Return the attributes of all classes that follow from their pairs."""
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
    """The unit vector u = (w, b) of largest margin ``min sign_i u.(x_i, bias)``, or a proof.

    Attributes
    ----------
    separable : True if some u has a positive margin.
    direction : u (d + 1,), or (d,) without bias; None if not separable.
    margin : the margin of `direction`, exact to a few units in the last place.
    combination : weights (n,), >= 0, summing to one, with ``sum p_i sign_i (x_i, bias) = 0``.
    grade : "proved" or "checked".
    gap : an upper bound on the margin of any unit vector: zero when proved, None if separable.

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
