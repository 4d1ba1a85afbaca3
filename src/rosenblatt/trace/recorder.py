"""The listening half of a trace: what scikit-learn and our models tell it during a fit."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import tempfile
import uuid
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rosenblatt.capabilities import trace_view
from rosenblatt.runtime.atomic_files import drafted
from rosenblatt.trace.run import Run, RunKey

from .plot_columns import Data, Ground, ground_of

if TYPE_CHECKING:
    import numpy as np

Every = Literal["pass", "update", "visit"]
_making_inbox = Lock()  # joblib pickles callbacks in a thread of its own


class _Fit(NamedTuple):
    """A fit under way: its number in the trace, and where its runs go (None: they stay here)."""

    number: int
    folder: str | None


class Recorder:
    """A scikit-learn fit callback that keeps the model after every step.

    Worker processes get a copy each. A copy that was not there when the fit began posts every
    finished run to the folder of the one that was, which collects them when it is read.
    """

    def __init__(self, every: Every = "pass") -> None:
        if every not in ("pass", "update", "visit"):
            raise ValueError(f'every must be "pass", "update" or "visit"; got {every!r}.')
        self.every: Every = every
        self._n_fits = 0
        self._fits: dict[Any, _Fit] = {}
        self._open: dict[RunKey, Run] = {}
        self._closed: dict[RunKey, Run] = {}
        self._pipelines: dict[RunKey, Any] = {}  # being fitted
        self._inbox: Inbox | None = None

    @property
    def max_propagation_depth(self) -> None:
        """Follow the fit into sub-estimators, however deep."""
        return

    def setup(self, estimator: Any, context: Any) -> None:
        """Note that a fit begins; scikit-learn calls this."""
        self._fit_of(context)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Note that a fit is over, well or badly; scikit-learn calls this."""
        self._close(context)
        del self._fits[context.root_uuid]

    def on_fit_task_begin(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: dict[str, Any] | None = None,
        fitted_estimator: Any = None,
    ) -> None:
        """Keep the data of a fit, and the model before its first pass; scikit-learn calls this."""
        if is_whole_fit(context):
            run = self._run_of(context, Data.of(X, y, metadata))
            run.origin = self._origin_of(estimator, context)
            if hasattr(estimator, "steps"):
                self._pipelines[run.key] = estimator
        elif fitted_estimator is not None:
            run = self._run_of(context.parent, Data.of(X, y, metadata))
            if not run.steps:
                run.start(detached(fitted_estimator))

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: dict[str, Any] | None = None,
        fitted_estimator: Any = None,
    ) -> None:
        """Keep the model after a pass; scikit-learn calls this."""
        if is_whole_fit(context):
            self._mark_starts(context, fitted_estimator)
            self._close(context)
        elif fitted_estimator is not None:
            run = self._run_of(context.parent, Data.of(X, y, metadata))
            first = context.task_id == 0 and (is_whole_fit(context.parent) or not run.key.path[-1])
            if self.every != "pass" and first and not run.n_visits:
                warnings.warn(
                    f'{run.name} does not tell single visits; use Trace(every="pass"), as is done '
                    "here: its passes are recorded."
                )
            if self.every == "pass" or not run.n_visits:
                run.add_pass(context.task_id + 1, detached(fitted_estimator))

    def record_visit(
        self,
        estimator: Any,
        context: Any,
        *,
        epoch: int,
        row: int,
        score: float | np.ndarray,
        mistake: bool,
        changed: bool,
        attributes: Callable[[], dict[str, Any]],
    ) -> None:
        """Keep one visited example; models call this when ``every`` is "update" or "visit".

        Contexts live until the fit ends, so single visits come this way instead.

        Parameters
        ----------
        estimator : the model being fitted.
        context : scikit-learn's context of the pass.
        epoch : the pass, from 1.
        row : index of the example in X.
        score : what the model gave the example before the visit; one per class if several.
        mistake : whether the example was corrected.
        changed : whether the model is another than before; a mean moves at right visits, too.
        attributes : gives copies of the fitted attributes after the visit; called if they changed.
        """
        run = self._run_of(context.parent, Data())
        run.n_visits += 1
        if self.every == "update" and not mistake:
            return
        new = changed or not run.steps
        model = detached(estimator, **attributes()) if new else run.last
        run.add_visit(epoch, model, int(row), score, bool(mistake))

    def _fit_of(self, context: Any) -> _Fit:
        if context.root_uuid not in self._fits:
            self._n_fits += 1
            self._fits[context.root_uuid] = _Fit(self._n_fits, None)
        return self._fits[context.root_uuid]

    def _run_of(self, context: Any, data: Data) -> Run:
        """The run of the task whose subtasks are steps, opened at the first word of it."""
        key = self._key_of(context)
        run = self._open.get(key)
        if run is None:
            run = Run(key, label_of(context, key.fit), context.estimator_name, data)
            if not is_whole_fit(context):  # one start of several
                run.origin = self._run_of(context.parent, data).origin
            self._open[key] = run
        if run.data.X is None:
            run.data = data
        return run

    def _key_of(self, context: Any) -> RunKey:
        number = self._fit_of(context).number
        return RunKey(number, tuple(task.task_id for task in path_of(context)))

    def _origin_of(self, estimator: Any, context: Any) -> Ground | None:
        """Where the rows come from that the last step of a pipeline is fitted to."""
        if context.parent is None:
            return None
        key = self._key_of(context.parent)
        pipeline = self._pipelines.get(key)
        if pipeline is None or pipeline.steps[-1][1] is not estimator:
            return None
        return ground_of(pipeline, self._open[key].data, self._open[key].origin)

    def _mark_starts(self, context: Any, fitted_estimator: Any) -> None:
        """Mark the runs of starts that a fit with several did not keep."""
        kept = trace_view(fitted_estimator).get("kept_start")
        fit = self._key_of(context)
        for key, run in self._open.items():
            if key.fit == fit.fit and key.path[:-1] == fit.path:
                run.kept = kept in (None, key.path[-1])

    def _close(self, context: Any) -> None:
        """Settle the runs below this fit: keep them, or send them to the process that asked."""
        fit = self._fit_of(context)
        path = tuple(task.task_id for task in path_of(context))
        for key in list(self._open):
            if key.fit != fit.number or key.path[: len(path)] != path:
                continue
            run = self._open.pop(key)
            self._pipelines.pop(key, None)
            if run.steps and fit.folder is None:
                self._closed[key] = run
            elif run.steps and fit.folder is not None:
                post(fit.folder, run)

    def _all_runs(self) -> list[Run]:
        """Every run with a step in it, in the order of the fits and their tasks."""
        for run in self._inbox.collect() if self._inbox is not None else ():
            self._closed[run.key] = run
        runs = self._closed | {key: run for key, run in self._open.items() if run.steps}
        return [runs[key] for key in sorted(runs)]

    def _folder(self) -> str:
        with _making_inbox:
            if self._inbox is None:
                self._inbox = Inbox()
        return self._inbox.folder

    def __getstate__(self) -> dict[str, Any]:
        """A copy made during a fit is for a worker: it starts empty and knows where to report."""
        state: dict[str, Any] = {
            "every": self.every,
            "_n_fits": self._n_fits,
            "_open": {},
            "_pipelines": {},
            "_inbox": None,
        }
        if self._fits:
            fits = {root: _Fit(n, to or self._folder()) for root, (n, to) in self._fits.items()}
            return {**state, "_fits": fits, "_closed": {}}
        return {**state, "_fits": {}, "_closed": {run.key: run for run in self._all_runs()}}


# Where a callback's task stands in scikit-learn's tree of tasks, and what to call it.


def path_of(context: Any) -> list[Any]:
    """The contexts from the outermost fit down to this one."""
    path = [context]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    return path[::-1]


def is_whole_fit(context: Any) -> bool:
    """Whether the task is an estimator's fit, alone or on behalf of a meta-estimator."""
    return context.parent is None or context.source_estimator_name is not None


def label_of(context: Any, fit: int) -> str:
    """A readable path such as ``GridSearchCV > search > candidate-split-evaluation 3 > SVC``."""
    root, *rest = path_of(context)
    words = [root.estimator_name if fit == 1 else f"{root.estimator_name} ({fit})"]
    for task in rest:
        numbered = task.task_id > 0 and not is_whole_fit(task)
        number = f" {task.task_id}" if numbered or not task.parent.sequential_subtasks else ""
        words.append((task.source_task_name or task.task_name) + number)
        if is_whole_fit(task):
            words.append(task.estimator_name)
    return " > ".join(words)


def detached(estimator: Any, **attributes: Any) -> Any:
    """A shallow copy with these attributes set, and without the callbacks of the running fit."""
    model = copy.copy(estimator)
    for name in _RUNNING:
        model.__dict__.pop(name, None)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


# What scikit-learn hangs on an estimator while it is fitted with callbacks.
_RUNNING = (
    "_skl_callbacks",
    "_skl_callbacks_to_teardown",
    "_callback_fit_ctx",
    "_parent_callback_ctx",
)


# How runs come home from worker processes: as whole files in a private folder.


class Inbox:
    """A folder, removed with its owner, into which other processes post finished runs."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="rosenblatt-trace-")
        self._data: dict[str, Data] = {}
        weakref.finalize(self, _remove, self.folder, os.getpid())

    def collect(self) -> list[Run]:
        """The runs posted since the last look."""
        return [self._open(path) for path in sorted(Path(self.folder).glob("*.run"))]

    def _open(self, path: Path) -> Run:
        run: Run
        name: str
        run, name = pickle.loads(path.read_bytes())
        if name not in self._data:
            self._data[name] = pickle.loads((path.parent / name).read_bytes())
        path.unlink()
        return replace(run, data=self._data[name])


def post(folder: str, run: Run) -> None:
    """Send a finished run to the inbox in `folder`; a set of data seen by many runs goes once."""
    import joblib

    name = f"{joblib.hash((run.data.X, run.data.y, run.data.sample_weight))}.data"
    try:
        if not Path(folder, name).exists():
            _write(Path(folder, name), _pickled(run.data))
        letter = _pickled((replace(run, data=Data()), name))
        _write(Path(folder, f"{uuid.uuid4().hex}.run"), letter)
    except OSError as error:
        warnings.warn(f"The trace of {run.label!r} could not be sent to its process: {error}.")


def _write(path: Path, content: bytes) -> None:
    with drafted(path) as draft:  # a reader never meets half of it
        draft.write_bytes(content)


def _pickled(value: object) -> bytes:
    """`value` as bytes; classes defined in a notebook travel by value, as they came."""
    import joblib

    return pickle.dumps(joblib.wrap_non_picklable_objects(value, keep_wrapper=False))


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not clear away its parent's folder
        shutil.rmtree(folder, ignore_errors=True)
