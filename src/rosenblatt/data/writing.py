"""Files that are written whole or not at all, and tables in the form they were read from."""

import gzip
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.drafts import drafted, drafted_together

from .errors import TableError
from .formats import SEPARATORS, Form

LEDGERS = "openings.jsonl"  # how their names end

if TYPE_CHECKING:
    from .table import Table


def place_for(path: Any, *read: Any) -> Path:
    """Where a file is to be written; asked before long work, so that it is not in vain.

    It must be none of those that are `read`, by whatever name, and no ledger of openings.
    """
    if not str(path):
        raise TableError("The name of a file to write is empty: give one.")
    place = Path(os.path.realpath(os.path.expanduser(path)))  # so that a link stays one
    for other in read:
        if place == Path(os.path.realpath(os.path.expanduser(other))):
            raise TableError(f"{path} is read, and would be written over: give another name.")
    if place.name.endswith(LEDGERS) and place.exists():
        raise TableError(
            f"{path} counts how often a test set was opened, and would be written over: give "
            "another name."
        )
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise TableError(f"{path} is no regular file: give another name.")
    if place.is_dir():
        raise TableError(f"{path} is a folder; name a file in it.")
    if not place.parent.is_dir():
        raise TableError(f"There is no folder {place.parent} to write {place.name} in.")
    if not os.access(place.parent, os.W_OK):
        raise TableError(f"The folder {place.parent} cannot be written to.")
    return place


@contextmanager
def whole_file(path: Any) -> Iterator[Path]:
    """The path of a draft, which takes the place of a file once all went well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "words.txt")) as draft:
    ...         _ = draft.write_text("all of them")
    ...     os.listdir(folder)
    ['words.txt']
    """
    with drafted(place_for(path), path) as draft:
        yield draft


@contextmanager
def whole_files(paths: Sequence[Any]) -> Iterator[list[Path]]:
    """The same of files that belong together: all of them change, or none."""
    with drafted_together([place_for(path) for path in paths], paths) as drafts:
        yield drafts


def write_table(table: "Table", path: Path, form: Form) -> None:
    """Write a table in some form; the file must not matter to anyone before it is whole."""
    if form.name == "libsvm":
        content = _libsvm(table)
        path.write_bytes(gzip.compress(content) if form.zipped else content)
    elif form.name in ("parquet", "arrow"):
        buffer = io.BytesIO()  # the errors of polars' own files do not say what is wrong
        write = table.frame.write_parquet if form.name == "parquet" else table.frame.write_ipc
        write(buffer)
        path.write_bytes(buffer.getbuffer())
    else:
        text = (
            table.frame.write_ndjson()
            if form.name == "jsonl"
            else table.frame.write_csv(separator=SEPARATORS[form.name])
        )
        path.write_bytes(gzip.compress(text.encode()) if form.zipped else text.encode())


def _libsvm(table: "Table") -> bytes:
    from sklearn.datasets import dump_svmlight_file

    buffer = io.BytesIO()
    labels = table.frame[table.frame.columns[0]].to_numpy()
    dump_svmlight_file(table.sparse, labels, buffer, zero_based=False)
    return buffer.getvalue()
