"""Perceptrons: errors, the plane and its margin, Novikoff's bound, or why no plane exists.

Legend: a row is z = (x, 1), or x without an intercept; v = (w, b) is the published plane and v0
its start, |v| their length; u is a unit vector that keeps every y z at least g on its own side; R
is the length of the longest z; s the steps. With K classes v is the matrix (W, b), z its Kesler
form ``(e_own - e_rival) z``, and R^2 counts twice.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.separation import Separability, separability, widest

from .claims import Certificate, Claim, Grade, total_weight, within
from .closed_form import class_codes
from .exact_arithmetic import RowLeads, leads_of, stands
from .input_checks import check_fitted
from .rounded_matrix import shares_of

SLACK = 1e-9  # relative allowance for the few roundings in a bound
MOST_CELLS = 2_000_000  # of rows among which the widest plane is looked for
FAR_EXPONENT = 300  # of two, beyond which products with rows may leave the range

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PerceptronFit:
    """The numbers read from a model, and the rows they speak of."""

    X: Any  # (n, d) rows of positive weight
    codes: NDArray[np.intp]  # (n,)
    labels: NDArray[Any]  # (n,)
    weight: Floats  # (n,) sample weight
    pull: Floats  # (n,) the same times the weight of the class
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
    claims = [training_error(fit, leads, says_it_is_clean(model))]
    answer = None
    if not leads.wrong.any():
        claims.append(margin(fit, leads))
    elif effort > 0 and len(np.unique(fit.codes)) > 1:
        answer = separability(fit.X, fit.labels, fit_intercept=fit.fit_intercept, joint=not fit.two)
        if stands(answer, fit.X, fit.labels):
            claims.append(whether_separable(answer))
    steps = step_range(model, fit)
    if steps is not None and (u := unit_separator(fit, leads, answer, effort)) is not None:
        claims += mistakes_against(model, fit, u, steps)
    return Certificate(type(model).__name__, problem_of(fit), data_of(fit), tuple(claims))


def says_it_is_clean(model: Any) -> bool:
    """Whether the model claims to be right on every row it was fitted to."""
    held_out = bool(getattr(model, "early_stopping", False))
    return bool(getattr(model, "converged_", False)) and not held_out


def read(model: Any, X: Any, y: NDArray[Any], weight: Floats) -> PerceptronFit:
    """Check that the model's numbers and the data belong together."""
    check_fitted(model, "coef_")
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    W = np.atleast_2d(np.asarray(coef, np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, np.float64), (len(W),)).copy()
    classes = np.asarray(model.classes_)
    if W.shape[1] != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but coef_ has {W.shape[1]}.")
    codes = class_codes(classes, y)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ValueError("coef_ and intercept_ must be finite to be certified.")
    pull = weight * class_weights(model, classes, codes, weight)[codes]
    kept = np.flatnonzero(pull > 0)
    if not len(kept):
        raise ValueError(
            "There is nothing to certify: class_weight leaves no row of positive weight."
        )
    codes = codes[kept]
    fit_intercept = bool(model.fit_intercept)
    ties_go_up = getattr(model, "boundary", "mistake") == "positive"
    return PerceptronFit(
        X[kept], codes, y[kept], weight[kept], pull[kept], classes, W, b, fit_intercept, ties_go_up
    )


def score_rows(fit: PerceptronFit) -> tuple[Floats, Floats]:
    """One row of weights and one bias for each class; of two, the first has zeros."""
    if fit.two:
        return np.vstack([0 * fit.W, fit.W]), np.append(0.0, fit.b)
    return fit.W, fit.b


def problem_of(fit: PerceptronFit) -> str:
    """The problem in one line."""
    if fit.two:
        low, high = fit.classes.tolist()
        bias = " + b" if fit.fit_intercept else ""
        return f"find w with y (w.x{bias}) > 0 in every row; y = 1 for {high!r}, -1 for {low!r}"
    return f"find {len(fit.classes)} linear scores, each row's own the highest"


def data_of(fit: PerceptronFit) -> str:
    """What was handed over, in one line."""
    n, d = fit.X.shape
    return f"{n:,} rows of positive weight and {d:,} columns, {total_weight(fit.weight)}"


def training_error(fit: PerceptronFit, leads: RowLeads, said_to_be_clean: bool) -> Claim:
    """Count the rows that the published numbers get wrong; a converged model must have none."""
    # Else no more than one answer for all rows would, counted or weighed as the fit was asked to.
    wrong, n = int(np.count_nonzero(leads.wrong)), len(leads.wrong)
    share = float(shares_of(fit.weight)[leads.wrong].sum())
    most = "at most " if leads.grade == "checked" else ""
    statement = f"{most}{wrong:,} of {n:,} rows are predicted wrongly ({share:.3%} of the weight)"
    if wrong == 0:
        statement = f"none of the {n:,} rows is predicted wrongly"
    elif said_to_be_clean:
        statement += "; the model says that none is"
    if said_to_be_clean:
        return Claim("training error", statement, wrong, 0, wrong == 0, leads.grade)
    constant = n - int(np.bincount(fit.codes).max())
    pull = shares_of(fit.pull)
    lighter = pull[leads.wrong].sum() <= 1 - np.bincount(fit.codes, pull).max() + SLACK
    better = wrong <= constant or bool(lighter)
    if not better:
        statement += f"; one answer for all rows is wrong on {constant:,}"
    return Claim("training error", statement, wrong, constant, better, leads.grade)


def margin(fit: PerceptronFit, leads: RowLeads) -> Claim:
    """The distance of the nearest row from the published plane, when none is wrong."""
    fit, leads = _in_range(fit, leads)
    length = length_of(fit.W if fit.two else fit.vector)
    if length == 0:
        statement = "all weights are 0: there is no boundary, and every row gets the same class"
        return Claim("margin", statement, 0.0, None, True, leads.grade)
    rounding = (fit.W.size + 8) * float(np.finfo(float).eps)
    value = float(np.clip(leads.lower.min(), 0.0, np.finfo(float).max)) / length * (1 - rounding)
    if value == 0:
        touching = int(np.count_nonzero(leads.lower <= 0))
        statement = f"no row is wrong, but {touching} lie on the boundary itself: the margin is 0"
        return Claim("margin", statement, 0.0, None, True, leads.grade)
    if fit.two:
        statement = f"every row is on its own side of the plane, at least {value:.6g} away"
    else:
        statement = f"every row's own score is the highest, by at least {value:.6g} |(W, b)|"
    return Claim("margin", statement, value, 0.0, True, leads.grade)


def _in_range(fit: PerceptronFit, leads: RowLeads) -> tuple[PerceptronFit, RowLeads]:
    """The same plane by numbers near one, where those published are at the ends of their range."""
    exponent = int(np.frexp(np.abs(fit.vector).max(initial=0.0))[1])
    W, b = np.ldexp(fit.W, -exponent), np.ldexp(fit.b, -exponent)
    same = np.array_equal(np.ldexp(W, exponent), fit.W) and np.array_equal(
        np.ldexp(b, exponent), fit.b
    )
    if abs(exponent) < FAR_EXPONENT or not same:
        return fit, leads
    fit = replace(fit, W=W, b=b)
    return fit, leads_of(fit.X, fit.codes, *score_rows(fit), fit.ties_go_up)


def length_of(v: Floats) -> float:
    """Euclidean length, of numbers whose squares may be out of range."""
    largest = float(np.abs(v).max(initial=0.0))
    return largest * float(np.linalg.norm(v / largest)) if largest else 0.0


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
    fit: PerceptronFit, leads: RowLeads, answer: Separability | None, effort: int
) -> Floats | None:
    """u, of the largest g that can be had for the effort; None if no separating one is known."""
    separates = bool((leads.lower > 0).all())
    if effort == 0 or (separates and fit.X.size > MOST_CELLS):
        return fit.vector / length_of(fit.vector) if separates else None
    if answer is not None and not answer.separable:
        return None
    if len(np.unique(fit.codes)) < len(fit.classes):  # too few classes to look for planes between
        return fit.vector / length_of(fit.vector) if separates else None
    if fit.two and answer is not None and fit.X.size > MOST_CELLS:
        v = flatten(np.asarray(answer.coef), np.asarray(answer.intercept), fit.fit_intercept)
        return v / length_of(v)
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


def class_weights(
    model: Any, classes: NDArray[Any], codes: NDArray[np.intp], weight: Floats
) -> Floats:
    """The weight of each class (K,); "balanced" counts the rows of positive weight."""
    if isinstance(model.class_weight, str):
        counts = np.bincount(codes[weight > 0], minlength=len(classes))
        return np.asarray(counts.sum() / (len(classes) * np.maximum(counts, 1.0)))
    given = model.class_weight or {}
    return np.array([given.get(label, 1.0) for label in classes.tolist()])


def step_range(model: Any, fit: PerceptronFit) -> tuple[float, float] | None:
    """The shortest and the longest step; None if the model keeps no honest count of mistakes."""
    # What the model says of its steps is widened by what its parameters and the rows given imply.
    if not hasattr(model, "n_updates_") or model.penalty is not None:
        return None
    if not fit.fit_intercept and fit.b.any():  # a fixed bias is outside the theorem
        return None
    by_class = class_weights(model, fit.classes, fit.codes, fit.weight)
    steps = model.eta0 * fit.weight * by_class[fit.codes]
    published = getattr(model, "step_range_", (np.inf, 0.0))
    return min(float(steps.min()), published[0]), max(float(steps.max()), published[1])


def mistakes_against(
    model: Any, fit: PerceptronFit, u: Floats, steps: tuple[float, float]
) -> list[Claim]:
    """Novikoff's bound, and how many mistakes it takes to get from the start to the weights."""
    M = int(model.n_updates_)
    g = smallest_lead(fit, u)
    if not g > 0:  # only when every plane found touches a row in floating point
        return []
    # In units of the longest step, so that no step is too long or short to be squared.
    v, v0, low = fit.vector / steps[1], start_of(model, fit, len(u)) / steps[1], steps[0] / steps[1]
    R2 = fit.squared_radius
    # The weights were added up in the model's own precision, with one rounding a mistake.
    slack = SLACK + 4 * M * float(np.finfo(np.asarray(model.intercept_).dtype).eps)
    most = most_mistakes(g, R2, low, 1.0, along=float(v0 @ u), square=float(v0 @ v0)) * (1 + slack)
    start = "" if not v0.any() else ", from a start that was not zero"
    formula = f"(R/g)^2 with R^2 = {R2:.6g}" if fit.two else f"2 (R/g)^2 with R^2 = {R2 / 2:.6g}"
    # Each mistake moves v along u by at least low g, and adds at most R^2 to |v|^2.
    fewest = (float(v @ v) - float(v0 @ v0)) / R2 * (1 - slack) - slack
    reach = float((v - v0) @ u) / (low * g) * (1 + slack) + slack
    return mistake_claims(M, most, f"{formula}, g = {g:.6g}{start}", "weights", fewest, reach)


def mistake_claims(
    M: int, most: float, formula: str, what: str, fewest: float, reach: float
) -> list[Claim]:
    """That M mistakes are at most `most`, and as many as lead to what is published."""
    made = f"{M:,} mistakes were made, at most {floor(most)} can be: {formula}"
    way = (
        f"the published {what} are reached by {floor(max(0.0, fewest), up=True)} to {floor(reach)} "
        f"mistakes; the model counted {M:,}"
    )
    return [
        within("mistake bound", made, M, most),
        Claim("way to the weights", way, M, reach, fewest <= M <= reach, "checked"),
    ]


def start_of(model: Any, fit: PerceptronFit, size: int) -> Floats:
    """v0, where the fit began."""
    if getattr(model, "coef_init_", None) is None:
        return np.zeros(size)
    W0 = np.asarray(model.coef_init_, np.float64)
    return flatten(W0, np.asarray(model.intercept_init_, np.float64), fit.fit_intercept)


def floor(count: float, up: bool = False) -> str:
    """The largest whole number of mistakes within a bound, or the smallest above, for people."""
    whole = math.ceil if up else math.floor
    return f"{whole(count):,}" if abs(count) < 1e15 else f"{count:.3g}"


def smallest_lead(fit: PerceptronFit, u: Floats) -> float:
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
    """The largest M with ``(M low g + v0.u)^2 <= |v0|^2 + M high^2 R^2``; from zero, tighter."""
    # From zero: (sum s) g <= |v| <= sqrt(sum s^2) R, and (sum s)^2 / sum s^2 >= M low / high.
    if square == 0:
        ratio = math.sqrt(R2) / g
        return high / low * ratio * ratio * (1 + SLACK)
    # a M^2 - 2 h M - c <= 0
    a, h = (low * g) * (low * g), high * high * R2 / 2 - along * low * g
    c = square - along * along
    if a == 0:  # a margin too small to be squared bounds nothing
        return math.inf
    return (h + math.sqrt(max(0.0, h * h + a * c))) / a * (1 + SLACK)
