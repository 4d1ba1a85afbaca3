"""Learning messages by the thousand: the counts of `Store.learn`, from compiled loops.

A row a token is what costs most in SQLite, and most of that is handing rows over one by one. Tokens
that are new and have the same counts go over in one piece, as JSON, and the index of a store that
was empty is made at the end.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.machine_code import MachineCode
from rosenblatt.term_table import TermTable, split

from . import mail_loops
from .batches import PageReader, Rows, TokenCounter, joined_rows
from .schema import TOKEN_INDEX
from .store import HAM, SPAM, ParsedMessage, Store

FEWEST_ALIKE = 20  # new tokens with the same counts that are worth a statement of their own
BITS_OF_A_COUNT = 15
LARGEST_ALIKE = 1 << BITS_OF_A_COUNT
MOST_TOKENS_AT_FIRST = 1 << 17  # there is room for; more is made when they come
BETWEEN = b'","'  # two words of a list in JSON
PLAIN = bytes(set(range(32, 256)) - set(b'"\\'))  # bytes that JSON writes as they are
pack_histories = MachineCode(mail_loops.pack_histories)

Counts = NDArray[np.int64]


class Note(NamedTuple):
    """What is noted of a message beside its tokens."""

    digest: bytes
    label: int
    sent: float | None
    name: str


class BatchLearner:
    """Learns batches of messages into a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.read_page = store, PageReader()
        self._counter = TokenCounter(TermTable(MOST_TOKENS_AT_FIRST))
        self._ids = np.empty(0, np.int64)  # in the store, of the tokens that the counter has seen
        self._stored: dict[str, int] = {}  # ids of tokens that others have learned
        self._last = 0  # id in the store
        self.drop()

    def drop(self) -> None:
        """Drop what was taken and not learned."""
        self._taken: list[Note] = []
        self._rows: list[Rows] = []

    @property
    def n_taken(self) -> int:
        """How many messages wait to be learned."""
        return len(self._taken)

    def take(self, messages: Sequence[ParsedMessage]) -> None:
        """Count the tokens of messages that the next `learn` learns."""
        self._rows.append(self._counter.count([one.message for one in messages]))
        self._taken += [Note(one.digest, one.label, one.sent, one.name) for one in messages]

    def learn(self) -> list[tuple[int, bool]]:
        """Learn what was taken in one transaction; return labels, and whether each was new."""
        notes, rows = self._taken, joined_rows(self._rows)
        self.drop()
        if not notes:
            return []
        labels = np.array([note.label for note in notes], np.int64)
        try:
            with self.store.writing():
                new = self.store.which_new(note.digest for note in notes)
                self._add(rows, labels, np.array(new, bool))
                self._note(notes, rows, new)
        except BaseException:
            self._last = -1  # whatever was given an id is not there
            raise
        return [(note.label, fresh) for note, fresh in zip(notes, new, strict=True)]

    def _add(self, rows: Rows, labels: Counts, new: NDArray[np.bool]) -> None:
        """Add the counts of those messages that are new."""
        counts = self._sums(rows, labels, new)
        self._look_up_ids()
        seen = counts.any(axis=1)
        old = np.flatnonzero(seen & (self._ids > 0))
        self.store.connection.executemany(
            "UPDATE tokens SET ham = ham + ?, spam = spam + ?, ham_total = ham_total + ?, "
            "spam_total = spam_total + ? WHERE id = ?",
            np.column_stack([counts[old], self._ids[old]]).tolist(),
        )
        self._insert(np.flatnonzero(seen & (self._ids == 0)), counts)
        messages = [int(np.sum(new & (labels == k))) for k in (HAM, SPAM)]
        sums = counts.sum(axis=0).tolist()
        self.store.change_totals(messages, sums[:2], sums[2:])

    def _sums(self, rows: Rows, labels: Counts, new: NDArray[np.bool]) -> Counts:
        """Messages and occurrences of each token in ham and in spam, shape (V, 4)."""
        V, lengths = len(self._counter.table), np.diff(rows.indptr)
        columns = []
        for label in (HAM, SPAM):
            those = np.repeat(new & (labels == label), lengths)
            numbers = rows.numbers[those]
            columns.append(np.bincount(numbers, minlength=V))
            columns.append(np.bincount(numbers, rows.counts[those], V).astype(np.int64))
        return np.column_stack([columns[0], columns[2], columns[1], columns[3]])

    def _look_up_ids(self) -> None:
        """Find the ids of tokens in the store, 0 for those that are not there."""
        table, connection = self._counter.table, self.store.connection
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM tokens").fetchone()
        if last != self._last:  # others have learned
            self._stored = dict(connection.execute("SELECT token, id FROM tokens"))
            self._ids, self._last = np.empty(0, np.int64), last
        new = np.arange(len(self._ids), len(table))
        found = np.zeros(len(new), np.int64)
        if self._stored:
            found[:] = [self._stored.get(token, 0) for token in split(*table.some(new))]
        self._ids = np.concatenate([self._ids, found])

    def _insert(self, new: Counts, counts: Counts) -> None:
        """Give ids to new tokens and insert their counts, those with the same counts together."""
        if len(new) == 0:
            return
        order = new[np.argsort(_sort_keys(counts[new]), kind="stable")]
        first = self._last + 1
        self._ids[order] = first + np.arange(len(order))
        values = counts[order]
        differ = (values[1:] != values[:-1]).any(axis=1)
        limits = np.concatenate([[0], np.flatnonzero(differ) + 1, [len(order)]])
        connection, table = self.store.connection, self._counter.table
        if self._last == 0:
            connection.execute("DROP INDEX token_names")
        one_by_one = np.repeat(np.diff(limits) < FEWEST_ALIKE, np.diff(limits))
        for start, stop in pairwise(limits.tolist()):
            if not one_by_one[start]:
                connection.execute(
                    "INSERT INTO tokens SELECT ? + key, value, ?, ?, ?, ? FROM json_each(?)",
                    (first + start, *values[start].tolist(), _in_json(table, order[start:stop])),
                )
        few = np.flatnonzero(one_by_one)
        rows = zip(
            (first + few).tolist(),
            split(*table.some(order[few])),
            *values[few].T.tolist(),
            strict=True,
        )
        connection.executemany("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", rows)
        if self._last == 0:
            connection.execute(TOKEN_INDEX)
        self._last += len(order)

    def _note(self, notes: Sequence[Note], rows: Rows, new: list[bool]) -> None:
        """Note the messages that are new, with their tokens if a history is kept."""
        kept: list[bytes | None] = [None] * len(notes)
        if self.store.fact("history"):
            data, ends = self._histories(rows)
            kept = [data[a:b] for a, b in pairwise(ends)]
        self.store.insert_messages(
            (*note, tokens) for note, tokens, fresh in zip(notes, kept, new, strict=True) if fresh
        )

    def _histories(self, rows: Rows) -> tuple[bytes, list[int]]:
        """What `history.packed` makes of each message, one after the other, and where each ends."""
        n = len(rows.indptr) - 1
        message = np.repeat(np.arange(n), np.diff(rows.indptr))
        # Ids in order, each with its count: a message has fewer than 2^20 tokens.
        keys = (message << 48) | (self._ids[rows.numbers] << 20) | rows.counts
        keys.sort()
        data, ends = np.empty(12 * len(keys), np.uint8), np.zeros(n + 1, np.int64)
        pack_histories(keys, rows.indptr, data, ends)
        return data[: ends[-1]].tobytes(), ends.tolist()


def _sort_keys(counts: Counts) -> Counts:
    """Four counts as one number (n,), the same for the same counts; for others it may be, too."""
    small = np.minimum(counts, LARGEST_ALIKE - 1)
    found = np.zeros(len(counts), np.int64)
    for column in small.T:
        found = found << BITS_OF_A_COUNT | column
    return found


def _in_json(table: TermTable, which: Counts) -> str:
    """Some of the terms as a list in JSON."""
    text, _ = table.some(which, BETWEEN)
    words = text[: -len(BETWEEN)].tobytes()
    if words.translate(None, PLAIN) == b'""' * (len(which) - 1):
        return f'["{words.decode()}"]'
    return json.dumps(split(*table.some(which)))
