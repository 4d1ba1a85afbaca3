"""What models share: input checks, labels, reports to callbacks, linear scores."""

import functools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, column_or_1d, compute_class_weight
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from rosenblatt.capabilities import planes_of
from rosenblatt.column_errors import is_missing
from rosenblatt.column_errors import naming_columns as naming_columns
from rosenblatt.fit_passes import Attributes as Attributes
from rosenblatt.fit_passes import Passes as Passes
from rosenblatt.fit_passes import StopReason as StopReason
from rosenblatt.input_checks import validate_data
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.runtime.storage import arrays as arrays
from rosenblatt.runtime.storage import read_only as read_only

FLOATS = (np.float64, np.float32)


def path_values(model: Any, parameter: str, values: Any) -> list[Any]:
    """The values of a path, refused where a fit would refuse them.

    Of numbers the least and the greatest are checked, and NaN: limits are intervals.
    """
    names = model.path_parameters()
    if parameter not in names:
        allowed = " or ".join(map(repr, names)) or "left out: these settings have no path"
        raise ValueError(f"parameter must be {allowed}; got {parameter!r}.")
    listed: list[Any] = list(values) if np.iterable(values) else []
    if not listed:
        raise ValueError("values must be a sequence of at least one value; got none.")
    numbers = all(isinstance(value, Real) for value in listed)
    checked = [min(listed), max(listed), *(v for v in listed if v != v)] if numbers else listed
    for value in checked:
        validate_parameter_constraints(
            {parameter: model._parameter_constraints[parameter]},
            {parameter: value},
            caller_name=type(model).__name__,
        )
    return listed


def is_as_fitted(model: Any, X: Any) -> bool:
    """Whether X is a table that scikit-learn's checks would return as it is, finite or not.

    They take longer than all the rest when single rows are predicted.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and len(X) > 0
        and X.shape[1] == vars(model).get("n_features_in_")
        and "feature_names_in_" not in vars(model)
    )


def plain_table(model: Any, X: Any) -> Any:
    """Rows to fit, finite or not, as `validate_data` returns them; an array of floats at once."""
    # On small tables scikit-learn's checks take as long as the fit.
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS
    if not (plain and X.size and X.flags.c_contiguous):
        return validate_data(
            model, X, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False
        )
    vars(model).pop("feature_names_in_", None)
    model.n_features_in_ = X.shape[1]
    return X


def in_precision(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Fitted numbers in the precision of the rows; refused where they leave its range."""
    with np.errstate(over="ignore"):
        found = values.astype(dtype)
    if np.isinf(found).any() and np.isfinite(values).all():
        raise ValueError(
            f"Coefficients go up to {np.abs(values).max():.3g}, beyond the range of "
            f"{np.dtype(dtype)}: give X as float64, or divide y by a constant."
        )
    return found


def has_finite_sum(values: NDArray[Any]) -> bool:
    """Whether the sum of all values is finite; if not, one of them may not be finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(values.sum())


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that reads the names of its parameters once."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # Read off the signature once for a class: a fit asks once, each clone three times.
        names = vars(cls).get("_names_of_parameters")
        if names is None:
            names = cls._names_of_parameters = tuple(super()._get_param_names())
        return list(names)


def fitting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a fit report to callbacks, and leave the estimator as it was if the fit fails."""
    return all_or_nothing(with_callbacks(method))


def fitting_at_once(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same of a fit without steps, which reports its beginning and its end.

    A pipeline with callbacks would otherwise warn of it.
    """

    @functools.wraps(method)
    def reported(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(self, "_skl_callbacks", ()):
            return method(self, X, *args, **kwargs)
        task = self._init_callback_context()
        task.call_on_fit_task_begin(estimator=self, X=X)
        fitted = method(self, X, *args, **kwargs)
        task.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes={})
        return fitted

    return fitting(reported)


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the estimator as it was if a method raises."""

    @functools.wraps(method)
    def whole(self: BaseEstimator, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with naming_columns(args[0] if args else kwargs.get("X")):
                return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole


def callers_level() -> int:
    """The `stacklevel` with which a warning points at the code that called this package."""
    frame, level = sys._getframe(1), 1
    inside = ("rosenblatt.", "sklearn.callback")  # the wrapper around a fit is scikit-learn's
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inside):
        frame, level = frame.f_back, level + 1
    return level


def warn_not_converged(message: str) -> None:
    """Warn the caller of `fit`."""
    # Up past this function, the fit and the two wrappers around it.
    warnings.warn(message, ConvergenceWarning, stacklevel=5)


def encode_labels(y: Any, n_rows: int | None = None) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The sorted classes of y (n,), and the number (n,) of each label's class, of n rows.

    Sorting all labels would take longer than a pass over the data, so the classes are read off
    the first rows, and off all only if that was not enough.
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    _refuse_mixed_labels(y)
    if not (isinstance(y, np.ndarray) and y.ndim == 1):
        y = column_or_1d(y, warn=True)
    classes = np.unique(y[:1000])
    if _in_a_row(classes):
        codes = (y - classes[0]).astype(np.intp, copy=False)  # one after the other: no search
        known = codes.min() >= 0 and codes.max() < len(classes)
    elif len(classes) == 2:
        second = y == classes[1]
        codes, known = second.astype(np.intp), (second | (y == classes[0])).all()
    else:
        codes = np.searchsorted(classes, y)
        known = len(classes) > 0 and np.all(classes.take(codes, mode="clip") == y)
    if not known:
        classes, codes = np.unique(y, return_inverse=True)
    if classes.dtype.kind not in "biuSU":  # numbers that may be a regression's, or objects
        if classes.dtype.kind == "f":
            assert_all_finite(classes, input_name="y")
        # Repeated, because a target of nothing but different values would get a warning as well.
        check_classification_targets(np.repeat(classes, 3))
    if n_rows is not None and len(codes) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows and y has {len(codes)}."
        )
    return classes, codes


def encode_classes(
    y: Any, n_rows: int, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """As `encode_labels`, for the labels of `n_rows` rows of at least two classes.

    `known` are all classes of a search, for the rows of a fold that misses some.
    """
    classes, codes = encode_labels(y, n_rows)
    if known is not None:
        return known, np.searchsorted(known, classes)[codes]
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; "
            f"y has {len(classes)} class: {classes.tolist()}."
        )
    return classes, codes


def row_weights(
    classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64]:
    """Sample weight times class weight, each row (n,)."""
    weight = _check_sample_weight(
        sample_weight, np.empty((len(codes), 0)), dtype=np.float64, ensure_non_negative=True
    )
    if class_weight is not None:
        by_class = compute_class_weight(
            class_weight, classes=classes, y=classes[codes], sample_weight=weight
        )
        if by_class.min() < 0:
            k = int(by_class.argmin())
            raise ValueError(
                f"class_weight must not be negative; class {classes.tolist()[k]!r} has "
                f"{by_class[k]:g}."
            )
        weight = weight * by_class[codes]
    if not weight.sum() > 0:
        raise ValueError(
            "sample_weight and class_weight must give some row a positive weight; all are 0."
        )
    return np.asarray(weight)


def _in_a_row(classes: NDArray[Any]) -> bool:
    """Whether sorted classes are whole numbers, each one more than the last."""
    if classes.dtype.kind not in "iu" or not len(classes):
        return False
    return int(classes[-1]) - int(classes[0]) < len(classes)


def _refuse_mixed_labels(y: Any) -> None:
    """Raise if y holds words and numbers, or a label is missing.

    NumPy would turn the numbers, and what is missing, into words in silence.
    """
    labels = y if isinstance(y, list | tuple) else np.asarray(y)
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        return
    kinds: dict[bool, Any] = {}
    missing = None
    for i, label in enumerate(labels):
        if isinstance(label, str) or not is_missing(label):
            kinds.setdefault(isinstance(label, str), label)
        elif missing is None:
            missing = i
    if len(kinds) == 2:
        raise TypeError(
            f"y must hold labels of one type; got both {kinds[True]!r} and {kinds[False]!r}. "
            "Convert them all to str or all to numbers."
        )
    if missing is not None:
        raise ValueError(
            f"Input y contains NaN or None: the label of row {missing} is missing. Leave it out."
        )


class GroupedWarnings:
    """The warnings of many fits, reported once for each category."""

    def __init__(self) -> None:
        self.n_fits = 0
        self.caught: dict[type[Warning], list[Warning]] = {}

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the warnings of one fit; two of a category count once."""
        self.n_fits += 1
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            yield
        found = [record.message for record in records if isinstance(record.message, Warning)]
        for kind, message in {type(message): message for message in found[::-1]}.items():
            self.caught.setdefault(kind, []).append(message)

    def report(self) -> None:
        """Issue the last warning of each category, with the number of fits that had one."""
        for messages in self.caught.values():
            last = messages[-1]
            if self.n_fits > 1:
                last.args = (f"In {len(messages)} of {self.n_fits} fits, here the last: {last}",)
            warnings.warn(last, stacklevel=callers_level())


class LinearClassifier(CallbackSupportMixin, ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier whose scores are linear: one plane for two classes, else one row per class."""

    coef_: Any  # (1, d) or (K, d): an array, or a sparse matrix after `sparsify`
    intercept_: NDArray[Any]
    classes_: NDArray[Any]
    fit_intercept: bool

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows of X: (n,) for two classes, (n, K) for more.

        For two classes the score is w.x + b, positive on the side of ``classes_[1]``; divided by
        the length of w it is the signed distance from the plane.

        Parameters
        ----------
        X : rows to score, shape (n, d).

        Returns
        -------
        scores : array.
        """
        check_is_fitted(self)
        if not (is_as_fitted(self, X) and has_finite_sum(X)):
            with naming_columns(X):
                X = validate_data(self, X, accept_sparse="csr", reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            scores: NDArray[Any] = safe_sparse_dot(X, self.coef_.T, dense_output=True)
            scores = scores + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: weights (K, d), intercept (K,)."""
        above: dict[str, Any] = getattr(super(), "trace_view", dict)()
        if not hasattr(self, "coef_"):
            return above
        plain = type(self).decision_function is LinearClassifier.decision_function
        return above | {
            "weights": planes_of(self.coef_),
            "intercept": self.intercept_,
            "linear": plain and not sp.issparse(self.coef_),
        }

    @property
    def n_parameters_(self) -> int:
        """Free numbers of the model: a plane for each class but one, zero weights included."""
        n_planes, d = len(self.classes_) - 1, self.coef_.shape[1]
        return int(n_planes * (d + bool(self.fit_intercept)))

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix: smaller when most weights are zero; return self."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an ordinary array again; return self."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearRegressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """A regressor whose prediction is linear: one target, or one row of coefficients per target."""

    coef_: Any  # (d,), or (t, d) for targets in columns
    intercept_: Any  # a number, or (t,)
    fit_intercept: bool
    _multi_output = False

    @property
    def n_parameters_(self) -> int:
        """Free numbers of the model: weights, zeros included, and the intercept of each target."""
        n_targets, d = np.atleast_2d(self.coef_).shape
        return int(n_targets * (d + bool(self.fit_intercept)))

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: weights (t, d), intercept (t,)."""
        if not hasattr(self, "coef_"):
            return {}
        return {"weights": planes_of(self.coef_), "intercept": np.atleast_1d(self.intercept_)}

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted targets of the rows of X: (n,), or (n, t) for several.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to predict.

        Returns
        -------
        t : ndarray of shape (n,) or (n, t)
            Their targets.
        """
        check_is_fitted(self)
        if not (is_as_fitted(self, X) and has_finite_sum(X)):
            with naming_columns(X):
                X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        quiet = np.errstate(over="ignore", invalid="ignore")
        with one_blas_thread(), quiet:  # bits must not depend on how many threads there are
            products = safe_sparse_dot(X, self.coef_.T, dense_output=True)
            return np.asarray(products + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._multi_output
        return tags
