"""How runs come home from worker processes: as whole files in a private folder."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import uuid
import warnings
import weakref
from dataclasses import replace
from pathlib import Path

from rosenblatt.drafts import drafted
from rosenblatt.trace.data import Data
from rosenblatt.trace.run import Run


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
