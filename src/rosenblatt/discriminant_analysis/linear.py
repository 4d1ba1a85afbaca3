"""Linear discriminant analysis: one Gaussian per class, with a common covariance."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning, eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from rosenblatt.base import warn
from rosenblatt.prediction import Planes, Score, all_scores
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible

from .base import Array, Undetermined, directions, normalize_signs, planes_about, shrink, with_log
from .gaussian_classes import LOG_TWO_PI, GaussianDiscriminant

FAR = 1e10  # squared deviations from the origin from which scores lose ten digits


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    GaussianDiscriminant,
):
    """Linear discriminant analysis: Gaussian classes with one covariance S.

    Shares P(y), means m_y and the covariance are maximum likelihood estimates. Then
    ``log P(y | x) = x.(S^-1 m_y) - m_y.(S^-1 m_y) / 2 + log P(y)``, up to a constant that is the
    same for all classes: boundaries are planes. The model depends on the data only by the weight,
    mean and scatter of each class, so it supports `partial_fit`, `merge` and `forget`.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}
        All use the class moments. "svd" drops directions in which the classes do not vary; "lsqr"
        and "eigen" support `shrinkage`. Without it "lsqr" drops such directions with a warning, and
        "eigen" raises an error. "lsqr" does not support `transform`.
    shrinkage : float from 0 to 1, "auto" or None
        The share of a multiple of the identity in each class's covariance. "auto" is Ledoit and
        Wolf's rule, which reads the rows twice and is only possible in `fit`.
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    n_components : int or None
        Columns of `transform`; at most, and by default, min(K - 1, d).
    store_covariance : bool
        Whether to set `covariance_` also with "svd".
    tol : float
        With "svd", a direction of deviation at most `tol`, features scaled to one, is dropped.
    covariance_estimator : object or None
        Another estimator of covariances; for "lsqr" and "eigen", only in `fit`.
    covariance : {"full", "diagonal"}
        "diagonal" treats features as independent within a class.

    Attributes
    ----------
    coef_, intercept_ : the planes, shapes (K, d) and (K,), for two classes (1, d) and (1,).
    means_, priors_ : means and shares of the classes, shapes (K, d) and (K,).
    covariance_ : shape (d, d), the classes' covariances weighted by their shares.
    xbar_ : the mean of the means, weighted by the shares, shape (d,); with "svd".
    scalings_ : the directions of `transform`, shape (d, r); with "svd" and "eigen".
    explained_variance_ratio_ : the share of each direction in the variance between the means.
    rank_ : number of directions used, in which the classes vary.
    n_parameters_ : number of free parameters.
    classes_ : the labels, sorted.
    statistics_ : the moments of the classes.

    Examples
    --------
    >>> from rosenblatt import LinearDiscriminantAnalysis
    >>> X = [[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]]
    >>> model = LinearDiscriminantAnalysis().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[4, 4]])
    array(['low'], dtype='<U4')
    >>> print(model.explain([4, 4]))
    low rather than high
      prior     +0
      x1        +3.568
      x2        +0.3243
      log-odds  +3.892
    """

    measured_by = ("covariance",)
    simpler_when_larger = ("shrinkage",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "covariance": [StrOptions({"full", "diagonal"})],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        covariance: str = "full",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance = covariance

    def transform(self, X: Any) -> NDArray[Any]:
        """Project X onto the directions that separate the classes best, shape (n, n_components).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        X = self._checked_rows(X)
        axes = self.scalings_[:, : self._max_components]
        origin = self.xbar_ @ axes if self.solver == "svd" else np.zeros(axes.shape[1], axes.dtype)
        if axes.shape[1] == 0:
            return np.zeros((X.shape[0], 0), axes.dtype)
        project = Planes(np.ascontiguousarray(axes.T), -origin)
        projected = all_scores(X, project, axes.shape[1], self._dtype(X))
        return projected.reshape(X.shape[0], -1)

    def _solve(self, estimated: list[Array] | None, final: bool) -> None:
        statistic = self.statistics_
        if len(statistic) <= len(self.classes_):
            raise Undetermined(
                "The number of samples must be more than the number of classes; got "
                f"{len(statistic)} sample(s) of {len(self.classes_)} class(es)."
            )
        most = min(len(self.classes_) - 1, statistic.n_features)
        wanted = most if self.n_components is None else self.n_components
        if wanted > most and final:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1), here {most}; "
                f"got {wanted}."
            )
        self._max_components = min(wanted, most)
        priors, means = self._shares(), self._by_class(statistic.mean)
        whitening, used = self._set_axes(priors, means, estimated, final)

        dtype = statistic.dtype
        self.priors_, self.means_ = priors.astype(dtype), means.astype(dtype)
        self.rank_ = whitening.shape[1]
        self.n_parameters_ = self._n_parameters(1)
        self._n_features_out = self._max_components
        # For densities: distances in these coordinates are Mahalanobis'.
        self._center, self._whitening, self._covariance_used = priors @ means, whitening, used
        many = len(whitening) >= MANY_UNKNOWNS
        lengths = interruptible(lambda: np.linalg.svd(whitening, compute_uv=False), many)
        with np.errstate(divide="ignore"):
            volume = np.log(lengths).sum()
        self._log_peaks = with_log(priors) + volume - 0.5 * LOG_TWO_PI * self.rank_

    def _check_solver(self) -> None:
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance estimator is not supported with svd solver. Try solver='lsqr' or "
                "solver='eigen'."
            )
        super()._check_solver()

    def _set_axes(
        self, priors: Array, means: Array, estimated: Any, final: bool
    ) -> tuple[Array, Array]:
        """Set planes and directions; return a whitening (d, r) and its covariance."""
        for name in ("covariance_", "scalings_", "xbar_", "explained_variance_ratio_"):
            self.__dict__.pop(name, None)  # of a fit with another solver
        dtype = self.statistics_.dtype
        if self.solver != "svd" or self.store_covariance:
            covariance = np.tensordot(priors, self._class_covariances(estimated), axes=1)
            self.covariance_ = covariance.astype(dtype)
        if self.solver == "svd":
            return self._solve_svd(priors, means)
        if self.solver == "eigen":
            whitening = self._solve_eigen(priors, means, covariance, estimated)
        else:
            whitening = self._solve_lsqr(priors, means, covariance, final)
        return whitening, covariance

    def _solve_svd(self, priors: Array, means: Array) -> tuple[Array, Array]:
        """Whiten the pooled covariance, then turn the means' main axes into the first ones."""
        statistic = self.statistics_
        weight = float(statistic.weight.sum())
        pooled = self._scatters().sum(axis=0) / weight
        whitening, _ = directions(pooled, self.tol)
        xbar = priors @ means
        away = (means - xbar) @ whitening
        n_ways = max(1, len(self.classes_) - 1)
        lengths, axes = np.linalg.svd(
            np.sqrt(weight * priors / n_ways)[:, None] * away, full_matrices=False
        )[1:]
        squares = lengths**2
        ratio = squares / squares.sum() if squares.any() else squares
        rank = int(np.count_nonzero(lengths > self.tol * lengths.max(initial=0.0)))
        scalings = normalize_signs(whitening @ axes.T[:, :rank])
        self._set_planes(*planes_about(xbar, priors, means, scalings))
        dtype = statistic.dtype
        self.explained_variance_ratio_ = ratio[: self._max_components].astype(dtype)
        self.scalings_, self.xbar_ = scalings.astype(dtype), xbar.astype(dtype)
        return whitening, pooled

    def _solve_lsqr(self, priors: Array, means: Array, covariance: Array, final: bool) -> Array:
        """Solve covariance @ coef = mean in the directions with variance; return the whitening."""
        whitening, _ = directions(covariance)
        if whitening.shape[1] < len(covariance) and final:
            warn(
                f"The covariance has rank {whitening.shape[1]} of {len(covariance)}; the other "
                "directions are ignored. Set shrinkage, for example 0.1.",
                LinAlgWarning,
            )
        self._set_planes(*self._planes(priors, means, whitening))
        return whitening

    def _solve_eigen(self, priors: Array, means: Array, covariance: Array, estimated: Any) -> Array:
        """Maximize scatter between classes relative to scatter within; return the whitening."""
        whitening, _ = directions(covariance)
        if whitening.shape[1] < len(covariance):
            raise Undetermined(
                f"The covariance has rank {whitening.shape[1]} of {len(covariance)}. Set "
                "shrinkage, for example 0.1, or choose solver='svd'."
            )
        if estimated is not None:
            total = estimated[-1]
        else:
            moments = self.statistics_.total()
            scatter = moments.scatter[0] if moments.full else np.diag(moments.scatter[0])
            total = shrink(scatter / moments.weight[0], self.shrinkage)
        values, vectors = eigh(total - covariance, covariance)
        values, vectors = values[::-1], normalize_signs(vectors[:, ::-1])
        self._set_planes(*self._planes(priors, means, vectors))
        dtype = self.statistics_.dtype
        ratio = values[: self._max_components] / (values.sum() or 1.0)
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.scalings_ = vectors.astype(dtype)
        return whitening

    def _planes(self, priors: Array, means: Array, axes: Array) -> tuple[Array, Array]:
        """Return planes S^-1 m_k (K, d) and intercepts (K,), with S^-1 = axes axes'."""
        # The common part of the planes is left out where it would cost digits of the differences:
        # far from the origin, and for two classes, whose coef_ is the difference.
        xbar = priors @ means
        far = float(((xbar @ axes) ** 2).sum()) > FAR
        origin = xbar if far or len(means) == 2 else np.zeros_like(xbar)
        return planes_about(origin, priors, means, axes)

    def _set_planes(self, coef: Array, intercept: Array) -> None:
        """Set coef_ (K, d) and intercept_ (K,); for two classes their difference."""
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        dtype = self.statistics_.dtype
        self.coef_, self.intercept_ = coef.astype(dtype), intercept.astype(dtype)

    def _score(self, X: Any) -> Score:
        return Planes(self.coef_, self.intercept_)

    def _log_densities(self, rows: Any) -> NDArray[Any]:
        # |z - m|^2 / 2 with z and m in coordinates where the covariance is the identity
        axes, center = self._whitening, self._center
        z = rows @ axes - center @ axes if sp.issparse(rows) else (rows - center) @ axes
        places = (self.means_ - center) @ axes
        joint = np.empty((len(places), z.shape[0]), self._dtype(rows))
        for k, place in enumerate(places):
            joint[k] = self._log_peaks[k] - 0.5 * ((z - place) ** 2).sum(axis=1)
        return joint

    def _spread(self, k: int) -> Array:
        values, axes = np.linalg.eigh(self._covariance_used)
        return np.asarray((axes * np.sqrt(values.clip(0))).T)

    def _compare(self, x: Array, winner: int, rival: int) -> tuple[float, Array]:
        # log P(w)/P(r) + (S^-1 (m_w - m_r)) . (x - (m_w + m_r) / 2)
        if len(self.classes_) == 2:
            slope = self.coef_[0] * (1 if winner == 1 else -1)
        else:
            slope = self.coef_[winner] - self.coef_[rival]
        means, log_priors = self.means_.astype(np.float64), with_log(self.priors_)
        middle = (means[winner] + means[rival]) / 2
        return float(log_priors[winner] - log_priors[rival]), slope * (x - middle)


ROW = Row(
    "LinearDiscriminantAnalysis",
    page="discriminants.md",
    certificate="discriminants",
    compare=(
        Candidate(
            "linear discriminant analysis",
            "classes that differ in their means; few rows, with shrinkage",
            {"shrinkage": (0.0001, 0.01, 0.1, 0.5)},
            settings={"solver": "lsqr"},
            limits=("few columns",),
            short_names=("lda",),
            order=20,
        ),
    ),
    contract=Contract(
        tampered=(
            {"store_covariance": True},
            {"solver": "lsqr"},
            {"solver": "eigen"},
            {"solver": "eigen", "shrinkage": 0.2},
            {"solver": "eigen", "shrinkage": "auto"},
            {"n_components": 1},
        ),
        settings=(
            {},
            {"solver": "lsqr", "shrinkage": 0.1},
            {"solver": "eigen", "shrinkage": 0.1, "store_covariance": True},
            {"covariance": "diagonal"},
        ),
        checked=({}, {"solver": "eigen", "shrinkage": 0.1}, {"covariance": "diagonal"}),
    ),
    peer_tests=("tests/test_discriminant_analysis.py",),
)
