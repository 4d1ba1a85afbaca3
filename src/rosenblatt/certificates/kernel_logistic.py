"""Kernel logistic regression: how far from the best element of the feature space it is.

The learned element, one for each class that has any, is ``w_k = sum_i a_ki phi(x_i)``; the
objective is ``P = 1/2 sum_k |w_k|^2 + sum c (logsumexp(z) - z_y)``, ``z_k = w_k.phi(x) + b_k``. Two
classes are a softmax whose first has no element. Any probabilities p (n, K) give

    D = -sum c p log p - 1/2 sum_k m_k'K m_k,   m_ki = c_i ([y_i = k] - p_ik),

which no element can go below; free intercepts ask for ``sum_i m_ki = 0``, brought about exactly.
Nothing but kernel values is needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import xlogy

from .balance import flows, transported
from .claims import Certificate, Claim
from .comparing import ClassData
from .kernel_values import KernelOf
from .logistic_regression import _training_error
from .logistic_setting import setting_of, weights_of_classes
from .softmax import best_bias, log_sums, probabilities
from .table import UNIT, Floats, total


@dataclass(frozen=True, eq=False)
class Space:
    """Rows given, n, and of the fit, m, by their kernel: of all with all, given ones first."""

    K: Floats  # as scalar products: without what is negative in it
    published: Floats  # (n, m), what the model's scores are sums of
    same: bool  # whether both are the same rows, and here once
    off: float  # by how much a value may be off
    least: float | None = None  # eigenvalue, where no theorem says that there is a feature space
    cut: bool = False  # whether something was negative

    @property
    def n(self) -> int:
        """How many rows were given."""
        return len(self.published)

    def both(self, given: Floats, fitted: Floats) -> Floats:
        """What rows count in a sum over them: given (n, k) and fitted (m, k) ones."""
        return given + fitted if self.same else np.vstack([given, fitted])

    def squares(self, counts: Floats) -> tuple[float, float]:
        """The squared lengths of sums with counts (n + m, k), added up, and their rounding."""
        sizes = np.abs(counts)
        square = float(np.sum(counts * (self.K @ counts)))
        rounding = 2 * (len(self.K) + 4) * UNIT * float(np.sum(sizes * (np.abs(self.K) @ sizes)))
        return square, rounding + self.off * float(np.sum(sizes.sum(axis=0) ** 2))


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted kernel logistic regression and state what it achieved on the rows given."""
    data, setting = ClassData(model, X, y, weight), setting_of(model, len(y))
    a, b = np.asarray(model.dual_coef_, np.float64), np.asarray(model.intercept_, np.float64)
    kernel = KernelOf(model)
    space = _space(model, kernel, data, np.flatnonzero(weight > 0))
    K = len(data.classes)
    if a.shape != (1 if K == 2 else K, space.published.shape[1]) or len(b) != len(a):
        raise ValueError(
            f"dual_coef_ {a.shape} and intercept_ {b.shape} do not belong to {K} classes and "
            f"{space.published.shape[1]} rows."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("dual_coef_ and intercept_ must be finite to be certified.")
    c = weights_of_classes(data, setting)[data.codes] * data.weight * setting.C
    if (np.bincount(data.codes, c, K) == 0).any():
        raise ValueError("There is nothing to certify: a class has no row of positive weight.")
    claims: list[Claim] = [_training_error(data, a, b, space.published)]
    if space.least is not None:
        claims.append(_feature_space(space, space.least))
    free = np.arange(1, 2) if K == 2 else np.arange(K - (model.softmax == "reference"))
    if len(a) > len(free) and (a[-1].any() or b[-1]):
        raise ValueError("The last class is the reference: its row of dual_coef_ must be zero.")
    problem = Problem(space, data.codes, c, free, bool(model.fit_intercept))
    claims += _claims(problem, a[: len(free)], b[: len(free)], tol)
    bias = "b free" if model.fit_intercept else "b = 0"
    loss = "log(1 + exp(-y_i z_i))" if K == 2 else "logsumexp(z_i) - z_i,y_i"
    words = (
        f"{setting.words(c)}, loss_i = {loss}, z_i = w.phi(x_i) + b, {bias}, kernel {kernel.name}"
    )
    return Certificate(type(model).__name__, words, data.words, tuple(claims))


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of K classes, the weight c of each row's loss, and the classes that have an element."""

    space: Space
    codes: NDArray[np.intp]
    c: Floats
    free: NDArray[np.intp]
    fit_intercept: bool

    def scores(self, a: Floats) -> tuple[Floats, Floats]:
        """Scores (n, K) without intercepts, and their rounding."""
        space, K = self.space, int(self.codes.max()) + 1
        z, off = np.zeros((space.n, K)), np.zeros((space.n, K))
        z[:, self.free] = space.published @ a.T
        sizes = np.abs(a).T
        off[:, self.free] = (len(sizes) + 4) * UNIT * (np.abs(space.published) @ sizes)
        off[:, self.free] += space.off * sizes.sum(axis=0)
        if space.cut:  # what the scores owe to the part of the kernel that is left out
            fitted = space.K[: space.n, -len(sizes) :]
            off[:, self.free] += np.abs((space.published - fitted) @ a.T)
        return z, off

    def value(self, a: Floats, z: Floats, off: Floats) -> float:
        """P at counts a with scores z (n, K), not below the true value."""
        loss, more = total(self.c * (log_sums(z) - z[np.arange(len(z)), self.codes]))
        nothing = np.zeros((self.space.n, len(a)))
        square, further = self.space.squares(self.space.both(nothing, a.T))
        allowance = 2 * float(self.c @ off.max(axis=1)) + 4 * more + further
        allowance += 8 * UNIT * float(self.c @ (1 + np.abs(z).max(axis=1)))
        return loss + square / 2 + allowance

    def masses(self, p: Floats) -> Floats | None:
        """``c_i ([y_i = k] - p_ik)`` (n, K) of probabilities p, moved until they balance."""
        own = np.arange(len(p)), self.codes
        if self.fit_intercept:
            wrong = flows(transported(p, self.codes, self.c), self.codes, self.c)
        else:
            wrong = p * self.c[:, np.newaxis]
            wrong[own] = 0.0
        if wrong is None or (wrong.sum(axis=1) > self.c).any():
            return None
        masses = -wrong
        masses[own] = wrong.sum(axis=1)
        return np.asarray(masses)

    def dual(self, p: Floats) -> float:
        """D at probabilities p, not above the true value; -inf if they cannot be balanced."""
        masses = self.masses(p)
        if masses is None:
            return -np.inf
        own = np.arange(len(p)), self.codes
        share = -masses / self.c[:, np.newaxis]
        share[own] = np.maximum(1.0 - masses[own] / self.c, 0.0)
        entropy, more = total((-self.c[:, np.newaxis] * xlogy(share, share)).ravel())
        counts = self.in_space(masses[:, self.free])
        square, further = self.space.squares(counts)
        allowance = 4 * more + further + 64 * UNIT * p.shape[1] * float(np.sum(self.c))
        return float(entropy - square / 2 - allowance)

    def best_dual(self, p: Floats) -> float:
        """D at p, or on the way from p to the labels, where D is 0, if that is far better.

        Far from the best element, masses are too large: the square outweighs the entropy.
        """
        highest, masses = self.dual(p), self.masses(p)
        if masses is None:
            return max(highest, 0.0)
        square, _ = self.space.squares(self.in_space(masses[:, self.free]))
        labels = np.zeros_like(p)
        labels[np.arange(len(p)), self.codes] = 1.0

        def about(t: float) -> float:
            share = labels + t * (p - labels)
            entropy = -float(np.sum(self.c[:, np.newaxis] * xlogy(share, share)))
            return entropy - t * t * square / 2

        t = max(2.0 ** -np.arange(40), key=about)
        if t < 1:
            highest = max(highest, self.dual(labels + t * (p - labels)))
        return max(highest, 0.0)

    def in_space(self, given: Floats) -> Floats:
        """Counts of the rows given, and none of those of the fit."""
        missing = len(self.space.K) - len(given)
        return np.vstack([given, np.zeros((missing, given.shape[1]))])


def _claims(problem: Problem, a: Floats, b: Floats, tol: float) -> list[Claim]:
    """The gap, the gradient and the distance in the feature space."""
    c, codes, free = problem.c, problem.codes, problem.free
    z, off = problem.scores(a)
    biases = np.zeros(z.shape[1])
    biases[free] = b
    primal = problem.value(a, z + biases, off + 4 * UNIT * np.abs(biases))
    best = best_bias(z, codes, c) if problem.fit_intercept else np.zeros(z.shape[1])
    most = max(primal - problem.best_dual(probabilities(z + best)), 0.0)

    nothing = np.zeros_like(z)
    level = best_bias(nothing, codes, c) if problem.fit_intercept else nothing[0]
    scale = float(np.sum(c * (log_sums(nothing + level) - level[codes])))
    gap = f"the objective is within {most:.3g} of the best possible (duality gap)"

    pull = -c[:, np.newaxis] * probabilities(z + biases)
    pull[np.arange(len(z)), codes] += c
    square, rounding = problem.space.squares(problem.space.both(-pull[:, free], a.T))
    slope = np.sum(pull[:, free].sum(axis=0) ** 2) if problem.fit_intercept else 0.0
    length = float(np.sqrt(max(square, 0.0) + rounding + slope)) / float(np.sum(c))
    distance = float(np.sqrt(2 * most))
    return [
        Claim("gap", gap, most, tol * scale, bool(most <= tol * scale), "checked"),
        Claim(
            "gradient",
            f"the gradient has length {length:.3g} for each unit of weight, in the feature space",
            length, None, True, "checked",
        ),
        Claim(
            "distance",
            f"the learned element is within {distance:.3g} of the best one, in the feature space",
            distance, None, True, "checked",
        ),
    ]  # fmt: skip


def _space(model: Any, kernel: KernelOf, data: ClassData, kept: NDArray[np.intp]) -> Space:
    """The kernel of the rows given that have a weight, and of those of the fit."""
    places: NDArray[np.intp] | None
    if kernel.name == "precomputed":
        K, off, places = np.asarray(data.given, np.float64), 0.0, kept
        if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-6, atol=1e-9):
            raise ValueError(
                "A precomputed kernel is certified by the matrix of the training rows with "
                f"themselves; got {K.shape}, or values that are not symmetric."
            )
    else:
        fitted = _wide(model.X_fit_)
        places = _places(data.X, fitted)
        table = fitted if places is not None else _stacked(data.X, fitted)
        K, off = kernel(table, table), kernel.allowance(table, table)
    n, whole = len(kept), K
    least, cut, unsure = None, False, 0.0
    if not kernel.semidefinite_by_theorem:
        K, least, unsure = _without_negative(K, off)
        cut = K is not whole
    if places is None:
        if cut:
            raise ValueError(
                f"Kernel {kernel.name} has no feature space: what is negative in it was left out "
                "among the rows of the fit, so only those can be certified."
            )
        return Space(K, K[:n, n:], False, off + unsure, least)
    published, same = whole[places], np.array_equal(places, np.arange(len(K)))
    if not same:
        rows = np.concatenate([places, np.arange(len(K))])
        K = K[np.ix_(rows, rows)]
    return Space(K, published, same, off + unsure, least, cut)


def _without_negative(K: Floats, off: float) -> tuple[Floats, float, float]:
    """K, or its part with eigenvalues above zero; the least of them, and the rounding of the part.

    K itself if what is negative may be rounding.
    """
    values, vectors = scipy.linalg.eigh((K + K.T) / 2)
    unsure = 4 * len(K) * UNIT * float(np.abs(values).max(initial=0.0))
    if values[0] >= -(unsure + len(K) * off):
        return K, float(values[0]), 0.0
    kept = values > 0
    part = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    return np.asarray(part), float(values[0]), unsure


def _feature_space(space: Space, least: float) -> Claim:
    """Whether the kernel is one of scalar products."""
    words = "there is none; what is negative is left out" if space.cut else "there may be one"
    statement = f"{words}: the least eigenvalue of the kernel matrix is {least:.3g}"
    return Claim("feature space", statement, least, None, True, "checked")


def _wide(rows: Any) -> Any:
    """Rows in 64 bits, in the storage they came in."""
    return sp.csr_matrix(rows, dtype=np.float64) if sp.issparse(rows) else np.asarray(rows, float)


def _places(X: Any, fitted: Any) -> NDArray[np.intp] | None:
    """Where the rows given stand among those of the fit; None if one of them is not there."""
    if X.shape == fitted.shape and not abs(X - fitted).max():
        return np.arange(X.shape[0])
    known = {row: i for i, row in enumerate(_rows_as_bytes(fitted))}
    places = [known.get(row, -1) for row in _rows_as_bytes(X)]
    return None if -1 in places else np.array(places, np.intp)


def _rows_as_bytes(X: Any) -> list[bytes]:
    """Each row as a key; 0 and -0 are the same."""
    rows = (X[[i]].toarray() if sp.issparse(X) else X[i] for i in range(X.shape[0]))
    return [(row + 0.0).tobytes() for row in rows]


def _stacked(X: Any, fitted: Any) -> Any:
    """One table of both."""
    if sp.issparse(X) or sp.issparse(fitted):
        return sp.csr_matrix(sp.vstack([sp.csr_matrix(X), sp.csr_matrix(fitted)]))
    return np.vstack([X, fitted])
