"""The ledger of a sealed test set: a file of JSON lines that is only ever added to.

A record is one line, written in one piece to the end of the file, which the operating system does
whole and in some order whatever the number of processes. That order says which opening was
first; nobody waits for a lock. (Some network file systems do not keep this promise.)

A process that dies as it writes, or a disk that is full, leaves a part of a line. Whose opening it
was is told by what is left of the digest, the first thing written; with nothing left it may be that
of any test set, and counts as one of each: no opening is ever lost.
"""

import errno
import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

ROWS_AT_A_TIME = 4096
BEGINNING = '{"test": "'  # of every record
TORN = re.compile(r'\{"test": "([0-9a-f]*)')


@dataclass(frozen=True)
class Opening:
    """One look at a test set: what was asked, when, and by which model."""

    test: str  # the digest of the rows
    rows: int
    when: str  # ISO 8601, in UTC
    model: str
    parameters: dict[str, str]
    model_hash: str | None
    scoring: Any
    score: Any
    reason: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


class Torn(Opening):
    """What is left of a record that was not written to its end."""

    @staticmethod
    def of(text: str) -> "Torn":
        """The record of what is left; as much of the digest as there is."""
        digits = TORN.match(text)
        unknown = "at a time that was not written down"
        return Torn(digits[1] if digits else "", 0, unknown, "a model", {}, None, None, None)


@dataclass(frozen=True)
class Ledger:
    """The openings of one or more test sets, in a file."""

    path: Path

    def openings(self, test: str) -> list[Opening]:
        """The openings of a test set, in the order in which they were written."""
        return [
            record
            for _, record in self._records()
            if record.test == test or (isinstance(record, Torn) and test.startswith(record.test))
        ]

    def torn(self) -> list[int]:
        """The lines that hold a part of a record."""
        return [number for number, record in self._records() if isinstance(record, Torn)]

    def _records(self) -> list[tuple[int, Opening]]:
        """Each record with its line."""
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return []
        return [
            (number, record)
            for number, line in enumerate(lines, start=1)
            for record in self._read(number, line.strip())
        ]

    def _read(self, number: int, line: str) -> list[Opening]:
        """The record of a line; two if one was added to a part of another; none of a blank."""
        if not line:
            return []
        try:
            return [Opening(**json.loads(line))]
        except (TypeError, ValueError, RecursionError) as error:
            next_one = line.rfind(BEGINNING)
            if next_one > 0:
                return self._read(number, line[:next_one]) + self._read(number, line[next_one:])
            cut = isinstance(error, json.JSONDecodeError)
            if cut and (line.startswith(BEGINNING) or BEGINNING.startswith(line.strip("\0"))):
                return [Torn.of(line)]
            raise ValueError(
                f"Line {number} of {self.path} is not the record of an opening: {line[:60]!r}. "
                "Take it out, or give another ledger, which counts from the beginning."
            ) from error

    def append(self, opening: Opening) -> list[Opening]:
        """Write a record; return the earlier ones of the same test set."""
        line = (json.dumps(asdict(opening)) + "\n").encode()
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if not _ends_in_a_line(file):
                line = b"\n" + line
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        finally:
            os.close(file)
        known = self.openings(opening.test)
        return known[: [record.id for record in known].index(opening.id)]


def _ends_in_a_line(file: int) -> bool:
    """Whether the last line of an open file is a whole one."""
    size = os.fstat(file).st_size
    if size == 0:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"


def now() -> str:
    """The time, as it is written down."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_of(X: Any, y: Any) -> str:
    """What a test set is known by: the same for the same rows in any order or storage."""
    # Each row is hashed, numbers by their value and place, zeros left out; then the sorted hashes.
    labels = [b""] * _num_samples(X) if y is None else list(_plain_rows(y))
    rows = [
        hashlib.blake2b(row + b"|" + label, digest_size=16).digest()
        for row, label in zip(_plain_rows(X), labels, strict=True)
    ]
    return hashlib.sha256(b"".join(sorted(rows))).hexdigest()


def _plain_rows(rows: Any) -> Iterator[bytes]:
    """Each row as bytes that depend on its values alone."""
    if hasattr(rows, "iter_rows") and not all(kind.is_numeric() for kind in rows.dtypes):
        # polars: numbers, words and dates have no array in common
        yield from (repr(list(row)).encode() for row in rows.iter_rows())
        return
    if not sp.issparse(rows):
        rows = np.asarray(rows)
        if rows.dtype.kind not in "biuf":
            yield from (repr(row).encode() for row in rows.tolist())
            return
        rows = rows.reshape(len(rows), -1)
    else:
        rows = rows.tocsr()
    width = str(rows.shape[1]).encode()
    for start in range(0, rows.shape[0], ROWS_AT_A_TIME):
        block = sp.csr_matrix(rows[start : start + ROWS_AT_A_TIME], dtype=np.float64, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        places, values = block.indices.astype(np.int64), block.data
        for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
            yield width + places[first:last].tobytes() + values[first:last].tobytes()
