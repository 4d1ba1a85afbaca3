"""Quadratic discriminant analysis: one Gaussian per class, each with its own covariance."""

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import LinAlgWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from rosenblatt.base import warn
from rosenblatt.loops import tiles
from rosenblatt.prediction import InLoop, Score
from rosenblatt.registry.row import Candidate, Contract, Row

from . import quadratic_loops
from .base import ROUNDING, Array, Undetermined, principal_axes, with_log
from .gaussian_classes import LOG_TWO_PI, GaussianDiscriminant

LARGE = 1_000_000  # cells from which a compiled loop is faster, including its loading time


class QuadraticDiscriminantAnalysis(GaussianDiscriminant):
    """Quadratic discriminant analysis: Gaussian classes with separate covariances.

    Shares P(y), means m_y and covariances S_y are maximum likelihood estimates, and
    ``log P(y | x) = -(x - m_y).S_y^-1.(x - m_y) / 2 - log |S_y| / 2 + log P(y)``, up to a constant
    that is the same for all classes. The model depends on the data only by the weight, mean and
    scatter of each class, so it supports `partial_fit`, `merge` and `forget`.

    Parameters
    ----------
    solver : {"svd", "eigen"}
        Both use the class moments; "svd" supports `reg_param`, "eigen" supports `shrinkage` and
        `covariance_estimator`.
    shrinkage : float from 0 to 1, "auto" or None
        The share of a multiple of the identity in each covariance. "auto" is Ledoit and Wolf's
        rule, which reads the rows twice and is only possible in `fit`.
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    reg_param : float from 0 to 1
        The share of the identity in each covariance.
    store_covariance : bool
        Whether to set `covariance_`.
    tol : float
        If the variance in some direction is at most this, the covariance is not of full rank:
        "svd" sets the variance to `tol`, with a warning, and "eigen" raises an error.
    covariance_estimator : object or None
        Another estimator of covariances; only in `fit`.
    covariance : {"full", "diagonal"}
        "diagonal" treats features as independent within a class.

    Attributes
    ----------
    means_, priors_ : means and shares of the classes, shapes (K, d) and (K,).
    rotations_ : for each class the principal axes of its covariance, shape (d, d).
    scalings_ : for each class the variances along them, shape (d,).
    covariance_ : for each class its covariance, shape (d, d), with `store_covariance`.
    n_parameters_ : number of free parameters.
    classes_ : the labels, sorted.
    statistics_ : the moments of the classes.

    Examples
    --------
    >>> from rosenblatt import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    >>> model.n_parameters_   # a share, two means of two numbers, two covariances of three
    11
    """

    measured_by = ("covariance",)
    simpler_when_larger = ("reg_param", "shrinkage")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "covariance": [StrOptions({"full", "diagonal"})],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        covariance: str = "full",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance = covariance

    def _solve(self, estimated: list[Array] | None, final: bool) -> None:
        statistic = self.statistics_
        if len(statistic.classes) < 2:
            raise Undetermined(
                "The number of classes has to be greater than one. Got "
                f"{len(statistic.classes)} class."
            )
        for k in np.flatnonzero((statistic.rows == 1) & (statistic.weight <= 1)):
            raise Undetermined(
                f"y has only 1 sample in class {statistic.classes[k]}, covariance is ill defined. "
                "Leave the class out, or get more rows of it."
            )
        priors, means = self._shares(), self._by_class(statistic.mean)
        covariances = self._class_covariances(estimated)
        if self.solver == "svd" and self.reg_param:
            here = np.eye(covariances.shape[1])
            covariances = (1.0 - self.reg_param) * covariances + self.reg_param * here
        # Classes without rows have share 0: their covariance does not matter.
        covariances[priors == 0] = np.eye(covariances.shape[1])
        axes = [principal_axes(covariance) for covariance in covariances]
        scalings, rotations = (np.stack(parts) for parts in zip(*axes, strict=True))
        # A variance may be rounding, relative to the variances of the features of its direction.
        features = np.diagonal(covariances, axis1=1, axis2=2)
        least = ROUNDING * np.einsum("kj,kji->ki", features, rotations**2)
        scalings = self._raise_to_floors(scalings, np.maximum(self.tol, least.clip(1e-300)), final)

        dtype = statistic.dtype
        self.priors_, self.means_ = priors.astype(dtype), means.astype(dtype)
        self.scalings_ = list(scalings.astype(dtype))
        self.rotations_ = list(rotations.astype(dtype))
        self.__dict__.pop("covariance_", None)
        if self.store_covariance:
            self.covariance_ = list(covariances.astype(dtype))
        self.n_parameters_ = self._n_parameters(len(self.classes_))
        center = (priors @ means).astype(dtype)
        self._factors = Factors.of(center, means, scalings, rotations, with_log(priors))

    def _forget_bound(self, left: Any) -> float:
        return float(left.relative_noise(floor=self.tol * left.weight[:, None]))

    def _raise_to_floors(self, scalings: Array, floors: Array, final: bool) -> Array:
        """Return the variances (K, d) along the axes, at least their floors; "eigen" raises."""
        flat = scalings <= floors
        if not flat.any():
            return scalings
        k = int(flat.any(axis=1).argmax())
        floor = float(floors[k][flat[k]].max())
        most = f"tol={self.tol}" if floor == self.tol else f"{floor:.3g}, which is rounding,"
        what = (
            f"The covariance matrix of class {self.classes_[k]} is not full rank: its variance is "
            f"at most {most} in {np.count_nonzero(flat[k])} of {flat.shape[1]} directions."
        )
        if self.solver == "eigen":
            raise Undetermined(f"{what} Set shrinkage, to 0.1 for a start.")
        if final:
            warn(
                f"{what} It is set to this limit. Set reg_param, to 0.1 for a start, or "
                "solver='eigen' and shrinkage.",
                LinAlgWarning,
            )
        return np.maximum(scalings, floors)

    def _score(self, X: Any) -> Score:
        forms = self._factors.forms() if X.size >= LARGE and not sp.issparse(X) else None
        two = len(self.classes_) == 2
        dtype = self._dtype(X)
        if forms is not None:
            return (forms.difference() if two else forms).score(dtype)
        joint = self._factors.score(dtype)
        return (lambda rows: np.subtract(*joint(rows)[::-1])[None]) if two else joint

    def _log_densities(self, rows: Any) -> NDArray[Any]:
        joint = self._factors.score(self._dtype(rows))(rows)
        joint -= 0.5 * LOG_TWO_PI * rows.shape[1]
        return joint

    def _spread(self, k: int) -> Array:
        axes, variances = self.rotations_[k], self.scalings_[k]
        return np.asarray((axes * np.sqrt(variances)).T, np.float64)

    def _compare(self, x: Array, winner: int, rival: int) -> tuple[float, Array]:
        # (x - m).P.(x - m) is the sum over features of (x - m)_j (P (x - m))_j
        parts = []
        for k in (winner, rival):
            away = x - self.means_[k].astype(np.float64)
            F = self._factors.tables[k]
            parts.append(-0.5 * away * (F @ (F.T @ away)))
        constants = self._factors.constants
        return float(constants[winner] - constants[rival]), parts[0] - parts[1]


# Mahalanobis distances of many rows from several classes, in two forms.
#
# Factors: S^-1 = F F', and |F'(x - m)|^2 by BLAS on blocks in cache. Forms: the same expanded to
# c + b.x + x.U.x with U upper triangular, with half the work, and for two classes a quarter, since
# only the difference of the forms is needed; for covariances that are not near singular.

BLOCK_CELLS = 32_768  # of a product; fits into the second-level cache
ROWS_AT_A_TIME = 32  # of a quadratic form; they fit into the first-level cache
LEAST_VARIANCE = 1e-6  # of features scaled to one; expanding loses the digits of smaller ones
MOST_APART = 1e6  # squared distance of a class from the center, for the same reason


class Factors(NamedTuple):
    """Factors of the inverse covariances, and constants."""

    center: NDArray[Any]  # (d,)
    places: Array  # (K, d): means less the center
    tables: Array  # (K, d, d): F
    constants: Array  # (K,): the score at the mean
    regular: bool  # True if the forms may be expanded

    @staticmethod
    def of(
        center: NDArray[Any], means: Array, variances: Array, axes: Array, log_priors: Array
    ) -> "Factors":
        """Return the factors for means (K, d) and variances (K, d) along axes (K, d, d)."""
        tables = axes / np.sqrt(variances)[:, None, :]
        places = means - center
        # The condition number is measured with all features scaled to one.
        covariances = (axes * variances[:, None, :]) @ axes.transpose(0, 2, 1)
        deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        scaled = covariances / deviations[:, :, None] / deviations[:, None, :]
        apart = (np.einsum("kd,kde->ke", places, tables) ** 2).sum(axis=1)
        regular = np.linalg.eigvalsh(scaled).min() > LEAST_VARIANCE and apart.max() < MOST_APART
        constants = log_priors - 0.5 * np.log(variances).sum(axis=1)
        return Factors(center, places, tables, constants, bool(regular))

    def score(self, dtype: DTypeLike) -> Score:
        """Return the function of rows (b, d) with values constant - |F'(x - m)|^2 / 2, (K, b)."""
        d = len(self.center)
        # A row less the center, with a one appended: then each class is one product.
        products = [
            np.vstack([F, -place @ F]).astype(dtype)
            for F, place in zip(self.tables, self.places, strict=True)
        ]
        constants, ones = self.constants.astype(dtype)[:, None], np.ones(d, dtype)

        def score(rows: Any) -> NDArray[Any]:
            n = rows.shape[0]
            size = min(n, max(64, BLOCK_CELLS // d))
            scores = np.empty((len(products), n), dtype)
            block, product = np.ones((size, d + 1), dtype), np.empty((size, d), dtype)
            for start in range(0, n, size):
                some = rows[start : start + size]
                some = some.toarray() if sp.issparse(some) else some  # a block, not the table
                stop = start + len(some)
                near, z = block[: len(some)], product[: len(some)]
                np.subtract(some, self.center, out=near[:, :d])
                for k, table in enumerate(products):
                    np.matmul(near, table, out=z)
                    np.multiply(z, z, out=z)
                    np.matmul(z, ones, out=scores[k, start:stop])
            scores *= -0.5
            scores += constants
            return scores

        return score

    def forms(self) -> "Forms | None":
        """Return the expanded scores; None if expanding would lose digits."""
        if not self.regular or np.isinf(self.constants).any():
            return None
        d, K = len(self.center), len(self.tables)
        pad = -d % tiles.TILE
        linear, upper = np.zeros((K, pad + d)), np.zeros((K, pad + d, pad + d))
        constants = self.constants.copy()
        for k, (F, place) in enumerate(zip(self.tables, self.places, strict=True)):
            inverse = F @ F.T
            # -(x - m).P.(x - m) / 2 = -x.P.x / 2 + (P m).x - m.P.m / 2
            upper[k, pad:, pad:] = -np.triu(inverse, 1) - 0.5 * np.diag(np.diag(inverse))
            linear[k, pad:] = inverse @ place
            constants[k] -= 0.5 * place @ inverse @ place
        return Forms(self.center.astype(np.float64), linear, upper, constants)


class Forms(NamedTuple):
    """Quadratic functions of x less a center; see `quadratic_loops`."""

    center: Array  # (d,)
    linear: Array  # (K, q)
    upper: Array  # (K, q, q)
    constants: Array  # (K,)

    def difference(self) -> "Forms":
        """Return the difference of the second class and the first."""
        parts = (np.diff(table, axis=0) for table in self[1:])
        return Forms(self.center, *parts)

    def score(self, dtype: DTypeLike) -> Score:
        """Return the function of rows (b, d) with these values, (K, b)."""
        n_forms, q = self.linear.shape
        tile = tiles.TILE
        by_tile = self.upper.reshape(n_forms, q, q // tile, tile).transpose(0, 2, 1, 3)
        upper = np.ascontiguousarray(by_tile)

        def score(rows: NDArray[Any]) -> NDArray[Any]:
            scores = np.empty((n_forms, len(rows)), dtype)
            z, sums = np.zeros((ROWS_AT_A_TIME, q)), np.empty((ROWS_AT_A_TIME, 4))
            form = (self.center, self.linear, upper, self.constants)
            quadratic_loops.quadratic_scores(rows, *form, scores, z, sums)
            return scores

        return InLoop(score)


ROW = Row(
    "QuadraticDiscriminantAnalysis",
    page="discriminants.md",
    certificate="discriminants",
    compare=(
        Candidate(
            "quadratic discriminant analysis",
            "classes with different covariances; many rows",
            {"reg_param": (0.0001, 0.01, 0.1, 0.5)},
            limits=("few columns",),
            short_names=("qda",),
            order=21,
        ),
    ),
    contract=Contract(
        tampered=(
            {},
            {"store_covariance": True, "reg_param": 0.1},
            {"solver": "eigen", "shrinkage": "auto"},
        ),
        settings=(
            {"reg_param": 0.01},
            {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
            {"covariance": "diagonal"},
        ),
        checked=({}, {"reg_param": 0.1, "covariance": "diagonal"}),
    ),
    file_types=("discriminant_analysis.quadratic.Factors",),
    peer_tests=("tests/test_discriminant_analysis.py",),
)
