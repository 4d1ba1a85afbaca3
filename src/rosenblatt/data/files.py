"""The kinds of files that hold tables, and how each is told from its name."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from rosenblatt.runtime.atomic_files import drafted, drafted_together

from .errors import TableError, did_you_mean

FORMATS = {  # by name, with how the names of files end
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
STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow"}  # of their files
STREAM = b"\xff" * 4  # how each message of an Arrow stream begins
ZIPPED = b"\x1f\x8b"


@dataclass(frozen=True)
class Form:
    """What kind of file it is, and whether it was squeezed by gzip."""

    name: str
    zipped: bool = False


def form_of(path: str, given: str | None = None) -> Form:
    """The form of a file, by its name unless it is given.

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
    """The format that the first bytes of a file tell, if it is no text.

    >>> form_of_content(b"PAR1...")
    'parquet'
    """
    return next((form for start, form in STARTS.items() if first.startswith(start)), None)


def is_arrow_stream(source: Any) -> bool:
    """Whether a file, or bytes, are Arrow batches without the list of them that files end with."""
    if isinstance(source, bytes):
        return source.startswith(STREAM)
    with open(source, "rb") as file:
        return file.read(len(STREAM)) == STREAM


def check_unzipped(first: bytes, name: str) -> None:
    """Raise if bytes are those of an archive, which nobody has undone."""
    if first.startswith(ZIPPED):
        raise TableError(
            f"{name} is compressed by gzip; decompress it, as in gzip -dc FILE | rosenblatt ..."
        )
    if first.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{name} is a ZIP archive. If it is a spreadsheet, give its format: xlsx or ods."
        )


# Files that are written whole or not at all, and tables in the form they were read from.


LEDGERS = "openings.jsonl"  # how their names end


def place_for(path: Any, *read: Any) -> Path:
    """Where a file is to be written; asked before long work, so that it is not in vain.

    It must be none of those that are `read`, by whatever name, and no ledger of openings; the null
    device will do.
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
    """Raise if files cannot be written, or two of them would be one; asked before long work."""
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
    """The path of a draft, which takes the place of a file once all went well."""
    with drafted(place_for(path), path) as draft:
        yield draft


@contextmanager
def whole_files(paths: Sequence[Any]) -> Iterator[list[Path]]:
    """The same of files that belong together: all of them change, or none."""
    with drafted_together([place_for(path) for path in paths], paths) as drafts:
        yield drafts
