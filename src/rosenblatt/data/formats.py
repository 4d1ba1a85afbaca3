"""The kinds of files that hold tables, and how each is told from its name."""

from dataclasses import dataclass
from pathlib import PurePath

from .errors import TableError, did_you_mean

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
SEPARATORS = {"csv": ",", "tsv": "\t"}
STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow"}  # of their files
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
                f"There is no format {given!r}; there are {', '.join(FORMATS)}."
                + did_you_mean(given, FORMATS)
            )
        return Form(given, zipped)
    last = suffixes[-2 if zipped else -1 :][:1]
    if not last or last[0] not in SUFFIXES:
        raise TableError(
            f"The name {path} does not say what kind of file it is: give the format, one of "
            f"{', '.join(FORMATS)}."
        )
    return Form(SUFFIXES[last[0]], zipped)


def form_of_content(first: bytes) -> str | None:
    """The format that the first bytes of a file tell, if it is no text.

    >>> form_of_content(b"PAR1...")
    'parquet'
    """
    return next((form for start, form in STARTS.items() if first.startswith(start)), None)


def check_unzipped(first: bytes, name: str) -> None:
    """Raise if bytes are those of an archive, which nobody has undone."""
    if first.startswith(ZIPPED):
        raise TableError(
            f"{name} is squeezed by gzip: undo it on the way, as in gzip -dc FILE | rosenblatt ..."
        )
    if first.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{name} is a ZIP archive, as those of spreadsheets are: save the table as CSV."
        )
