"""The ledger of a sealed test set: a file of JSON lines that is only ever added to.

A record is one line, written in one piece to the end of the file, which the operating system does
whole and in some order whatever the number of processes. That order says which opening was
first; nobody waits for a lock. (Some network file systems do not keep this promise.)
"""

import hashlib
import json
import os
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


@dataclass(frozen=True)
class Ledger:
    """The openings of one or more test sets, in a file."""

    path: Path

    def openings(self, test: str) -> list[Opening]:
        """The openings of a test set, in the order in which they were written."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        records = [self._read(i, line) for i, line in enumerate(lines, start=1) if line.strip()]
        return [record for record in records if record.test == test]

    def _read(self, number: int, line: str) -> Opening:
        try:
            return Opening(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Line {number} of {self.path} is not the record of an opening: {line[:60]!r}. "
                "Mend it, or give another ledger."
            ) from error

    def append(self, opening: Opening) -> list[Opening]:
        """Write a record; return the earlier ones of the same test set."""
        line = (json.dumps(asdict(opening)) + "\n").encode()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if os.write(file, line) != len(line):
                raise OSError(f"The record of this opening could not be written to {self.path}.")
            os.fsync(file)
        finally:
            os.close(file)
        known = self.openings(opening.test)
        return known[: [record.id for record in known].index(opening.id)]


def now() -> str:
    """The time, as it is written down."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_of(X: Any, y: Any) -> str:
    """What a test set is known by: the same for the same rows in any order or storage.

    Each row is hashed, numbers by their value and place, zeros left out; then the sorted hashes.
    """
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
