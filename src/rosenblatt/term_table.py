"""A hash table of terms by their bytes, numbered in the order in which they were added."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import term_table_loops
from rosenblatt.machine_code import MachineCode

NOT_SPLIT = "surrogatepass"  # half a surrogate pair is a character to Python
LEAST_SLOTS = 2**12
OVERHANG = 16  # bytes that loops read at once, the last of a term or not
place_terms = MachineCode(term_table_loops.place_terms)
BYTES_OF_A_TERM = 8  # about; the arena grows when they are longer


def joined(terms: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return terms as one array of UTF-8, and where each begins."""
    text = "".join(terms)
    if text.isascii():
        held, lengths = text.encode(), list(map(len, terms))
    else:
        parts = [term.encode(errors=NOT_SPLIT) for term in terms]
        held, lengths = b"".join(parts), list(map(len, parts))
    limits = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(lengths, out=limits[1:])
    return np.frombuffer(held, np.uint8), limits


def split(text: NDArray[np.uint8], limits: NDArray[np.int64]) -> list[str]:
    """Return the terms of an array of UTF-8."""
    held, places = text.tobytes(), limits.tolist()
    if held.isascii():
        letters = held.decode()
        return [letters[a:b] for a, b in pairwise(places)]
    return [held[a:b].decode(errors=NOT_SPLIT) for a, b in pairwise(places)]


class TermTable:
    """A hash table of terms, numbered in the order in which they were added."""

    def __init__(self, n_terms: int = 0, n_bytes: int = 0) -> None:
        n_slots = LEAST_SLOTS
        while n_slots < 2 * n_terms:
            n_slots *= 2
        self.slots = np.zeros((n_slots, 4), np.uint64)
        n_bytes = max(n_bytes, BYTES_OF_A_TERM * n_slots // 2)
        self.arena = np.empty(n_bytes + OVERHANG, np.uint8)
        self.limits = np.zeros(n_slots // 2 + 1, np.int64)
        self.size = np.zeros(1, np.int64)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Self:
        """Return the table of some terms, numbered in their order."""
        return cls.of_bytes(*joined(list(terms)))

    @classmethod
    def of_bytes(
        cls,
        text: NDArray[np.uint8],
        limits: NDArray[np.int64],
        often: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return the table of terms in an array of UTF-8; frequent ones are found first."""
        n = len(limits) - 1
        table = cls(n, len(text))
        table.arena[: len(text)], table.limits[: n + 1] = text, limits
        table.size[0] = n
        order = np.arange(n) if often is None else np.argsort(-often, kind="stable")
        place_terms(table.arrays, order)
        return table

    def __len__(self) -> int:
        return int(self.size[0])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Arguments of the loops: slots, arena and the limits of terms in it."""
        return self.slots, self.arena, self.limits

    @property
    def room(self) -> int:
        """Number of terms that the table can hold."""
        return len(self.limits) - 1

    def grow(self) -> None:
        """Make room for twice as many terms, or for longer ones."""
        n = len(self)
        larger = TermTable(2 * n if n == self.room else self.room, 2 * len(self.arena))
        used = self.limits[n]
        larger.arena[:used] = self.arena[:used]
        larger.limits[: n + 1] = self.limits[: n + 1]
        place_terms(larger.arrays, np.arange(n))
        self.slots, self.arena, self.limits = larger.arrays

    def numbers_of(self, other: "TermTable") -> NDArray[np.int32]:
        """Return the number of each term of another table in this one; -1 for unknown terms."""
        n = len(other)
        bits, numbers = np.empty(n, np.uint64), np.empty(n, np.int64)
        places = other.limits[:n], other.limits[1 : n + 1]
        term_table_loops.look_up(other.arena, places, n, self.arrays, bits, numbers)
        return numbers.astype(np.int32)

    def some(
        self, which: NDArray[np.int64], between: bytes = b""
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return some terms as one array, with bytes after each, and where each begins."""
        lengths = self.limits[which + 1] - self.limits[which] + len(between)
        limits = np.concatenate([[0], np.cumsum(lengths)])
        taken = np.arange(limits[-1]) + np.repeat(self.limits[which] - limits[:-1], lengths)
        text = self.arena[taken]
        for k, byte in enumerate(between):
            text[limits[1:] - len(between) + k] = byte
        return text, limits

    def terms(self) -> list[str]:
        """Return all terms, in their order."""
        n = len(self)
        return split(self.arena[: self.limits[n]], self.limits[: n + 1])


NO_TERMS = TermTable()
NO_TERMS.slots = np.zeros((1, 4), np.uint64)  # empty, and the loops see it by its size
