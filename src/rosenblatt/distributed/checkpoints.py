"""What a long fit has done so far, on the disk: plain arrays, written whole or not at all."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from rosenblatt.data import TableError
from rosenblatt.data.source import Part
from rosenblatt.runtime.atomic_files import drafted
from rosenblatt.statistics import load, save

from .merging import MergeTree

CURRENT = "current.json"


class Checkpoint:
    """A folder that keeps the sums of the parts that are done.

    Each state is a folder of its own; `current.json` names the one that counts, and changes last.
    """

    def __init__(self, folder: Any, model: Any, parts: list[Part]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        what = [type(model).__name__, repr(sorted(model.get_params().items())), repr(parts)]
        self.job = hashlib.sha256("\0".join(what).encode()).hexdigest()

    def resumed(self) -> MergeTree:
        """The sums of what was done before; empty if nothing was."""
        tree = MergeTree()
        current = self.folder / CURRENT
        if not current.exists():
            return tree
        state = json.loads(current.read_text("utf-8"))
        if state["job"] != self.job:
            raise TableError(
                f"{self.folder} holds the checkpoint of another fit: other files, another model or "
                "other parameters. Remove it or name another folder."
            )
        for level, name in state["levels"]:
            tree.levels.append((level, load(self.folder / state["folder"] / name)))
        tree.n_added = state["done"]
        return tree

    def save(self, tree: MergeTree) -> None:
        """Keep the sums as they are now in place of those of before."""
        state = self.folder / f"done-{tree.n_added:08d}"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir()
        levels = [(level, f"{level}.npz") for level, _ in tree.levels]
        for (_, statistic), (_, name) in zip(tree.levels, levels, strict=True):
            save(statistic, state / name)
        words = {"job": self.job, "done": tree.n_added, "folder": state.name, "levels": levels}
        with drafted(self.folder / CURRENT) as draft:
            draft.write_text(json.dumps(words), "utf-8")
        for old in self.folder.glob("done-*"):
            if old != state:
                shutil.rmtree(old, ignore_errors=True)
