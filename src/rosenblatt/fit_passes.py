"""The passes of a fit, reported to callbacks as tasks of scikit-learn's protocol."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

StopReason = Literal[
    "converged", "max_iter", "time_limit", "no_progress", "early_stopping", "callback", "diverged"
]
Attributes = Mapping[str, Any]
Start = TypeVar("Start")


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
        self.recorders = [
            callback
            for callback in callbacks
            if getattr(callback, "every", "pass") in ("update", "visit")
        ]
        self._root: Any = None
        self._task: Any = None
        self._n_starts, self._start_number = 1, 0
        self._start: Any = None  # the task of the current start, if there are several

    def stop(self, reason: StopReason) -> None:
        """End after this pass, unless a stop was called for already."""
        self.stop_reason = self.stop_reason or reason

    def each_start(self, starts: Sequence[Start]) -> Iterator[Start]:
        """Give the starts of a fit, one after the other; iterate over the passes of each.

        With several, the passes of one are the subtasks of a task of its own, and a run of their
        own in a trace. Set `attributes` anew for each, and in the end to those of the model kept.
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
        """A task of the fit, whose beginning was reported."""
        arguments = self._task_arguments()
        if self._root is None:
            several = self._n_starts > 1
            self._root = self.estimator._init_callback_context(
                max_subtasks=self._n_starts if several else self.max_iter,
                sequential_subtasks=not several,
            )
            self._root.call_on_fit_task_begin(**arguments)
        if self._n_starts > 1 and self._start is None:
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
