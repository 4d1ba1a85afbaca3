"""Training data of a mistake-driven learner, checked and laid out for the loops."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from rosenblatt import checks

from .classifier import TIES

ROWS_PER_BLOCK = 4096

# One compiled call lasts about a tenth of a second, so that Ctrl-C works.
CELLS_PER_CALL = 30_000_000


@dataclass(frozen=True)
class Examples:
    """Checked rows, and the length of the step that corrects a mistake on each."""

    X: Any  # (n, d), C-ordered or CSR
    classes: NDArray[Any]  # (K,) sorted labels
    codes: NDArray[np.int32]  # (n,) number of each row's class
    step: NDArray[Any]  # (n,) eta0 times the weights of the row and of its class
    rows: NDArray[np.int32]  # the rows to visit
    ties: int  # a value of TIES
    bias: int  # what a step of 1 adds to the intercept: 1, or 0 for none
    n_unlearnable: int  # rows that no weights classify correctly; they are not visited
    unlearnable_weight: float  # the sum of their steps

    @property
    def n_outputs(self) -> int:
        """Rows of `coef_`: one plane for two classes, else one for each."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def cells(self) -> int:
        """Products in the scores of all rows."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size) * self.n_outputs

    @cached_property
    def rows_per_call(self) -> int:
        """Most visits of one compiled call."""
        return max(1, CELLS_PER_CALL * len(self.codes) // max(self.cells, 1))


def check_examples(
    model: Any, X: Any, y: Any, sample_weight: Any, *, classes: Any = None
) -> Examples:
    """Check the input of `fit`, or with the classes of earlier batches that of `partial_fit`."""
    X = model._check_X(X, first=classes is None or not hasattr(model, "classes_"))
    if classes is None:
        classes, codes = checks.classes(y, X.shape[0])
    else:
        seen, codes = checks.labels(y, X.shape[0])
        codes = checks.known_classes(seen, classes)[codes]
    step = _steps(model, X.dtype, len(codes), classes, codes, sample_weight)
    rows, unlearnable = _rows_to_visit(model, X, step, codes, len(classes))
    return Examples(
        X=X,
        classes=classes,
        codes=codes.astype(np.int32),
        step=step,
        rows=rows,
        ties=TIES[model.boundary],
        bias=int(model.fit_intercept),
        n_unlearnable=int(np.count_nonzero(unlearnable)),
        unlearnable_weight=float(step[unlearnable].sum(dtype=np.float64)),
    )


def check_classes(model: Any, classes: Any) -> NDArray[Any]:
    """The classes of a stream of batches; the first `partial_fit` needs them as an argument."""
    known = getattr(model, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known  # type: ignore[no-any-return]
    given = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"`classes={given.tolist()!r}` is not the same as on last call to partial_fit, "
            f"was: {known.tolist()!r}"
        )
    checks.several_classes(given, "classes")
    return given


def _rows_to_visit(
    model: Any, X: Any, step: NDArray[Any], codes: NDArray[np.intp], n_classes: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The rows to visit, and which others (n,) no weights can classify correctly."""
    visited, unlearnable = step > 0, np.zeros(len(codes), np.bool_)
    if not visited.any():
        raise ValueError(
            f"No row has a positive step: eta0={model.eta0}, sample_weight and class_weight "
            f"multiply to 0 in {X.dtype}. Give some rows a weight, or use larger numbers."
        )
    if not model.fit_intercept:
        unlearnable = _unlearnable_rows(model, X, n_classes, codes) & visited
        visited &= ~unlearnable
    if visited.all():
        return np.arange(len(codes), dtype=np.int32), unlearnable
    check_finite(X, np.flatnonzero(~visited), type(model).__name__)
    return np.flatnonzero(visited).astype(np.int32), unlearnable


def _steps(
    model: Any,
    dtype: Any,
    n: int,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    sample_weight: Any,
) -> NDArray[Any]:
    """eta0 times class weight times sample weight, each row (n,)."""
    if model.class_weight is None and sample_weight is None:
        return np.broadcast_to(dtype.type(model.eta0), n)
    weight: NDArray[Any] = np.ones(n, dtype)
    if sample_weight is not None:
        weight = checks.weights(sample_weight, n, dtype=dtype)
    by_class = _class_weights(model, classes, codes, weight)
    return np.asarray((model.eta0 * by_class).astype(dtype)[codes] * weight)


def _class_weights(
    model: Any, classes: NDArray[Any], codes: NDArray[np.intp], weight: NDArray[Any]
) -> NDArray[Any]:
    """The weight of each class (K,); "balanced": inverse to its number of rows that count."""
    if isinstance(model.class_weight, str):
        counts = np.bincount(codes[weight > 0], minlength=len(classes))
        return np.asarray(counts.sum() / (len(classes) * np.maximum(counts, 1.0)))
    by_class = compute_class_weight(model.class_weight, classes=classes, y=classes)
    if not (np.isfinite(by_class) & (by_class >= 0)).all():
        raise ValueError(f"class_weight must give finite weights >= 0; got {model.class_weight!r}.")
    return np.asarray(by_class)


def _unlearnable_rows(
    model: Any, X: Any, n_classes: int, codes: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Which rows (n,) no weights classify correctly: those that always score 0."""
    empty: NDArray[np.bool_] = model._always_zero(X)
    if model.boundary == "mistake":
        return empty
    # Under the other two rules a tie is correct for one class.
    wins_ties = n_classes - 1 if model.boundary == "positive" else 0
    return np.asarray(empty & (codes != wins_ties))


def check_finite(X: Any, rows: NDArray[Any], name: str) -> None:
    """Refuse rows that hold NaN or infinity, a block at a time: a copy of all would be large."""
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        block = X[rows[start : start + ROWS_PER_BLOCK]]
        checks.finite(block, estimator_name=name)
