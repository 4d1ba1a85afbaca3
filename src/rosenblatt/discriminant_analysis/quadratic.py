"""Quadratic discriminant analysis: one Gaussian per class, each of its own covariance."""

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from rosenblatt.base import callers_level
from rosenblatt.prediction import Score
from rosenblatt.statistics.precision import relative_noise

from .base import Undetermined
from .covariances import ROUNDING, Array, principal_axes, with_log
from .distances import Factors
from .gaussians import LOG_TWO_PI, GaussianDiscriminant

LARGE = 1_000_000  # numbers in a table for which a compiled loop is worth being loaded


class QuadraticDiscriminantAnalysis(GaussianDiscriminant):
    """Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.

    Shares P(y), means m_y and covariances S_y are those of maximum likelihood, and
    ``log P(y | x) = -(x - m_y).S_y^-1.(x - m_y) / 2 - log |S_y| / 2 + log P(y)``, up to a number
    that is the same for all classes. It all follows from the weight, mean and scatter of each
    class, so a model streams, merges and forgets.

    Parameters
    ----------
    solver : {"svd", "eigen"}
        Both are answered from the class moments; `reg_param` goes with "svd", `shrinkage` and
        `covariance_estimator` with "eigen".
    shrinkage : float from 0 to 1, "auto" or None
        The share of a multiple of the identity in each covariance. "auto" is Ledoit and Wolf's
        rule, which reads the rows twice and works with `fit` alone.
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    reg_param : float from 0 to 1
        The share of the identity in each covariance.
    store_covariance : bool
        Whether to publish `covariance_`.
    tol : float
        A variance of at most this in some direction is none: the class's covariance is not full
        rank. "svd" takes it to be `tol`, with a warning; "eigen" refuses it.
    covariance_estimator : object or None
        An estimator of covariances instead; with `fit` alone.
    covariance : {"full", "diagonal"}
        "diagonal" takes features as independent within a class.

    Attributes
    ----------
    means_, priors_ : means and shares of the classes, shapes (K, d) and (K,).
    rotations_ : for each class the principal axes of its covariance, shape (d, d).
    scalings_ : for each class the variances along them, shape (d,).
    covariance_ : for each class its covariance, shape (d, d), with `store_covariance`.
    n_parameters_ : free numbers of the model.
    classes_ : the labels, sorted.
    statistics_ : the moments it all follows from.

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

    _measured_by = ("covariance",)
    _simpler_when_larger = ("reg_param", "shrinkage")

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

    def _draw(self) -> None:
        self._check_solver()
        statistic = self.statistics_
        if len(statistic.classes) < 2:
            raise Undetermined(
                "The number of classes has to be greater than one. Got "
                f"{len(statistic.classes)} class."
            )
        self._refuse_single_rows()
        priors, means = self._shares(), self._by_class(statistic.mean)
        covariances = self._class_covariances()
        if self.solver == "svd" and self.reg_param:
            here = np.eye(covariances.shape[1])
            covariances = (1.0 - self.reg_param) * covariances + self.reg_param * here
        # A class without rows has no share; that its covariance is the identity changes nothing.
        covariances[priors == 0] = np.eye(covariances.shape[1])
        axes = [principal_axes(covariance) for covariance in covariances]
        scalings, rotations = (np.stack(parts) for parts in zip(*axes, strict=True))
        # A variance is rounding beside those of the features that make up its direction.
        features = np.diagonal(covariances, axis1=1, axis2=2)
        least = ROUNDING * np.einsum("kj,kji->ki", features, rotations**2)
        scalings = self._raised(scalings, np.maximum(self.tol, least.clip(1e-300)))

        dtype = statistic.dtype
        self.priors_, self.means_ = priors.astype(dtype), means.astype(dtype)
        self.scalings_, self.rotations_ = (
            list(scalings.astype(dtype)),
            list(rotations.astype(dtype)),
        )
        self.__dict__.pop("covariance_", None)
        if self.store_covariance:
            self.covariance_ = list(covariances.astype(dtype))
        self.n_parameters_ = self._n_parameters(len(self.classes_))
        centre = (priors @ means).astype(dtype)
        self._factors = Factors.of(centre, means, scalings, rotations, with_log(priors))

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before, left, floor=self.tol * left.weight[:, None])

    def _refuse_single_rows(self) -> None:
        """Raise if a class is one row, counted once."""
        statistic = self.statistics_
        for k in np.flatnonzero((statistic.rows == 1) & (statistic.weight <= 1)):
            raise Undetermined(
                f"y has only 1 sample in class {statistic.classes[k]}, covariance is ill defined. "
                "Leave the class out, or get more rows of it."
            )

    def _raised(self, scalings: Array, floors: Array) -> Array:
        """The variances (K, d) along the axes, none below its floor; "eigen" refuses those."""
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
        if self._during != "partial_fit":
            warnings.warn(
                f"{what} There it is taken to be that. Set reg_param, to 0.1 for a start, or "
                "solver='eigen' and shrinkage.",
                LinAlgWarning,
                stacklevel=callers_level(),
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
