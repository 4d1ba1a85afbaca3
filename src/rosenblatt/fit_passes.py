"""The passes of a fit, reported to callbacks as tasks of scikit-learn's protocol."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

StopReason = Literal[
    "converged", "max_iter", "time_limit", "no_progress", "early_stopping", "callback", "diverged"
]
Attributes = Mapping[str, Any]


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
        callbacks = getattr(estimator, "_skl_callbacks", [])
        self.has_callbacks = bool(callbacks)
        # Single updates go to recorders of our own: a context per update would live until the
        # end of the fit.
        self.recorders = [
            callback
            for callback in callbacks
            if getattr(callback, "every", "pass") in ("update", "visit")
        ]
        self._root: Any = None
        self._task: Any = None

    def stop(self, reason: StopReason) -> None:
        """End after this pass, unless a stop was called for already."""
        self.stop_reason = self.stop_reason or reason

    def report(self, name: str, attributes: Callable[[], Attributes]) -> None:
        """Report a task before the passes, such as a try, with its attributes to the callbacks."""
        if self.stop_reason is None:
            task = self._begun(name)
            self.attributes = attributes
            if task.call_on_fit_task_end(**self._task_arguments()):
                self.stop("callback")

    def _begun(self, name: str) -> Any:
        """A task of the fit, whose beginning was reported."""
        arguments = self._task_arguments()
        if self._root is None:
            self._root = self.estimator._init_callback_context(max_subtasks=self.max_iter)
            self._root.call_on_fit_task_begin(**arguments)
        task = self._root.subcontext(name)
        task.call_on_fit_task_begin(**arguments)
        return task

    def __iter__(self) -> Iterator[int]:
        try:
            yield from self._counted()
        finally:
            # It refers to the fit, and the fit to the passes: a cycle that would keep the rows in
            # memory until the garbage collector runs.
            vars(self).pop("attributes", None)

    def _counted(self) -> Iterator[int]:
        arguments = self._task_arguments()
        while self.stop_reason is None:
            if self.has_callbacks:
                self._task = self._begun("pass")
            self.n_iter += 1
            yield self.n_iter
            if self.has_callbacks and self._task.call_on_fit_task_end(**arguments):
                self.stop("callback")
            if self.n_iter == self.max_iter:
                self.stop("max_iter")
        if self._root is not None:
            self._root.call_on_fit_task_end(**arguments)

    def _task_arguments(self) -> dict[str, Any]:
        """What callbacks are called with at the beginning and the end of each task."""
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
        for recorder in self.recorders:
            recorder.record_visit(
                self.estimator,
                self._task,
                epoch=self.n_iter,
                row=row,
                score=score,
                mistake=mistake,
                changed=changed,
                attributes=self.attributes,
            )
