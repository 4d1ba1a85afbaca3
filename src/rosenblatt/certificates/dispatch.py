"""`certify`: find out what a model is, and hand its data and numbers to the right verifier."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.registry import CERTIFICATES, ESTIMATORS
from rosenblatt.runtime.threads import one_blas_thread

from .claims import Certificate, Claim, weights_in_range

Verifier = Callable[..., Certificate]


def certify(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    tol: float = 1e-4,
    effort: int = 1,
) -> Certificate:
    """Re-derive what a fit achieved, from the data and the model's public attributes alone.

    Works on our models, on scikit-learn's of the same problem, and through `Pipeline` and
    searches. It cannot know whether X, y and sample_weight are what the fit saw: it speaks of
    the data given.

    Parameters
    ----------
    model : a fitted estimator.
    X : the rows, shape (n, d); array, data frame or sparse matrix.
    y : their labels or targets, shape (n,); (n, t) for several targets; None for models that have
        learned without.
    sample_weight : weights of the rows, shape (n,), or None.
    tol : how near the best possible counts as reached, relative to the problem's scale; perceptrons
        have no such claim.
    effort : 0 for what one pass over the data can tell; 1 also searches for the widest plane or
        for the proof that there is none, and for tighter bounds on what is left to gain.

    Returns
    -------
    certificate : Certificate
        Its `holds` is True when every claim holds; print it for a table.

    Examples
    --------
    >>> from rosenblatt import Perceptron, certify
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> certificate = certify(Perceptron().fit(X, y), X, y)
    >>> certificate.holds
    True
    >>> certificate["training error"].value
    0
    """
    if hasattr(model, "best_estimator_"):  # a search speaks for the model it chose
        return certify(
            model.best_estimator_, X, y, sample_weight=sample_weight, tol=tol, effort=effort
        )
    if _is_a(model, "sklearn", "Pipeline"):
        last = model[-1]
        if len(model) > 1:
            X = model[:-1].transform(X)
        certificate = certify(last, X, y, sample_weight=sample_weight, tol=tol, effort=effort)
        steps = [step for _, step in model.steps[:-1] if hasattr(step, "transform")]
        before = ", ".join(type(step).__name__ for step in steps)
        return _with_note(certificate, f"on the output of {before}") if before else certificate
    verifier = _verifier(model)
    tags = model.__sklearn_tags__().input_tags
    # Trees publish the categories of each column; bagging passes its rows to its members.
    readers = [model, *getattr(model, "estimators_", [])[:1]]
    words = tags.string or any(hasattr(reader, "categories_") for reader in readers)
    if y is None:
        y = _no_target(model, X)
    classes = hasattr(model, "classes_")
    X, y, weight = _check_data(
        X, y, sample_weight, words=words, gaps=tags.allow_nan, classes=classes
    )
    with np.errstate(over="ignore"):
        overflows = not np.isfinite(weight.sum())
    if overflows and getattr(sys.modules[verifier.__module__], "ONLY_RELATIVE_WEIGHTS", False):
        weight = weights_in_range(weight)
    # Numbers out of range are infinity or NaN, of which no claim holds; and the same bits come out
    # whatever number of threads BLAS has.
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread(), unnamed_columns():
        try:
            certificate = verifier(model, X, y, weight, tol=tol, effort=effort)
        except Exception:
            strange = _not_finite(model)
            if overflows:
                strange.append("the sum of the weights")
            if not strange:
                raise
            return _of_strange_numbers(model, X, strange)
    # The fit may have had weights, of which a model says nothing afterwards.
    weighs = "sample_weight" in signature(model.fit).parameters
    if sample_weight is None and not certificate.holds and weighs:
        return _with_note(certificate, "each of weight 1 (a fit with sample_weight asks for it)")
    return certificate


@contextmanager
def unnamed_columns() -> Iterator[None]:
    """No warnings of scikit-learn that the rows, by now an array, have no names of columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (does not have|has) .*feature names")
        yield


def _not_finite(model: Any) -> list[str]:
    """The fitted attributes that contain NaN or infinity."""
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    arrays = {name: getattr(model, name) for name in names}
    arrays = {name: v.data if sp.issparse(v) else np.asarray(v) for name, v in arrays.items()
              if isinstance(v, float | np.ndarray | np.floating) or sp.issparse(v)}  # fmt: skip
    return [name for name, v in arrays.items() if v.dtype.kind == "f" and not np.isfinite(v).all()]


def _of_strange_numbers(model: Any, X: Any, strange: list[str]) -> Certificate:
    """The certificate of a model whose numbers lead nowhere."""
    statement = f"{', '.join(strange)} must be finite, and contain NaN or infinity"
    claim = Claim("finite numbers", statement, len(strange), 0, False, "proved")
    words = f"the {X.shape[0]:,} rows and {X.shape[1]:,} columns given"
    return Certificate(type(model).__name__, "that of the class", words, (claim,))


def _verifier(model: Any) -> Verifier:
    """The `certify_model` of the first base of the model's class that has a verifier."""
    for base in type(model).__mro__:
        module = CERTIFICATES.get(base.__name__)
        if module is not None and _package(base) in ("rosenblatt", "sklearn"):
            verifier: Verifier = import_module(f"{__package__}.{module}").certify_model
            return verifier
    known = ", ".join(f"rosenblatt.{name}" for name in ESTIMATORS if name in CERTIFICATES)
    raise TypeError(
        f"{type(model).__name__} cannot be certified. These can: {known}, scikit-learn's classes "
        "of the same names, and Pipelines and searches that end in one."
    )


def _package(base: type) -> str:
    return base.__module__.partition(".")[0]


def _is_a(model: Any, package: str, name: str) -> bool:
    """Whether a base of the model's class has that name in that package."""
    return any(b.__name__ == name and _package(b) == package for b in type(model).__mro__)


def _with_note(certificate: Certificate, note: str) -> Certificate:
    """The same certificate, with a word on the data it speaks of."""
    return replace(certificate, data=f"{certificate.data}, {note}")


def _no_target(model: Any, X: Any) -> NDArray[Any]:
    """What stands for y where nothing was learned from it."""
    if model.__sklearn_tags__().target_tags.required:
        raise ValueError(f"A {type(model).__name__} is certified with its targets; y is None.")
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))


def _check_data(
    X: Any, y: Any, sample_weight: Any, *, words: bool, gaps: bool, classes: bool
) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """X in 64 bits in its storage, or objects if of `words`, maybe with `gaps`; y and weights.

    A column of `classes` counts as their list.
    """
    if hasattr(X, "isna") and hasattr(X, "to_numpy"):  # pandas: NA of nullable types is NaN
        X = X.to_numpy(na_value=np.nan)
    words = words and np.asarray(X).dtype.kind not in "biuf"
    if sp.issparse(X):
        X = sp.csr_matrix(X, dtype=np.float64)
        if not X.has_canonical_format:  # a place stored twice has the sum of both
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(X, dtype=object if words else np.float64)
    y = np.asarray(y)
    if classes and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if X.ndim != 2:
        raise ValueError(f"X must be a table (n, d); got {X.ndim} dimensions.")
    weight = np.asarray(1.0 if sample_weight is None else sample_weight, np.float64)
    if weight.ndim == 0:  # the weight of each row
        weight = np.full(len(y), weight)
    for name, column in (("y", y), ("sample_weight", weight)):
        several = name == "y" and column.ndim == 2 and column.dtype.kind in "biuf"  # targets
        if len(column) != X.shape[0] or not (column.ndim == 1 or several):
            raise ValueError(
                f"{name} must have one value per row of X, shape ({X.shape[0]},); "
                f"got {column.shape}."
            )
    numbers = np.zeros(0) if words else X.data if sp.issparse(X) else X
    if np.isinf(numbers).any() or (np.isnan(numbers).any() and not gaps):
        raise ValueError("X must be finite to certify a fit on it; it contains NaN or infinity.")
    if not (weight >= 0).all():
        raise ValueError(f"sample_weight must not be negative; got {weight.min()}.")
    if np.isinf(weight).any():
        raise ValueError("sample_weight must be finite; it contains infinity.")
    if not weight.any():
        raise ValueError("There is nothing to certify: no row has a positive weight.")
    return X, y, weight
