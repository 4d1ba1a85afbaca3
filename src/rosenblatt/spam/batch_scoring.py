"""Judging messages by the thousand: the probabilities of `CountingModel`, from compiled loops.

The weights of all tokens of the store stand in one array; a token that the store never counted gets
the weight of its nearest plainer form when it first comes. Sums are rounded once (`fsum`), so that
their order does not matter and the answer is that of a single message to the last bit.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import term_table_loops
from rosenblatt.machine_code import MachineCode
from rosenblatt.term_table import TermTable, split

from . import mail_loops
from .batches import FOLDS, PageReader, TokenCounter, padded
from .mail_loops import LOWER
from .message import Message
from .scoring import CountingModel, fisher, logistic, surprise
from .store import Store
from .tokens import plainer

MOST_NEW = 1 << 20  # tokens that the store never counted, before they are dropped again
UPPER = np.arange(256, dtype=np.uint8)
UPPER[ord("a") : ord("z") + 1] -= 32
CASES = np.stack([FOLDS[LOWER], UPPER])
find_plainer, look_up = MachineCode(mail_loops.find_plainer), MachineCode(term_table_loops.look_up)
LONGEST = 4096  # bytes of a token whose plainer forms the loop finds

Weights = NDArray[np.float64]


class BatchScorer:
    """A counting model of a store, for many messages."""

    def __init__(self, store: Store, name: str) -> None:
        self.model, self.read_page = CountingModel(store, name), PageReader()
        self._table, kinds, self._kind_of = self._tokens(store)
        self._weights = np.append(kinds, 0.0)  # by kind of token; the last is of no use
        self._surprises = np.array([surprise(weight) for weight in self._weights.tolist()])
        self._n_known = len(self._table)
        self._counter = TokenCounter(self._table)
        self._buffer = np.empty(LONGEST, np.uint8)

    def _tokens(self, store: Store) -> tuple[TermTable, Weights, NDArray[np.int64]]:
        """All tokens, the weights that there are, and which of these each token has.

        Many tokens have the same counts, and so the same weight.
        """
        of = "_total" if self.model.name == "complement" else ""  # occurrences, or messages
        text, limits, ham, spam = _all_tokens(store, f"ham{of}", f"spam{of}")
        kinds, which = np.unique(ham << 32 | spam, return_inverse=True)
        pairs = np.column_stack([kinds >> 32, kinds & 0xFFFFFFFF]).tolist()
        weights = np.array([self.model.weight((a, b, a, b)) for a, b in pairs], float)
        return TermTable.of_bytes(text, limits), weights, which

    def probabilities(self, messages: Sequence[Message]) -> list[float]:
        """The probability of each message that it is spam."""
        rows = self._counter.count(messages)
        self._find_plainer()
        kinds = self._kind_of[rows.numbers]
        weights, ends = self._weights[kinds], rows.indptr
        if self.model.name == "chi-square":
            counting = weights != 0
            ends = np.concatenate([[0], np.cumsum(counting)])[ends]
            weights, kinds = weights[counting], kinds[counting]
        elif self.model.name == "complement":
            weights = weights * rows.counts
        answers = self._answers(weights, kinds, ends.tolist())
        self._drop_new()
        return answers

    def _answers(self, weights: Weights, kinds: NDArray[np.int64], ends: list[int]) -> list[float]:
        values, model = weights.tolist(), self.model
        sums = [math.fsum(values[a:b]) for a, b in pairwise(ends)]
        if model.name != "chi-square":
            return [model.shrunk_to_half(logistic(model.prior + weight)) for weight in sums]
        values = self._surprises[kinds].tolist()
        for_spam = [math.fsum(values[a:b]) for a, b in pairwise(ends)]
        return [
            model.shrunk_to_half(fisher(side, weight, b - a))
            for side, weight, (a, b) in zip(for_spam, sums, pairwise(ends), strict=True)
        ]

    def _find_plainer(self) -> None:
        """Give tokens that are new the weights of what they count as."""
        first, last = len(self._kind_of), len(self._table)
        forms = np.empty(last - first, np.int64)
        find_plainer(self._table.arrays, first, last, self._n_known, CASES, self._buffer, forms)
        left = np.flatnonzero(forms == -2)
        if len(left):
            forms[left] = self._plainer_in_python(first + left)
        found = np.full(len(forms), len(self._weights) - 1)
        found[forms >= 0] = self._kind_of[forms[forms >= 0]]
        self._kind_of = np.concatenate([self._kind_of, found])

    def _plainer_in_python(self, numbers: NDArray[np.int64]) -> list[int]:
        """What tokens count as that the loop leaves, such as those that are not in ASCII."""
        forms = [list(plainer(token)) for token in split(*self._table.some(numbers))]
        text, limits = padded([form for some in forms for form in some])
        m = len(limits) - 1
        found = np.empty(m, np.int64)
        places = limits[:-1].copy(), limits[1:].copy()
        look_up(text, places, m, self._table.arrays, np.empty(m, np.uint64), found)
        known = iter(np.where(found < self._n_known, found, -1).tolist())
        return [
            max([next(known) for _ in some], key=lambda k: k >= 0, default=-1) for some in forms
        ]

    def _drop_new(self) -> None:
        """Drop tokens that the store never counted, once they are many."""
        if len(self._table) > self._n_known + MOST_NEW:
            table, n = self._table, self._n_known
            self._table = TermTable.of_bytes(table.arena[: table.limits[n]], table.limits[: n + 1])
            self._counter = TokenCounter(self._table)
            self._kind_of = self._kind_of[:n]


def _all_tokens(store: Store, ham: str, spam: str) -> tuple[Any, ...]:
    """All tokens one after the other, where each begins, and two counts of each.

    One row with everything in it: rows of their own would take three times as long.
    """
    with store.reading():
        text, *numbers = store.connection.execute(
            f"SELECT group_concat(token, ''), group_concat(length(CAST(token AS BLOB))), "
            f"group_concat({ham}), group_concat({spam}) FROM tokens WHERE ham + spam > 0"
        ).fetchone()
    lengths, *counts = (np.fromstring(part or "", np.int64, sep=",") for part in numbers)
    limits = np.concatenate([[0], np.cumsum(lengths)])
    return np.frombuffer((text or "").encode(), np.uint8), limits, *counts
