"""Claims of models in closed form: what was published, beside what the data imply."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Claim

Floats = NDArray[np.float64]


class ClassData:
    """Rows with their classes, numbered in the order of the model's own `classes_`."""

    def __init__(self, model: Any, X: Any, y: NDArray[Any], weight: Floats) -> None:
        if not hasattr(model, "classes_"):
            name = type(model).__name__
            raise ValueError(f"This {name} is not fitted yet: call fit before certify.")
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the model has {model.n_features_in_}."
            )
        self.classes = np.asarray(model.classes_)
        unknown = np.setdiff1d(y, self.classes)
        if len(unknown):
            raise ValueError(
                f"y has labels {unknown.tolist()} that the model does not know: "
                f"{self.classes.tolist()}."
            )
        kept = np.flatnonzero(weight > 0)
        self.X, self.weight = X[kept], weight[kept]
        order = np.argsort(self.classes)
        self.codes = order[np.searchsorted(self.classes, y[kept], sorter=order)]
        self.members = [np.flatnonzero(self.codes == k) for k in range(len(self.classes))]

    @property
    def counts(self) -> Floats:
        """The weight of each class (K,)."""
        return np.array([self.weight[rows].sum() for rows in self.members])

    @property
    def words(self) -> str:
        """What was handed over, in one line."""
        n, d = self.X.shape
        return f"the {n} rows and {d} columns given, total weight {self.weight.sum():g}"


def filled(X: Any) -> Any:
    """Rows X (n, d) with zeros where a number is missing."""
    if sp.issparse(X):
        return sp.csr_matrix((np.nan_to_num(X.data, nan=0.0), X.indices, X.indptr), shape=X.shape)
    return np.where(np.isnan(X), 0.0, X)


def gaps(X: Any) -> Any:
    """Ones (n, d) where a number of X is missing."""
    if sp.issparse(X):
        missing = np.isnan(X.data).astype(np.float64)
        return sp.csr_matrix((missing, X.indices, X.indptr), shape=X.shape)
    return np.isnan(X).astype(np.float64)


def sums_by_class(data: ClassData, X: Any) -> Floats:
    """The weighted sum (K, d) of each column of X, class by class."""
    rows = [data.weight[members] @ X[members] for members in data.members]
    return np.array([np.asarray(row, np.float64).ravel() for row in rows])


def rounding(model_array: Any) -> float:
    """How far, relatively, a published number may be from the one derived here."""
    eps = float(np.finfo(np.asarray(model_array).dtype).eps) if _is_float(model_array) else 0.0
    return max(1e-9, 64 * eps)


def _is_float(array: Any) -> bool:
    return np.asarray(array).dtype.kind == "f"


def agrees(name: str, what: str, published: Any, derived: Any, scale: Any = None) -> Claim:
    """That published numbers are those derived from the data, up to rounding.

    The difference is taken relative to the derived number, or to `scale` where that is larger.
    """
    allowed = rounding(published)
    published, derived = np.asarray(published, np.float64), np.asarray(derived, np.float64)
    if published.shape != derived.shape:
        statement = f"{what} have shape {published.shape}; the data imply {derived.shape}"
        return Claim(name, statement, np.inf, 0.0, False, "checked")
    size = np.maximum(np.abs(derived), 0.0 if scale is None else scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(published - derived) / np.where(size > 0, size, 1.0)
    off = np.where(published == derived, 0.0, off)  # infinities that agree
    worst = float(np.max(off, initial=0.0))
    exact = worst == 0.0 and np.array_equal(derived, np.rint(derived))
    statement = f"{what} differ from those of the data by {worst:.2g} of their size at most"
    if worst == 0.0:
        statement = f"{what} are those of the data"
    holds = bool(worst <= allowed)
    return Claim(name, statement, worst, allowed, holds, "proved" if exact else "checked")


def training_error(data: ClassData, scores: Floats) -> Claim:
    """How many rows the class of the highest score misses; of equals the first wins."""
    wrong = scores.argmax(axis=1) != data.codes
    n, share = int(np.count_nonzero(wrong)), float(data.weight[wrong].sum() / data.weight.sum())
    statement = f"{n:,} of {len(wrong):,} rows are predicted wrongly ({share:.3%} of the weight)"
    return Claim("training error", statement, n, None, True, "checked")


def sums_to_one(what: str, log_probabilities: Floats) -> Claim:
    """That probabilities (..., m), given as logarithms, sum to one."""
    with np.errstate(invalid="ignore"):
        sums = np.exp(log_probabilities).sum(axis=-1)
    worst = float(np.max(np.abs(sums - 1), initial=0.0))
    return Claim(
        "probabilities",
        f"{what} sum to one, up to {worst:.2g}",
        worst,
        1e-6,
        bool(worst <= 1e-6),
        "checked",
    )


def shortfall(what: str, gap: float, scale: float, tol: float) -> Claim:
    """By how much the log-likelihood is below its maximum, which is known in closed form."""
    return Claim(
        "likelihood",
        f"the {what} is within {gap:.3g} of the best possible, {gap / scale:.2g} for each unit "
        "of weight",
        gap,
        tol * scale,
        bool(gap <= tol * scale),
        "checked",
    )


def smoothing(model: Any, d: int) -> Floats:
    """alpha for each feature (d,)."""
    alpha = np.broadcast_to(np.asarray(model.alpha, np.float64), d)
    if not getattr(model, "force_alpha", True):
        alpha = np.maximum(alpha, 1e-10)
    return np.asarray(alpha)


def log_shares(table: Floats, totals: Floats) -> Floats:
    """log of counts over totals; where the smoothing is infinite all are alike."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table) - np.log(totals)
    return np.asarray(logs)


def divergence(p: Floats, log_p: Floats, log_q: Floats) -> Floats:
    """Generalised Kullback-Leibler divergence of q from p over the last axis; never negative.

    Where p is zero only q's excess mass counts, and where q is zero and p is not, it is infinite.
    """
    with np.errstate(invalid="ignore"):
        terms = np.where(p > 0, p * (log_p - log_q), 0.0) - p + np.exp(log_q)
    return np.asarray(np.maximum(terms, 0.0).sum(axis=-1))


def size_claim(model: Any, free: int) -> list[Claim]:
    """That a model says truly how many free numbers it has learned; nothing if it does not say.

    `free` are those of the features. The shares of K classes are K - 1 more, unless they are given.
    """
    if not hasattr(model, "n_parameters_"):
        return []
    given = getattr(model, "class_prior", getattr(model, "priors", None)) is not None
    counted = not given and getattr(model, "fit_prior", True)
    derived = free + (len(model.classes_) - 1 if counted else 0)
    return [agrees("size", "the numbers said to be free", model.n_parameters_, derived)]


def log_prior_claim(model: Any) -> Claim:
    """That the logarithms of the classes' shares are those of the shares, where both are said."""
    return agrees(
        "log prior", "their logarithms", np.exp(model.class_log_prior_), model.class_prior_
    )


def prior_claim(model: Any, published: Any, counts: Floats) -> Claim:
    """Where the classes' shares (K,) come from, and that they are what is said."""
    given = getattr(model, "class_prior", getattr(model, "priors", None))
    if given is not None:
        return agrees("prior", "the shares of the classes, given,", published, given)
    if getattr(model, "fit_prior", True) is False:
        uniform = np.full(len(counts), 1 / len(counts))
        return agrees("prior", "the shares of the classes, uniform,", published, uniform)
    return agrees("prior", "the shares of the classes", published, counts / counts.sum())
