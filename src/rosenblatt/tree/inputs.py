"""What trees and forests grow from: checked rows, targets and settings."""

from dataclasses import dataclass
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.mixed_tables import categorical_columns, checked_table, encode, learn_categories

from .tree_loops import ABSOLUTE, BETTER_SIDE, ENTROPY, GINI, MAJORITY, OWN_BRANCH, POISSON, SQUARED

CRITERIA = {
    "gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "squared_error": SQUARED,
    "friedman_mse": SQUARED, "poisson": POISSON, "absolute_error": ABSOLUTE,
}  # fmt: skip
MISSING = {
    "best": BETTER_SIDE, "majority": MAJORITY, "branch": OWN_BRANCH, "error": BETTER_SIDE,
}  # fmt: skip
NO_DEPTH = np.iinfo(np.int32).max
SEEDS = np.iinfo(np.int32).max


class Settings(NamedTuple):
    """The parameters of one tree in numbers of rows and columns, as the loops read them."""

    kind: int  # the criterion
    max_features: int
    max_depth: int = NO_DEPTH
    min_split: int = 2
    min_leaf: int = 1
    min_weight: float = 0.0  # of a leaf
    min_decrease: float = 0.0  # of the impurity, as a share of the weight of all rows
    max_leaf_nodes: int = 0  # 0 for any number
    random: bool = False  # thresholds are drawn
    missing: int = BETTER_SIDE
    seed: int = 0
    # The growers set these.
    weighted: bool = False
    monotone: bool = False
    shift: int = 0  # of the rows in sorted entries
    n_classes: int = 1


@dataclass(frozen=True)
class Targets:
    """Targets of a fit: classes by number, or numbers."""

    classes: NDArray[np.int32] | None  # (n, o)
    numbers: NDArray[np.float64] | None  # (n, o)
    n_classes: tuple[int, ...]  # of each output; ones for numbers

    @property
    def n_outputs(self) -> int:
        return len(self.n_classes)

    def taken(self, rows: Any) -> "Targets":
        """Return the targets of some rows."""
        return Targets(
            None if self.classes is None else self.classes[rows],
            None if self.numbers is None else self.numbers[rows],
            self.n_classes,
        )


class TableInput:
    """Models that read tables of numbers and categories."""

    categorical_features: Any
    unknown: str
    missing: str
    n_features_in_: int
    n_outputs_: int
    categories_: list[NDArray[Any] | None]
    _booleans: tuple[int, ...]  # the columns whose thresholds part False from True

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """X as a matrix of numbers, categories by their place; CSC when fitting sparse rows."""
        if reset:
            self._booleans = boolean_columns(X)
            categorical = self._categorical(X)
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

    def _categorical(self, X: Any) -> NDArray[np.bool_]:
        """Return which columns (d,) hold categories."""
        if isinstance(self.categorical_features, str) and not hasattr(X, "columns"):
            return np.zeros(0, bool)
        return categorical_columns(X, self.categorical_features)

    def _n_categories(self) -> NDArray[np.int64]:
        """Return the number of categories of each column (d,), 0 for numbers."""
        return np.array([0 if c is None else len(c) for c in self.categories_], np.int64)

    def _settings(self, n: int, weights: Any, random_state: Any, random: bool) -> Settings:
        """Return the parameters in numbers of rows and columns."""
        model: Any = self
        leaf, split = model.min_samples_leaf, model.min_samples_split
        leaf = int(leaf if isinstance(leaf, Integral) else ceil(leaf * n))
        split = int(split if isinstance(split, Integral) else max(2, ceil(split * n)))
        total = float(n if weights is None else weights.sum())
        return Settings(
            CRITERIA[model.criterion],
            n_features_of(model.max_features, self.n_features_in_),
            NO_DEPTH if model.max_depth is None else min(int(model.max_depth), NO_DEPTH),
            min(max(split, 2 * leaf), n + 1),
            min(leaf, n + 1),  # more is none, and need not fit into 64 bits
            float(model.min_weight_fraction_leaf * total),
            float(model.min_impurity_decrease),
            model.max_leaf_nodes or 0,
            random,
            MISSING[self.missing],
            int(check_random_state(random_state).randint(SEEDS)),
        )

    def _signs(self) -> NDArray[np.int64] | None:
        """Return the monotonic constraints (d,), or None."""
        model: Any = self
        if model.monotonic_cst is None:
            return None
        signs = np.asarray(model.monotonic_cst)
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        if signs.shape[0] != self.n_features_in_:
            raise ValueError(
                f"monotonic_cst has shape {signs.shape[0]} but the input data X has "
                f"{self.n_features_in_} features."
            )
        if not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
                f"{np.unique(signs)}"
            )
        named = zip(signs, self.categories_, strict=True)
        unordered = [j for j, (sign, known) in enumerate(named) if sign and known is not None]
        if unordered:
            raise ValueError(
                f"monotonic_cst requires an order along column {unordered[0]}, whose categories "
                "have none: its entry must be 0, or categorical_features must leave it out."
            )
        return signs.astype(np.int64)

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
        """Return the weights of rows, or None."""
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
    if before is not None:
        old, new = (
            [known.tolist() for known in classes] if isinstance(classes, list) else classes.tolist()
            for classes in (before, model.classes_)
        )
        checks.warm_start("classes", old, new)


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
    """Return the weights of rows times the weights of their classes."""
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


def n_features_of(max_features: Any, d: int) -> int:
    """Return how many columns are tried at a node."""
    if max_features is None:
        return d
    if isinstance(max_features, str):
        root = np.sqrt(d) if max_features == "sqrt" else np.log2(d)
        return max(1, int(root))
    if isinstance(max_features, Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))


def x_log_x_table(n: int) -> NDArray[np.float64]:
    """Return ``x ln x`` of the counts from 0 to n, which entropies are sums of."""
    counts = np.arange(n + 1, dtype=np.float64)
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of X, sparse ones as CSC."""
    return sp.csc_matrix(X)[rows] if sp.issparse(X) else X[rows]


def with_weight(X: Any, targets: Targets, weights: NDArray[np.float64]) -> Any:
    """Return the rows whose weight is not zero; weights of one become None."""
    if (weights == 0).any():
        rows = np.flatnonzero(weights)
        X, targets, weights = take_rows(X, rows), targets.taken(rows), weights[rows]
    return X, targets, None if (weights == 1).all() else weights


def column_of(X: Any, j: int) -> NDArray[np.float64]:
    """Return column j of a matrix, dense or CSC, as doubles."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X[:, j], np.float64)
    column = np.zeros(X.shape[0])
    held = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[held]] = X.data[held]
    return column


def columns_of(X: Any, first: int, last: int) -> NDArray[np.float64]:
    """Return some columns of a matrix, dense or CSC, as rows of doubles."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X[:, first:last].T, np.float64)
    return np.array([column_of(X, j) for j in range(first, last)])


def warn_of_friedman(criterion: str) -> None:
    """Warn that a criterion is deprecated, as scikit-learn does."""
    if criterion == "friedman_mse":
        warn(
            'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in a later '
            'version. Use `criterion="squared_error"` instead.',
            FutureWarning,
        )
