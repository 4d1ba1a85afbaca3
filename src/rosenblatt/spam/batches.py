"""Tokens of many messages by compiled loops: the same as `tokens.tokens` of each message.

Loading the loops takes longer than reading a few hundred messages, so this module is imported for
large batches only.
"""

import string
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.machine_code import MachineCode
from rosenblatt.spam import mail_loops as codes
from rosenblatt.term_table import TermTable, joined

from .message import BLANKS, Message
from .tokens import ADDRESSES, IGNORED, IGNORED_STARTS

# Initial room; it grows when a message needs more.
MOST_TERMS, MOST_BYTES = 1 << 16, 1 << 20  # in one message
TERMS_OF_A_MESSAGE = 500  # on average
count_messages = MachineCode(codes.count_messages)

DIGITS, LETTERS = string.digits.encode(), string.ascii_letters.encode()
OTHERS = bytes(range(0x80, 0x100))  # all letters
BLANK = b" \t\n\r\f\v"


def _bits(*marked: tuple[int, bytes]) -> NDArray[np.int64]:
    """Return the bits of each byte (256,)."""
    kinds = np.zeros(256, np.int64)
    for bit, marked_bytes in marked:
        kinds[list(marked_bytes)] |= bit
    return kinds


def _listed(names: Iterable[tuple[str, int]]) -> tuple[Any, Any, Any]:
    """Return names in one array, the limits of each, and their numbers."""
    pairs = list(names)
    text, limits = joined([name for name, _ in pairs])
    return text, limits, np.array([number for _, number in pairs])


def _folds() -> NDArray[np.uint8]:
    """Return the bytes (4, 256) unchanged, with digits as #, in lower case, and both."""
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
    """Numbers of tokens and their counts; message i has indptr[i] to indptr[i + 1]."""

    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]
    indptr: NDArray[np.int64]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Return the messages of some rows after each other."""
    lengths = [np.zeros(1, np.int64), *(np.diff(part.indptr) for part in parts)]
    numbers, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return Rows(numbers, counts, np.cumsum(np.concatenate(lengths)))


class TokenCounter:
    """Counts the tokens of messages; new tokens get the next numbers of the table."""

    def __init__(self, table: TermTable) -> None:
        self.table = table
        self._name = np.zeros(64, np.uint8)
        self._place = np.zeros(table.room, np.int32)
        self._set_room(MOST_TERMS, MOST_BYTES)

    def _set_room(self, n_terms: int, n_bytes: int) -> None:
        """Make room for the tokens of one message."""
        places = np.empty(n_terms, np.int64), np.empty(n_terms, np.int64)
        self._out = (np.empty(n_bytes, np.uint8), *places, np.zeros(3, np.int64))
        self._found = np.empty(n_terms, np.uint64), np.empty(n_terms, np.int64)

    def count(self, messages: Sequence[Message]) -> Rows:
        """Return the tokens of some messages."""
        batch, n = sections_of(messages), len(messages)
        row = np.empty((2, TERMS_OF_A_MESSAGE * n), np.int32)
        indptr, reached = np.zeros(n + 1, np.int64), 0
        while reached < n:
            reached = count_messages(
                batch, reached, RULES, self._name, self._out, self._found,
                self.table.arrays, self.table.size, self._place, (row[0], row[1]), indptr,
            )  # fmt: skip
            if reached < n:
                row = self._with_more_room(row, indptr[reached])
        return Rows(row[0, : indptr[-1]], row[1, : indptr[-1]], indptr)

    def _with_more_room(self, row: NDArray[np.int32], used: int) -> NDArray[np.int32]:
        """Make room for a message that had none: for its tokens, in the table or in the row."""
        clean, starts, _, state = self._out
        if state[codes.FULL]:
            self._set_room(2 * len(starts), 2 * len(clean))
        elif used + state[codes.N_TERMS] <= row.shape[1]:
            self.table.grow()
            self._place = np.zeros(self.table.room, np.int32)
        else:
            larger = np.empty((2, 2 * row.shape[1] + int(state[codes.N_TERMS])), np.int32)
            larger[:, :used] = row[:, :used]
            return larger
        return row

    def names_from(self, first: int) -> list[str]:
        """Return the tokens with numbers from the first on."""
        text, _ = self.table.some(np.arange(first, len(self.table)), between=b"\0")
        return text.tobytes().decode().split("\0")[:-1]


def sections_of(messages: Sequence[Message]) -> tuple[Any, Any, Any]:
    """Return the text of messages, its sections (kind, start, stop), and the limits of messages."""
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
    """Yield the sections of a message other than headers and text."""
    lines = [f"attachment:{kind}" for kind in message.attachments]
    if message.truncated:
        lines.append("message:long")
    for page in message.pages:
        yield codes.HIDDEN, page.hidden
        yield codes.LINKS, " ".join(page.links)
        lines += [f"html:{tag[:12]}" for tag in page.tags]
        lines += ["html:comment"] * page.n_comments
    yield codes.TOKENS, "\n".join(lines)
