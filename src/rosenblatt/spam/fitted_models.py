"""Models that are fitted to the history: averaged perceptron, logistic regression, neighbors.

The store keeps the weights of linear models, with the revision of the counts that they were fitted
to. They are fitted again after something new is learned.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.linear_model import AveragedPerceptron, LogisticRegression
from rosenblatt.neighbors import KNeighborsClassifier

from .scoring import Evidence, Verdict, logistic
from .store import NEVER, Store, StoreError
from .tokens import plainer

N_NEIGHBORS = 5
SEED = 0


def fitted_model(store: Store, name: str) -> Any:
    """Return the model of a store, from its stored weights or fitted again."""
    with store.snapshot():
        return Neighbors(store) if name == "nearest neighbors" else Linear(store, name)


def history_matrix(store: Store) -> tuple[sp.csr_array, Any, dict[str, int]]:
    """Return the tokens of each message (n, V), the labels (n,), and the column of each token."""
    columns = {token: j for j, token in enumerate(store.all_counts())}
    rows, labels = [], []
    for message in store.messages():
        if not columns.keys() >= message.tokens.keys():
            raise StoreError(f"{store.path} cannot be read: its history is damaged.")
        rows.append(sorted(columns[token] for token in message.tokens))
        labels.append(message.label)
    if len(set(labels)) < 2:
        raise StoreError("This model needs ham and spam: learn some of either first.")
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    indices = np.concatenate(rows).astype(np.int32)
    X = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(columns)))
    return X, np.array(labels), columns


class Linear:
    """Weights of tokens that add up to the log-odds of spam."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.revision, self.n_messages = store, store.revision(), store.n_messages()
        kept, tokens = store.weights(name), store.all_counts()
        if kept is not None and (kept[0], len(kept[1])) == (self.revision, 8 * (len(tokens) + 1)):
            values = np.frombuffer(kept[1], np.float64)
        else:
            values = _fit(store, name)
            store.keep_weights(name, self.revision, values.tobytes())
        self.prior = float(values[0])
        self._weights = dict(zip(tokens, values[1:].tolist(), strict=True))

    def probability(self, tokens: Mapping[str, int]) -> float:
        """Return the probability that a message with these tokens is spam."""
        return self.verdict(tokens).probability

    def verdict(self, tokens: Mapping[str, int]) -> Verdict:
        """Return the probability with its evidence."""
        found = []
        for token in tokens:
            forms = (token, *plainer(token))
            form = next((form for form in forms if form in self._weights), None)
            if form is not None and self._weights[form]:
                found.append((token, self._weights[form], form))
        log_odds = self.prior + sum(weight for _, weight, _ in found)
        counts = self.store.counts(form for _, _, form in found)
        evidence = [Evidence(token, w, form, counts.get(form, NEVER)) for token, w, form in found]
        evidence.sort(key=lambda e: -abs(e.weight))
        return Verdict(logistic(log_odds), evidence, log_odds, self.prior)


def _fit(store: Store, name: str) -> Any:
    """Return the intercept, and the weight of each token in their order."""
    X, y, _ = history_matrix(store)
    if name == "logistic regression":
        model: Any = LogisticRegression(C=1.0, max_iter=500).fit(X, y)
    else:
        model = AveragedPerceptron(max_iter=20, random_state=SEED).fit(X, y)
        # Scores of a perceptron have an arbitrary scale: let their median be log-odds of three.
        scores = np.abs(X @ model.coef_[0] + model.intercept_[0])
        scale = 3.0 / max(float(np.median(scores)), 1e-300)
        return np.concatenate([model.intercept_ * scale, model.coef_[0] * scale])
    return np.concatenate([model.intercept_, model.coef_[0]])


class Neighbors:
    """The share of spam among the messages with the most similar tokens (cosine)."""

    def __init__(self, store: Store) -> None:
        self.revision, self.n_messages = store.revision(), store.n_messages()
        X, y, self._columns = history_matrix(store)
        k = min(N_NEIGHBORS, X.shape[0])
        self._model = KNeighborsClassifier(k, metric="cosine", weights="distance").fit(X, y)

    def probability(self, tokens: Mapping[str, int]) -> float:
        """Return the probability that a message with these tokens is spam."""
        found = [self._columns[token] for token in tokens if token in self._columns]
        if not found:
            return 0.5
        row = sp.csr_array(
            (np.ones(len(found)), sorted(found), [0, len(found)]), shape=(1, len(self._columns))
        )
        return float(self._model.predict_proba(row)[0, 1])

    def verdict(self, tokens: Mapping[str, int]) -> Verdict:
        """Return the probability; neighbors have weights for messages, not for tokens."""
        p = min(max(self.probability(tokens), 1e-12), 1 - 1e-12)
        return Verdict(p, [], float(np.log(p / (1 - p))), 0.0)
