"""Classifying many messages at once: tokens are counted by compiled loops."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rosenblatt.term_table import TermTable

from .batches import TokenCounter
from .message import Message
from .scoring import CountingModel
from .store import Store

MOST_TOKENS = 1 << 20  # whose weights are kept


class BatchScorer:
    """A counting model of a store, for many messages."""

    def __init__(self, store: Store, name: str) -> None:
        self.model = CountingModel(store, name, all_tokens=True)
        self._forget_weights()

    def _forget_weights(self) -> None:
        self._counter = TokenCounter(TermTable())
        self._weights = np.empty(0)  # of the tokens, in the order of their numbers

    def probabilities(self, messages: Sequence[Message]) -> list[float]:
        """Return the probability of spam of each message."""
        rows = self._counter.count(messages)
        new = self._counter.names_from(len(self._weights))
        self._weights = np.append(self._weights, self.model.weights_of(new))
        weights = self._weights[rows.numbers]
        if self.model.counts_repeats:
            weights = weights * rows.counts
        answers = [
            self.model.combined(weights[a:b].tolist()) for a, b in pairwise(rows.indptr.tolist())
        ]
        if len(self._weights) > MOST_TOKENS:
            self._forget_weights()
        return answers
