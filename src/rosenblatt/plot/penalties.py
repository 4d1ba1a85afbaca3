"""The coefficients of a model at many penalties, each fit begun where the last ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from rosenblatt.linear_model.column_warnings import Told

Array = NDArray[np.float64]

N_PENALTIES = 60
# In units of the largest variation of a column, and of the largest slope without coefficients: from
# hardly any coefficient to hardly any penalty.
SQUARED, ABSOLUTE = (1e2, 1e-6), (1.0, 1e-4)


@dataclass(frozen=True, eq=False)
class Followed:
    """Values (m,) of a model's penalty, the strongest first, and its coefficients (k, m)."""

    parameter: str  # "alpha", or "C", which is one over the penalty
    values: Array
    coefs: Array
    names: list[str]  # (k,)


def followed(model: Any, X: Any, y: Any, values: Any = None) -> Followed:
    """Fit a model at many penalties; those values, or as many as show where coefficients come in.

    The steps of a pipeline before the model are fitted once.
    """
    columns = _get_feature_names(X)
    if isinstance(model, Pipeline):
        if len(model.steps) > 1:
            front = clone(model[:-1])
            X = front.fit_transform(X, y)
            columns = _names_out(front)
        model = model.steps[-1][1]
    model = clone(model)
    settings = model.get_params()
    parameter = next((name for name in ("alpha", "C") if name in settings), None)
    if parameter is None:
        raise ValueError(
            "A path is drawn over a penalty, alpha or C, and "
            f"{type(model).__name__} has neither. Pass Lasso, ElasticNet, Ridge or "
            "LogisticRegression, or penalties and their coefficients."
        )
    if values is None:
        penalties = _usual_penalties(model, np.shape(X)[0], *_sizes(model, X, y))
        values = 1 / penalties if parameter == "C" else penalties
    values = np.unique(np.asarray(values, np.float64))
    if not len(values) or not (values[0] > 0 and values[-1] < np.inf):
        raise ValueError(f"values of {parameter} must be finite and above 0; got {values}.")
    values = values if parameter == "C" else values[::-1]
    if "warm_start" in settings:
        model.set_params(warm_start=True)
    coefs, told = [], Told()
    for value in values:
        with told.listening():
            model.set_params(**{parameter: float(value)}).fit(X, y)
        coefs.append(np.atleast_2d(_coefficients(model)).copy())
    told.tell()
    table = np.moveaxis(np.array(coefs), 0, -1)  # (outputs, d, m)
    return Followed(parameter, values, np.concatenate(table), _names(model, table.shape, columns))


def _coefficients(model: Any) -> Any:
    if not hasattr(model, "coef_"):
        raise ValueError(f"{type(model).__name__} has no coefficients (coef_) to draw.")
    return model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_


def _sizes(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """The largest sum of squares of a centred column, and the largest product with a target."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    if is_classifier(model):
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        targets = np.eye(len(classes))[codes]
    else:
        targets = np.asarray(y, np.float64).reshape(len(y), -1)
    slopes = X.T @ (targets - targets.mean(axis=0))
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() - len(targets) * mean**2
    else:
        squares = ((X - mean) ** 2).sum(axis=0)
    return float(squares.max()) or 1.0, float(np.abs(slopes).max()) or 1.0


def _usual_penalties(model: Any, n: int, variation: float, slope: float) -> Array:
    """Penalties from hardly any coefficient to hardly any effect, in the units of the objective."""
    share = float(getattr(model, "l1_ratio", None) or 0.0)
    share = {"l1": 1.0, "l2": 0.0}.get(str(getattr(model, "penalty", None)), share)
    strongest, weakest = ABSOLUTE if share else SQUARED
    size = slope / share if share else variation
    # A lasso's objective is a mean over the rows, those of ridge and logistic regression are sums.
    per_row = hasattr(model, "l1_ratio") and not is_classifier(model)
    return np.geomspace(strongest, weakest, N_PENALTIES) * (size / n if per_row else size)


def _names_out(front: Any) -> Any:
    """The names of the columns that steps make, if they can say."""
    try:
        return front.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def _names(model: Any, shape: Sequence[int], columns: Any) -> list[str]:
    """What to call the coefficients: by column, and by class or target if there are several."""
    outputs, d = shape[:2]
    by_column = [f"x{j}" for j in range(d)] if columns is None else [str(c) for c in columns]
    if outputs == 1:
        return by_column
    whose = model.classes_ if is_classifier(model) else [f"target {k}" for k in range(outputs)]
    return [f"{column}, {one}" for one in whose for column in by_column]
