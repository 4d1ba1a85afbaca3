"""Learning many messages at once: tokens are counted by compiled loops."""

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from rosenblatt.term_table import TermTable

from .batches import Rows, TokenCounter, joined_rows
from .message import Message
from .store import BETWEEN, HAM, SPAM, CountRow, Lesson, Store

INITIAL_TOKENS = 1 << 17  # the table grows beyond it
MOST_AT_ONCE = 250  # messages that are counted while they are in the cache of the processor
FIRST_BYTES = 8  # of a token, which order the rows


class BatchLearner:
    """Learns batches of messages into a store, as `Store.learn` does."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._counter = TokenCounter(TermTable(INITIAL_TOKENS))
        self._names: list[str] = []  # of the tokens, in the order of their numbers

    def learn(self, batch: Iterable[tuple[Lesson, Message]]) -> list[tuple[int, bool]]:
        """Learn messages in one transaction; return their labels and which of them were new."""
        batch, lessons, parts = iter(batch), [], []
        while some := list(islice(batch, MOST_AT_ONCE)):
            lessons += [lesson for lesson, _ in some]
            parts.append(self._counter.count([message for _, message in some]))
        rows = joined_rows(parts)
        self._names += self._counter.names_from(len(self._names))
        with self.store.writing():
            new = self.store.which_new([lesson.digest for lesson in lessons])
            labels = np.where(new, [lesson.label for lesson in lessons], -1)
            self.store.add_rows(self._count_rows(rows, labels))
            keep = self.store.fact("history")
            histories = self._histories(rows) if keep else repeat((None, None), len(new))
            self.store.insert_messages(
                (one.digest, one.label, one.sent, one.name, *kept)
                for one, kept, is_new in zip(lessons, histories, new, strict=True)
                if is_new
            )
        return [(lesson.label, is_new) for lesson, is_new in zip(lessons, new, strict=True)]

    def _count_rows(self, rows: Rows, labels: NDArray[np.int64]) -> Iterator[CountRow]:
        """Return the tokens of ham and spam with their counts, almost in order."""
        V, lengths = len(self._names), np.diff(rows.indptr)
        messages, occurrences = np.zeros((2, V), np.int64), np.zeros((2, V), np.int64)
        for label in (HAM, SPAM):
            chosen = np.repeat(labels == label, lengths)
            numbers = rows.numbers[chosen]
            messages[label] = np.bincount(numbers, minlength=V)
            occurrences[label] = np.bincount(numbers, rows.counts[chosen], V)
        found = np.flatnonzero(messages.any(axis=0))
        # Insertion in order is faster; the first bytes of a token order it well enough.
        table = self._counter.table
        first = table.arena[table.limits[found][:, None] + np.arange(FIRST_BYTES)]
        found = found[np.argsort(first.view(">u8")[:, 0])]
        names = map(self._names.__getitem__, found.tolist())
        counts = (*messages[:, found].tolist(), *occurrences[:, found].tolist())
        return zip(names, *counts, strict=True)

    def _histories(self, rows: Rows) -> Iterator[tuple[str, bytes]]:
        """Yield the tokens of each message and their counts, as the store keeps them."""
        name = self._names.__getitem__
        for a, b in pairwise(rows.indptr.tolist()):
            yield BETWEEN.join(map(name, rows.numbers[a:b].tolist())), rows.counts[a:b].tobytes()
