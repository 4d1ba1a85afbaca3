"""Checked input of trees and forests: rows as numbers, classes by number, targets."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.mixed_tables import categorical_columns, checked_table, encode, learn_categories

from .settings import Targets


class TableInput:
    """Models that read tables of numbers and categories."""

    categorical_features: Any
    unknown: str
    missing: str
    categories_: list[NDArray[Any] | None]
    _booleans: tuple[int, ...]  # the columns whose thresholds part False from True

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """X as a matrix of numbers, categories by their place; CSC when fitting sparse rows."""
        if reset:
            self._booleans = boolean_columns(X)
            categorical = categorical_columns(X, self.categorical_features)
            if categorical.any():
                X = checked_table(self, X, reset=True)
                self.categories_ = learn_categories(X, categorical)
                matrix = encode(X, self.categories_, "error")
                return self._refuse_missing(matrix)
        elif any(known is not None for known in self.categories_):
            X = checked_table(self, X, reset=False)
            return self._refuse_missing(encode(X, self.categories_, self.unknown))
        dense = not sp.issparse(X)
        X = checks.rows(
            self, X, reset=reset, finite="allow-nan" if dense else True,
            accept_sparse="csc" if reset else "csr",
        )  # fmt: skip
        if dense:
            self._refuse_missing(X)
        if reset:
            self.categories_ = [None] * X.shape[1]
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def _takes_missing(self) -> bool:
        """Whether values may be missing."""
        return self.missing != "error"

    def _refuse_missing(self, X: NDArray[Any]) -> NDArray[Any]:
        """Raise if values are missing that may not be."""
        if not self._takes_missing() and np.isnan(X.sum()) and np.isnan(X).any():
            absent = np.isnan(X).sum(axis=0)
            j = int(absent.argmax())
            name = getattr(self, "feature_names_in_", range(j + 1))[j]
            raise ValueError(
                f"Input X contains NaN. Column {name!r} has {absent[j]} missing "
                f"value{'s' if absent[j] > 1 else ''}, and {self._who_refuses_missing()}"
            )
        return X

    def _who_refuses_missing(self) -> str:
        return "missing is 'error'; 'best', 'majority' and 'branch' take it."

    def _weights(self, sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
        """The weights of the rows; None if none are given."""
        if sample_weight is None:
            return None
        return checks.scaled_weights(sample_weight, X.shape[0])


def boolean_columns(X: Any) -> tuple[int, ...]:
    """The columns of a data frame that are False or True by their type."""
    types = getattr(X, "dtypes", ()) if hasattr(X, "columns") else ()
    return tuple(j for j, kind in enumerate(types) if str(kind).lower() in ("bool", "boolean"))


def _refuse_sparse_targets(model: Any, y: Any) -> None:
    if sp.issparse(y):
        # As in scikit-learn, whose trees raise one and forests the other.
        error = ValueError if hasattr(model, "n_estimators") else TypeError
        raise error("sparse multilabel-indicator for y is not supported. Pass y.toarray() instead.")


def refuse_other_classes(before: Any, model: Any) -> None:
    """Raise if a fit that goes on (`warm_start`) has other classes than those `before`."""
    if before is None:
        return
    pairs = [(before, model.classes_)]
    if isinstance(before, list) and isinstance(model.classes_, list):
        pairs = list(zip(before, model.classes_, strict=False))
        pairs += [] if len(before) == len(model.classes_) else [(before, model.classes_)]
    for old, new in pairs:
        checks.warm_start("classes", np.asarray(old).tolist(), np.asarray(new).tolist())


def class_targets(model: Any, y: Any, n: int) -> Targets:
    """The classes of y by number; sets the attributes that name them."""
    _refuse_sparse_targets(model, y)
    if not isinstance(y, list | tuple | np.ndarray) and y is not None:
        y = np.asarray(y)
    several = np.ndim(y) == 2 and np.shape(y)[1] > 1
    if not several:
        model.classes_, codes = checks.labels(y)
        checks.same_length(n, codes)
        model.n_classes_, model.n_outputs_ = len(model.classes_), 1
        classes = codes.astype(np.int32)[:, np.newaxis]
        n_classes: tuple[int, ...] = (int(model.n_classes_),)
    else:
        y = np.asarray(y)
        check_classification_targets(y)
        checks.same_length(n, y)
        parts = [np.unique(column, return_inverse=True) for column in y.T]
        model.classes_ = [known for known, _ in parts]
        n_classes = tuple(len(known) for known in model.classes_)
        model.n_classes_, model.n_outputs_ = np.array(n_classes, np.intp), len(parts)
        classes = np.transpose([codes for _, codes in parts]).astype(np.int32)
    if model.monotonic_cst is not None and model.n_outputs_ == 1 and n_classes[0] > 2:
        raise ValueError(
            "Monotonicity constraints are not supported with multiclass classification"
        )
    return Targets(np.ascontiguousarray(classes), None, n_classes)


def class_weights(model: Any, y: Any, weights: Any) -> Any:
    """The weights of the rows, times those of their classes."""
    if model.class_weight is None:
        return weights
    by_class = compute_sample_weight(model.class_weight, np.asarray(y))
    return by_class if weights is None else weights * by_class


def number_targets(model: Any, y: Any, n: int) -> Targets:
    """The targets (n, o) as doubles."""
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    _refuse_sparse_targets(model, y)
    numbers = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    numbers = numbers.reshape(len(numbers), -1)
    if model.criterion == "poisson":
        if (numbers < 0).any():
            raise ValueError(
                "Some value(s) of y are negative which is not allowed for Poisson regression."
            )
        if numbers.sum() <= 0:
            raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")
    checks.same_length(n, numbers)
    model.n_outputs_ = numbers.shape[1]
    return Targets(None, np.ascontiguousarray(numbers), (1,) * numbers.shape[1])


def warn_of_friedman(criterion: str) -> None:
    """Warn that a criterion is deprecated, as scikit-learn does."""
    if criterion == "friedman_mse":
        warn(
            'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in a later '
            'version. Use `criterion="squared_error"` instead.',
            FutureWarning,
        )
