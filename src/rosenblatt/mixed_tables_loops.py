# mypy: ignore-errors
"""Encoding of categories that are small whole numbers, without sorting."""

import numpy as np

from rosenblatt.loops import compiled

NOWHERE = -1


@compiled(inline=True)
def place_of(value, places):
    """Return places[value]; NOWHERE unless the value is an integer from 0 to len(places) - 1."""
    if not 0 <= value < places.shape[0]:
        return NOWHERE
    whole = int(value)
    return places[whole] if whole == value else NOWHERE


@compiled
def mark_categories(X, seen):
    """Mark the values of each column of X (n, d) in seen (d, m); return whether all have a place.

    NaN is skipped.
    """
    m = seen.shape[1]
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = X[i, j]
            if value == value:
                if not 0 <= value < m:
                    return False
                whole = int(value)
                if whole != value:
                    return False
                seen[j, whole] = 1
    return True


@compiled
def are_places(X, n_categories):
    """Return True if X (n, d) holds only integers from 0 to n_categories - 1 and NaN."""
    for i in range(X.shape[0]):
        wrong = 0
        for j in range(X.shape[1]):
            value = X[i, j]
            place = (value >= 0) & (value < n_categories[j]) & (value == np.floor(value))
            wrong += (value == value) & (not place)
        if wrong:
            return False
    return True


@compiled
def place_categories(X, places, matrix):
    """Write places[j, X[i, j]] to matrix (n, d), NaN where X is; return whether all have one."""
    known = True
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = X[i, j]
            if value != value:
                matrix[i, j] = value
                continue
            place = place_of(value, places[j])
            known &= place >= 0
            matrix[i, j] = place
    return known
