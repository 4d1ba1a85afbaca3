"""Bags of words of long documents, for models of counts."""

import numpy as np
from scipy import sparse


def long_documents(n, d, k):
    """Counts of 164 Zipf words, about 150 different ones in each of n documents of k classes.

    One word in ten is of the class: the words of its own order.
    """
    rng = np.random.default_rng([n, d, k])
    frequency = 1.0 / (np.arange(d) + 10.0)
    cumulative = np.cumsum(frequency / frequency.sum())
    words = rng.permutation(d).astype(np.int32)
    y, shift = rng.integers(k, size=n), rng.integers(d, size=k)
    parts = []
    for start in range(0, n, 10_000):  # so that no table of all tokens is held
        classes = y[start : start + 10_000]
        ranks = np.searchsorted(cumulative, rng.random((len(classes), 164)))
        tokens = words[np.minimum(ranks, d - 1)]
        own = rng.random(tokens.shape) < 0.1
        tokens = np.where(own, (tokens + shift[classes][:, np.newaxis]) % d, tokens)
        rows = np.repeat(np.arange(len(classes), dtype=np.int32), 164)
        ones = np.ones(tokens.size)
        counts = sparse.coo_matrix((ones, (rows, tokens.ravel())), shape=(len(classes), d)).tocsr()
        counts.sum_duplicates()
        parts.append(counts)
    return sparse.vstack(parts, format="csr"), y
