"""Orthogonal factors of a table: what part of a residual its columns can still reach."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .exact_arithmetic import simple_proportions
from .rounded_matrix import CELLS_PER_BLOCK, UNIT, Floats, RegressionFit, RoundedMatrix

MOST_WORK = 1e11  # multiplications, some seconds
MOST_CELLS = 3e7  # of a table made dense
# A scatter matrix squares the condition, but is quick: up to this it loses too little to matter.
WELL_CONDITIONED = 1e5
MOST_RELATIVE = 0.05
MOST_PROOF = 2e6  # cells that are added up exactly


@dataclass(frozen=True, eq=False)
class OrthogonalFactors:
    """``M = U diag(sizes) V' diag(scale)^-1`` for the rows M of a least-squares problem."""

    sizes: Floats  # (k,) singular values of M with its columns scaled
    axes: Floats  # V (d, k)
    scale: Floats  # (d,) what each column was divided by
    reach: Floats  # ``U'r`` (k,), the residual along each direction that the columns span
    rounding: float  # what may be wrong with each of these, as a share of the residual's length
    relative: float = 0.0  # what may be wrong with a part of the reach, as a share of itself

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which directions are more than rounding (k,)."""
        # Each of d columns of length one is off by no more than `rounding`, and so no size by more
        # than the length of all that: what dependence leaves is below it.
        return np.asarray(self.sizes > self.off * float(self.sizes.max(initial=0.0)))

    @property
    def off(self) -> float:
        """What rounding may have done to sizes and axes, as a share of the largest."""
        d = len(self.scale)
        return max(10 * UNIT * d, self.rounding * math.sqrt(d))

    @property
    def rank(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.kept))

    @property
    def condition(self) -> float:
        """Of the columns, each scaled to length one, in the directions kept."""
        sizes = self.sizes[self.kept]
        return float(sizes.max() / sizes.min()) if len(sizes) else 1.0

    def unresolved(self, table: RoundedMatrix) -> int:
        """How many directions may be dependence or may not: rounding hides which."""
        if table.n < table.d:  # of which the means take one
            return max(0, len(self.sizes) - self.rank - int(table.centred))
        dropped = len(self.scale) - self.rank
        return 0 if not dropped or all_depend(table, self.relations()) else dropped

    def relations(self) -> Floats:
        """Combinations of columns (d, m) without variation, each of as few columns as may be."""
        null = self.null / self.scale[:, np.newaxis]
        return np.asarray(null / np.abs(null).max(axis=0))

    @property
    def null(self) -> Floats:
        """The same of scaled columns, one in m places of the columns that depend most."""
        null = self.axes[:, ~self.kept]
        pivots = scipy.linalg.qr(null.T, mode="r", pivoting=True)[1][: null.shape[1]]
        null = np.linalg.solve(null[pivots].T, null.T).T
        null[np.abs(null) <= self.off] = 0.0
        return np.asarray(null)

    def step(self) -> Floats:
        """The change of coefficients (d,) that takes all of the residual that can be taken."""
        kept = self.kept
        return np.asarray((self.axes[:, kept] @ (self.reach[kept] / self.sizes[kept])) / self.scale)

    def idle(self, w: Floats) -> tuple[float, float]:
        """Length of the part of w (d,) that changes no prediction, and of w where that may be."""
        # A column that has no part in it has only rounding there, which in the units of a tiny
        # column would be a large part: directions are first made up of as few columns as may be.
        if self.rank == len(self.scale):
            return 0.0, 0.0
        if self.axes.shape[1] < len(self.scale):  # of few rows: nothing was scaled
            basis, _ = np.linalg.qr(self.axes[:, self.kept])
            return float(np.linalg.norm(w - basis @ (basis.T @ w))), float(np.linalg.norm(w))
        null = self.null
        units = null / self.scale[:, np.newaxis]
        basis, _ = np.linalg.qr(units / np.linalg.norm(units, axis=0))
        involved = null.any(axis=1)
        return float(np.linalg.norm(basis.T @ w)), float(np.linalg.norm(w[involved]))


def all_depend(table: RoundedMatrix, relations: Floats) -> bool:
    """Whether simple fractions in the place of relations (d, m) hold for all rows, exactly."""
    return all(_depends(table, relation) for relation in relations.T)


def _depends(table: RoundedMatrix, relation: Floats) -> bool:
    """Whether a combination of columns is exactly 0, or the same in every row if centred."""
    used = np.flatnonzero(relation)
    factors = simple_proportions(relation[used])
    if len(used) * table.n > MOST_PROOF or max(abs(factor) for factor in factors) >= 2**26:
        return False
    rows = table.given[:, used]
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        high = rows * 134217729.0  # Veltkamp: halves of 26 bits, whose products are exact
        high = high - (high - rows)
        terms = np.hstack([high, rows - high]) * np.tile(factors, 2).astype(np.float64)
    if not np.isfinite(terms).all():
        return False
    level = (-terms[0]).tolist() if table.centred else []
    return all(math.fsum(row + level) == 0 for row in terms.tolist())


def can_be_factored(table: RoundedMatrix) -> bool:
    """Whether that takes seconds at most."""
    n, d = table.n, table.d
    return bool(n * d * min(n, d) <= MOST_WORK and d * min(n, d) <= MOST_CELLS)


def factors(table: RoundedMatrix, r: Floats, penalty: float, w: Floats) -> OrthogonalFactors:
    """The factors of ``sum p (r - x~.v)^2 + penalty |w + v|^2`` in v, its residual at v = 0."""
    if table.n < table.d:
        return _wide(table, r, penalty, w)
    lengths = np.sqrt(table.norms() ** 2 + penalty)
    # A column that varies by the rounding of the rest of its mean alone does not vary.
    constant = lengths <= 4 * (table.n + 64) * UNIT**2 * np.abs(table.mean)
    scale = np.where(constant | (lengths == 0), np.maximum(np.abs(table.mean), 1.0), lengths)
    found = _of_scatter(table, r, penalty, w, scale)
    well = found.rank == table.d and found.condition < WELL_CONDITIONED
    if well and found.relative <= MOST_RELATIVE:
        return found
    return _of_rows(table, r, penalty, w, scale)


def _of_scatter(
    table: RoundedMatrix, r: Floats, penalty: float, w: Floats, scale: Floats
) -> OrthogonalFactors:
    """Well-conditioned columns: the axes of ``X~'PX~ + penalty I``."""
    scatter = table.scatter(np.arange(table.d)) + penalty * np.eye(table.d)
    squares, axes = np.linalg.eigh(scatter / np.outer(scale, scale))
    sizes = np.sqrt(np.maximum(squares, 0.0))
    slope = (table.transposed(table.share * r)[0] - penalty * w) / scale
    reach = axes.T @ slope / np.where(sizes > 0, sizes, 1.0)
    rounding = UNIT * (table.n + 8 * table.d + 8)
    found = OrthogonalFactors(sizes, axes, scale, reach, rounding)
    # Sums over runs of rows, and over these, leave each product of two columns of length one off by
    # so much, and the least eigenvalue by d times that: as a share of itself, the condition's
    # square times that.
    run = max(1, CELLS_PER_BLOCK // table.d)
    off = UNIT * (min(table.n, run) + table.n / run + 8 * table.d + 8) * table.d
    return replace(found, relative=off * found.condition**2)


def _of_rows(
    table: RoundedMatrix, r: Floats, penalty: float, w: Floats, scale: Floats
) -> OrthogonalFactors:
    """Runs of rows are folded into one triangle, the residual beside them."""
    # A free intercept is its first column: what the rounding of means leaves of a constant is taken
    # off with it, and dependent columns stay so.
    d, first = table.d, int(table.centred)
    triangle = np.zeros((0, first + d + 1))
    if penalty > 0:
        ridge = np.diag(np.sqrt(penalty) / scale)
        ridge = np.hstack([ridge, -np.sqrt(penalty) * w[:, np.newaxis]])
        triangle = np.hstack([np.zeros((d, first)), ridge])
    folds = 0
    for rows, part in _dense_blocks(table):
        root = np.sqrt(table.share[rows])[:, np.newaxis]
        level = root if table.centred else root[:, :0]
        block = np.hstack([level, part / scale * root, r[rows][:, np.newaxis] * root])
        triangle = scipy.linalg.qr(np.vstack([triangle, block]), mode="r", overwrite_a=True)[0]
        triangle = triangle[: first + d + 1]
        folds += 1
    triangle = triangle[first : first + d, first:]
    full = np.zeros((d, d + 1))
    full[: len(triangle)] = triangle
    left, sizes, axes = np.linalg.svd(full[:, :d])
    rounding = 8 * UNIT * (d + folds + 8)
    return OrthogonalFactors(sizes, axes.T, scale, left.T @ full[:, d], rounding)


def _wide(table: RoundedMatrix, r: Floats, penalty: float, w: Floats) -> OrthogonalFactors:
    """Fewer rows than columns: the singular values of the rows themselves."""
    rows = np.vstack([part for _, part in _dense_blocks(table)])
    root = np.sqrt(table.share)
    rows = rows * root[:, np.newaxis]
    if table.centred:  # what the rounding of means leaves of a constant
        rows -= np.outer(root, root @ rows)
    basis, triangle = scipy.linalg.qr(rows.T, mode="economic")
    left, sizes, axes = np.linalg.svd(triangle.T)
    axes = axes @ basis.T
    reach = left.T @ (root * r)
    if penalty > 0:
        # In each direction the pull of the rows and of the penalty, over their common size.
        along = axes @ w
        both = np.sqrt(sizes**2 + penalty)
        reach = (sizes * reach - penalty * along) / both
        rest = w - axes.T @ along
        length = float(np.linalg.norm(rest))
        if length > 0:  # what no row speaks of is pulled by the penalty alone
            axes = np.vstack([axes, rest / length])
            both, reach = (
                np.append(both, np.sqrt(penalty)),
                np.append(reach, -np.sqrt(penalty) * length),
            )
        sizes = both
    return OrthogonalFactors(sizes, axes.T, np.ones(table.d), reach, 8 * UNIT * (table.n + 8))


def _dense_blocks(table: RoundedMatrix):  # type: ignore[no-untyped-def]
    """Runs of centred rows as arrays."""
    for rows, part in table.blocks():
        yield rows, part.toarray() - table.level if sp.issparse(part) else part


# Least squares and ridge of few rows with many columns: what a pass or the rows' products tell.
#
# No sum of squares is below zero, so that a fit without residuals needs no further proof. And
# with a penalty the excess is at most ``|g|^2 / penalty``, for g half the gradient: a good fit is
# proved by its own slope. What else there is to know is in the products of the rows, K = X~X~'
# (n, n).


MOST_ROWS = 3000  # whose products are taken


class Excess(NamedTuple):
    """How far an objective is from its least value, for shares; and the length of the way there."""

    most: float
    distance: float
    among: str = ""  # what else there is to say of it


def at_most(
    fit: RegressionFit, penalty: float, r: Floats, noise: float, square: float, cost: float
) -> Excess:
    """The nearer of two bounds that one pass gives; `cost` is what the intercept costs."""
    # Rounding may have moved the residuals by `noise`, of which the columns reach no more than all.
    whole = square + penalty * float(fit.w @ fit.w)
    nothing = Excess(whole, math.inf, "; it is no more than that itself, and none is below zero")
    if not penalty:
        return nothing
    product, allowance = fit.table.transposed(fit.table.share * r)
    penalty *= 1 - 4 * UNIT
    slope = float(np.linalg.norm(penalty * fit.w - product)) + float(np.linalg.norm(allowance))
    slope += 4 * UNIT * penalty * float(np.linalg.norm(fit.w))
    sure = slope / math.sqrt(penalty) + noise
    strong = Excess(sure**2 + cost, sure / math.sqrt(penalty))
    return min(strong, nothing, key=lambda bound: bound.most)


class RowProducts(NamedTuple):
    """The spectrum of ``diag(root) X~ X~' diag(root)``."""

    table: RoundedMatrix
    values: Floats  # (n,), rising
    axes: Floats  # (n, n)

    @classmethod
    def of(cls, table: RoundedMatrix) -> "RowProducts":
        """Of rows with shares; sparse rows stay so."""
        if sp.issparse(table.X):
            along = np.asarray(table.X @ table.level).ravel()
            K = np.asarray((table.X @ table.X.T).toarray()) - along[:, np.newaxis] - along
            K += float(table.level @ table.level)
        else:
            rows = np.vstack([part for _, part in table.blocks()])
            K = rows @ rows.T
        root = np.sqrt(table.share)
        values, axes = np.linalg.eigh(K * np.outer(root, root))
        return cls(table, np.maximum(values, 0.0), axes)

    @property
    def kept(self) -> Floats:
        """Which directions are more than rounding (n,)."""
        return np.asarray(self.values > 64 * UNIT * len(self.values) * self.values.max(initial=0.0))

    @property
    def rank(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.kept))

    def condition(self, penalty: float) -> float:
        """Of the rows in the directions kept, the penalty among them."""
        largest = float(self.values.max(initial=0.0))
        least = float(self.values[self.kept].min(initial=largest)) if not penalty else 0.0
        below = least + penalty
        return math.sqrt((largest + penalty) / below) if below > 0 else 1.0

    def idle(self, w: Floats) -> float:
        """Length of the part of w (d,) that no combination of rows makes, at most."""
        kept, root, rest = self.kept, np.sqrt(self.table.share), w
        for _ in range(2):  # the second takes off what rounding left
            along = self.axes[:, kept].T @ (root * self.table.roughly_times(rest))
            parts = self.axes[:, kept] @ (along / self.values[kept])
            rest = rest - self.table.roughly_transposed(root * parts)
        return float(np.linalg.norm(rest))
