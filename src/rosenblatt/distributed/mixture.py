"""Gaussian mixtures by parts: a pass sums rows by their shares, and the parameters follow."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.base import warn
from rosenblatt.cluster import KMeans
from rosenblatt.cluster.assignment import nearest_centers
from rosenblatt.mixture.components import Components, MixtureRows
from rosenblatt.statistics import Moments

from . import kmeans
from .passes import PartRows, Passes
from .sums import Sums

Array = NDArray[np.float64]
GIVEN = ("weights_init", "means_init", "precisions_init")


def fit_parts(model: Any, passes: Passes) -> Any:
    """EM from each start, a pass an iteration; the likeliest end is kept."""
    if model.init_params == "random" or any(getattr(model, name) is not None for name in GIVEN):
        raise ValueError(
            "By parts a mixture starts from init_params 'kmeans', 'k-means++' or "
            "'random_from_data'; give no parameters to start from."
        )
    seed = passes.seed()
    ends = [_run(model, passes, seed + k) for k in range(model.n_init)]
    best = max(ends, key=lambda end: end.lower_bound_)
    passes.publish_columns(best)
    best.start_bounds_ = np.array([end.lower_bound_ for end in ends])
    if best.stop_reason_ == "max_iter":
        warn(
            f"GaussianMixture stopped after max_iter={model.max_iter} passes while the mean "
            f"log-likelihood still changed by tol={model.tol:g} or more. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return best


def _run(model: Any, passes: Passes, seed: int) -> Any:
    """EM from one start."""
    full = model.covariance_type in ("full", "tied")
    moments = passes.total(assign, _centres(model, passes, seed), full)
    dtype, parameters = moments.dtype, model.get_params()
    bounds: list[float] = []
    reason = "max_iter"
    while len(bounds) < model.max_iter:
        now = type(model).from_statistics(moments, **parameters)
        total = passes.total(expect, components_of(now), model.assignment == "hard", full)
        moments = total["moments"]
        bounds.append(float(total["likelihood"] / total["n"]))
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < model.tol:
            reason = "converged"
            break
    fitted = type(model).from_statistics(moments, **parameters)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        setattr(fitted, name, getattr(fitted, name).astype(dtype))
    fitted.lower_bounds_, fitted.lower_bound_ = bounds, bounds[-1] if bounds else -np.inf
    fitted.n_iter_, fitted.converged_ = len(bounds), reason == "converged"
    fitted.stop_reason_ = reason
    return fitted


def _centres(model: Any, passes: Passes, seed: int) -> Array:
    """Where the components begin, (K, d): each row goes to the nearest."""
    how = {"kmeans": "k-means++", "k-means++": "k-means++", "random_from_data": "random"}
    start = KMeans(
        model.n_components, init=how[model.init_params], n_init=1, random_state=seed,
        max_iter=300 if model.init_params == "kmeans" else 1,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(kmeans.fit_parts(start, passes).cluster_centers_, np.float64)


def components_of(model: Any) -> Components:
    """The parameters of a fitted mixture."""
    return Components(
        model.weights_,
        model.means_,
        model.covariances_,
        model.precisions_cholesky_,
        model.covariance_type,
    )


def assign(rows: PartRows, centres: Array, full: bool) -> Any:
    """The moments of rows by nearest centre."""

    def measure(X: Any, y: Any) -> Moments:
        shares = np.zeros((len(X), len(centres)))
        shares[np.arange(len(X)), nearest_centers(X, centres)] = 1.0
        return MixtureRows(X, None).shared(shares, full).moments(len(X), X.dtype)

    return rows.summed(measure)


def expect(rows: PartRows, parameters: Components, hard: bool, full: bool) -> Any:
    """The log-likelihood of a part, and its moments by the shares of the components."""

    def measure(X: Any, y: Any) -> Sums:
        likelihood, sums = MixtureRows(X, None).expected(parameters, hard, full)
        moments = sums.moments(len(X), np.float64)
        return Sums(likelihood=likelihood * len(X), n=len(X), moments=moments)

    return rows.summed(measure)
