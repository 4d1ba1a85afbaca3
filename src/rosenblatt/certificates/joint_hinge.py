"""All classes in one problem with one slack a row: how far the objective is from the best possible.

``P = 1/2 |W|^2 + sum c max_k [z_k - z_y + 1]_+``, k over other classes. Any masses ``a_ik >= 0`` of
wrong classes with ``sum_k a_ik <= c_i`` give ``D = sum a - 1/2 |V|^2``,
``V = sum_ik a_ik (e_y - e_k) x_i'``, which no coefficients go below; free intercepts ask for as
much mass into each class as out of it, which is brought about exactly. Where the masses that the
scores suggest are loose, an interior point method, the verifier's own, finds better ones.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .binary_logistic import Bracket
from .exact_arithmetic import flows, transported
from .rounded_matrix import UNIT, Floats, RoundedMatrix, total

MOST_STEPS = 60
MOST_UNKNOWNS = 1200  # coefficients of all classes, whose system is formed
ENOUGH = 2.0
TO_THE_EDGE = 0.99
WIDTHS = tuple(10.0 ** (-p / 2) for p in range(9))  # where the system is too large


@dataclass(frozen=True, eq=False)
class JointHinge:
    """Rows of K classes and the price c of each row's slack."""

    table: RoundedMatrix
    codes: NDArray[np.intp]
    K: int
    c: Floats

    @property
    def own(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the own classes in a table (n, K)."""
        return np.arange(len(self.codes)), self.codes

    def leads(self, W: Floats, b: Floats) -> tuple[Floats, Floats]:
        """By how much a row's own score leads each other (n, K), inf for itself; rounding (n,)."""
        z, rounding = self.table.times(np.ascontiguousarray(W.T))
        z = z + b
        leads = z[self.own][:, np.newaxis] - z
        leads[self.own] = np.inf
        return leads, 2 * rounding.max(axis=1) + 8 * UNIT * (1 + np.abs(z).max(axis=1))

    def slack(self, W: Floats, b: Floats) -> Floats:
        """What each row lacks of a lead of one (n,)."""
        return np.asarray(np.maximum(1 - self.leads(W, b)[0].min(axis=1), 0.0))

    def least_lead(self, W: Floats, b: Floats, off: float) -> float:
        """The smallest lead, less rounding."""
        leads, rounding = self.leads(W, b)
        return float((leads.min(axis=1) - rounding).min()) - 2 * off

    def value(self, W: Floats, b: Floats, off: float) -> float:
        """P, not below its true value."""
        leads, rounding = self.leads(W, b)
        slack = np.maximum(1 - leads.min(axis=1) + rounding + 2 * off, 0.0)
        loss, more = total(self.c * slack)
        norm, further = total(W.ravel() ** 2 / 2)
        return loss + norm + 4 * (more + further)

    def dual(self, masses: Floats) -> float:
        """D at masses (n, K) made feasible, not above its true value."""
        masses = np.maximum(masses, 0.0)
        masses[self.own] = 0.0
        given = masses.sum(axis=1)
        masses *= np.minimum(1.0, self.c / np.where(given > 0, given, 1.0))[:, np.newaxis]
        if self.table.centred:
            p = masses / self.c[:, np.newaxis]
            p[self.own] = np.maximum(1 - p.sum(axis=1), 0.0)
            masses = flows(transported(p, self.codes, self.c), self.codes, self.c)
        signed = -masses
        signed[self.own] = masses.sum(axis=1)
        V, rounding = self.table.transposed(signed)
        square, more = total(((np.abs(V) + rounding) ** 2).ravel())
        gain, further = total(masses.ravel())
        # Rounding may have put a row's masses above its price: less of all is feasible.
        over = float(np.min(self.c / np.maximum(masses.sum(axis=1), self.c))) * (1 - 8 * UNIT)
        gain, bend = gain - 4 * further, square + 4 * more
        share = min(max(gain / bend if bend > 0 else 1.0, 0.0), over)
        return max(0.0, (share * gain - share**2 * bend / 2) * (1 - 8 * UNIT))


def bracket(
    problem: JointHinge, W: Floats, b: Floats, wanted: float, effort: int, off: float
) -> Bracket:
    """How far coefficients W (K, d) and intercepts b are from the best."""
    primal = problem.value(W, b, off)
    lowest, highest = primal, problem.dual(_guess(problem, W, b))
    if effort and not primal - highest <= wanted:
        small = problem.K * (problem.table.d + 1) <= MOST_UNKNOWNS
        polish = _interior_point if small else _softened
        lowest, highest = polish(problem, W, b, primal, highest, wanted)
    return Bracket(max(primal - lowest, 0.0), max(primal - highest, 0.0))


def _guess(problem: JointHinge, W: Floats, b: Floats) -> Floats:
    """All of a row's price on the class that leads it by most, if any does."""
    leads, _ = problem.leads(W, b)
    masses = np.zeros_like(leads)
    rows = np.flatnonzero(leads.min(axis=1) < 1)
    masses[rows, leads[rows].argmin(axis=1)] = problem.c[rows]
    return masses


def _softened(
    problem: JointHinge, W: Floats, b: Floats, primal: float, highest: float, wanted: float
) -> tuple[float, float]:
    """Masses in proportion to ``exp(shortfall / width)``, for falling widths."""
    leads, _ = problem.leads(W, b)
    for width in WIDTHS:
        power = np.exp(np.minimum((1 - leads) / width, 700))
        power[problem.own] = 1.0
        masses = problem.c[:, np.newaxis] * power / power.sum(axis=1, keepdims=True)
        highest = max(highest, problem.dual(masses))
        if primal - highest <= wanted:
            break
    return primal, highest


def _interior_point(
    problem: JointHinge, W: Floats, b: Floats, primal: float, highest: float, wanted: float
) -> tuple[float, float]:
    """Steps between the limits: the lowest P and the highest D on the way."""
    state, lowest = Interior(problem), primal
    for _ in range(MOST_STEPS):
        with np.errstate(all="ignore"):
            if not state.step():
                break
        lowest = min(lowest, problem.value(state.W, state.b, 0.0))
        highest = max(highest, problem.dual(state.a.copy()))
        if primal - highest <= max(ENOUGH * (primal - lowest), 0.01 * wanted):
            break
        if lowest - highest <= 1e-13 * abs(lowest):
            break
    return lowest, highest


class Interior:
    """Planes; for each row and other class a mass a > 0 and its lead u > 0; for each row a slack.

    ``u = lead + xi - 1`` beside a, ``xi`` beside ``c - sum a``; all products go to zero.
    """

    def __init__(self, problem: JointHinge) -> None:
        self.problem, n, K = problem, problem.table.n, problem.K
        self.W, self.b = np.zeros((K, problem.table.d)), np.zeros(K)
        self.other = np.ones((n, K), np.bool_)
        self.other[problem.own] = False
        self.a = np.where(self.other, problem.c[:, np.newaxis] / K, 0.0)
        self.xi = np.full(n, 2.0)
        self.u = np.where(self.other, 1.0, np.inf)

    @property
    def g(self) -> Floats:
        """What is left of each row's price (n,)."""
        return np.asarray(self.problem.c - self.a.sum(axis=1))

    def step(self) -> bool:
        """A step towards the centre of what is left of the gap; False if rounding stops it."""
        a, u, xi, g = self.a, self.u, self.xi, self.g
        q = np.where(self.other, a / u, 0.0)
        h = xi / (g + xi * q.sum(axis=1))
        try:
            factor = scipy.linalg.cho_factor(self._system(q, h))
        except (np.linalg.LinAlgError, ValueError):
            return False
        count = a.size  # a product for each other class and one for the slack
        mean = float(np.sum(a[self.other] * u[self.other]) + g @ xi) / count
        zero = np.zeros_like(a)
        da, du, dxi, *_ = self._direction(factor, q, h, zero, 0 * xi)
        reach = self._reach(da, du, dxi)
        o = self.other
        left = float(np.sum((a + reach * da)[o] * (u + reach * du)[o]))
        left += float((g - reach * da.sum(axis=1)) @ (xi + reach * dxi))
        aim = mean * (left / (count * mean)) ** 3
        first = np.where(o, aim - da * np.where(o, du, 0.0), 0.0)
        second = aim + da.sum(axis=1) * dxi
        da, du, dxi, dW, db = self._direction(factor, q, h, first, second)
        reach = min(1.0, TO_THE_EDGE * self._reach(da, du, dxi))
        if not (np.isfinite(reach) and np.isfinite(dW).all()) or reach < 1e-10:
            return False
        self.a, self.xi = a + reach * da, xi + reach * dxi
        self.u = np.where(o, u + reach * np.where(o, du, 0.0), np.inf)
        self.W, self.b = self.W + reach * dW, self.b + reach * db
        return True

    def _spread(self, masses: Floats) -> Floats:
        """What masses of wrong classes add to the score of each class (n, K)."""
        signed = -masses
        signed[self.problem.own] = masses.sum(axis=1)
        return signed

    def _direction(
        self, factor: object, q: Floats, h: Floats, first: Floats, second: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Changes after which a u is `first` and g xi `second`, but for their products."""
        problem, o, a, u, xi, g = self.problem, self.other, self.a, self.u, self.xi, self.g
        gap_u = np.where(o, first / u - a, 0.0)  # (first - a u) / u
        rest = (second - g * xi + xi * gap_u.sum(axis=1)) / (g + xi * q.sum(axis=1))
        e = gap_u - q * rest[:, np.newaxis]
        push = self._spread(a + e)
        right = np.asarray(problem.table.roughly_transposed(push)).T - self.W
        level = push.sum(axis=0) if problem.table.centred else np.zeros(problem.K)
        move = scipy.linalg.cho_solve(factor, np.column_stack([right, level]).ravel())
        move = move.reshape(problem.K, -1)
        dW, db = move[:, :-1], move[:, -1] if problem.table.centred else np.zeros(problem.K)
        df = problem.table.roughly_times(np.ascontiguousarray(dW.T)) + db
        lead = df[problem.own][:, np.newaxis] - df
        weighted = (q * lead).sum(axis=1)
        da = e - q * lead + q * (h * weighted)[:, np.newaxis]
        dxi = rest - h * weighted
        return da, np.where(o, lead + dxi[:, np.newaxis], 0.0), dxi, dW, db

    def _reach(self, da: Floats, du: Floats, dxi: Floats) -> float:
        """The longest step, up to 1, that keeps everything positive."""
        o = self.other
        pairs = ((self.a[o], da[o]), (self.u[o], du[o]), (self.g, -da.sum(axis=1)), (self.xi, dxi))
        ratios = [np.min(-v[d < 0] / d[d < 0], initial=np.inf) for v, d in pairs]
        return float(min(1.0, *ratios))

    def _system(self, q: Floats, h: Floats) -> Floats:
        """``I + sum_i (x, 1)(x, 1)' (x) M_i``, (K (d + 1), K (d + 1)), classes first."""
        # M = E'(diag q - h q q')E with E the map from scores to leads of the own class.
        problem, table = self.problem, self.problem.table
        K, d = problem.K, table.d
        v = self._spread(q)  # E'q
        H = np.zeros((K, d + 1, K, d + 1))
        columns = np.arange(d)
        for k in range(K):
            for j in range(k, K):
                weight = -h * v[:, k] * v[:, j]
                weight -= np.where(problem.codes == k, q[:, j], 0.0) * (j != k)
                weight -= np.where(problem.codes == j, q[:, k], 0.0) * (j != k)
                if j == k:
                    weight += np.where(problem.codes == k, q.sum(axis=1), q[:, k])
                H[k, :d, j, :d] = table.scatter(columns, weight)
                if table.centred:
                    H[k, :d, j, d] = H[k, d, j, :d] = table.roughly_transposed(weight)
                    H[k, d, j, d] = weight.sum()
                H[j, :, k, :] = H[k, :, j, :].T
        flat = H.reshape(K * (d + 1), K * (d + 1))
        bias = np.arange(K * (d + 1)) % (d + 1) == d
        # Moving all intercepts alike changes nothing: a little weight keeps the system regular.
        ridge = 1e-10 * max(float(flat[bias][:, bias].diagonal().max()), 1e-10)
        flat[np.diag_indices(len(flat))] += np.where(bias, ridge if table.centred else 1.0, 1.0)
        return flat
