"""The slow, obvious Gaussian naive Bayes: one number at a time."""

import math


def log_density(x, mean, variance):
    """The logarithm of a Gaussian's density at x; 0 for a value that is missing."""
    if math.isnan(x):
        return 0.0
    return -((x - mean) ** 2) / (2 * variance) - 0.5 * math.log(2 * math.pi * variance)


def joint(X, prior, means, variances):
    """log P(x, y) for each row and class, in lists of lists."""
    return [
        [
            math.log(prior[k])
            + sum(log_density(float(x), m, v) for x, m, v in zip(row, means[k], variances[k]))  # noqa: B905
            for k in range(len(prior))
        ]
        for row in X
    ]


def variances(X, y, pool, ddof):
    """The variance of each (class, feature), pooled over what `pool(k, j)` calls alike."""
    classes, d = sorted(set(y)), len(X[0])
    cells = {}
    for k in classes:
        for j in range(d):
            values = [row[j] for row, label in zip(X, y, strict=True) if label == k]
            mean = sum(values) / len(values)
            squares, n, means = cells.get(pool(k, j), (0.0, 0, 0))
            squares += sum((v - mean) ** 2 for v in values)
            cells[pool(k, j)] = squares, n + len(values), means + 1
    found = {p: squares / (n - ddof * means) for p, (squares, n, means) in cells.items()}
    return [[found[pool(k, j)] for j in range(d)] for k in classes]
