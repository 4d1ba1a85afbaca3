"""Terms by their bytes, each with a number: a hash table that grows."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from rosenblatt import loops
from rosenblatt.statistics.terms import joined, split

LEAST_SLOTS = 2**12
OVERHANG = 8  # bytes that loops read at once, the last of a term or not
BYTES_OF_A_TERM = 8  # about; the arena grows when they are longer


class TermTable:
    """Terms in the order in which they were added, and where each stands."""

    def __init__(self, n_terms: int = 0, n_bytes: int = 0) -> None:
        n_slots = LEAST_SLOTS
        while n_slots < 2 * n_terms:
            n_slots *= 2
        self.slots = np.zeros((n_slots, 2), np.uint64)
        n_bytes = max(n_bytes, BYTES_OF_A_TERM * n_slots // 2)
        self.arena = np.empty(n_bytes + OVERHANG, np.uint8)
        self.limits = np.zeros(n_slots // 2 + 1, np.int64)
        self.size = np.zeros(1, np.int64)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Self:
        """The table of some terms, numbered in their order."""
        text, limits = joined(list(terms))
        n = len(limits) - 1
        table = cls(n, len(text))
        table.arena[: len(text)], table.limits[: n + 1] = text, limits
        table.size[0] = n
        loops.text.place_terms(table.arrays, n)
        return table

    def __len__(self) -> int:
        return int(self.size[0])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the loops take: slots, arena and the limits of terms in it."""
        return self.slots, self.arena, self.limits

    @property
    def room(self) -> int:
        """How many terms it can hold."""
        return len(self.limits) - 1

    def grow(self) -> None:
        """Make room for twice as many terms, or for longer ones."""
        n = len(self)
        larger = TermTable(2 * n if n == self.room else n, 2 * len(self.arena))
        used = self.limits[n]
        larger.arena[:used] = self.arena[:used]
        larger.limits[: n + 1] = self.limits[: n + 1]
        loops.text.place_terms(larger.arrays, n)
        self.slots, self.arena, self.limits = larger.arrays

    def terms(self) -> list[str]:
        """All terms, in their order."""
        n = len(self)
        return split(self.arena[: self.limits[n]], self.limits[: n + 1])


NO_TERMS = TermTable()
NO_TERMS.slots = np.zeros((1, 2), np.uint64)  # which no loop looks into
