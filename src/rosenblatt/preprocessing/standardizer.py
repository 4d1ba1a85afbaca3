"""Standardising: columns to mean 0 and deviation 1, to a range, or rows to length 1.

Legend: x a number, m and s the mean and the standard deviation of its column, a and b the least and
the greatest number of its column, z = (x - m) / s.
"""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from rosenblatt import checks
from rosenblatt.loops.rows import summed_duplicates
from rosenblatt.registry.row import Contract, Row, Warm

from . import scaling_steps
from .column_scales import OF_ROWS, ScaleLearner


def _can_be_inverted(self: "Standardizer") -> bool:
    if self.method in OF_ROWS:
        raise AttributeError(
            f"Rows divided by their {self.method} norm cannot be transformed back: their lengths "
            "are not stored. Keep the rows themselves."
        )
    return True


class Standardizer(OneToOneFeatureMixin, TransformerMixin, ScaleLearner):  # type: ignore[misc]
    """Bring columns, or rows, to one scale.

    ======================== =====================================================================
    ``method="z-score"``     ``z = (x - m) / s``: mean 0 and standard deviation 1
    ``method="sigmoid"``     ``1 / (1 + exp(-z))`` of that z-score: between 0 and 1, 1/2 at the mean
    ``method="min-max"``     ``(x - a) / (b - a)``, stretched to `feature_range`
    ``method="l1"``          each row divided by the sum of its absolute values
    ``method="l2"``          each row divided by its Euclidean length
    ======================== =====================================================================

    The variance is ``s^2 = sum (x - m)^2 / (n - ddof)``. A column that is constant is centred and
    its scale is 1; a row of zeros stays as it is. Fit on training rows only: what is learned from
    others leaks into the test.

    All that is known of the data is an additive statistic (`Moments`, `Extremes` for ``"min-max"``,
    and no more than `RowCounts` for ``"l1"`` and ``"l2"``), made in one read: `partial_fit`,
    `merge` and `forget` give what one fit on the same rows gives. Minima and maxima merge but
    cannot be taken back.

    Parameters
    ----------
    method : {"z-score", "min-max", "sigmoid", "l1", "l2"}
        What to do; see above.
    ddof : int
        What the divisor of the variance is less than the number of rows: 1 for the sample's
        variance, 0 as in scikit-learn's ``StandardScaler``.
    with_mean : bool
        Whether the z-score subtracts the mean. Sparse rows need False, or they would fill up.
    with_std : bool
        Whether the z-score divides by the standard deviation.
    feature_range : (low, high)
        Where ``"min-max"`` puts the least and the greatest number.
    copy : bool
        Whether `transform` leaves its input alone. With False it works in place where it can.
    missing : {"refuse", "ignore"}
        Whether NaN is an error; or left out of what is learned of a column, and left where it is
        by `transform`, as ``StandardScaler`` does. Not for ``"l1"`` and ``"l2"``: the length of a
        row of which something is missing is not known.

    Attributes
    ----------
    mean_ : ndarray of shape (d,) or None
        The mean of each column. As in ``StandardScaler``, in 64 bits whatever the input.
    var_ : ndarray of shape (d,) or None
        Its variance; 0 for constant columns, None with ``with_std=False``.
    scale_ : ndarray of shape (d,) or None
        What the column is divided by: the standard deviation, or for ``"min-max"`` its range over
        that of `feature_range`; 1 for a constant column.
    data_min_, data_max_ : ndarray of shape (d,)
        The least and the greatest number of each column, with ``"min-max"``.
    n_samples_seen_ : int, float or ndarray of shape (d,)
        How many rows were learned from, or their weight; for each column, if some values are
        missing and not the same number in all.
    statistics_ : Moments, Extremes or RowCounts
        What is known of the data.
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
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _target(X: Any, given: Any, copy: bool) -> Any:
    """Return X itself if it may be changed, else a table like it."""
    if not copy or (isinstance(given, np.ndarray) and not np.may_share_memory(X, given)):
        return X
    return X.copy() if sp.issparse(X) else np.empty_like(X)


SETTINGS = (
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
