"""What a long fit has done so far, on the disk: plain arrays, written whole or not at all.

A fit is a sequence of passes, and all that it learns of the data are their totals. So a checkpoint
keeps the totals of passes that ended, and the sums of the parts that are done in the one that did
not. A fit that goes on runs its own code again on the totals, and reads data where they end: it
comes to the same bits, and no algorithm needs a file format.
"""

import hashlib
import json
import shutil
import sys
import weakref
import zipfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data import TableError
from rosenblatt.data.source import Part
from rosenblatt.runtime.atomic_files import drafted

from .sums import MergeTree, Sums, from_arrays, to_arrays

CURRENT, FILES = "current.json", "files.json"


class Checkpoint:
    """A folder that keeps the totals of passes, and the sums of the one under way.

    Each state is a folder of its own; `current.json` names the one that counts, and changes last.
    """

    def __init__(self, folder: Any, model: Any, source: Any, parts: list[Part] | None) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock()
        self.job = job_of(model, source, parts)
        self.state: dict[str, Any] = {"job": self.job, "pass": 1, "done": 0, "levels": []}
        current = self.folder / CURRENT
        if current.exists():
            found = None
            with suppress(ValueError):
                found = json.loads(current.read_text("utf-8"))
            if not isinstance(found, dict) or not set(self.state) <= set(found):
                raise _damaged(current)
            self.state = found
        if self.state["job"] != self.job:
            raise TableError(
                f"{self.folder} holds the checkpoint of another fit: other files, another target, "
                "another model or other parameters. Remove it or name another folder."
            )
        self._check_files([part.path for part in parts or ()])

    def _check_files(self, paths: list[str]) -> None:
        """Refuse files that were written since their rows were counted; those to come may be."""
        now = {path: [Path(path).stat().st_size, Path(path).stat().st_mtime_ns] for path in paths}
        done = paths if self.state["pass"] > 1 else paths[: self.state["done"]]
        try:
            known = json.loads((self.folder / FILES).read_text("utf-8")) if done else {}
        except (OSError, ValueError):
            raise _damaged(self.folder / FILES) from None
        for path in done:
            if known.get(path) != now[path]:
                raise TableError(
                    f"{path} was written after the checkpoint {self.folder} had counted its rows. "
                    "Remove the checkpoint or name another folder."
                )
        with drafted(self.folder / FILES) as draft:
            draft.write_text(json.dumps(now), "utf-8")

    def _lock(self) -> None:
        """Refuse a folder that another process works with; the system unlocks it if that dies."""
        if sys.platform == "win32":
            return
        lock, fcntl = (self.folder / "lock").open("w"), import_module("fcntl")
        weakref.finalize(self, lock.close)
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TableError(
                f"Another process works with the checkpoint {self.folder}: wait for it, or name "
                "another folder."
            ) from None
        except OSError:  # a file system without locks
            return

    def seed(self, drawn: int) -> int:
        """The seed of this job: one that was drawn before, else this one, which is kept."""
        if "seed" not in self.state:
            self._write({"seed": drawn})
        return int(self.state["seed"])

    def total(self, number: int) -> Any:
        """The total of a pass that ended; None if it did not."""
        if number >= self.state["pass"]:
            return None
        return _read(self.folder / f"pass-{number:06d}.npz")

    def resumed(self, number: int) -> MergeTree:
        """The sums of a pass that did not end; empty if it did not begin."""
        tree = MergeTree()
        if number == self.state["pass"] and self.state["done"]:
            for level, name in self.state["levels"]:
                tree.levels.append((level, _read(self.folder / self.state["folder"] / name)))
            tree.n_added = self.state["done"]
        return tree

    def save(self, number: int, tree: MergeTree) -> None:
        """Keep the sums as they are now in place of those of before."""
        state = self.folder / f"done-{number:06d}-{tree.n_added:08d}"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir()
        levels = [(level, f"{level}.npz") for level, _ in tree.levels]
        for (_, statistic), (_, name) in zip(tree.levels, levels, strict=True):
            _write(statistic, state / name)
        self._write({"pass": number, "done": tree.n_added, "folder": state.name, "levels": levels})
        for old in self.folder.glob("done-*"):
            if old != state:
                shutil.rmtree(old, ignore_errors=True)

    def end(self, number: int, total: Any) -> None:
        """Keep the total of a pass."""
        with drafted(self.folder / f"pass-{number:06d}.npz") as draft:
            _write(total, draft)
        self._write({"pass": number + 1, "done": 0, "levels": []})

    def condensed(self, first: int) -> tuple[Any, int] | None:
        """What passes from one on came to, if that was kept in place of them, and the last."""
        path = self.folder / f"from-{first:06d}.npz"
        if not path.exists():
            return None
        found = _read(path)
        return found["result"], int(found["last"])

    def condense(self, first: int, last: int, result: Any) -> None:
        """Keep what passes came to in place of their totals."""
        with drafted(self.folder / f"from-{first:06d}.npz") as draft:
            _write(Sums(result=result, last=last), draft)
        for number in range(first, last + 1):
            (self.folder / f"pass-{number:06d}.npz").unlink(missing_ok=True)

    def _write(self, news: dict[str, Any]) -> None:
        self.state |= news
        with drafted(self.folder / CURRENT) as draft:
            draft.write_text(json.dumps(self.state), "utf-8")


def job_of(model: Any, source: Any, parts: list[Part] | None) -> str:
    """A digest of what a fit depends on: parts, target, columns, model and its parameters."""
    asked = [getattr(source, name, None) for name in ("schema", "bad", "left_out")]
    where = [source.place, source.target, list(source.columns), parts, asked]
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):  # centres given as an array
        what = [type(model).__name__, repr(sorted(model.get_params().items())), repr(where)]
    return hashlib.sha256("\0".join(what).encode()).hexdigest()


def _write(total: Any, path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, **to_arrays(total))  # type: ignore[arg-type]


def _read(path: Path) -> Any:
    try:
        with np.load(path, allow_pickle=False) as read:
            return from_arrays({name: read[name] for name in read.files})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise _damaged(path) from None


def _damaged(path: Path) -> TableError:
    return TableError(f"The checkpoint is damaged at {path}: remove its folder, and begin again.")
