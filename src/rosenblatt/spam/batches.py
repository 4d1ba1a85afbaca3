"""Tokens of many messages by compiled loops: the same as `tokens.tokens` of each message.

Loading the loops takes longer than reading a few hundred messages, so this module is imported for
large batches only. Messages that the loops cannot read are read by Python.
"""

import string
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.machine_code import MachineCode
from rosenblatt.spam import mail_loops as codes
from rosenblatt.term_table import OVERHANG, TermTable, joined

from .message import BLANKS, MOST_DECODED, Message
from .tokens import ADDRESSES, IGNORED, IGNORED_STARTS, tokens

MOST_TERMS = 1 << 19  # tokens of one message; one with more is read by Python
TERMS_OF_A_MESSAGE = 500  # room for about so many, to begin with
count_messages, add_tokens = MachineCode(codes.count_messages), MachineCode(codes.add_tokens)

DIGITS, LETTERS = string.digits.encode(), string.ascii_letters.encode()
OTHERS = bytes(range(0x80, 0x100))  # all letters
BLANK = b" \t\n\r\f\v"


def _bits(*marked: tuple[int, bytes]) -> NDArray[np.int64]:
    """What each byte is (256,), from the bytes that have a bit."""
    kinds = np.zeros(256, np.int64)
    for bit, those in marked:
        kinds[list(those)] |= bit
    return kinds


def _listed(names: Iterable[tuple[str, int]]) -> tuple[Any, Any, Any]:
    """Names one after the other, where each begins, and a number for each."""
    pairs = list(names)
    text, limits = joined([name for name, _ in pairs])
    return text, limits, np.array([number for _, number in pairs])


def _folds() -> NDArray[np.uint8]:
    """What each byte becomes (4, 256): as it is, with digits as #, in lower case, both."""
    folds = np.tile(np.arange(256, dtype=np.uint8), (4, 1))
    for row in (codes.LOWER, codes.LOWER_DIGITS):
        folds[row, ord("A") : ord("Z") + 1] += 32
    for row in (codes.DIGITS, codes.LOWER_DIGITS):
        folds[row, list(DIGITS)] = ord("#")
    return folds


KINDS = _bits(
    (codes.LETTER, LETTERS + DIGITS + b"#$_'-" + OTHERS),
    (codes.NAME, LETTERS + DIGITS + b"_.+-" + OTHERS),
    (codes.HOST_NAME, LETTERS + DIGITS + b"_.-" + OTHERS),
    (codes.PATH, LETTERS + b"_" + OTHERS),
    (codes.BLANK, BLANKS),
    (codes.URL_END, BLANK + b"<>\"'"),
    (codes.HOST_END, BLANK + b"/<>\"'?#"),
    (codes.HEADER_NAME, bytes(set(range(33, 127)) - {ord(":")})),
)
FOLDS = _folds()
ROLES = _listed(
    [("subject", codes.SUBJECT)]
    + [(name, codes.ADDRESS) for name in sorted(ADDRESSES)]
    + [(name, codes.IGNORED) for name in sorted(IGNORED)]
    + [(name, codes.IGNORED_START) for name in IGNORED_STARTS]
)
RULES = (KINDS, FOLDS, *ROLES)


class Rows(NamedTuple):
    """Tokens of messages by their numbers: those of message i from indptr[i] on."""

    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]
    indptr: NDArray[np.int64]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Return the messages of some rows after each other."""
    lengths = [np.zeros(1, np.int64), *(np.diff(part.indptr) for part in parts)]
    numbers, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return Rows(numbers, counts, np.cumsum(np.concatenate(lengths)))


class TokenCounter:
    """Counts the tokens of messages, and numbers tokens as they come after those it begins with."""

    def __init__(self, table: TermTable) -> None:
        self.table = table
        size = MOST_TERMS
        self._state = np.zeros(3, np.int64)
        places = np.empty(size, np.int64), np.empty(size, np.int64)
        self._out = (np.empty(4 * MOST_DECODED, np.uint8), *places, self._state)
        self._found = np.empty(size, np.uint64), np.empty(size, np.int64)
        self._name = np.zeros(64, np.uint8)
        self._place = np.zeros(table.room, np.int32)

    def count(self, messages: Sequence[Message]) -> Rows:
        """The rows of some messages."""
        batch, n = sections_of(messages), len(messages)
        row = self._row(TERMS_OF_A_MESSAGE * n)
        indptr, left, reached = np.zeros(n + 1, np.int64), np.zeros(n, np.uint8), 0
        while reached < n:
            reached = count_messages(
                batch, reached, RULES, self._name, self._out, self._found,
                self.table.arrays, self.table.size, self._place, row, indptr, left,
            )  # fmt: skip
            if reached < n:
                row = self._more_room(row, indptr[reached])
        end = indptr[-1]
        rows = Rows(row[0][:end], row[1][:end], indptr)
        return self._with_left(rows, messages, np.flatnonzero(left)) if left.any() else rows

    def names_from(self, first: int) -> list[str]:
        """Return the tokens with numbers from the first on."""
        text, _ = self.table.some(np.arange(first, len(self.table)), between=b"\0")
        return text.tobytes().decode().split("\0")[:-1]

    def _row(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return np.empty(n, np.int32), np.empty(n, np.int32)

    def _more_room(self, row: Any, used: int) -> Any:
        """Room for the message that had none, in the row or in the table."""
        if used + self._state[codes.N_TERMS] <= len(row[0]):
            self._grow()
            return row
        larger = self._row(2 * len(row[0]) + MOST_TERMS)
        for old, new in zip(row, larger, strict=True):
            new[:used] = old[:used]
        return larger

    def _grow(self) -> None:
        self.table.grow()
        self._place = np.zeros(self.table.room, np.int32)

    def _with_left(self, rows: Rows, messages: Sequence[Message], left: Any) -> Rows:
        """The rows with those messages that Python must read."""
        found = {int(i): tokens(messages[i]) for i in left}
        parts = []
        for i in range(len(messages)):
            if i in found:
                counts = np.fromiter(found[i].values(), np.int32)
                parts.append((self.numbers_of(list(found[i])).astype(np.int32), counts))
            else:
                some = slice(rows.indptr[i], rows.indptr[i + 1])
                parts.append((rows.numbers[some], rows.counts[some]))
        indptr = np.concatenate([[0], np.cumsum([len(numbers) for numbers, _ in parts])])
        numbers, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Rows(numbers, counts, indptr)

    def numbers_of(self, names: list[str]) -> NDArray[np.int64]:
        """The numbers of tokens; those that are new get the next."""
        text, limits = padded(names)
        numbers, reached = np.empty(len(names), np.int64), 0
        while (
            reached := add_tokens(
                text, limits, reached, self.table.arrays, self.table.size, numbers
            )
        ) < len(names):
            self._grow()
        return numbers


def padded(names: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Names one after the other, with the bytes behind them that loops read at once."""
    text, limits = joined(names)
    return np.concatenate([text, np.zeros(OVERHANG, np.uint8)]), limits


def sections_of(messages: Sequence[Message]) -> tuple[Any, Any, Any]:
    """The text of messages, its sections by kind, start and stop, and those of each message."""
    parts: list[bytes] = []
    kinds: list[int] = []
    limits = [0]
    for message in messages:
        parts += (message.lines, "\n".join(message.texts).encode())
        kinds += (codes.HEADERS, codes.TEXT)
        if message.pages or message.attachments or message.truncated:
            for kind, part in _other_sections(message):
                parts.append(part.encode())
                kinds.append(kind)
        limits.append(len(kinds))
    lengths = np.array([len(part) for part in parts], np.int64)
    ends = np.cumsum(lengths)
    sections = np.column_stack([np.array(kinds, np.int64), ends - lengths, ends])
    text = np.frombuffer(b"".join(parts), np.uint8)
    return text, sections, np.array(limits)


def _other_sections(message: Message) -> Iterable[tuple[int, str]]:
    """What a message has beside headers and text."""
    lines = [f"attachment:{kind}" for kind in message.attachments]
    if message.truncated:
        lines.append("message:long")
    for page in message.pages:
        yield codes.HIDDEN, page.hidden
        yield codes.LINKS, " ".join(page.links)
        lines += [f"html:{tag[:12]}" for tag in page.tags]
        lines += ["html:comment"] * page.n_comments
    yield codes.TOKENS, "\n".join(lines)
