"""Principal components: the orthogonal axes along which rows vary most.

Legend: n rows, d columns, k components; S (d, d) the scatter of the rows about their mean, v an
axis with ``S v = s^2 v``, s its singular value, ``s^2 / (n - 1)`` the variance along it.
"""

from typing import Any, Self

import numpy as np
import sklearn.decomposition
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import gammaln
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.additive import Additive, Rows, rows_needed
from rosenblatt.base import all_or_nothing, fitting_at_once
from rosenblatt.registry.row import Contract, Row, Warm
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Moments, Statistic

Numbers = NDArray[np.float64]

# Up to so many columns the scatter is what to decompose: always, or if there are as many rows.
NARROW, WIDE = 100, 1_000
LEAST = np.finfo(np.float64).tiny
NO_AXIS = 1e-15  # a variance below it belongs to no axis
NO_VARIANCE = 2.0**-50  # times columns and the largest: what rounding leaves of no variance


class PCA(CallbackSupportMixin, Additive, sklearn.decomposition.PCA):  # type: ignore[misc]
    """Principal component analysis.

    The axes are the eigenvectors of the scatter ``sum (x - m) (x - m)^T`` with the largest
    eigenvalues. Of all projections to k columns, the one on the first k axes keeps most of the
    variance, and brings the rows back with the smallest squared error [1]_.

    With ``svd_solver="auto"`` tables of up to 1,000 columns, and no fewer rows, are read once: the
    axes follow from the additive scatter (`Moments`), which streams, merges and forgets. Wider
    tables, and the other solvers, are left to scikit-learn: they read all rows and keep none.

    Parameters
    ----------
    n_components : int, float, "mle" or None
        How many axes to keep; a share of the variance that they are to reach; the number that is
        most likely after Minka; or all, ``min(n, d)``.
    copy : accepted as in scikit-learn; only solvers that read all rows would change them.
    whiten : whether the projections are divided by their standard deviations.
    svd_solver : {"auto", "covariance_eigh", "full", "arpack", "randomized"}
        See above; "covariance_eigh" always takes the scatter, the last three read all rows.
    tol, iterated_power, n_oversamples, power_iteration_normalizer, random_state
        Of the solvers that read all rows, as in scikit-learn.

    Attributes
    ----------
    components_ : the axes, of length one, most variance first, shape (k, d); in each, the number
        with the largest absolute value is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : of each axis, shape (k,).
    mean_ : of the columns, shape (d,).
    noise_variance_ : the mean variance along the axes left out.
    n_components_, n_samples_ : k, and how many rows there were, or their weight.
    statistics_ : Moments, if the axes follow from them.
    n_features_in_, feature_names_in_ : number of columns, and their names if they have any.

    Examples
    --------
    >>> from rosenblatt import PCA
    >>> X = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    >>> model = PCA(n_components=1).fit(X)
    >>> model.components_.round(4), model.explained_variance_ratio_.round(4)
    (array([[0.7071, 0.7071]]), array([1.]))
    >>> model.transform([[4.0, 4.0]]).round(4)
    array([[3.5355]])
    >>> model.partial_fit([[4.0, 4.0]]).mean_, model.forget(X[:2]).mean_
    (array([2., 2.]), array([3., 3.]))

    References
    ----------
    .. [1] K. Pearson (1901), On lines and planes of closest fit to systems of points in space.
    """

    measured_by = ("svd_solver",)
    statistic_type = (Moments, {"full": True})

    @fitting_at_once
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the axes to X, dense or sparse, with weights >= 0 of the rows; y is ignored."""
        if not self._reads_rows(X):
            return super().fit(X, None, sample_weight)  # type: ignore[no-any-return]
        if sample_weight is not None:
            raise ValueError(
                "sample_weight needs the scatter of the columns; use svd_solver='covariance_eigh'."
            )
        self._fit_rows(X, sklearn.decomposition.PCA.fit)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the axes of X (n, d) and return its projections (n, k); arguments as in `fit`."""
        if self._reads_rows(X) and sample_weight is None:
            return self._fit_rows(X, sklearn.decomposition.PCA.fit_transform)
        return self.fit(X, None, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Project rows X (n, d) onto the axes: (n, k)."""
        check_is_fitted(self)
        X = checks.rows(self, X)
        with one_blas_thread():  # so that bits do not depend on the number of threads
            return self._transform(X, xp=np)

    def inverse_transform(self, X: Any) -> Any:
        """Return rows (n, d) whose projections are X (n, k)."""
        with one_blas_thread():
            return super().inverse_transform(X)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the axes with a batch of rows; there are at most as many axes as rows."""
        self._validate_params()
        self._refuse_row_solver()
        first = not hasattr(self, "components_")
        statistic = self._statistic(X, None, sample_weight, first=first)
        self._publish(statistic if first else self.statistics_ + statistic, final=False)
        return self

    def merge(self, other: Self) -> Self:
        """Learn what another model has learned, as if fitted on the rows of both; return self."""
        self._refuse_row_solver()
        if isinstance(other, PCA):
            other._refuse_row_solver()
        return super().merge(other)  # type: ignore[no-any-return]

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows from the model, as if it had never been fitted on them."""
        self._refuse_row_solver()
        return super().forget(X, None, sample_weight)  # type: ignore[no-any-return]

    def _reads_rows(self, X: Any) -> bool:
        """Return if the axes are computed from all rows, not from the scatter."""
        if self.svd_solver != "auto":
            return self.svd_solver in ("full", "arpack", "randomized")
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        return len(shape) == 2 and shape[1] > (WIDE if shape[0] >= shape[1] else NARROW)

    @all_or_nothing
    def _fit_rows(self, X: Any, fit: Any) -> Any:
        """Call a method of scikit-learn; raise if it leaves numbers that are not finite."""
        with np.errstate(all="ignore"), one_blas_thread():
            result = fit(self, X)
        ratios, variances = self.explained_variance_ratio_, self.explained_variance_
        if not (np.isfinite(variances).all() and np.isfinite(ratios).all()):
            raise ValueError(
                f"svd_solver={self.svd_solver!r} finds no axes: the rows are equal or too large. "
                "Rescale the columns, or use svd_solver='covariance_eigh'."
            )
        self.__dict__.pop("statistics_", None)
        return result

    def _refuse_row_solver(self) -> None:
        """Raise if there is no scatter to add to or to take from."""
        fitted = hasattr(self, "components_")
        solver = f"svd_solver={self.svd_solver!r}"
        if self.svd_solver in ("full", "arpack", "randomized"):
            raise rows_needed(solver)
        if fitted and not hasattr(self, "statistics_"):
            raise ValueError(
                f"{solver} took the axes of this wide table from its rows, which are not kept; "
                "svd_solver='covariance_eigh' keeps their scatter."
            )

    def _measure(self, X: Any, y: Any, sample_weight: NDArray[Any] | None) -> Statistic:
        return Moments.of(X, None, sample_weight, full=True)

    def _measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Statistic]:
        return list(Moments.by_group(X, None, groups, n_groups, sample_weight, full=True))

    def _publish(self, statistic: Statistic, rows: Rows | None = None, final: bool = True) -> None:
        if isinstance(statistic, Moments) and not np.array_equal(statistic.classes, [0]):
            statistic = statistic.total()  # of a model of classes
        super()._publish(statistic, rows, final)

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        self._refuse_row_solver()
        moments = self.statistics_
        n, d = self._row_count(), moments.n_features
        squares, axes = principal_axes(moments.scatter[0])
        variance = squares / self._divisor(bool(squares[0] > 0) or rows is not None)
        ratios = variance / max(variance.sum(), LEAST)
        k = self._n_kept(variance, ratios, n, exactly=rows is not None)

        dtype = moments.dtype
        self.mean_ = moments.mean[0].astype(dtype)
        self.components_ = axes[:k].astype(dtype)
        self.explained_variance_ = variance[:k].astype(dtype)
        self.explained_variance_ratio_ = ratios[:k].astype(dtype)
        self.singular_values_ = np.sqrt(squares[:k]).astype(dtype)
        self.noise_variance_ = float(variance[k : min(n, d)].mean()) if k < min(n, d) else 0.0
        self.n_components_, self.n_samples_ = k, n

    def _row_count(self) -> int:
        """Return the number of rows; a row of weight two counts twice."""
        weight = float(self.statistics_.weight[0])
        return max(int(weight), int(self.statistics_.rows[0]))

    def _divisor(self, needed: bool) -> float:
        """n - 1, or 1 if the rows of a stream do not vary yet."""
        left = float(self.statistics_.weight[0]) - 1
        if left <= 0 and needed:
            raise ValueError(
                "PCA needs rows that weigh more than one in all, as a variance divides by the "
                f"weight less one; got {len(self.statistics_)} sample(s) of weight {left + 1:g}."
            )
        return left if left > 0 else 1.0

    def _n_kept(self, variance: Numbers, ratios: Numbers, n: int, exactly: bool) -> int:
        """Return the number of components to keep, by their variances (d,) and its shares (d,)."""
        wanted, most = self.n_components, min(n, len(variance))
        if wanted is None:
            return most
        if wanted == "mle":
            if n < len(variance):
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            is_rounding = variance <= NO_VARIANCE * len(variance) * variance[0]
            return likely_dimension(np.where(is_rounding, 0.0, variance), n)
        if 0 < wanted < 1:
            return min(int(np.searchsorted(np.cumsum(ratios), wanted, side="right")) + 1, most)
        if wanted > most and exactly:
            raise ValueError(
                f"n_components={wanted} must be between 0 and min(n_samples, n_features)={most} "
                f"with svd_solver={self.svd_solver!r}"
            )
        return min(int(wanted), most)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags


def principal_axes(scatter: Numbers) -> tuple[Numbers, Numbers]:
    """Return eigenvalues (d,) and eigenvectors (d, d), one a row, of a scatter; the largest first.

    Axes without variance are chosen by the others, not by the rounding of the scatter.
    """
    with one_blas_thread():
        squares, vectors = np.linalg.eigh(scatter)
        squares, axes = squares[::-1], vectors.T[::-1].copy()
        n_kept = int(np.count_nonzero(squares > NO_VARIANCE * len(squares) * squares[0]))
        if 0 < n_kept < len(axes):
            others = np.eye(len(axes)) - axes[:n_kept].T @ axes[:n_kept]
            axes[n_kept:] = qr(others, pivoting=True)[0].T[: len(axes) - n_kept]
    largest = np.abs(axes).argmax(axis=1)
    signs = np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)
    return np.maximum(squares, 0.0), np.ascontiguousarray(axes * signs[:, np.newaxis])


def likely_dimension(variance: Numbers, n: int) -> int:
    """Return the number of components, from 1 to d - 1, under which n rows are most probable.

    It is Minka's approximation, from the variances (d,) along the axes, the largest first.

    References
    ----------
    .. [1] T. P. Minka (2000), Automatic choice of dimensionality for PCA, equation 76.
    """
    evidence = [log_evidence(variance, k, n) for k in range(1, len(variance))]
    return 1 + int(np.argmax(evidence)) if evidence else 0


def log_evidence(variance: Numbers, k: int, n: int) -> float:
    """Return the log-probability of n rows under k components, up to a constant."""
    d = len(variance)
    if variance[k - 1] < NO_AXIS:
        return -np.inf
    i = np.arange(1, k + 1)
    prior = -k * np.log(2) + (gammaln((d - i + 1) / 2) - np.log(np.pi) * (d - i + 1) / 2).sum()
    v = max(NO_AXIS, variance[k:].sum() / (d - k))  # the mean variance along the other axes
    likelihood = -n / 2 * (np.log(variance[:k]).sum() + (d - k) * np.log(v))
    volume = (d * k - k * (k - 1) / 2) / 2 * np.log(2 * np.pi)
    w = np.append(variance[:k], np.full(d - k, v))
    i, j = np.triu_indices(k, 1, d)
    apart = (variance[i] - variance[j]) * (1 / w[j] - 1 / w[i])
    curvature = (np.log(np.maximum(apart, NO_AXIS)) + np.log(n)).sum()
    return float(prior + likelihood + volume - curvature / 2 - k / 2 * np.log(n))


ROW = Row(
    "PCA",
    page="pca.md",
    certificate="pca",
    contract=Contract(
        settings=(
            {},
            {"n_components": 2, "whiten": True},
            {"n_components": 0.9, "svd_solver": "covariance_eigh"},
        ),
        checked=({}, {"n_components": 2, "whiten": True}),
    ),
    warm=Warm(sparse=False),
    peer_tests=("decomposition/tests/test_pca.py",),
)
