"""Kernel perceptrons: errors, the books, and Novikoff's bound in the feature space.

Legend: the learned element is ``v = (sum_i a_i phi(s_i), b)`` over the supports s, of length |v|;
u is an element of length 1 that keeps every y phi(x), or (phi(x), 1) with an intercept, at least g
on its own side; ``R^2`` is the largest K(x, x), plus 1 with an intercept, and counts twice with K
classes. Scores are linear in the kernel values with the supports, so those are the rows here.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.separation import widest

from . import perceptron
from .claims import Certificate, Claim
from .exact_arithmetic import UNIT, RowLeads, leads_of
from .input_checks import check_columns, check_fitted
from .kernel_values import ROWS_PER_BLOCK, Floats, KernelOf, rate_claim, wide

MOST_ROWS = 2000  # of which a whole kernel matrix is made


@dataclass(frozen=True)
class Books:
    """What the model published, and the kernel of the rows given with its supports."""

    fit: perceptron.PerceptronFit  # X the data given, W the coefficients a (1, s) or (K, s)
    kernel: KernelOf
    supports: Any  # (s, d); None if the kernel was precomputed
    places: NDArray[np.intp]  # (s,) of the supports among the training rows
    precomputed: bool
    off: float  # by how much a kernel value may be off

    def values(self, rows: Any) -> Floats:
        """K (m, s), of rows with the supports."""
        if self.precomputed:
            return np.asarray(rows[:, self.places])
        return self.kernel(rows, self.supports)

    @property
    def square(self) -> bool:
        """Whether the kernel of rows with themselves is known."""
        X = self.fit.X
        return not self.precomputed or (X.shape[0] == X.shape[1] and np.allclose(X, X.T))

    def diagonal(self) -> Floats:
        """K(x, x) of the rows given and of the supports."""
        if self.precomputed:
            return np.asarray(self.fit.X).diagonal()
        parts = [self.fit.X, self.supports]
        return np.concatenate([self.kernel.diagonal(part) for part in parts])


def squared_radius(books: Books) -> float:
    """R^2, what one correction of unit step can add to |v|^2."""
    longest = float(books.diagonal().max(initial=0.0)) + (1.0 if books.fit.fit_intercept else 0.0)
    return longest * (1 if books.fit.two else 2)


def feature_space(books: Books, effort: int) -> tuple[bool, Claim]:
    """Whether there is a feature space at all: tested on the rows given and the supports."""
    name, n = "feature space", books.fit.X.shape[0] + len(books.places)
    if effort == 0 or n > MOST_ROWS:
        statement = f"not known, with {n:,} rows and supports to test: mistakes have no bound"
        return False, Claim(name, statement, math.nan, None, True, "observed")
    K = gram(books, with_supports=True)
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-9 * float(np.abs(K).max())):
        statement = "there is none: the kernel is not symmetric, and mistakes have no bound"
        return False, Claim(name, statement, math.nan, None, True, "checked")
    allowance = n * 2 * UNIT * float(np.abs(K).sum(axis=1).max()) + n * books.off
    least = float(scipy.linalg.eigvalsh((K + K.T) / 2, subset_by_index=[0, 0])[0])
    exists = least >= -allowance
    words = "there may be one" if exists else "there is none, and mistakes have no bound"
    statement = f"{words}: the least eigenvalue of the kernel matrix is {least:.3g}"
    return exists, Claim(name, statement, least, -allowance if exists else None, True, "checked")


def gram(books: Books, with_supports: bool = False) -> Floats:
    """The kernel matrix of the rows given, and of the supports if asked for."""
    X = books.fit.X
    if books.precomputed:
        return np.asarray(X)
    if with_supports:
        both = [X, books.supports]
        X = sp.vstack(both, format="csr") if sp.issparse(X) else np.vstack(both)
    return books.kernel(X, X)


def length_of(books: Books) -> tuple[float, float]:
    """|v|, from below and from above: large coefficients may cancel."""
    fit = books.fit
    supports = fit.X[books.places] if books.precomputed else books.supports
    K = books.values(supports)
    square = sum(float(a @ (K @ a)) for a in fit.W) + float(fit.b @ fit.b) * fit.fit_intercept
    off = sum(
        float(np.abs(a) @ (np.abs(K) @ np.abs(a))) * (2 * len(a) + 4) * UNIT
        + books.off * float(np.abs(a).sum()) ** 2
        for a in fit.W
    )
    return math.sqrt(max(0.0, square - off)), math.sqrt(max(0.0, square + off))


def widest_element(books: Books, R2: float) -> tuple[float, float]:
    """The margin g of an element u of length 1, nearly the widest, and v.u; 0 if none was found."""
    # The rows get coordinates from the eigenvectors of their kernel matrix. What is found there is
    # a sum over rows, ``u = (sum_i c_i phi(x_i), b)``, and judged by kernel values alone.
    fit, K = books.fit, gram(books)
    K = (K + K.T) / 2
    sign = np.where(fit.codes == 1, 1.0, -1.0)
    values, vectors = scipy.linalg.eigh(K)
    large = values > 1e-10 * max(values[-1], 0.0)
    if not large.any():  # every row is at the origin
        return 0.0, 0.0
    coordinates = vectors[:, large] * np.sqrt(values[large])
    found = widest(coordinates, sign, bias=1.0 if fit.fit_intercept else None)
    if not found.separable or found.direction is None:
        return 0.0, 0.0
    w = found.direction[: coordinates.shape[1]]
    bias = float(found.direction[-1]) if fit.fit_intercept else 0.0
    c = vectors[:, large] @ (w / np.sqrt(values[large]))
    off = (len(K) * 4 * UNIT * R2 + books.off) * float(np.abs(c).sum())
    length = math.sqrt(float(c @ (K @ c)) + bias * bias + off * float(np.abs(c).sum()))
    margins = sign * (K @ c + bias) - off
    g = float(margins.min()) / length * (1 - perceptron.SLACK)
    across = books.values(fit.X)  # (n, s)
    along = float(c @ (across @ fit.W[0])) + bias * float(fit.b[0]) * fit.fit_intercept
    return max(g, 0.0), along / length


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted kernel perceptron and state what it achieved on the rows given."""
    books = read(model, X, y, weight)
    fit = books.fit
    leads = leads_in_blocks(books, model.boundary)
    claims = [perceptron.training_error(fit, leads, perceptron.says_it_is_clean(model))]
    claims.append(books_balance(model, fit))
    claims += supports_claim(model, books, X)
    if books.square:
        exists = books.kernel.semidefinite_by_theorem
        if not exists:
            exists, claim = feature_space(books, effort)
            claims.append(claim)
        if exists:
            claims += in_feature_space(model, books, leads, effort)
    return Certificate(
        type(model).__name__, problem_of(books), perceptron.data_of(fit), tuple(claims)
    )


def read(model: Any, X: Any, y: NDArray[Any], weight: Floats) -> Books:
    """Check that the model's numbers and the data belong together."""
    check_fitted(model, "dual_coef_")
    kernel, places = KernelOf(model), np.asarray(model.support_, np.intp)
    a, precomputed = np.asarray(model.dual_coef_, np.float64), kernel.name == "precomputed"
    if a.shape[1] != len(places):
        raise ValueError(f"dual_coef_ has {a.shape[1]} columns, but support_ {len(places)} rows.")
    check_columns(model, X)
    supports = None if precomputed else wide(model.support_vectors_)
    # The reader of linear models checks the rest, given a row of numbers for each column.
    stand_in = _View(model, coef_=np.zeros((len(a), X.shape[1])))
    fit = perceptron.read(stand_in, X, y, weight)
    if not np.isfinite(a).all():
        raise ValueError("dual_coef_ must be finite to be certified.")
    off = 0.0 if precomputed else kernel.allowance(fit.X, supports)
    return Books(replace(fit, W=a), kernel, supports, places, precomputed, off)


class _View:
    """A model with some of its attributes replaced."""

    def __init__(self, model: Any, **attributes: Any) -> None:
        self._model = model
        vars(self).update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def leads_in_blocks(books: Books, boundary: str) -> RowLeads:
    """The leads of all rows, less what the kernel values may be off by."""
    fit, parts, doubts = books.fit, [], []
    W, b = perceptron.score_rows(fit)
    for start in range(0, fit.X.shape[0], ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        K = books.values(fit.X[rows])
        parts.append(leads_of(K, fit.codes[rows], W, b, fit.ties_go_up))
        off = books.kernel.doubts(K, books.off, sp.issparse(fit.X))
        doubts.append(2 * (off @ np.abs(W).T).max(axis=1, initial=0.0))
    lower = np.concatenate([part.lower for part in parts])
    wrong = np.concatenate([part.wrong for part in parts])
    if books.off > 0:
        lower = lower - np.concatenate(doubts)
        if boundary == "mistake":  # to err on the safe side; other rules have ties that are right
            wrong |= lower <= 0
    exact = books.off == 0 and all(part.grade == "proved" for part in parts)
    return RowLeads(lower, wrong, "proved" if exact else "checked")


def problem_of(books: Books) -> str:
    """The problem in one line."""
    fit, bias = books.fit, " + b" if books.fit.fit_intercept else ""
    if fit.two:
        low, high = fit.classes.tolist()
        return (
            f"find a with y (sum_i a_i K(x_i, x){bias}) > 0 in every row; "
            f"y = 1 for {high!r}, -1 for {low!r}"
        )
    return f"find {len(fit.classes)} scores sum_i a_i K(x_i, x){bias}, each row's own the highest"


def books_balance(model: Any, fit: perceptron.PerceptronFit) -> Claim:
    """That the coefficients are what so many mistakes leave behind."""
    # A mistake adds its step to one coefficient and to the intercept: the sizes cannot exceed the
    # steps made, and the intercept is their sum.
    M, steps = int(model.n_updates_), perceptron.step_range(_View(model, penalty=None), fit)
    assert steps is not None
    low, high = steps
    rounding = 4 * (M + 1) * high * float(np.finfo(np.asarray(model.dual_coef_).dtype).eps)
    total = float(np.abs(fit.W).sum()) / (1 if fit.two else 2)
    holds = total <= M * high + rounding
    if fit.fit_intercept:
        holds &= bool((np.abs(fit.W.sum(axis=1) - fit.b) <= rounding).all())
    if low == high:  # all steps alike: whole numbers of them, and each mistake one more or less
        steps_made = fit.W / low
        holds &= bool((np.abs(steps_made - np.rint(steps_made)) <= rounding / low).all())
        holds &= not fit.two or (round(np.abs(steps_made).sum()) - M) % 2 == 0
    statement = (
        f"the {fit.W.shape[1]:,} supports' coefficients add up to {total:g} in size, of {M:,} "
        "mistakes" + (", and to the intercept" if fit.fit_intercept else "")
    )
    return Claim("books", statement, total, M * high, bool(holds), "checked")


def supports_claim(model: Any, books: Books, X: Any) -> list[Claim]:
    """Claims that support_vectors_ are rows of X, and that gamma_ follows from these rows."""
    if books.precomputed:
        return []
    places, n = books.places, X.shape[0]
    inside = bool((places >= 0).all() and (places < n).all())
    apart = abs(X[places] - books.supports) if inside else None
    off = np.inf if apart is None else float(apart.max()) if apart.size else 0.0
    words = "are rows of X" if off == 0 else "are not the rows of X that support_ names"
    claim = Claim("supports", f"support_vectors_ {words}", off, 0.0, off == 0, "proved")
    return [claim, *rate_claim(model, X)]


def in_feature_space(model: Any, books: Books, leads: RowLeads, effort: int) -> list[Claim]:
    """The margin there, and what it says of the number of mistakes."""
    fit, claims, R2 = books.fit, [], squared_radius(books)
    shortest, longest = length_of(books)
    g, along = 0.0, 0.0  # the margin of a unit element u, and v.u
    if longest > 0 and leads.lower.min() > 0:
        g, along = float(leads.lower.min()) / longest * (1 - perceptron.SLACK), longest
        statement = f"in the feature space every row is on its own side, at least {g:.6g} away"
        claims.append(Claim("margin", statement, g, 0.0, True, "checked"))
    two = fit.two and len(np.unique(fit.codes)) == 2
    wider, along_wider = 0.0, 0.0
    if effort > 0 and two and fit.X.shape[0] <= MOST_ROWS:
        wider, along_wider = widest_element(books, R2)
    if not claims and leads.wrong.any():
        claims.append(separability(books, wider, two))
    if wider > g:
        g, along = wider, along_wider
    if g > 0:
        claims += mistakes_against(model, fit, g, along, shortest, R2)
    return claims


def separability(books: Books, wider: float, two: bool) -> Claim:
    """Whether the mistakes that are left could be avoided, as far as that is known."""
    # Not a failure: to stop early is how a kernel perceptron is kept simple.
    name, pair = "separability", contradiction(books)
    if pair is not None:
        i, j = pair
        statement = f"no element is right on every row: {i} and {j} are alike, of different classes"
        return Claim(name, statement, 0.0, None, True, "proved")
    if wider > 0:
        statement = (
            "some element of the feature space keeps every row on its own side, at least "
            f"{wider:.6g} away; this one does not"
        )
        return Claim(name, statement, wider, None, True, "checked")
    n = books.fit.X.shape[0]
    why = "no element was found, which proves nothing"
    if not two or n > MOST_ROWS:
        why = f"it is looked for with two classes and up to {MOST_ROWS:,} rows, at effort 1"
    statement = f"not decided whether some element is right on every row: {why}"
    return Claim(name, statement, math.nan, None, True, "observed")


def contradiction(books: Books) -> tuple[int, int] | None:
    """Two rows that are alike and of different classes, if there are any."""
    X, seen = books.fit.X, dict[bytes, int]()
    if books.precomputed:
        return None
    for i in range(X.shape[0]):
        row = X[[i]].toarray() if sp.issparse(X) else X[i]
        j = seen.setdefault((row + 0.0).tobytes(), i)
        if books.fit.codes[j] != books.fit.codes[i]:
            return j, i
    return None


def mistakes_against(
    model: Any, fit: perceptron.PerceptronFit, g: float, along: float, shortest: float, R2: float
) -> list[Claim]:
    """Novikoff's bound, and how many mistakes it takes to get from zero to the element."""
    M = int(model.n_updates_)
    low, high = perceptron.step_range(_View(model, penalty=None), fit) or (1.0, 1.0)
    slack = perceptron.SLACK + 4 * M * float(np.finfo(np.asarray(model.dual_coef_).dtype).eps)
    most = high / low * R2 / g / g * (1 + slack)  # the square of a tiny g would be zero
    K = 1 if fit.two else 2
    formula = "(R/g)^2" if fit.two else "2 (R/g)^2"
    radius = "max K(x, x) + 1" if fit.fit_intercept else "max K(x, x)"
    formula += f" in the feature space, with R^2 = {radius} = {R2 / K:.6g}, g = {g:.6g}"
    fewest = (shortest / high) ** 2 / R2 * (1 - slack) - slack
    reach = along / (low * g) * (1 + slack) + slack
    return perceptron.mistake_claims(M, most, formula, "coefficients", fewest, reach)
