"""Formats of files by their names, and places of output files."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from rosenblatt.runtime.atomic_files import drafted, drafted_together

from .errors import TableError, did_you_mean

FORMATS = {  # with the suffixes of files
    "csv": (".csv", ".txt", ".data"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
    "libsvm": (".libsvm", ".svm", ".svmlight"),
    "xlsx": (".xlsx", ".xlsm", ".xls"),
    "ods": (".ods",),
}
SPREADSHEETS = ("xlsx", "ods")
SUFFIXES = {suffix: form for form, suffixes in FORMATS.items() for suffix in suffixes}
SEPARATORS = {"csv": ",", "tsv": "\t"}
STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow"}
STREAM = b"\xff" * 4  # first bytes of each message of an Arrow stream
ZIPPED = b"\x1f\x8b"


@dataclass(frozen=True)
class Form:
    """Format of a file, and whether gzip compressed it."""

    name: str
    zipped: bool = False


def form_of(path: str, given: str | None = None) -> Form:
    """Return the form of a file, by its name unless it is given.

    >>> form_of("mail.csv.gz")
    Form(name='csv', zipped=True)
    """
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    if given is not None:
        if given not in FORMATS:
            raise TableError(
                f"There is no format {given!r}; the formats are {', '.join(FORMATS)}."
                + did_you_mean(given, FORMATS)
            )
        return Form(given, zipped)
    last = suffixes[-2 if zipped else -1 :][:1]
    if not last or last[0] not in SUFFIXES:
        raise TableError(
            f"The format of {path} is unknown from its name; give the format: {', '.join(FORMATS)}."
        )
    return Form(SUFFIXES[last[0]], zipped)


def form_of_content(first: bytes) -> str | None:
    """Return the format of a binary file by its first bytes, None for text.

    >>> form_of_content(b"PAR1...")
    'parquet'
    """
    return next((form for start, form in STARTS.items() if first.startswith(start)), None)


def is_arrow_stream(source: Any) -> bool:
    """Return True for a stream of Arrow batches, which lacks the index of a file."""
    if isinstance(source, bytes):
        return source.startswith(STREAM)
    with open(source, "rb") as file:
        return file.read(len(STREAM)) == STREAM


def check_unzipped(first: bytes, name: str) -> None:
    """Raise if bytes are those of a compressed file."""
    if first.startswith(ZIPPED):
        raise TableError(
            f"{name} is compressed by gzip; decompress it, as in gzip -dc FILE | rosenblatt ..."
        )
    if first.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{name} is a ZIP archive. If it is a spreadsheet, give its format: xlsx or ods."
        )


# Output files, which are written atomically.


LEDGERS = "openings.jsonl"  # end of their names


def place_for(path: Any, *read: Any) -> Path:
    """Return the path of an output file; raise early if it cannot be written.

    It must differ from the files `read` and from ledgers; the null device is allowed.
    """
    if not str(path):
        raise TableError("The name of the file to write is empty.")
    place = Path(os.path.realpath(os.path.expanduser(path)))  # so that a link stays one
    for other in read:
        if place == Path(os.path.realpath(os.path.expanduser(other))):
            raise TableError(
                f"{path} is an input file and would be overwritten; give another name."
            )
    if str(place) == os.devnull:
        return place
    if place.name.endswith(LEDGERS) and place.exists():
        raise TableError(
            f"{path} records the evaluations on a test set and would be overwritten; give another "
            "name."
        )
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise TableError(f"{path} is not a regular file; give another name.")
    if place.is_dir():
        raise TableError(f"{path} is a folder; name a file in it.")
    if not place.parent.is_dir():
        raise TableError(f"The folder {place.parent} for {place.name} does not exist.")
    if not os.access(place.parent, os.W_OK):
        raise TableError(f"The folder {place.parent} is not writable.")
    return place


def check_places(written: Sequence[Any], *read: Any) -> None:
    """Raise if files cannot be written, or if two of them are the same."""
    places: set[Path] = set()
    for path in written:
        place = place_for(path, *read)
        if place in places and str(place) != os.devnull:
            raise TableError(
                f"{path} is given for two output files and would be overwritten; give another name."
            )
        places.add(place)


@contextmanager
def whole_file(path: Any) -> Iterator[Path]:
    """Yield the path of a draft, which replaces the file if no error occurs."""
    with drafted(place_for(path), path) as draft:
        yield draft


@contextmanager
def whole_files(paths: Sequence[Any]) -> Iterator[list[Path]]:
    """Yield drafts of several files, which replace all of them or none."""
    with drafted_together([place_for(path) for path in paths], paths) as drafts:
        yield drafts
