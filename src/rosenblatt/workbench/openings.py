"""Where the opening of a test set is written down; found before anything is searched for."""

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rosenblatt.data import TableError
from rosenblatt.model_selection.ledger import Ledger
from rosenblatt.model_selection.sealed_test import DEFAULT_LEDGER


def ledger_for(source: str, ledger: Any = None) -> tuple[Path, str]:
    """A file that can be written to, and a word to the user if it is in an unusual place.

    It is beside the table, else in the working folder, else among the user's own files: it knows a
    test set by its rows, so that one file does for many.
    """
    if ledger is not None:
        path = Path(os.path.expanduser(ledger)).absolute()
        trouble = _trouble(path)
        if trouble:
            raise TableError(
                f"The opening of the test set cannot be written to {path} ({trouble}); give "
                "another place as ledger."
            )
        return path, _torn(path)
    places = [Path(f"{source}.openings.jsonl")] if Path(source).is_file() else []
    places = [place.absolute() for place in (*places, Path(DEFAULT_LEDGER))]
    for place in places:
        if not _trouble(place):
            return place, _torn(place)
    own = _own_files() / DEFAULT_LEDGER
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        trouble = error.strerror or str(error)
    else:
        trouble = _trouble(own)
    folders = " nor ".join(str(place.parent) for place in places)
    if trouble:
        raise TableError(
            f"The opening of the test set could be written down neither in {folders} nor in "
            f"{own.parent} ({trouble}): run this in a folder that can be written to."
        )
    return own, f"No file can be written in {folders}: the opening is written down in {own}."


def _trouble(path: Path) -> str:
    """Why records cannot be added to a ledger; nothing if they can."""
    there = path.exists()
    try:
        # It is made when first needed: one that is made and taken away again may have got a record
        # of somebody else's in between.
        with path.open("ab") if there else TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        return error.strerror or str(error)
    if there:
        Ledger(path).openings("")  # a damaged one shows now
    return ""


def _torn(path: Path) -> str:
    """A word on records of which only a part was written."""
    lines = Ledger(path).torn()
    if not lines:
        return ""
    which = f"Line {lines[0]}" if len(lines) == 1 else f"Lines {', '.join(map(str, lines))}"
    holds = "holds a part of a record, and counts as an opening"
    holds = holds if len(lines) == 1 else "hold parts of records, and count as openings"
    return f"{which} of {path} {holds}: something was stopped, or the disk full, as it was written."


def _own_files() -> Path:
    """The folder of the user's own files of this program."""
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(state) / "rosenblatt"
