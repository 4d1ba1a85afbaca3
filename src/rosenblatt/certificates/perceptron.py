"""Perceptrons: errors, the plane and its margin, Novikoff's bound, or why no plane exists.

Legend: a row is z = (x, 1), or x without an intercept; v = (w, b) is the published plane and v0
its start, |v| their length; u is a unit vector that keeps every y z at least g on its own side; R
is the length of the longest z; s the steps. With K classes v is the matrix (W, b), z its Kesler
form ``(e_own - e_rival) z``, and R^2 counts twice.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.separation import Separability, separability, widest

from .claims import Certificate, Claim, Grade
from .leads import Leads, leads_of

SLACK = 1e-9  # relative allowance for the few roundings in a bound

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """The numbers read from a model, and the rows they speak of."""

    X: Any  # (n, d) rows of positive weight
    codes: NDArray[np.intp]  # (n,)
    labels: NDArray[Any]  # (n,)
    weight: Floats  # (n,) sample weight
    classes: NDArray[Any]
    W: Floats  # (K, d); two classes: (1, d)
    b: Floats  # (K,) or (1,)
    fit_intercept: bool
    ties_go_up: bool

    @property
    def two(self) -> bool:
        return len(self.classes) == 2

    @property
    def vector(self) -> Floats:
        """v, all numbers that were learned in one row."""
        return flatten(self.W, self.b, self.fit_intercept)

    @property
    def squared_radius(self) -> float:
        """R^2, what one correction of unit step can add to |v|^2."""
        X = self.X
        squares = np.asarray(X.multiply(X).sum(axis=1)) if sp.issparse(X) else (X**2).sum(axis=1)
        longest = float(squares.max()) + (1.0 if self.fit_intercept else 0.0)
        return longest * (1 if self.two else 2)


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted perceptron and state what it achieved on the rows given."""
    fit = read(model, X, y, weight)
    leads = leads_of(fit.X, fit.codes, *score_rows(fit), fit.ties_go_up)
    claims = [training_error(fit, leads, bool(getattr(model, "converged_", False)))]
    answer = None
    if not leads.wrong.any():
        claims.append(margin(fit, leads))
    elif effort > 0:
        answer = separability(fit.X, fit.labels, fit_intercept=fit.fit_intercept, joint=not fit.two)
        claims.append(whether_separable(answer))
    steps = steps_of(model, fit)
    if steps is not None and (u := unit_separator(fit, leads, answer, effort)) is not None:
        claims += mistakes_against(model, fit, u, steps)
    return Certificate(type(model).__name__, problem_of(fit), data_of(fit), tuple(claims))


def read(model: Any, X: Any, y: NDArray[Any], weight: Floats) -> Fit:
    """Check that the model's numbers and the data belong together."""
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    W = np.atleast_2d(np.asarray(coef, np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, np.float64), (len(W),)).copy()
    classes = np.asarray(model.classes_)
    if W.shape[1] != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but coef_ has {W.shape[1]}.")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y has labels {unknown.tolist()} that the model does not know: {classes.tolist()}."
        )
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ValueError("coef_ and intercept_ must be finite to be certified.")
    kept = np.flatnonzero(weight > 0)
    order = np.argsort(classes)
    codes = order[np.searchsorted(classes, y[kept], sorter=order)]
    fit_intercept = bool(model.fit_intercept)
    ties_go_up = getattr(model, "boundary", "mistake") == "positive"
    return Fit(X[kept], codes, y[kept], weight[kept], classes, W, b, fit_intercept, ties_go_up)


def score_rows(fit: Fit) -> tuple[Floats, Floats]:
    """One row of weights and one bias for each class; of two, the first has zeros."""
    if fit.two:
        return np.vstack([0 * fit.W, fit.W]), np.append(0.0, fit.b)
    return fit.W, fit.b


def problem_of(fit: Fit) -> str:
    """The problem in one line."""
    if fit.two:
        low, high = fit.classes.tolist()
        bias = " + b" if fit.fit_intercept else ""
        return f"find w with y (w.x{bias}) > 0 in every row; y = 1 for {high!r}, -1 for {low!r}"
    return f"find {len(fit.classes)} linear scores, each row's own the highest"


def data_of(fit: Fit) -> str:
    """What was handed over, in one line."""
    n, d = fit.X.shape
    return f"the {n} rows and {d} columns given, total weight {fit.weight.sum():g}"


def training_error(fit: Fit, leads: Leads, said_to_be_clean: bool) -> Claim:
    """How many rows the published numbers get wrong; none, if the model says so."""
    wrong, n = int(np.count_nonzero(leads.wrong)), len(leads.wrong)
    share = float(fit.weight[leads.wrong].sum() / fit.weight.sum())
    statement = f"{wrong} of {n} rows are predicted wrongly ({share:.3%} of the weight)"
    if said_to_be_clean:
        statement += "; the model says that none is"
        return Claim("training error", statement, wrong, 0, wrong == 0, leads.grade)
    return Claim("training error", statement, wrong, None, True, leads.grade)


def margin(fit: Fit, leads: Leads) -> Claim:
    """The distance of the nearest row from the published plane, when none is wrong."""
    length = float(np.linalg.norm(fit.W if fit.two else fit.vector))
    value = max(0.0, float(leads.lower.min())) / (length or 1.0) * (1 - 4 * np.finfo(float).eps)
    if value == 0:
        touching = int(np.count_nonzero(leads.lower <= 0))
        statement = f"no row is wrong, but {touching} lie on the boundary itself: the margin is 0"
        return Claim("margin", statement, 0.0, None, True, leads.grade)
    if fit.two:
        statement = f"every row is on its own side of the plane, at least {value:.6g} away"
    else:
        statement = f"every row's own score is the highest, by at least {value:.6g} |(W, b)|"
    return Claim("margin", statement, value, 0.0, True, leads.grade)


def whether_separable(answer: Separability) -> Claim:
    """Whether the errors could have been avoided: a fit that left some on separable data failed."""
    grade: Grade = "proved" if answer.grade == "proved" else "checked"
    gap = float(answer.gap or 0.0)
    if answer.separable and answer.margin is not None:
        kind = "other scores separate" if answer.joint else "a plane separates"
        statement = f"{kind} all rows with margin {answer.margin:.6g}: this fit is not finished"
        return Claim("separability", statement, answer.margin, 0.0, False, grade)
    kind = "scores" if answer.joint else "plane"
    if grade == "checked":
        statement = f"no {kind} can be right on every row by a margin above {gap:.3g}"
        return Claim("separability", statement, gap, None, True, grade)
    weighted = np.atleast_2d(np.asarray(answer.combination).T).any(axis=0)  # rows with a part in it
    support = np.count_nonzero(weighted)
    statement = f"no {kind} can be right on every row: {support} weighted rows cancel"
    return Claim("separability", statement, gap, None, True, grade)


def unit_separator(
    fit: Fit, leads: Leads, answer: Separability | None, effort: int
) -> Floats | None:
    """u, of the largest g that can be had for the effort; None if no separating one is known."""
    separates = bool((leads.lower > 0).all())
    if effort == 0:
        return fit.vector / np.linalg.norm(fit.vector) if separates else None
    if fit.two:
        sign = np.where(fit.codes == 1, 1.0, -1.0)
        return widest(fit.X, sign, bias=1.0 if fit.fit_intercept else None).direction
    if answer is None:
        answer = separability(fit.X, fit.labels, fit_intercept=fit.fit_intercept, joint=True)
    if not answer.separable:
        return None
    return flatten(np.asarray(answer.coef), np.asarray(answer.intercept), fit.fit_intercept)


def flatten(W: Floats, b: Floats, fit_intercept: bool) -> Floats:
    """W and b, or W alone, in one row."""
    return np.append(W.ravel(), b.ravel()) if fit_intercept else W.ravel()


def steps_of(model: Any, fit: Fit) -> Floats | None:
    """The step of each row (n,), or None when the model keeps no honest count of mistakes."""
    if not hasattr(model, "n_updates_") or model.penalty is not None:
        return None
    if not fit.fit_intercept and fit.b.any():  # a fixed bias is outside the theorem
        return None
    steps = model.eta0 * fit.weight
    if isinstance(model.class_weight, str):  # "balanced": inverse frequencies of the rows given
        frequency = np.bincount(fit.codes, minlength=len(fit.classes))
        return steps * (len(fit.codes) / (len(fit.classes) * frequency[fit.codes]))  # type: ignore[no-any-return]
    by_class = [(model.class_weight or {}).get(label, 1.0) for label in fit.classes.tolist()]
    return steps * np.asarray(by_class)[fit.codes]  # type: ignore[no-any-return]


def mistakes_against(model: Any, fit: Fit, u: Floats, steps: Floats) -> list[Claim]:
    """Novikoff's bound, and how many mistakes it takes to get from the start to the weights."""
    M = int(model.n_updates_)
    g = smallest_lead(fit, u)
    if not g > 0:  # only when every plane found touches a row in floating point
        return []
    v0 = np.zeros(len(u))
    if getattr(model, "coef_init_", None) is not None:
        W0 = np.asarray(model.coef_init_, np.float64)
        v0 = flatten(W0, np.asarray(model.intercept_init_, np.float64), fit.fit_intercept)
    low, high, R2 = float(steps[steps > 0].min()), float(steps.max()), fit.squared_radius
    most = most_mistakes(g, R2, low, high, along=float(v0 @ u), square=float(v0 @ v0))
    start = "" if not v0.any() else f", from a start of length {np.linalg.norm(v0):.4g}"
    bound = Claim(
        "mistake bound",
        f"{M} mistakes were made, at most {most:.6g} can be: (R/g)^2 with R^2 = {R2:.6g}, "
        f"g = {g:.6g}{start}",
        M,
        most,
        most >= M,
        "checked",
    )
    # Each mistake moves v along u by at least s g, and adds at most s^2 R^2 to |v|^2.
    v = fit.vector
    fewest = (float(v @ v) - float(v0 @ v0)) / (high**2 * R2) * (1 - SLACK) - SLACK
    reach = float((v - v0) @ u) / (low * g) * (1 + SLACK) + SLACK
    way = Claim(
        "way to the weights",
        f"the published weights are reached by {max(0, math.ceil(fewest))} to {reach:.6g} "
        f"mistakes; the model counted {M}",
        M,
        reach,
        fewest <= M <= reach,
        "checked",
    )
    return [bound, way]


def smallest_lead(fit: Fit, u: Floats) -> float:
    """g, the smallest lead of a row under u, less its rounding allowance."""
    d = fit.X.shape[1]
    K = 1 if fit.two else len(fit.classes)
    W, b = u[: K * d].reshape(K, d), u[K * d :] if fit.fit_intercept else np.zeros(K)
    if fit.two:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    return float(leads_of(fit.X, fit.codes, W, b, ties_go_up=False).lower.min()) * (1 - SLACK)


def most_mistakes(
    g: float, R2: float, low: float, high: float, along: float, square: float
) -> float:
    """The largest M with ``(M low g + v0.u)^2 <= |v0|^2 + M high^2 R^2``; from zero, tighter.

    From zero: ``(sum s) g <= |v| <= sqrt(sum s^2) R``, and ``(sum s)^2 / sum s^2 >= M low / high``.
    """
    if square == 0:
        return high / low * R2 / g**2 * (1 + SLACK)
    # a M^2 - 2 h M - c <= 0
    a, h = (low * g) ** 2, high**2 * R2 / 2 - along * low * g
    c = square - along**2
    return (h + math.sqrt(max(0.0, h**2 + a * c))) / a * (1 + SLACK)
