"""What models share: input checks, labels, reports to callbacks, linear scores."""

import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.capabilities import planes_of
from rosenblatt.loops.rows import arrays as arrays
from rosenblatt.loops.rows import read_only as read_only
from rosenblatt.runtime import deadline
from rosenblatt.runtime.threads import one_blas_thread

StopReason = Literal[
    "converged", "max_iter", "time_limit", "no_progress", "early_stopping", "callback", "diverged"
]
Attributes = Mapping[str, Any]
Start = TypeVar("Start")


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that reads the names of its parameters once."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # Read off the signature once for a class: a fit asks once, each clone three times.
        names = vars(cls).get("_names_of_parameters")
        if names is None:
            names = cls._names_of_parameters = tuple(super()._get_param_names())
        return list(names)


def store_parameters(model: Any, parameters: Mapping[str, Any]) -> None:
    """Set the parameters of a constructor, its ``locals()``, as attributes of the model."""
    for name, value in parameters.items():
        if name != "self":
            setattr(model, name, value)


def fitting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a fit report to callbacks, and leave the estimator as it was if the fit fails."""
    return all_or_nothing(with_callbacks(method))


def fitting_at_once(method: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for a fit without steps, which reports its beginning and its end.

    A pipeline with callbacks would otherwise issue a warning.
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
            with checks.naming_columns(args[0] if args else kwargs.get("X")):
                return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole


def warn(message: Any, kind: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the code that called this package."""
    frame, level = sys._getframe(), 1
    inside = ("rosenblatt.", "sklearn.callback")  # the wrapper around a fit is scikit-learn's
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def warn_not_converged(message: str) -> None:
    """Warn that a fit stopped early."""
    warn(message, ConvergenceWarning)


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
            warn(last)


class Passes:
    """The passes of an iterative fit: counts them and reports each to the callbacks.

    Set `attributes`, a function giving the fitted attributes as they are now, with copies of the
    arrays, or None before there are any (without callbacks it is never called); then iterate, and
    call `stop` when done.
    """

    attributes: Callable[[], Attributes | None]

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_iter: int | None
    ) -> None:
        self.estimator = estimator
        self.X, self.y, self.sample_weight = X, y, sample_weight
        self.max_iter = max_iter
        self.n_iter = 0
        self.stop_reason: StopReason | None = "max_iter" if max_iter == 0 else None
        self._stopped_by_callback = False
        callbacks = getattr(estimator, "_skl_callbacks", [])
        self.has_callbacks = bool(callbacks)
        # Single updates go to recorders of our own: a context per update would live until the
        # end of the fit.
        self.recorders = [c for c in callbacks if getattr(c, "every", "") in ("update", "visit")]
        self._root: Any = None
        self._task: Any = None
        self._n_starts, self._start_number = 1, 0
        self._start: Any = None  # the task of the current start, if there are several

    def stop(self, reason: StopReason) -> None:
        """End after this pass, unless a stop was called for already."""
        self.stop_reason = self.stop_reason or reason

    def each_start(self, starts: Sequence[Start]) -> Iterator[Start]:
        """Give the starts of a fit, one after the other; iterate over the passes of each.

        With several, the passes of each are subtasks of one task, and one run in a trace. Set
        `attributes` for each start, and at the end to the attributes of the best one.
        """
        self._n_starts = len(starts)
        for self._start_number, start in enumerate(starts):
            self.stop_reason = "max_iter" if self.max_iter == 0 else None
            yield start
            if self._start is not None:
                self._start.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y)
                self._start = None
            if self._stopped_by_callback:
                break
        if self._n_starts > 1:
            self._end()

    def report(self, name: str, attributes: Callable[[], Attributes]) -> None:
        """Report a task before the passes, such as a try, with its attributes to the callbacks."""
        if self.stop_reason is None:
            task = self._begun(name)
            self.attributes = attributes
            if task.call_on_fit_task_end(**self._task_arguments()):
                self.stop("callback")

    def _begun(self, name: str) -> Any:
        """Return a task of the fit, whose beginning was reported."""
        arguments, several = self._task_arguments(), self._n_starts > 1
        if self._root is None:
            self._root = self.estimator._init_callback_context(
                max_subtasks=self._n_starts if several else self.max_iter,
                sequential_subtasks=not several,
            )
            self._root.call_on_fit_task_begin(**arguments)
        if several and self._start is None:
            self._start = self._root.subcontext("start", self._start_number, max_subtasks=None)
            self._start.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
        task = (self._start or self._root).subcontext(name)
        task.call_on_fit_task_begin(**arguments)
        return task

    def __iter__(self) -> Iterator[int]:
        try:
            yield from self._counted()
            if self._n_starts == 1:
                self._end()
        finally:
            self._forget_attributes()

    def _counted(self) -> Iterator[int]:
        arguments = self._task_arguments()
        while self.stop_reason is None:
            if deadline.END.get() is not None:
                deadline.check()
            if self.has_callbacks:
                self._task = self._begun("pass")
            self.n_iter += 1
            yield self.n_iter
            if self.has_callbacks and self._task.call_on_fit_task_end(**arguments):
                self._stopped_by_callback = True
                self.stop("callback")
            if self.n_iter == self.max_iter:
                self.stop("max_iter")

    def _end(self) -> None:
        """Report the end of the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._task_arguments())
        self._forget_attributes()

    def _forget_attributes(self) -> None:
        # They refer to the fit, and the fit to the passes: a cycle that would keep the rows in
        # memory until the garbage collector runs.
        vars(self).pop("attributes", None)

    def _task_arguments(self) -> dict[str, Any]:
        """Return the arguments of callbacks at the beginning and the end of each task."""
        weight = self.sample_weight
        return {
            "estimator": self.estimator,
            "X": self.X,
            "y": self.y,
            "metadata": None if weight is None else {"sample_weight": weight},
            "reconstruction_attributes": lambda: self.attributes(),
        }

    def record_visit(self, row: int, score: Any, mistake: bool, changed: bool) -> None:
        """Report one visited example to the recorders."""
        visit = {"row": row, "score": score, "mistake": mistake, "changed": changed}
        about = {"epoch": self.n_iter, "attributes": self.attributes}
        for recorder in self.recorders:
            recorder.record_visit(self.estimator, self._task, **visit, **about)


class LinearClassifier(CallbackSupportMixin, ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier whose scores are linear: one plane for two classes, else one row per class."""

    coef_: Any  # (1, d) or (K, d): an array, or a sparse matrix after `sparsify`
    intercept_: NDArray[Any]
    classes_: NDArray[Any]
    fit_intercept: bool

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores ``X @ coef_.T + intercept_``, shape (n,) for two classes, else (n, K).

        For two classes a positive score means ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        X = checks.rows(self, X, dtype="numeric")
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
        """Predict the targets of X, shape (n,) or (n, t).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        if "coef_" not in vars(self):
            check_is_fitted(self)
        X = checks.rows(self, X)
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(X):  # a product of SciPy's, not of BLAS
                return np.asarray(X @ self.coef_.T + self.intercept_)
            with one_blas_thread():  # bits must not depend on how many threads there are
                return np.asarray(X @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._multi_output
        return tags
