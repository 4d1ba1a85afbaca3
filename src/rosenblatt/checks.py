"""Checks of arguments: tables, labels, targets, weights, penalties and the range of numbers.

scikit-learn's checks come first. Here they also name the columns that an error is about, return
numbers that compiled loops can read, and take no time where a table needs no check.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_scalar, column_or_1d, compute_class_weight
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y
from sklearn.utils.validation import validate_data as _validate_data

from rosenblatt.missing_values import is_missing, which_missing

Array = NDArray[np.float64]

CSR = (sp.csr_matrix, sp.csr_array)
FLOATS = (np.float64, np.float32)
NUMBERS = tuple(np.dtype(code) for code in "?bhilqBHILQfd")

LARGEST_POWER = 256  # of two: products of three sums of such weights are in range

BLOCK = 512  # rows and columns that are compared at once

MOST_COLUMNS = 5  # named in one message about values
MOST_NAMES = 8  # in a list of columns

# Tables.


def rows(
    model: Any, X: Any, *, reset: bool = False, order: Any = None, finite: Any = True,
    dtype: Any = FLOATS, accept_sparse: Any = "csr", **options: Any,
) -> Any:  # fmt: skip
    """Return X (n, d) as numbers, dense or CSR; `reset` stores the number and names of columns.

    A plain table returns at once: scikit-learn's checks take longer than predicting a single row.
    `finite` is scikit-learn's `ensure_all_finite`; the other `options` are passed to it as well.
    """
    if not options and _is_plain(X, dtype, order, accept_sparse):
        known = vars(model)
        if reset:
            known.pop("feature_names_in_", None)
            known["n_features_in_"] = X.shape[1]
        as_fitted = X.shape[1] == known.get("n_features_in_") and "feature_names_in_" not in known
        values = X.data if sp.issparse(X) else X
        if as_fitted and (
            finite is False
            or has_finite_sum(values)
            or (finite == "allow-nan" and not np.isinf(values).any())
        ):
            return X
    with naming_columns(X):
        return validate_data(
            model, X, reset=reset, order=order, ensure_all_finite=finite, dtype=dtype,
            accept_sparse=accept_sparse, **options,
        )  # fmt: skip


def _is_plain(X: Any, dtype: Any, order: Any, accept_sparse: Any) -> bool:
    """Return whether scikit-learn's checks would return X itself, finite or not."""
    dense = type(X) is np.ndarray
    if (
        not (dense or (accept_sparse == "csr" and type(X) in CSR))
        or X.ndim != 2
        or min(X.shape) < 1
    ):
        return False
    if X.dtype not in (NUMBERS if dtype == "numeric" else dtype):
        return False
    if dense:
        return order is None or bool(X.flags.c_contiguous)
    return bool(X.indices.dtype == np.int32 and len(X.data) == X.indptr[-1])


def validate_data(model: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Call scikit-learn's function; return X in native byte order and decimal numbers as floats.

    >>> import pandas as pd
    >>> from rosenblatt import Perceptron
    >>> frame = pd.DataFrame({"a": np.array([1.0, 2.0], ">f8")})
    >>> validate_data(Perceptron(), frame).dtype
    dtype('float64')
    """
    unique_names(X)
    numeric = not options.get("skip_check_array") and options.get("dtype", "numeric") is not None
    if numeric and _is_time(_first_dtype(X)):  # scikit-learn reads dates alone, and NaT, as numbers
        no_times(X)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of the sum that it tries first
            checked = _validate_data(model, X, *y, **options)
    except TypeError:
        no_times(X)
        raise
    if options.get("skip_check_array"):
        return checked
    if isinstance(checked, tuple):
        return (_readable(checked[0], numeric), *checked[1:])
    return _readable(checked, numeric)


def finite(X: Any, name: str = "X", **options: Any) -> None:
    """Raise if X, dense or sparse, holds NaN or infinity."""
    with np.errstate(over="ignore", invalid="ignore"):  # of the sum that it tries first
        assert_all_finite(X.data if sp.issparse(X) else X, input_name=name, **options)


def not_counts(numbers: NDArray[Any]) -> ValueError:
    """Return the error about numbers that are not counts."""
    if np.isnan(numbers).any():
        return ValueError("Input X contains NaN; missing='ignore' leaves such values out.")
    if np.isinf(numbers).any():
        return ValueError("Input X contains infinity.")
    if numbers.min(initial=0) < 0:
        return ValueError(f"Negative values in data cannot be counted; got {numbers.min()}.")
    return ValueError(f"Values in data are too large to be counts; got {numbers.max()}.")


def has_finite_sum(values: NDArray[Any]) -> bool:
    """Return whether the sum is finite; if not, a value may be NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(values.sum())


def no_times(X: Any) -> None:
    """Raise if X holds dates or times."""
    dtypes = X.dtypes if hasattr(X, "columns") else [_first_dtype(X)]
    for name, dtype in zip(getattr(X, "columns", [0]), dtypes, strict=False):
        if _is_time(dtype):
            raise TypeError(
                f"Column {name!r} holds dates or times ({dtype}): convert them to numbers, such "
                "as days since the first."
            )


def unique_names(X: Any) -> None:
    """Raise if two columns of a data frame have the same name."""
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        name = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(
            f"{names.count(name)} columns of X are called {name!r}: give each a name of its own."
        )


def _first_dtype(X: Any) -> Any:
    """Return the dtype of an array, or of the first column of a data frame."""
    if hasattr(X, "columns"):
        return getattr(X[X.columns[0]], "dtype", None) if len(X.columns) else None
    return getattr(X, "dtype", None)


def _is_time(dtype: Any) -> bool:
    return str(dtype).lower().startswith(("date", "time", "duration"))


def _readable(X: Any, numeric: bool) -> Any:
    """Return a checked table as loops read it; objects stay where any dtype is allowed."""
    values = X.data if sp.issparse(X) else X
    if not isinstance(values, np.ndarray):
        return X
    if values.dtype.kind == "O" and numeric:
        return X.astype(np.float64)
    return X if values.dtype.isnative else X.astype(values.dtype.newbyteorder("="))


# Columns named in errors. Looking for them takes a second pass, made once there is an error.


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Let an error about values of X end with the columns they are in.

    >>> with naming_columns([[1.0, float("nan")]]):
    ...     raise ValueError("Input X contains NaN.")
    Traceback (most recent call last):
    ValueError: Input X contains NaN. Column 1 has 1 missing value: impute ... or drop such rows.
    """
    try:
        yield
    except ValueError as error:
        more = _explained(X, str(error))
        if more is None or type(error) is not ValueError:
            raise
        # Only the first line: what follows recommends other models.
        raise ValueError(f"{str(error).splitlines()[0]} {more}") from None


def _explained(X: Any, message: str) -> str | None:
    """Return which columns the error is about; None if it is about something else."""
    kinds: list[tuple[str, str, Callable[[Any], Any], str, str]] = [
        ("Input X contains NaN", "fcO", which_missing, "missing value",
         "impute such values, for instance with sklearn.impute.SimpleImputer, or drop such rows"),
        ("Input X contains infinity", "f", np.isinf, "infinite or too large value",
         "clip or drop such values"),
        ("could not convert string to float", "OUST", _words, "word",
         "encode them, for instance with sklearn.preprocessing.OneHotEncoder"),
    ]  # fmt: skip
    for beginning, dtypes, strange, what, advice in kinds:
        if message.startswith(beginning) and "Column" not in message:
            counts = [
                (name, int(strange(values).sum()) if values.dtype.kind in dtypes else 0)
                for name, values in _columns(X)
            ]
            found = [
                f"column {name} has {count} {what}{'' if count == 1 else 's'}"
                for name, count in counts
                if count
            ]
            more = len(found) - MOST_COLUMNS
            found = found[:MOST_COLUMNS] + [f"and {more} columns more have some"] * (more > 0)
            sentence = ", ".join(found)
            return f"{sentence[0].upper()}{sentence[1:]}: {advice}." if found else None
    return None


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the names and values of the columns of any table."""
    if sp.issparse(X):
        X = X.tocsc()
        yield from ((str(j), X.data[X.indptr[j] : X.indptr[j + 1]]) for j in range(X.shape[1]))
    elif hasattr(X, "columns") and len(X.columns) == X.shape[1]:
        for j, name in enumerate(X.columns):
            yield repr(str(name)), np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j])
    else:
        try:
            table = np.asarray(X if hasattr(X, "dtype") else list(X))
        except ValueError:  # rows of different lengths
            return
        if table.ndim == 2:
            yield from ((str(j), table[:, j]) for j in range(table.shape[1]))


def _words(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([isinstance(value, str) and not _is_number(value) for value in values], bool)


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def listed(columns: Any, names: Sequence[str]) -> str:
    """Return some columns by name, and how many more there are."""
    shown = [names[j] for j in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


# Labels and targets.


def labels(y: Any, n_rows: int | None = None) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes of y (n,) and the code (n,) of each label, for n rows.

    Sorting all labels would take longer than a pass over the data, so the classes are read from
    the first rows, and from all only if that was not enough.
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    _one_type_of_labels(y)
    if not (isinstance(y, np.ndarray) and y.ndim == 1):
        y = column_or_1d(y, warn=True)
    found = np.unique(y[:1000])
    integers = found.dtype.kind in "iu" and len(found) > 0
    if integers and int(found[-1]) - int(found[0]) < len(found):  # without a gap
        codes = (y - found[0]).astype(np.intp, copy=False)
        known = codes.min() >= 0 and codes.max() < len(found)
    elif len(found) == 2:
        second = y == found[1]
        codes, known = second.astype(np.intp), (second | (y == found[0])).all()
    else:
        codes = np.searchsorted(found, y)
        known = len(found) > 0 and np.all(found.take(codes, mode="clip") == y)
    if not known:
        found, codes = np.unique(y, return_inverse=True)
    if found.dtype.kind not in "biuSU":  # numbers that may be a regression's, or objects
        if found.dtype.kind == "f":
            finite(found, "y")
        # Repeated, because a target of nothing but different values would get a warning as well.
        check_classification_targets(np.repeat(found, 3))
    if n_rows is not None:
        same_length(n_rows, codes)
    return found, codes


def classes(
    y: Any, n_rows: int, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the same as `labels`, of at least two classes.

    `known` are all classes of a search, for the rows of a fold that misses some.
    """
    found, codes = labels(y, n_rows)
    if known is not None:
        return known, np.searchsorted(known, found)[codes]
    several_classes(found)
    return found, codes


def several_classes(found: NDArray[Any], name: str = "y") -> None:
    """Raise if there are not two classes."""
    if len(found) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; "
            f"{name} has {len(found)} class: {found.tolist()}."
        )


def known_classes(found: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of classes among those that are known; raise if one is not."""
    unknown = np.setdiff1d(found, known)
    if len(unknown):
        raise ValueError(
            f"The target label(s) {unknown.tolist()} in y do not exist in the initial classes "
            f"{known.tolist()}. Add them to classes."
        )
    return np.searchsorted(known, found)


def same_length(n_rows: int, y: Any) -> None:
    """Raise if y does not have a value for each row of X."""
    if len(y) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows and y has {len(y)}."
        )


def _one_type_of_labels(y: Any) -> None:
    """Raise if y holds both strings and numbers, which NumPy would all make strings, or NaN."""
    values = y if isinstance(y, list | tuple) else np.asarray(y)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return
    kinds: dict[bool, Any] = {}
    missing = None
    for i, label in enumerate(values):
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


def targets(model: Any, y: Any, n_rows: int) -> Array:
    """Return the targets (n,) or (n, t) of a regression as doubles."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    plain = type(y) is np.ndarray and y.ndim in (1, 2) and y.size > 0 and y.dtype.kind in "fiu"
    if not (plain and has_finite_sum(y)):
        numbers(y)
        y = _check_y(y, multi_output=True, y_numeric=True, estimator=model)
        if sp.issparse(y):
            raise TypeError("y must be dense; got a sparse matrix. Use y.toarray().")
        if y.ndim > 2:
            raise ValueError(f"y must have shape (n,) or (n, t); got {y.shape}.")
    same_length(n_rows, y)
    return np.asarray(y, np.float64)


def numbers(y: Any) -> None:
    """Raise if the targets of a regression are strings, dates or the like."""
    if y is None or sp.issparse(y):
        return
    values = np.asarray(y)
    kind = values.dtype.kind
    if kind in "fiubc":  # scikit-learn has its own message about complex numbers
        return
    wrong = (v for v in values.ravel().tolist()
             if kind != "O" or (isinstance(v, str | bytes) and not _is_number(v)))  # fmt: skip
    for value in wrong:
        raise ValueError(
            f"y must hold numbers; got {values.dtype}, such as {value!r}. "
            "For labels use a classifier, for instance rosenblatt.LogisticRegression."
        )


# Weights.


def weights(
    sample_weight: Any, n_rows: int, *, ones: bool = False, dtype: Any = np.float64,
    negative: bool = False, all_zero: bool = False,
) -> Any:  # fmt: skip
    """Return the weights (n,) of rows; for None, ones if asked for, else None.

    `negative` and `all_zero` allow weights below zero, and weights that are all zero.
    """
    if sample_weight is None:
        return np.ones(n_rows, dtype) if ones else None
    shape = np.empty((n_rows, 0))  # all that the check reads of X
    return _check_sample_weight(
        sample_weight, shape, dtype=dtype, ensure_non_negative=not negative,
        allow_all_zero_weights=all_zero,
    )  # fmt: skip


def scaled_weights(sample_weight: Any, n_rows: int, *, negative: bool = False) -> Array:
    """Return weights (n,) whose sums and products stay in range, ones for None."""
    return weights_in_range(weights(sample_weight, n_rows, ones=True, negative=negative))


def weights_in_range(weight: Array) -> Array:
    """Return weights (n,), scaled by a power of two if the largest is not in 2**-256 to 2**256.

    >>> weights_in_range(np.array([1.0, 3.0])), weights_in_range(np.array([2.0**900, 2.0**1000]))
    (array([1., 3.]), array([4.56719262e+46, 5.78960446e+76]))
    """
    power = int(np.frexp(np.abs(weight).max(initial=0.0))[1])
    return np.ldexp(weight, int(np.clip(power, -LARGEST_POWER, LARGEST_POWER)) - power)


def row_weights(
    found: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any, class_weight: Any
) -> Array:
    """Return sample weight times class weight of each row (n,), for classes (K,) and codes (n,)."""
    weight = weights(sample_weight, len(codes), ones=True)
    if class_weight is not None:
        weight = weight * class_weights(found, codes, weight, class_weight)[codes]
    return some_weight(weight)


def some_weight(weight: Array) -> Array:
    """Return weights; raise if all are zero."""
    if not weight.sum() > 0:
        raise ValueError(
            "sample_weight and class_weight must give some row a positive weight; all are 0."
        )
    return np.asarray(weight)


def class_weights(
    found: NDArray[Any], codes: NDArray[np.intp], weight: Array, class_weight: Any
) -> Array:
    """Return the weights (K,) of classes; "balanced" counts rows by their weights (n,)."""
    if class_weight is None:
        return np.ones(len(found))
    by_class = compute_class_weight(
        class_weight, classes=found, y=found[codes], sample_weight=weight
    )
    if by_class.min() < 0:
        k = int(by_class.argmin())
        raise ValueError(
            f"class_weight must not be negative; class {found.tolist()[k]!r} has {by_class[k]:g}."
        )
    some_weight(weight * by_class[codes])
    return np.asarray(by_class, np.float64)


# Numbers: their range, symmetry, and parameters.


def in_range(values: Any, what: str, advice: str = "rescale the columns") -> Any:
    """Return computed values; raise if one overflowed."""
    if not np.isfinite(values).all():
        raise too_large(what, advice)
    return values


def too_large(what: str, advice: str = "rescale the columns") -> ValueError:
    """Return the error about numbers that overflowed. `what` ends with is or are."""
    return ValueError(f"{what} too large for 64 bits; {advice}.")


def symmetric(K: NDArray[Any], what: str, tolerance: float) -> None:
    """Raise if a matrix (n, n) is not symmetric."""
    unequal, (i, j) = most_unequal(K)
    if unequal > tolerance:
        raise ValueError(
            f"{what} must be symmetric; got X[{i}, {j}] = {K[i, j]:.10g} and X[{j}, {i}] = "
            f"{K[j, i]:.10g}."
        )


def most_unequal(K: NDArray[Any]) -> tuple[float, tuple[int, int]]:
    """Return the largest difference of K[i, j] and K[j, i], and its place (i, j)."""
    worst, pair = 0.0, (0, 0)
    for i in range(0, len(K), BLOCK):  # in blocks: the difference of all would be as large as K
        for j in range(0, i + BLOCK, BLOCK):
            off = np.abs(K[i : i + BLOCK, j : j + BLOCK] - K[j : j + BLOCK, i : i + BLOCK].T)
            if off.max(initial=0.0) > worst:
                row, column = np.unravel_index(off.argmax(), off.shape)
                worst, pair = float(off.max()), (i + int(row), j + int(column))
    return worst, pair


def in_precision(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return fitted numbers in the precision of the rows; raise if one leaves its range."""
    if values.dtype == dtype:
        return np.array(values)  # a copy with the same memory order
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
    if np.isinf(narrow).any() and np.isfinite(values).all():
        raise ValueError(
            f"Coefficients go up to {np.abs(values).max():.3g}, beyond the range of "
            f"{np.dtype(dtype)}: give X as float64, or divide y by a constant."
        )
    return narrow


def finite_number(name: str, value: Any, least: float = -math.inf) -> None:
    """Raise if a parameter is not a finite number that is at least `least`."""
    real = isinstance(value, int | float | np.number)
    if not (real and math.isfinite(value) and value >= least):
        limit = "" if least == -math.inf else f" >= {least}"
        raise ValueError(f"{name} must be a finite number{limit}; got {value!r}.")


def integer(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return a parameter as an int; raise if it is not an integer from `least` to `most`."""
    if not isinstance(value, Integral) or not least <= int(value) <= most:
        limits = f">= {least}" if most == math.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {limits}; got {value!r}.")
    return int(value)


def priors(given: Any, n_classes: int, name: str = "priors") -> Array:
    """Return the prior probabilities (K,) of classes, not normalized."""
    shares = np.asarray(given, np.float64)
    if shares.shape != (n_classes,):
        raise ValueError(
            f"Number of {name.lower()} must match number of classes; "
            f"got {shares.size} and {n_classes}."
        )
    if not (shares >= 0).all():
        raise ValueError(f"{name} must be non-negative; got {shares.tolist()}.")
    return shares


def warm_start(name: str, before: Any, needed: Any) -> None:
    """Raise if the previous fit, which `warm_start` continues, has another shape or classes."""
    if before != needed:
        raise ValueError(
            f"warm_start=True continues the previous fit with {name} {before}; this fit needs "
            f"{needed}. Use warm_start=False."
        )


def penalties(alphas: Any, *, zero: bool = False) -> Array:
    """Return penalties (A,) as doubles; raise if one is not positive or, if `zero`, negative."""
    given = alphas if np.ndim(alphas) else [alphas]
    if np.ndim(given) > 1 or not len(given):
        raise ValueError(
            f"alphas must be at least one penalty, (A,); got shape {np.shape(alphas)}."
        )
    ends = "left" if zero else "neither"
    for k, alpha in enumerate(given):
        check_scalar(alpha, f"alphas[{k}]", Real, min_val=0.0, include_boundaries=ends)
        if not np.isfinite(alpha):
            raise ValueError(f"alphas[{k}] == {alpha}, must be finite.")
    return np.asarray(given, np.float64)


def path_values(model: Any, parameter: str, values: Any) -> list[Any]:
    """Return the values of a path; raise where a fit would raise.

    Of numbers only the least, the greatest and NaN are checked, because limits are intervals.
    """
    names = model.path_parameters()
    if parameter not in names:
        allowed = " or ".join(map(repr, names)) or "left out: these settings have no path"
        raise ValueError(f"parameter must be {allowed}; got {parameter!r}.")
    given: list[Any] = list(values) if np.iterable(values) else []
    if not given:
        raise ValueError("values must be a sequence of at least one value; got none.")
    real = all(isinstance(value, Real) for value in given)
    checked = [min(given), max(given), *(v for v in given if v != v)] if real else given
    for value in checked:
        validate_parameter_constraints(
            {parameter: model._parameter_constraints[parameter]},
            {parameter: value},
            caller_name=type(model).__name__,
        )
    return given
