"""Tables for lasso paths: few columns matter, and there is noise."""

import numpy as np
from scipy import sparse


def few_matter(n, d):
    """Independent columns, of which a tenth matter, 50 at most; noise half as large as the rest."""
    rng = np.random.default_rng([n, d])
    return _with_targets(rng.standard_normal((n, d)), rng, min(50, d // 10))


def few_words_matter(n, d, per_row):
    """Columns that occur as words do, a few often and most seldom; 50 of the commonest matter."""
    rng = np.random.default_rng([n, d, per_row])
    frequency = 1 / np.arange(10, d + 10)
    columns = rng.choice(d, size=n * per_row, p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n), per_row)
    values = rng.uniform(0.5, 1.5, n * per_row)
    X = sparse.csr_matrix((values, (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    return _with_targets(X, rng, 50)


def _with_targets(X, rng, n_used):
    n, d = X.shape
    w = np.zeros(d)
    w[rng.choice(min(d, 500), n_used, replace=False)] = rng.standard_normal(n_used)
    y = X @ w
    return X, y + y.std() / 2 * rng.standard_normal(n)
