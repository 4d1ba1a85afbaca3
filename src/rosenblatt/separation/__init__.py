"""Is there a plane between the classes? Either answer comes with its proof.

A plane is its own proof: every row lies strictly on its side, which exact arithmetic confirms.
That there is none has a proof as short (Gordan 1873): weights that give both classes the same
average, for no plane can part two sets whose averages are one point.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .inputs import Floats, Table, check_labels, check_table
from .joint_classes import JointClasses
from .problem import Affine, Augmented, Question
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
    if answer.plane is None:
        return Separability(
            False,
            classes,
            answer.grade,
            combination=answer.combination,
            gap=answer.gap,
            fit_intercept=fit_intercept,
        )
    plane = answer.plane
    return Separability(
        True,
        classes,
        coef=_with_empty_columns(plane.coef, used, table.shape[1]),
        intercept=plane.intercept.item(),
        margin=plane.margin,
        fit_intercept=fit_intercept,
    )


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
    return Separability(
        False,
        pair.classes,
        pair.grade,
        combination=p,
        gap=pair.gap,
        fit_intercept=pair.fit_intercept,
    )


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
                return _no_scores(classes, C / C.sum(), "proved", 0.0, fit_intercept)
    X, used = _without_empty_columns(table)
    answer = best_answer(JointClasses(X, code, K, fit_intercept))
    if answer.plane is None:
        C = np.asarray(answer.combination).reshape(-1, K)
        return _no_scores(classes, C, answer.grade, answer.gap, fit_intercept)
    plane = answer.plane
    return Separability(
        True,
        classes,
        coef=_with_empty_columns(plane.coef, used, table.shape[1]),
        intercept=plane.intercept,
        margin=plane.margin,
        fit_intercept=fit_intercept,
        joint=True,
    )


def _no_scores(
    classes: Any, C: Floats, grade: str, gap: float, fit_intercept: bool
) -> Separability:
    return Separability(
        False,
        classes,
        grade,
        combination=C,
        gap=gap,
        fit_intercept=fit_intercept,
        joint=True,
    )
