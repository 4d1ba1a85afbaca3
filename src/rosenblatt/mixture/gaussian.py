"""Gaussian mixtures by expectation maximization (EM)."""

from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import sklearn.mixture
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, StopReason, fitting, warn_not_converged
from rosenblatt.cluster import KMeans
from rosenblatt.cluster.assignment import assignment_of
from rosenblatt.cluster.seeding import distant_rows
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Moments

from .components import (
    Components,
    MixtureRows,
    Sums,
    Table,
    directions_of_spread,
    least_variances,
    raw_covariances,
    roots_of,
)


class GaussianMixture(CallbackSupportMixin, sklearn.mixture.GaussianMixture):  # type: ignore[misc]
    """Gaussian mixture: the density is a weighted sum of Gaussians, ``sum_k p_k N(x; m_k, S_k)``.

    Expectation: the share of component k in row x, ``r_k = p_k N(x; m_k, S_k) / sum``.
    Maximization: weights, means and covariances of the rows, weighted by these shares. Neither step
    can lower the log-likelihood (except for `reg_covar`). The result depends on the start, and a
    component that collapses onto few rows would raise the likelihood without limit.

    `known_variance` and `assignment` are not in scikit-learn.

    Parameters
    ----------
    n_components : int, default=1
        Number of components, K.
    covariance_type : {"full", "tied", "diag", "spherical"}
        A covariance matrix for each component, one for all, variances of columns for each
        component, or one variance for each.
    tol : float, default=1e-3
        EM ends when the mean log-likelihood of a row changes by less.
    reg_covar : float, default=1e-6
        Added to the variances. A warning names components that would collapse without it.
    max_iter, n_init : int
        Most iterations of a start, and number of starts; the likeliest result is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The shares at the start: clusters of `KMeans`, rows drawn far apart, at random, random rows.
    weights_init, means_init, precisions_init : arrays or None
        Parameters to start from.
    random_state, warm_start, verbose, verbose_interval : as in scikit-learn.
    known_variance : float or None
        If given, only the means are learned: every component has this variance in all directions
        and the same weight. For ``covariance_type="spherical"``.
    assignment : {"soft", "hard"}
        "hard" assigns each row to its likeliest component; with a known variance this is k-means.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_, converged_, n_iter_,
    lower_bound_, lower_bounds_, n_features_in_, feature_names_in_ : as in scikit-learn.
    start_bounds_ : array of shape (n_init,)
        `lower_bound_` at the end of each start.
    n_parameters_ : int
        Number of free parameters.
    stop_reason_ : {"converged", "max_iter", "callback"}

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import GaussianMixture
    >>> X = np.array([[0.0, 2], [1, 4], [2, 0], [9, 2], [10, 4], [11, 0]])
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> sorted(model.means_.round(3).tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    >>> model.predict([[0, 0]]) == model.predict([[1, 3]])
    array([ True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.mixture.GaussianMixture._parameter_constraints,
        "known_variance": [Interval(Real, 0, None, closed="neither"), None],
        "assignment": [StrOptions({"soft", "hard"})],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        known_variance: float | None = None,
        assignment: str = "soft",
    ) -> None:
        super().__init__(
            n_components, covariance_type=covariance_type, tol=tol, reg_covar=reg_covar,
            max_iter=max_iter, n_init=n_init, init_params=init_params, weights_init=weights_init,
            means_init=means_init, precisions_init=precisions_init, random_state=random_state,
            warm_start=warm_start, verbose=verbose, verbose_interval=verbose_interval,
        )  # fmt: skip
        self.known_variance = known_variance
        self.assignment = assignment

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : None
            Ignored.
        sample_weight : array-like of shape (n,) or None
        """
        rows = self._rows(X, sample_weight)
        warm = self.warm_start and hasattr(self, "converged_")
        if warm:
            K, d = self.n_components, rows.X.shape[1]
            shapes = {"full": (K, d, d), "tied": (d, d), "diag": (K, d), "spherical": (K,)}
            before = self.means_.shape, self.covariances_.shape
            needed = (K, d), shapes[self.covariance_type]
            checks.warm_start("shapes of means_ and covariances_", before, needed)
        n_starts = 1 if warm or self.max_iter == 0 else self.n_init
        random_state = check_random_state(self.random_state)
        passes = Passes(self, rows.X, y, sample_weight, 0 if self.max_iter == 0 else None)
        ends: list[EM] = []

        for _ in passes.each_start(range(n_starts)):
            if warm:
                run = EM(self._fitted_components(), [self.lower_bound_])
            else:
                run = EM(self._start(rows, random_state), [])
            passes.attributes = partial(self._attributes, run, rows.X.dtype)
            for _ in passes:
                run.bounds.append(self._step(rows, run))
                change = np.inf if len(run.bounds) < 2 else abs(run.bounds[-1] - run.bounds[-2])
                if change < self.tol:
                    run.stopped = "converged"
                elif len(run.bounds) - warm >= self.max_iter:
                    run.stopped = "max_iter"
                if run.stopped:
                    passes.stop(run.stopped)
            run.stopped = run.stopped or passes.stop_reason
            ends.append(run)
            passes.attributes = partial(self._best_attributes, ends, rows.X.dtype)
        self._set_attributes(ends, rows, warm)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Fit the model to X (n, d); return the likeliest component (n,) of each row."""
        self.fit(X, y, sample_weight)
        return self.predict(X)

    def _rows(self, X: Any, sample_weight: Any) -> MixtureRows:
        self._validate_params()
        if self.known_variance is not None and self.covariance_type != "spherical":
            raise ValueError(
                "known_variance is one variance for all directions: covariance_type must be "
                f"'spherical'; got {self.covariance_type!r}."
            )
        X = checks.rows(self, X, reset=True, order="C", ensure_min_samples=2, accept_sparse=False)
        if len(X) < self.n_components:
            raise ValueError(
                "Expected n_samples >= n_components but got n_components = "
                f"{self.n_components}, n_samples = {len(X)}"
            )
        self._check_parameters(X, xp=np)
        return MixtureRows(X, checks.weights(sample_weight, len(X)))

    @one_blas_thread()
    def _step(self, rows: MixtureRows, run: "EM") -> float:
        """Make the expectation and maximization step; return the mean log-likelihood before."""
        hard, full = self.assignment == "hard", self.covariance_type in ("full", "tied")
        likelihood, sums = rows.expected(run.parameters, hard, full)
        run.parameters, run.raw = self._maximize(sums, run.parameters)
        return likelihood

    def _maximize(self, sums: Sums, before: Components | None) -> tuple[Components, Any]:
        """Return the likeliest parameters for sums, and covariances without the floor."""
        kind, empty = self.covariance_type, sums.weight <= 0
        means, weights = sums.mean, sums.weight / sums.weight.sum()
        if self.known_variance is not None:
            K = len(means)
            raw = covariances = np.full(K, float(self.known_variance))
            weights = np.full(K, 1.0 / K)
        else:
            raw = raw_covariances(sums, kind)
            is_matrix = kind in ("full", "tied")
            covariances = raw + self.reg_covar * (np.eye(raw.shape[-1]) if is_matrix else 1.0)
        if before is not None and empty.any():  # a component without rows does not change
            means = np.where(empty[:, None], before.means, means)
            if kind != "tied":
                covariances[empty] = before.covariances[empty]
        return Components(weights, means, covariances, roots_of(covariances, kind), kind), raw

    @one_blas_thread()
    def _start(self, rows: MixtureRows, random_state: Any) -> Components:
        """Return the parameters of a start: the given ones, and the others from shares."""
        given = self.weights_init, self.means_init, self.precisions_init
        if self.known_variance is None and all(part is not None for part in given):
            parameters = Components(*given, given[2], self.covariance_type)
        else:
            shares = start_shares(rows, self.init_params, self.n_components, random_state)
            full = self.covariance_type in ("full", "tied")
            parameters, _ = self._maximize(rows.shared(shares, full), None)
        weights, means, precisions = given
        if weights is not None and self.known_variance is None:
            parameters = parameters._replace(weights=np.asarray(weights, np.float64))
        if means is not None:
            parameters = parameters._replace(means=np.asarray(means, np.float64))
        if precisions is not None and self.known_variance is None:
            precisions, kind = np.asarray(precisions, np.float64), self.covariance_type
            if kind in ("diag", "spherical"):
                covariances, roots = 1 / precisions, np.sqrt(precisions)
            else:
                covariances = np.asarray(np.linalg.inv(precisions), np.float64)
                roots = roots_of(covariances, kind)
            parameters = parameters._replace(covariances=covariances, roots=roots)
        return parameters

    def _fitted_components(self) -> Components:
        """Return the fitted parameters."""
        tables = self.weights_, self.means_, self.covariances_, self.precisions_cholesky_
        weights, means, covariances, roots = (np.asarray(t, np.float64) for t in tables)
        return Components(weights, means, covariances, roots, self.covariance_type)

    def _attributes(self, run: "EM", dtype: Any) -> dict[str, Any]:
        """Return the fitted attributes by the current state of a start."""
        weights, means, covariances, roots, kind = run.parameters
        precisions = roots**2 if kind in ("diag", "spherical") else roots @ roots.swapaxes(-1, -2)
        tables = {
            "weights_": weights,
            "means_": means,
            "covariances_": covariances,
            "precisions_cholesky_": roots,
            "precisions_": precisions,
        }
        bounds = [float(bound) for bound in run.bounds]
        return {name: np.array(table, dtype) for name, table in tables.items()} | {
            "converged_": run.stopped == "converged",
            "n_iter_": len(bounds),
            "lower_bound_": bounds[-1] if bounds else -np.inf,
            "lower_bounds_": bounds,
        }

    def _best_attributes(self, ends: "list[EM]", dtype: Any) -> dict[str, Any]:
        """Return the attributes of the likeliest start, and the bounds of all."""
        bounds = {"start_bounds_": np.array([run.bound() for run in ends])}
        return self._attributes(max(ends, key=EM.bound), dtype) | bounds

    @one_blas_thread()
    def _set_attributes(self, ends: "list[EM]", rows: MixtureRows, warm: bool) -> None:
        """Set the attributes of the likeliest start, the first of equals."""
        best = max(ends, key=EM.bound)
        moved = np.ptp(best.bounds[-2:]) if len(best.bounds) > 1 else np.inf
        if warm:
            best.bounds = best.bounds[1:]
        self.__dict__.update(self._best_attributes(ends, rows.X.dtype), stop_reason_=best.stopped)
        if best.stopped == "max_iter" and self.max_iter > 0:
            warn_not_converged(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data: after "
                f"{self.n_iter_} iterations the mean log-likelihood still changed by {moved:.3g}, "
                f"wanted less than {self.tol:g}."
            )
        self._warn_of_collapse(best, rows)

    def _warn_of_collapse(self, run: "EM", rows: MixtureRows) -> None:
        """Warn of components that would collapse without `reg_covar`."""
        if run.raw is None or self.known_variance is not None or self.covariance_type == "tied":
            return
        least = least_variances(run.raw)
        if (least < 0.01 * self.reg_covar).any():
            least = least_variances(run.raw, directions_of_spread(rows.X, self.reg_covar))
        for k in np.flatnonzero(least < 0.01 * self.reg_covar):
            weight = run.parameters.weights[k] * rows.total
            if weight > 0:
                warn_not_converged(
                    f"Component {k} has collapsed onto rows of weight {weight:.3g}: in some "
                    f"direction its variance is {max(least[k], 0.0):.2g}, and only "
                    f"reg_covar={self.reg_covar:g} keeps the likelihood finite. Take fewer "
                    "components, another start, or a larger reg_covar."
                )

    @one_blas_thread()
    def _joint(self, X: Any) -> NDArray[np.float64]:
        """Return log weight + log density of each component, (K, n)."""
        check_is_fitted(self)
        return MixtureRows(self._checked(X), None).log_densities(self._fitted_components())

    def _checked(self, X: Any) -> Any:
        return checks.rows(self, X, order="C", accept_sparse=False)

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return the log-density of each row of X: (n,)."""
        return np.asarray(logsumexp(self._joint(X), axis=0), self.means_.dtype)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the likeliest component of each row of X, the first of several: (n,)."""
        return np.asarray(self._joint(X).argmax(axis=0))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the share of each component in each row of X: (n, K)."""
        joint = self._joint(X)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=0)).T, self.means_.dtype, order="C")

    def objective(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean log-likelihood of the rows of X."""
        return -float(np.average(self.score_samples(X), weights=sample_weight))

    def _n_parameters(self) -> int:
        """Return the number of free parameters, for scikit-learn's `bic` and `aic`."""
        if self.known_variance is not None:
            return int(self.means_.size)
        return int(super()._n_parameters())

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._n_parameters()

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: centers (K, d), spreads, shares (K,)."""
        if not hasattr(self, "means_"):
            return {}
        bounds = getattr(self, "start_bounds_", None)
        kept = {} if bounds is None else {"kept_start": int(bounds.argmax())}
        (K, d), covariances = self.means_.shape, self.covariances_
        if self.covariance_type in ("diag", "spherical"):
            variances = np.broadcast_to(np.reshape(covariances, (K, -1)), (K, d))
            covariances = variances[:, :, None] * np.eye(d)
        elif self.covariance_type == "tied":
            covariances = np.broadcast_to(covariances, (K, d, d))
        return kept | {
            "centres": self.means_,
            "spreads": covariances,
            "shares": self.weights_,
        }

    def measure(self, X: Any, y: Any = None, sample_weight: Any = None) -> Moments:
        """Return the moments of rows by their shares: weight, mean and scatter, which add up.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored.
        sample_weight : array-like of shape (n,) or None
        """
        check_is_fitted(self)
        X = self._checked(X)
        sample_weight = checks.weights(sample_weight, len(X))
        full = self.covariance_type in ("full", "tied")
        hard = self.assignment == "hard"
        _, sums = MixtureRows(X, sample_weight).expected(self._fitted_components(), hard, full)
        return sums.moments(len(X), X.dtype)

    @classmethod
    def from_statistics(cls, statistics: Moments, **parameters: Any) -> Self:
        """Return the model with the largest likelihood for a statistic, as `measure` returns it.

        Parameters
        ----------
        statistics : Moments by component.
        **parameters : of the model, without `n_components`.
        """
        model = cls(**{"n_components": len(statistics.classes), **parameters})
        model._validate_params()
        learned, _ = model._maximize(Sums.of(statistics), None)
        run = EM(learned, [])
        model.__dict__.update(model._attributes(run, statistics.dtype))
        model.n_features_in_ = statistics.n_features
        return model


class EM:
    """The state of one start: parameters, and the mean log-likelihood before each iteration."""

    def __init__(self, parameters: Components, bounds: list[float]) -> None:
        self.parameters, self.bounds = parameters, bounds
        self.raw: NDArray[np.float64] | None = None  # covariances without the floor
        self.stopped: StopReason | None = None

    def bound(self) -> float:
        """Return the last mean log-likelihood."""
        return self.bounds[-1] if self.bounds else -np.inf


def start_shares(rows: MixtureRows, how: str, n_components: int, random_state: Any) -> Table:
    """Return the shares (n, K) of components in rows that EM starts from, by `init_params`."""
    if how == "random":
        shares = random_state.uniform(size=(rows.n, n_components))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
    shares = np.zeros((rows.n, n_components))
    if how == "kmeans":
        model = KMeans(n_components, n_init=1, random_state=random_state)
        shares[np.arange(rows.n), model.fit(rows.X, sample_weight=rows.weights).labels_] = 1.0
        return shares
    if how == "random_from_data":
        order = random_state.permutation(rows.n)
        if rows.weights is not None:  # rows with weight first
            order = order[np.argsort(rows.weights[order] == 0, kind="stable")]
        chosen = order[:n_components]
    else:
        chosen = distant_rows(assignment_of(rows.X, rows.weights), n_components, random_state)
    shares[chosen, np.arange(n_components)] = 1.0
    return shares


ROW = Row(
    "GaussianMixture",
    page="mixtures.md",
    certificate="gaussian_mixture",
    compare=(
        Candidate(
            "Gaussian mixture",
            "groups that overlap, or differ in size and shape",
            settings={"covariance_type": "full", "reg_covar": 1e-3, "n_init": 2},
            wide_settings={"covariance_type": "diag"},
            order=2,
        ),
    ),
    contract=Contract(
        settings=(
            {"n_components": 2, "random_state": 0, "tol": 1e-06},
            {"n_components": 2, "covariance_type": "tied", "random_state": 0, "tol": 1e-06},
            {"n_components": 3, "covariance_type": "diag", "random_state": 0, "tol": 1e-06},
            {"n_components": 2, "covariance_type": "spherical", "random_state": 0, "tol": 1e-06},
        ),
        endless={"tol": 0.0},
    ),
    warm=Warm(({}, {"covariance_type": "diag"}), widths=(3, 30), sparse=False),
    parts="mixture",
    slow_peer_tests=("mixture/tests/test_gaussian_mixture.py",),
)
