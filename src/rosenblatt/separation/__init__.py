"""Is there a plane between the classes? Either answer comes with its proof.

A plane is its own proof: every row lies strictly on its side, which exact arithmetic confirms.
That there is none has a proof as short (Gordan 1873): weights that give both classes the same
average, for no plane can part two sets whose averages are one point.
"""

from dataclasses import replace
from fractions import Fraction
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .homogeneous_rows import Kesler, Standard
from .inputs import UNIT, Floats, Table, check_labels, check_table
from .max_margin import widest_direction
from .plane_proofs import exact_scores, integers, score_error, smallest
from .problem import (
    WIDEN_DIRECTLY,
    Affine,
    Augmented,
    Hull,
    Question,
    SeparatingPlane,
    average_length,
    dense_table,
    length_of,
    sum_of,
    unit_vector,
    wider,
)
from .result import Separability, Widest, summary
from .solve import Answer, best_answer, contradiction, first_proof

__all__ = ["Separability", "Widest", "separability", "widest"]


def separability(
    X: Any, y: Any, *, fit_intercept: bool = True, joint: bool = False
) -> Separability:
    """Find a plane that separates the classes, or prove that none exists.

    Two classes are separable if some plane has ``w.x + b > 0`` on all rows of one and ``< 0`` on
    all rows of the other. The plane returned is proved to separate in exact arithmetic, at any
    size, and is the widest found: up to about 600 columns its margin is the largest possible but
    for rounding, which takes its toll in large tables whose rows differ in the last digits only;
    beyond that it is a good plane, usually within some hundredths of the widest. If there is
    none, the weights returned are a rounding of exact ones, known to exist by exact or interval
    arithmetic (`grade` "proved"). Small tables are proved one way or the other, unless no plane
    that exists has coefficients float64 can hold. There, and in large tables where no proof is in
    reach, the answer is False with the largest margin that could exist (`grade` "checked", `gap`).

    Parameters
    ----------
    X : rows (n, d): a list, an array, a data frame or any SciPy sparse matrix, which stays sparse.
        Numbers that float64 cannot hold exactly are refused.
    y : labels (n,), two classes or more; with more, each pair is answered.
    fit_intercept : False asks for planes through the origin only.
    joint : ask instead for one linear score a class, the row's own to be the largest.

    Returns
    -------
    Separability
        `separable`, the plane or the `combination`, and `verify(X, y)`.

    Examples
    --------
    >>> separability([[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], [0, 1, 1, 1, 0])
    A plane separates 0 and 1: the margin is 0.223607 (proved).
    >>> xor = separability([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    >>> xor
    No plane separates 'no' and 'yes': 4 weighted rows have the same average (proved).
    >>> xor.combination
    array([0.5, 0.5, 0.5, 0.5])

    References
    ----------
    .. [1] P. Gordan (1873), Ueber die Auflösung linearer Gleichungen mit reellen Coefficienten.
    """
    table = check_table(X)
    classes, code = check_labels(y, table.shape[0])
    if joint:
        return _jointly(table, classes, code, fit_intercept)
    if len(classes) == 2:
        return _two(table, classes, np.where(code == 1, 1.0, -1.0), fit_intercept)
    return _pairwise(table, classes, code, fit_intercept)


def widest(X: Any, sign: Any, *, bias: float | None = 1.0) -> Widest:
    """Find the unit vector u with the largest ``min sign_i u.(x_i, bias)``, or prove it negative.

    The number in Novikoff's bound: a perceptron that adds `bias` to each row as one more
    coordinate makes at most ``max |(x, bias)|^2 / margin^2`` mistakes.

    Parameters
    ----------
    X : rows (n, d), dense or sparse.
    sign : -1 or +1 for each row.
    bias : the constant coordinate; None or 0 for none.

    Returns
    -------
    Widest
        `direction` and `margin`, or the `combination` that proves there is none.

    Examples
    --------
    >>> found = widest([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1], bias=None)
    >>> found.direction.round(6), round(found.margin, 6)
    (array([ 0.707107, -0.707107]), 0.707107)
    """
    table = check_table(X)
    side = np.asarray(sign, dtype=np.float64)
    if side.shape != (table.shape[0],):
        raise ValueError(
            f"X and sign must have the same length; got {table.shape[0]} rows in X "
            f"and shape {side.shape} in sign."
        )
    if not np.isin(side, (-1.0, 1.0)).all():
        raise ValueError(f"sign must hold -1 and +1 only; got {sign!r}.")
    if bias is not None and not np.isfinite(bias):
        raise ValueError(f"bias must be a finite number or None; got {bias!r}.")
    filled, used = _without_empty_columns(table)
    question: Question = Augmented(filled, side, bias) if bias else Affine(filled, side, False)
    answer = _answer(question, filled, side, bool(bias))
    if answer.plane is None:
        return Widest(False, None, None, answer.combination, answer.grade, answer.gap)
    plane = answer.plane
    w = _with_empty_columns(plane.coef, used, table.shape[1])
    direction = np.append(w, plane.intercept) if bias else w
    return Widest(True, direction, plane.margin, None, "proved", None)


def _without_empty_columns(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return the table without columns of zeros, which no plane needs, and the columns left."""
    filled = np.unique(table.indices) if sparse.issparse(table) else table.any(axis=0).nonzero()[0]
    used = filled if len(filled) else np.zeros(1, np.intp)
    return (table, used) if len(used) == table.shape[1] else (table[:, used], used)


def _with_empty_columns(coef: Floats, used: NDArray[np.intp], d: int) -> Floats:
    """Return coefficients of the used columns as those of all d."""
    whole = np.zeros((*coef.shape[:-1], d))
    whole[..., used] = coef
    return whole


def _answer(question: Question, table: Table, sign: Floats, intercept: bool) -> Answer:
    """Look for equal rows with different labels first; they are common, and a proof."""
    p = contradiction(table, sign, intercept)
    return best_answer(question) if p is None else Answer(combination=question.normalise(p))


def _two(table: Table, classes: Any, sign: Floats, fit_intercept: bool) -> Separability:
    """Answer for two classes."""
    X, used = _without_empty_columns(table)
    answer = _answer(Affine(X, sign, fit_intercept), X, sign, fit_intercept)
    return _separability(answer, classes, used, table.shape[1], fit_intercept)


def _separability(
    answer: Answer, classes: Any, used: Any, d: int, fit_intercept: bool, joint: bool = False
) -> Separability:
    """An answer for the used columns as one for all d."""
    plane = answer.plane
    if plane is None:
        return Separability(
            False, classes, answer.grade, combination=answer.combination, gap=answer.gap,
            fit_intercept=fit_intercept, joint=joint,
        )  # fmt: skip
    return Separability(
        True, classes, coef=_with_empty_columns(plane.coef, used, d), margin=plane.margin,
        intercept=plane.intercept if joint else plane.intercept.item(),
        fit_intercept=fit_intercept, joint=joint,
    )  # fmt: skip


def _pairwise(table: Table, classes: Any, code: Any, fit_intercept: bool) -> Separability:
    """Answer for each two classes; combinations keep the length of the whole table."""
    pairs = {}
    names = classes.tolist()
    for low in range(len(classes)):
        for high in range(low + 1, len(classes)):
            mine = np.isin(code, (low, high))
            sign = np.where(code[mine] == high, 1.0, -1.0)
            pair = _two(table[mine], classes[[low, high]], sign, fit_intercept)
            pairs[names[low], names[high]] = _spread(pair, mine)
    return Separability(classes=classes, fit_intercept=fit_intercept, pairs=pairs, **summary(pairs))


def _spread(pair: Separability, mine: Any) -> Separability:
    """Give a pair's combination the length of the whole table."""
    if pair.combination is None:
        return pair
    p = np.zeros(len(mine))
    p[mine] = pair.combination
    return replace(pair, combination=p)


def _jointly(table: Table, classes: Any, code: Any, fit_intercept: bool) -> Separability:
    """Answer for one score a class; a pair without a plane settles it."""
    K = len(classes)
    for low in range(K):
        for high in range(low + 1, K):
            mine = np.flatnonzero(np.isin(code, (low, high)))
            sign = np.where(code[mine] == high, 1.0, -1.0)
            pair = first_proof(Affine(table[mine], sign, fit_intercept))
            if pair.combination is not None and pair.grade == "proved":
                C = np.zeros((len(code), K))
                C[mine, low + high - code[mine]] = pair.combination
                proof = Answer(combination=C / C.sum())
                return _separability(proof, classes, None, 0, fit_intercept, joint=True)
    X, used = _without_empty_columns(table)
    answer = best_answer(JointClasses(X, code, K, fit_intercept))
    if answer.combination is not None:
        answer = replace(answer, combination=answer.combination.reshape(-1, K))
    return _separability(answer, classes, used, table.shape[1], fit_intercept, joint=True)


# One linear score a class: is there one that puts every row in its own class?


class JointClasses(Question):
    """K classes, one score ``w_k.x + b_k`` each, the own one to be the largest; |(W, b)| = 1."""

    def __init__(self, X: Table, code: NDArray[np.intp], K: int, intercept: bool):
        self.X, self.code, self.K, self.intercept = X, code, K, intercept
        self.table = Standard(X, intercept)
        self.kesler = Kesler(self.table, code, K)
        self.rows = self.kesler
        self.own = self.kesler.own

    def plane(self, v: Floats) -> SeparatingPlane | None:
        W, b = self.table.plane(self.kesler.weights(v))
        return self.prove(np.vstack([W, b]) if self.intercept else W)

    def hull(self) -> Hull:
        x = dense_table(self.X)
        x = np.column_stack([x, np.ones(len(x))]) if self.intercept else x
        own = self.own.astype(int)
        side = own[:, None, :] - np.eye(self.K, dtype=int)  # e_y - e_k: (n, k, K)
        rows = integers(x)[0][:, None, :, None] * side.astype(object)[:, :, None, :]
        return Hull(rows.reshape(len(x) * self.K, -1), np.where(self.own.ravel(), -1, 0))

    def along(self, v: Floats) -> SeparatingPlane | None:
        return self.prove(v.reshape(-1, self.K))

    def prove(self, V: Floats) -> SeparatingPlane | None:
        """Prove weights V, one column a class, the intercepts in the last row."""
        V = V - V.mean(axis=1, keepdims=True)
        V = unit_vector(V)
        d = self.X.shape[1]
        W, b = V[:d], V[d] if self.intercept else np.zeros(self.K)

        def exact(index: NDArray[np.intp]) -> list[Fraction]:
            return [self._exact_margin(W, b, *divmod(int(at), self.K)) for at in index]

        scores, errors = self.X @ W + b, score_error(self.X, W, b)
        margins = np.where(self.own, np.inf, scores[self.own][:, None] - scores)
        errors = 1.01 * (errors + errors[self.own][:, None] + UNIT * abs(scores))
        least = smallest(margins.ravel(), errors.ravel(), exact, 2 * d)
        return (
            None if least is None else SeparatingPlane(W.T, b, float(least) / length_of(V.ravel()))
        )

    def _exact_margin(self, W: Floats, b: Floats, i: int, k: int) -> Fraction:
        y, x = int(self.code[i]), self.X[[i]]
        if y == k:  # no row: larger than any score
            return Fraction(10) ** 400
        own, other = exact_scores(x, W[:, y])[0], exact_scores(x, W[:, k])[0]
        return own - other + Fraction(b[y]) - Fraction(b[k])

    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        K, m = self.K, self.table.m
        if K * m > WIDEN_DIRECTLY:
            return plane, False
        d, unit, centre = self.table.d, self.table.unit, self.table.centre

        def take(index: NDArray[np.intp]) -> Floats:
            i, k = np.divmod(index, K)
            z = self.table.take(i)
            z[:, :d] = z[:, :d] * unit + centre
            A = np.zeros((len(index), m, K))
            at = np.arange(len(index))
            A[at, :, self.code[i]] = z
            A[at, :, k] -= z
            return A.reshape(len(index), m * K)

        def margins(flat: Floats) -> Floats:
            V = flat.reshape(m, K)
            scores = self.X @ V[:d] + (V[d] if self.intercept else 0.0)
            return np.asarray(scores[self.own][:, None] - scores).ravel()

        start = np.vstack([plane.coef.T, plane.intercept]) if self.intercept else plane.coef.T
        group = np.where(self.own.ravel(), -1, 0)
        flat, bound = widest_direction(take, margins, group, start.ravel())
        return wider(plane, self.prove(flat.reshape(m, K)), bound)

    def gap(self, p: Floats) -> float:
        C = np.where(self.own, 0.0, p.reshape(-1, self.K))
        C = self.own * C.sum(axis=1, keepdims=True) - C
        parts = [average_length(self.X, C[:, k]) for k in range(self.K)]
        return hypot(*parts, *(sum_of(flow) for flow in C.T if self.intercept))
