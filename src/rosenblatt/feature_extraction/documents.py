"""Documents in any form as batches of UTF-8 bytes.

Lists and columns are read a batch at a time, iterables as they come; Arrow's strings are read where
they are. ASCII is put into lower case by the loop that finds the words; other documents by Python,
whose rules depend on the neighbours of a letter.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.term_table import NOT_SPLIT

BYTES_AT_A_TIME = 2**19
ITEMS_AT_A_TIME = 2**13
FEW, FEW_CHARACTERS = 8, 2_000

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


class Batch(NamedTuple):
    """Documents one after the other."""

    text: Bytes
    limits: Places  # (n + 1,): document i is text[limits[i]:limits[i + 1]]


class Reading(NamedTuple):
    """How items become documents."""

    decode: Callable[[Any], Any]  # an item as what it holds: files are read, bytes decoded
    prepare: Callable[[str], str] | None  # applied by Python; None if lower case is all there is
    lowercase: bool
    any_item: bool = False  # whether `prepare` takes what is no string
    files: bool = False  # whether items are names of files, or open ones


def batches(documents: Any, reading: Reading) -> Iterator[Batch]:
    """The documents, some at a time."""
    refuse_tables(documents)
    column = None if reading.prepare or reading.files else arrow_strings(documents)
    if column is not None:
        yield from _batches_of_arrow(column, reading)
        return
    items = items_of(documents)
    if isinstance(items, list | tuple) and not (reading.prepare or reading.files):
        yield from _batches_of_list(items, reading)
    else:
        yield from _batches_of_items(items, 0, reading)


def _batches_of_list(items: Any, reading: Reading) -> Iterator[Batch]:
    """Some items at a time, which are looked at one by one only if they are not all strings."""
    for start in range(0, len(items), ITEMS_AT_A_TIME):
        some = items[start : start + ITEMS_AT_A_TIME]
        if set(map(type, some)) == {str}:
            for first, last in _stretches(_limits(some)):
                yield encoded(some[first:last], reading.lowercase)
        else:
            yield from _batches_of_items(some, start, reading)


def _batches_of_items(items: Iterable[Any], before: int, reading: Reading) -> Iterator[Batch]:
    """Items, which others may stand before, as they come."""
    held: list[str] = []
    size = 0
    for number, item in enumerate(items, before):
        document = checked(item, number, reading)
        held.append(document)
        size += len(document)
        if size >= BYTES_AT_A_TIME:
            yield encoded(held, reading.lowercase)
            held, size = [], 0
    if held:
        yield encoded(held, reading.lowercase)


def checked(item: Any, number: int, reading: Reading) -> str:
    """One document as a string; raises if it is none."""
    if type(item) is not str or reading.files:
        if isinstance(item, float) and not reading.any_item:
            refuse(item, number)
        try:
            item = reading.decode(item)
        except UnicodeDecodeError as error:
            why = f"{error.reason}, in document {number} (documents count from 0)"
            raise UnicodeDecodeError(
                error.encoding, error.object, error.start, error.end, why
            ) from None
        if not isinstance(item, str) and not reading.any_item:
            refuse(item, number)
    document = item if reading.prepare is None else reading.prepare(item)
    if not isinstance(document, str):
        refuse(document, number)
    return document


def refuse(item: Any, number: int) -> None:
    """Raise for what is no document."""
    where = f"document {number} (documents count from 0)"
    if item is None or type(item).__name__ in ("NAType", "NaTType") or item != item:
        shown = "np.nan" if isinstance(item, float) else repr(item)
        raise ValueError(
            f"{shown} is an invalid document, expected byte or unicode string; {where} is "
            'missing. Leave such rows out, or make them empty: fillna("") of pandas, '
            'fill_null("") of polars.'
        )
    raise TypeError(
        f"Documents must be strings or bytes; {where} is of type {type(item).__name__}: "
        f"{str(item)[:40]!r}."
    )


def refuse_tables(documents: Any) -> None:
    """Raise for one string, and for tables, which would be read as the names of their columns."""
    if isinstance(documents, str | bytes):
        raise ValueError(
            "Iterable over raw text documents expected, string object received. One document is "
            "[text]."
        )
    if hasattr(documents, "columns") or getattr(documents, "ndim", 1) != 1:
        raise ValueError(
            "Documents must be one column; got a table. Give a column of it, as in table['text']."
        )


def are_few(documents: Any) -> bool:
    """Whether Python has read documents before a loop could be set up: a list of a few strings."""
    return (
        type(documents) in (list, tuple)
        and 0 < len(documents) <= FEW
        and all(type(document) is str for document in documents)
        and sum(map(len, documents)) <= FEW_CHARACTERS
    )


def n_known(documents: Any) -> int:
    """How many documents there are; 0 if only reading them tells."""
    return len(documents) if hasattr(documents, "__len__") else 0


def encoded(documents: Sequence[str], lowercase: bool) -> Batch:
    """Strings one after the other as UTF-8."""
    joined = "".join(documents)
    if joined.isascii():
        return Batch(np.frombuffer(joined.encode(), np.uint8), _limits(documents))
    parts = [
        (text if text.isascii() or not lowercase else text.lower()).encode(errors=NOT_SPLIT)
        for text in documents
    ]
    return Batch(np.frombuffer(b"".join(parts), np.uint8), _limits(parts))


def _limits(parts: Sequence[str] | Sequence[bytes]) -> Places:
    """Where each part begins if they stand one after the other, and where the last ends."""
    limits = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=limits[1:])
    return limits


def is_ascii(batch: Batch) -> bool:
    """Whether no byte of the documents belongs to a longer character."""
    text, limits = batch
    return bool(text[limits[0] : limits[-1]].view(np.int8).min(initial=0) >= 0)


def items_of(documents: Any) -> Iterable[Any]:
    """What an iteration over documents gives, in Python's own types."""
    if isinstance(documents, np.ndarray):
        return documents.tolist()  # type: ignore[no-any-return]
    if hasattr(documents, "to_pylist"):  # of Arrow
        chunks = getattr(documents, "chunks", [documents])
        return (item for chunk in chunks for item in chunk.to_pylist())
    return documents  # type: ignore[no-any-return]


# Columns of Arrow, and those that are such within.


def arrow_strings(column: Any) -> Any:
    """A column as Arrow's strings, or a function that gives some of them; None if it is none."""
    package = type(column).__module__.partition(".")[0]
    if package == "pyarrow":
        return _whole(column)
    if package == "pandas" and hasattr(getattr(column, "array", None), "__arrow_array__"):
        return _whole(column.array.__arrow_array__())
    if package == "polars" and str(getattr(column, "dtype", "")) == "String":
        return column
    return None


def _whole(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    return column.cast(pa.large_string()) if "string" in str(kind) else None


def _batches_of_arrow(column: Any, reading: Reading) -> Iterator[Batch]:
    """Slices of a column, without a copy where it is ASCII or is to stay as it is."""
    before = 0
    for chunk in _chunks(column):
        if chunk.null_count:
            refuse(None, before + chunk.is_null().index(True).as_py())
        text, limits = _buffers(chunk)
        for first, last in _stretches(limits):
            some = Batch(text, limits[first : last + 1])
            yield _in_lower_case(some, before + first, reading)
        before += len(chunk)


def _chunks(column: Any) -> Iterator[Any]:
    """The arrays of a column; those of polars are made some rows at a time."""
    if type(column).__module__.startswith("polars"):
        import polars as pl

        size = max(1, len(column) * BYTES_AT_A_TIME // max(int(column.estimated_size()), 1))
        for start in range(0, len(column), size):
            yield column.slice(start, size).to_arrow(compat_level=pl.CompatLevel.oldest())
    else:
        yield from getattr(column, "chunks", [column])


def _buffers(chunk: Any) -> tuple[Bytes, Places]:
    """The bytes of an array of strings, and where each begins in them."""
    _, limits, text = chunk.buffers()
    wide = np.int64 if "large" in str(chunk.type) else np.int32
    n = len(chunk)
    if not n:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    places = np.frombuffer(limits, wide, n + 1, chunk.offset * np.dtype(wide).itemsize)
    held = np.empty(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    return held, places.astype(np.int64)  # writable, as those of lists: one loop is compiled


def _stretches(limits: Places) -> Iterator[tuple[int, int]]:
    """Ranges of documents, each of about as many bytes as are read at a time."""
    first, n = 0, len(limits) - 1
    while first < n:
        last = int(np.searchsorted(limits, limits[first] + BYTES_AT_A_TIME, "left"))
        last = min(max(last, first + 1), n)
        yield first, last
        first = last


def _in_lower_case(batch: Batch, before: int, reading: Reading) -> Batch:
    """The same documents; those that are not ASCII checked, and in lower case if asked for."""
    if is_ascii(batch):
        return batch
    text, limits = batch
    strings = []
    for number, (first, last) in enumerate(pairwise(limits), before):
        document: Any = text[first:last].tobytes()
        with suppress(UnicodeDecodeError):  # Arrow's strings are UTF-8, whatever bytes would be
            document = document.decode()
        strings.append(checked(document, number, reading))
    return encoded(strings, reading.lowercase)
