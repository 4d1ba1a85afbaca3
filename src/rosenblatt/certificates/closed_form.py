"""Claims of models in closed form: what was published, beside what the data imply."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import deadline

from .claims import Claim, total_weight, within
from .input_checks import check_columns, check_fitted

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
CELLS = 2**16  # of a block of rows, whose temporary tables then stay in the cache


def class_codes(classes: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label (n,) among the classes of a model, which must have it."""
    classes = np.asarray(classes)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y has labels {unknown.tolist()} that the model does not know: {classes.tolist()}."
        )
    return _places(classes, labels)


def _places(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)])


class ClassData:
    """Rows with their classes, numbered in the order of the model's own `classes_`."""

    def __init__(self, model: Any, X: Any, y: NDArray[Any], weight: Floats) -> None:
        check_fitted(model, "classes_")
        check_columns(model, X)
        self.classes = np.asarray(model.classes_)
        kept = np.flatnonzero(weight > 0)
        self.given = X  # rows of no weight included
        self.X = X if len(kept) == len(weight) else X[kept]
        self.weight = weight[kept]
        self.codes = class_codes(self.classes, y)[kept]
        self.members = [np.flatnonzero(self.codes == k) for k in range(len(self.classes))]

    def places(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """The number (n,) of each label's class."""
        return _places(self.classes, labels)

    @property
    def counts(self) -> Floats:
        """The weight of each class (K,)."""
        return np.array([self.weight[rows].sum() for rows in self.members])

    @property
    def whole(self) -> bool:
        """Whether the rows' weights are whole numbers, so that sums of them do not round."""
        return are_whole(self.weight)

    @property
    def words(self) -> str:
        """What was handed over, in one line."""
        n, d = self.X.shape
        return f"the {n:,} rows and {d:,} columns given, {total_weight(self.weight)}"


def are_whole(numbers: Floats) -> bool:
    """Whether all are whole numbers, and few and small enough for doubles to add them exactly."""
    return bool((numbers == np.rint(numbers)).all() and np.abs(numbers).sum() < 2.0**53)


def is_ours(model: Any) -> bool:
    """Whether a class of this package, or one derived from such, published the numbers."""
    bases = type(model).__mro__
    return any(base.__module__.partition(".")[0] == "rosenblatt" for base in bases)


def dense(X: Any) -> Floats:
    """Rows as an array of doubles."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


def filled(X: Any) -> Any:
    """Rows X (n, d) with zeros where a number is missing."""
    if sp.issparse(X):
        return sp.csr_matrix((np.nan_to_num(X.data, nan=0.0), X.indices, X.indptr), shape=X.shape)
    missing = np.isnan(X)
    return np.where(missing, 0.0, X) if missing.any() else X


def row_blocks(n: int, d: int) -> Iterator[slice]:
    """Places of n rows of d columns, a block at a time."""
    step = max(1, CELLS // max(d, 1))
    for start in range(0, n, step):
        deadline.check()
        yield slice(start, start + step)


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


def unit(published: Any) -> float:
    """The relative spacing of numbers in the precision of those published."""
    dtype = np.asarray(published).dtype
    return max(EPS, float(np.finfo(dtype).eps)) if dtype.kind == "f" else EPS


def unit_of_work(model: Any, published: Any) -> float:
    """The same for what was computed on the way: ours sum up in 64 bits, whatever they publish."""
    # Estimators that read the rows themselves, and scikit-learn, compute in the precision of the
    # data, which is that of the means.
    reads_rows = getattr(model, "shrinkage", None) == "auto"
    reads_rows |= getattr(model, "covariance_estimator", None) is not None
    if is_ours(model) and not reads_rows:
        return EPS
    return max(unit(published), unit(getattr(model, "means_", published)))


def rounding(published: Any) -> float:
    """How far, relatively, a published number may be from the one derived here."""
    return max(1e-9, 64 * unit(published))


def agrees(
    name: str, what: str, published: Any, derived: Any, scale: Any = None, slack: Any = 0.0,
    exact: bool = False,
) -> Claim:  # fmt: skip
    """That published numbers are those derived from the data, up to rounding."""
    # Sums of whole numbers are `exact`: they do not round, and that they agree is proved.
    # The difference, less an absolute `slack`, is relative to the derived number, or to `scale` if
    # given. A derived zero without a scale is a zero and nothing else, infinity is infinity.
    allowed = rounding(published)
    published, derived = np.asarray(published, np.float64), np.asarray(derived, np.float64)
    if published.shape != derived.shape:
        statement = f"{what} have shape {published.shape}; the data imply {derived.shape}"
        return Claim(name, statement, np.inf, 0.0, False, "checked")
    size = np.broadcast_to(np.abs(derived) if scale is None else scale, derived.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(published - derived)
        off = np.where(apart <= slack, 0.0, (apart - slack) / size)
    off = np.where(published == derived, 0.0, off)  # infinities that agree
    worst = float(np.max(np.where(np.isnan(off), np.inf, off), initial=0.0))
    exact = exact and np.array_equal(published, derived)
    statement = f"{what} differ from those of the data by {worst:.2g} of their size at most"
    if worst == 0.0:
        statement = f"{what} are those of the data"
    holds = bool(worst <= allowed)
    return Claim(name, statement, worst, allowed, holds, "proved" if exact else "checked")


def class_counts_claim(model: Any, data: ClassData) -> Claim:
    """That the classes have the weights published."""
    what, said = "the weights of the classes", model.class_count_
    return agrees("class counts", what, said, data.counts, exact=data.whole)


def agree_in_logs(name: str, what: str, published: Any, derived: Floats) -> Claim:
    """The same for logarithms, whose differences are shares of the numbers they are of."""
    return agrees(name, what, published, derived, scale=np.maximum(1.0, np.abs(derived)))


def logs_of(shares: Any) -> Floats:
    """Logarithms, minus infinity of zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(shares, np.float64)))


def sums_to_one(what: str, log_probabilities: Floats) -> Claim:
    """That probabilities (..., m), given as logarithms, sum to one."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.exp(log_probabilities).sum(axis=-1)
    worst = float(np.max(np.abs(sums - 1), initial=0.0))
    return within("probabilities", f"{what} sum to one, up to {worst:.2g}", worst, 1e-6)


def shortfall(what: str, gap: float, scale: float, tol: float, blur: float = 0.0) -> Claim:
    """By how much the log-likelihood is below its maximum; `blur` is what rounding may cost."""
    words = f"; rounding alone may cost {blur:.2g}" if blur > tol * scale else ""
    of_unit = f"{gap / scale:.2g} for each unit of weight"
    statement = f"the {what} is within {gap:.3g} of the best possible, {of_unit}{words}"
    return within("likelihood", statement, gap, tol * scale + blur)


def smoothing(model: Any, d: int) -> Floats:
    """alpha for each feature (d,)."""
    alpha = np.broadcast_to(np.asarray(model.alpha, np.float64), d)
    if not getattr(model, "force_alpha", True):
        alpha = np.maximum(alpha, 1e-10)
    return np.asarray(alpha)


def smoothed(counts: Floats, alpha: Any) -> Floats:
    """Counts (..., m) with alpha added, in the limit where that is infinite."""
    # Infinite alphas leave nothing for the others; where nothing is known at all, all are equal.
    alpha = np.broadcast_to(np.asarray(alpha, np.float64), counts.shape)
    infinite = np.isinf(alpha)
    table = np.where(infinite.any(axis=-1, keepdims=True), infinite, counts + alpha)
    return np.where(table.any(axis=-1, keepdims=True), table, 1.0)


def log_shares(table: Floats) -> Floats:
    """log of each number's share of its row (..., m), minus infinity of zero."""
    return np.asarray(logs_of(table) - np.log(table.sum(axis=-1, keepdims=True)))


def divergence(p: Floats, log_p: Floats, log_q: Floats, n: int) -> Floats:
    """Generalised Kullback-Leibler divergence of q from p over the last axis, at most."""
    # Where p is zero only q's excess mass counts, and where q is zero and p is not, it is infinite.
    # Shares q that sum to less than one lose what they lack as well. Sums over n rows are rounded.
    with np.errstate(invalid="ignore", over="ignore"):
        lost = np.where(p > 0, p * (log_p - log_q), 0.0)
        general = np.maximum(lost - p + np.exp(log_q), 0.0).sum(axis=-1)
        rounding = np.where(p > 0, p * (1 + np.abs(log_p) + np.abs(log_p - log_q)), 0.0)
        most = np.maximum(general, lost.sum(axis=-1)) + (n + 16) * EPS * rounding.sum(axis=-1)
    return np.asarray(np.where(np.isnan(most), np.inf, most))


def size_claim(model: Any, free: int, shares: bool = True) -> list[Claim]:
    """That a model says truly how many free numbers it has learned; nothing if it does not say."""
    # `free` are those of the features. `shares` of K classes are K - 1 more, unless they are given.
    if not hasattr(model, "n_parameters_"):
        return []
    counted = shares and _given(model) is None and getattr(model, "fit_prior", True)
    derived = free + (len(model.classes_) - 1 if counted else 0)
    return [agrees("size", "the numbers said to be free", model.n_parameters_, derived, exact=True)]


def _given(model: Any) -> Any:
    return getattr(model, "class_prior", getattr(model, "priors", None))


def prior_claims(model: Any, counts: Floats) -> list[Claim]:
    """Where the classes' shares (K,) come from, and that they are what is said, logarithms too."""
    words, given = "", _given(model)
    derived = counts / counts.sum()
    if given is not None:
        words, derived = ", given,", np.asarray(given, np.float64)
    elif getattr(model, "fit_prior", True) is False:
        words, derived = ", uniform,", np.full(len(counts), 1 / len(counts))
    claims = []
    if hasattr(model, "class_prior_"):
        what = f"the shares of the classes{words}"
        claims.append(agrees("prior", what, model.class_prior_, derived))
    if hasattr(model, "class_log_prior_"):
        name = "log prior" if claims else "prior"
        what = f"the logarithms of the classes' shares{words}"
        claims.append(agree_in_logs(name, what, model.class_log_prior_, logs_of(derived)))
    return claims
