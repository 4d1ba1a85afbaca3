"""What a standardizer learns: the scales of columns, from an additive statistic."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.callback import CallbackSupportMixin

from rosenblatt import checks
from rosenblatt.additive import Additive, Rows
from rosenblatt.base import all_or_nothing, fitting_at_once
from rosenblatt.statistics import Extremes, Moments, RowCounts, Statistic

Numbers = NDArray[np.float64]

OF_ROWS = ("l1", "l2")


class ScaleLearner(CallbackSupportMixin, Additive):  # type: ignore[misc]
    """Learns the mean and deviation, or the extremes, of each column."""

    method: str
    ddof: int
    with_mean: bool
    with_std: bool
    feature_range: tuple[float, float]
    missing: str

    mean_: Numbers | None
    var_: Numbers | None
    scale_: Numbers | None
    n_samples_seen_: Any

    @fitting_at_once
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the scales of X (n, d), dense or sparse, in one read; return self.

        `sample_weight` (n,), any numbers >= 0, says how often each row counts; y is ignored.
        """
        return super().fit(X, None, sample_weight)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows with the arguments of `fit`; all batches give the result of one fit.

        Return self.
        """
        self._validate_params()
        first = not hasattr(self, "statistics_")
        statistic = self._statistic(X, None, sample_weight, first=first)
        self._publish(statistic if first else self.statistics_ + statistic)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows, as if never fitted on them; return self.

        X and `sample_weight` are rows that it has learned from, and the weights they had. Not with
        ``method="min-max"``: minima and maxima merge but cannot be taken back.
        """
        return super().forget(X, None, sample_weight)

    def _validate_params(self) -> None:
        super()._validate_params()
        bounds = tuple(self.feature_range)
        if len(bounds) != 2 or not -np.inf < bounds[0] < bounds[1] < np.inf:
            raise ValueError(
                "feature_range must be two finite numbers, the least first; "
                f"got {self.feature_range!r}."
            )

    def _check_X(self, X: Any, first: bool) -> Any:
        X = checks.validate_data(
            self, X, reset=first, accept_sparse="csr", dtype=checks.FLOATS, ensure_all_finite=False
        )
        self._refuse_sparse(X)
        if self.method in OF_ROWS:  # moments and extremes check values themselves
            self._refuse_strange(X)
        return X

    def _refuse_strange(self, X: Any) -> None:
        super()._refuse_strange(X)
        if self.method not in OF_ROWS or self.missing == "refuse":
            return
        if np.isnan(X.data if sp.issparse(X) else X).any():
            raise ValueError(
                f"Input X contains NaN; with method={self.method!r} it cannot be left out, as the "
                "length of such a row is not known."
            )

    def _refuse_sparse(self, X: Any) -> None:
        """Raise if the answer would not be sparse although X is."""
        if not sp.issparse(X) or self._keeps_zeros():
            return
        if self.method == "z-score":
            raise ValueError(
                "Cannot center sparse matrices: pass `with_mean=False` instead, or dense rows."
            )
        raise ValueError(
            f"method={self.method!r} makes numbers of zeros, so that sparse rows would fill up; "
            "give dense rows, or use 'z-score' with with_mean=False, 'l1' or 'l2'."
        )

    def _keeps_zeros(self) -> bool:
        return self.method in OF_ROWS or (self.method == "z-score" and not self.with_mean)

    def _measure(self, X: Any, y: Any, sample_weight: NDArray[Any] | None) -> Statistic:
        options = {} if self._kind is RowCounts else {"missing": self.missing}
        return self._kind.of(X, None, sample_weight, **options)

    @property
    def _kind(self) -> type[Moments] | type[Extremes] | type[RowCounts]:
        if self.method in OF_ROWS:  # the length of a row depends on the row alone
            return RowCounts
        return Extremes if self.method == "min-max" else Moments

    def _publish(self, statistic: Statistic, rows: Rows | None = None, final: bool = True) -> None:
        if not isinstance(statistic, self._kind):
            raise TypeError(
                f"Standardizer(method={self.method!r}) stands on {self._kind.__name__}; "
                f"got {type(statistic).__name__}."
            )
        if isinstance(statistic, Moments):
            statistic = statistic.diagonal()
        if not np.array_equal(statistic.classes, [0]):  # of a model of classes
            statistic = statistic.total()
        if not len(statistic):
            raise ValueError("There is nothing to learn from: this is the statistic of no rows.")
        super()._publish(statistic, rows, final)

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        statistic = self.statistics_
        weight = statistic.counts.sums[0]
        self.n_samples_seen_ = int(weight) if weight.dtype.kind == "i" else float(weight)
        self.mean_ = self.var_ = self.scale_ = None
        if isinstance(statistic, Extremes):
            known = statistic.low[0] <= statistic.high[0]  # a column without a value has none
            self.data_min_, self.data_max_ = (
                np.where(known, table[0], 0.0) for table in (statistic.low, statistic.high)
            )
            low, high = map(float, self.feature_range)
            self.scale_ = self._data_range() / (high - low)
        elif isinstance(statistic, Moments):
            weight = statistic.feature_weight[0]
            if (weight != weight[0]).any():
                self.n_samples_seen_ = weight.copy()
            if self.with_mean or self.with_std:
                self.mean_ = statistic.mean[0].copy()
            if self.with_std:
                self.var_ = _variance(statistic, self.ddof)
                self.scale_ = np.sqrt(self.var_)
                self.scale_[self.var_ == 0] = 1

    def _data_range(self) -> Numbers:
        """Return maximum minus minimum of each column, 1 where it is constant."""
        with np.errstate(over="ignore"):
            span: Numbers = self.data_max_ - self.data_min_
        if not np.isfinite(span).all():
            j = int(np.flatnonzero(~np.isfinite(span))[0])
            raise ValueError(
                f"Feature {j} goes from {self.data_min_[j]:g} to {self.data_max_[j]:g}, a range "
                "too large for 64 bits; rescale it first."
            )
        span[span == 0] = 1
        return span

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._keeps_zeros()
        tags.input_tags.allow_nan = self.missing == "ignore" and self.method not in OF_ROWS
        return tags


ROUNDING = 1e-12  # of a sum of weights


def _variance(moments: Moments, ddof: int) -> Numbers:
    """Return the variance (d,) of each column; 0 for constant ones, however few their rows."""
    scatter, weight = moments.scatter[0], moments.feature_weight[0]
    left = np.where(weight - ddof > ROUNDING * weight, weight - ddof, 0.0)
    if (scatter[np.broadcast_to(left, scatter.shape) <= 0] > 0).any():
        raise ValueError(
            f"The rows weigh {left.min() + ddof:g} in all, so that ddof={ddof} leaves nothing to "
            "divide by; use ddof=0, or weights that count rows."
        )
    variance: Numbers = scatter / np.where(left > 0, left, 1.0)
    return variance
