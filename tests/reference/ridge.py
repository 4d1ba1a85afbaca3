"""Ridge regression in exact rational arithmetic: the normal equations, solved by elimination."""

from fractions import Fraction

import numpy as np


def ridge_coefficients(X, y, alpha):
    """The coefficients (d,) of centred rows X (n, d) and targets y (n,), rounded once."""
    rows = [[Fraction(float(v)) for v in row] for row in np.column_stack([X, y])]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    rows = [[v - mean for v, mean in zip(row, means, strict=True)] for row in rows]
    d = X.shape[1]
    # (X'X + alpha I | X'y), one equation a row.
    system = [
        [sum(row[i] * row[j] for row in rows) + (alpha if i == j else 0) for j in range(d + 1)]
        for i in range(d)
    ]
    for i in range(d):
        system[i] = [v / system[i][i] for v in system[i]]
        for k in range(d):
            if k != i:
                factor = system[k][i]
                system[k] = [v - factor * p for v, p in zip(system[k], system[i], strict=True)]
    return np.array([float(equation[d]) for equation in system])
