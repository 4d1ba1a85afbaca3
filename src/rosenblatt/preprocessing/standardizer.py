"""Standardization: columns to mean 0 and deviation 1, to a range, or rows to length 1.

Legend: x a number, m and s the mean and the standard deviation of its column, a and b the least and
the greatest number of its column, z = (x - m) / s.
"""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from rosenblatt import checks
from rosenblatt.additive import Additive, Rows
from rosenblatt.base import all_or_nothing, fitting_at_once
from rosenblatt.loops.rows import summed_duplicates
from rosenblatt.registry.row import Contract, Row, Settings, Warm
from rosenblatt.statistics import Extremes, Moments, RowCounts, Statistic

from . import scaling_steps

Numbers = NDArray[np.float64]

OF_ROWS = ("l1", "l2")
ROUNDING = 1e-12  # of a sum of weights


def _can_be_inverted(self: "Standardizer") -> bool:
    if self.method in OF_ROWS:
        raise AttributeError(
            f"Rows divided by their {self.method} norm cannot be transformed back: their lengths "
            "are not stored. Keep the rows themselves."
        )
    return True


class Standardizer(OneToOneFeatureMixin, TransformerMixin, CallbackSupportMixin, Additive):  # type: ignore[misc]
    """Bring columns, or rows, to one scale.

    ======================== =====================================================================
    ``method="z-score"``     ``z = (x - m) / s``: mean 0 and standard deviation 1
    ``method="sigmoid"``     ``1 / (1 + exp(-z))`` of that z-score: between 0 and 1, 1/2 at the mean
    ``method="min-max"``     ``(x - a) / (b - a)``, stretched to `feature_range`
    ``method="l1"``          each row divided by the sum of its absolute values
    ``method="l2"``          each row divided by its Euclidean length
    ======================== =====================================================================

    The variance is ``s^2 = sum (x - m)^2 / (n - ddof)``. A constant column is centered and has
    scale 1; a row of zeros is not changed. Fit on training rows only, to avoid leakage.

    The model follows from an additive statistic, made in one read: `Moments`, `Extremes` for
    ``"min-max"``, and `RowCounts` for ``"l1"`` and ``"l2"``. `partial_fit`, `merge` and `forget`
    give the result of one fit on the same rows. Minima and maxima can be merged but not forgotten.

    Parameters
    ----------
    method : {"z-score", "min-max", "sigmoid", "l1", "l2"}
        The transformation; see above.
    ddof : int
        Difference between the number of rows and the divisor of the variance: 1 for the sample
        variance, 0 as in scikit-learn's ``StandardScaler``.
    with_mean : bool
        Whether the z-score subtracts the mean. It must be False for sparse rows.
    with_std : bool
        Whether the z-score divides by the standard deviation.
    feature_range : (low, high)
        Range of the result of ``"min-max"``.
    copy : bool
        If False, `transform` works in place if possible.
    missing : {"refuse", "ignore"}
        Whether NaN is an error, or is ignored in `fit` and kept in `transform`, as in
        ``StandardScaler``. ``"ignore"`` is not available for ``"l1"`` and ``"l2"``.

    Attributes
    ----------
    mean_ : ndarray of shape (d,) or None
        Mean of each column, float64 for any input as in ``StandardScaler``.
    var_ : ndarray of shape (d,) or None
        Variance of each column; 0 for constant columns, None with ``with_std=False``.
    scale_ : ndarray of shape (d,) or None
        Divisor of each column: the standard deviation, or for ``"min-max"`` its range divided by
        the width of `feature_range`; 1 for a constant column.
    data_min_, data_max_ : ndarray of shape (d,)
        Minimum and maximum of each column, with ``"min-max"``.
    n_samples_seen_ : int, float or ndarray of shape (d,)
        Number of rows, or their weight; for each column, if columns differ in their missing values.
    statistics_ : Moments, Extremes or RowCounts
        The statistic, with + and -.
    n_features_in_, feature_names_in_
        Number of columns, and their names if they have any.

    Examples
    --------
    >>> from rosenblatt import Standardizer
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = Standardizer().fit(X)
    >>> model.scale_.round(6), model.transform(X).ravel().round(6)
    (array([1.290994]), array([-1.161895, -0.387298,  0.387298,  1.161895]))
    >>> Standardizer(method="l2").fit_transform([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    >>> first, second = Standardizer().fit(X[:2]), Standardizer().fit(X[2:])
    >>> float(first.merge(second).mean_[0]), float(first.forget(X[:1]).mean_[0])
    (2.5, 3.0)
    """

    measured_by = ("method", "missing", "with_mean")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"z-score", "min-max", "sigmoid", "l1", "l2"})],
        "ddof": [Interval(Integral, 0, None, closed="left")],
        "with_mean": ["boolean"],
        "with_std": ["boolean"],
        "feature_range": [tuple, list],
        "copy": ["boolean"],
        "missing": [StrOptions({"refuse", "ignore"})],
    }

    def __init__(
        self,
        method: str = "z-score",
        *,
        ddof: int = 1,
        with_mean: bool = True,
        with_std: bool = True,
        feature_range: tuple[float, float] = (0, 1),
        copy: bool = True,
        missing: str = "refuse",
    ) -> None:
        self.method = method
        self.ddof = ddof
        self.with_mean = with_mean
        self.with_std = with_std
        self.feature_range = feature_range
        self.copy = copy
        self.missing = missing

    @fitting_at_once
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the scales of X (n, d), dense or sparse, with weights >= 0 (n,); y is ignored."""
        super().fit(X, None, sample_weight)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the scales with a batch of rows; return self. Arguments are those of `fit`."""
        self._validate_params()
        first = not hasattr(self, "statistics_")
        statistic = self._statistic(X, None, sample_weight, first=first)
        self._publish(statistic if first else self.statistics_ + statistic)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows that were learned with these weights; not with ``method="min-max"``."""
        super().forget(X, None, sample_weight)
        return self

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
            known = statistic.low[0] <= statistic.high[0]  # False if all values are missing
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

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Return the rows of X (n, d) on the scale that was learned, in the precision of X.

        `copy` says whether to leave X alone; None as the model's parameter says. Sparse rows come
        out as a CSR matrix.
        """
        check_is_fitted(self)
        given, copy = X, self.copy if copy is None else copy
        X = checks.validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=checks.FLOATS,
            force_writeable=not copy, ensure_all_finite=False,
        )  # fmt: skip
        self._refuse_strange(X)
        self._refuse_sparse(X)
        if self.method in OF_ROWS:
            X = summed_duplicates(X, copy)
        out = _target(X, given, copy)
        if self.method in OF_ROWS:
            scaling_steps.to_unit_length(X, out, self.method)
        elif sp.issparse(X):
            if self.scale_ is not None:
                scaling_steps.scale_stored(out, self.scale_, divide=True)
        elif self.method == "sigmoid":
            columns = self._shift_and_scale()
            scaling_steps.by_columns(X, out, scaling_steps.to_sigmoid, *columns)
        else:
            scaling_steps.shift_and_divide(X, out, *self._shift_and_scale(), *self._range())
        return out

    @available_if(_can_be_inverted)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Return the rows that `transform` would turn into X; not for ``"l1"`` and ``"l2"``.

        A sigmoid of exactly 0 or 1 comes from an infinite number, which is what is returned. `copy`
        is as in `transform`.
        """
        check_is_fitted(self)
        given, copy = X, self.copy if copy is None else copy
        X = check_array(
            X, accept_sparse="csr", dtype=checks.FLOATS, force_writeable=not copy,
            ensure_all_finite=False,
        )  # fmt: skip
        self._refuse_strange(X)
        self._refuse_sparse(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} columns, as in fit; got {X.shape[1]}."
            )
        out = _target(X, given, copy)
        if sp.issparse(X):
            if self.scale_ is not None:
                scaling_steps.scale_stored(out, self.scale_, divide=False)
        else:
            steps = scaling_steps.from_range(*self._range())
            if self.method == "sigmoid":
                steps = scaling_steps.from_sigmoid
            scaling_steps.by_columns(X, out, steps, *self._shift_and_scale())
        return out

    def _shift_and_scale(self) -> tuple[Any, Any]:
        """Return what is subtracted from each column and what it is divided by, (d,) or None."""
        if self.method == "min-max":
            return self.data_min_, self._data_range()
        return self.mean_ if self.with_mean else None, self.scale_

    def _range(self) -> tuple[float, ...]:
        """Return where the scaled numbers 0 and 1 are put."""
        return tuple(map(float, self.feature_range)) if self.method == "min-max" else (0.0, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._keeps_zeros()
        tags.input_tags.allow_nan = self.missing == "ignore" and self.method not in OF_ROWS
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


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


def _target(X: Any, given: Any, copy: bool) -> Any:
    """Return X itself if it may be changed, else a table like it."""
    if not copy or (isinstance(given, np.ndarray) and not np.may_share_memory(X, given)):
        return X
    return X.copy() if sp.issparse(X) else np.empty_like(X)


SETTINGS: tuple[Settings, ...] = (
    {},
    {"with_mean": False, "ddof": 0},
    {"method": "min-max", "feature_range": (-1, 1)},
    {"method": "sigmoid"},
    {"method": "l1"},
    {"method": "l2"},
    {"missing": "ignore"},
    {"method": "min-max", "missing": "ignore"},
)
ROW = Row(
    "Standardizer",
    page="preprocessing.md",
    contract=Contract(settings=SETTINGS, checked=SETTINGS),
    warm=Warm(({}, {"with_mean": False}, {"method": "min-max"}, {"method": "l2"})),
)
