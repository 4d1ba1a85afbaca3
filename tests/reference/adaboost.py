"""AdaBoost as the textbook has it: every stump tried, nothing compiled."""

from itertools import pairwise

import numpy as np


def best_stump(X, y, D):
    """The predictions (n,) of the stump that lowers the weighted Gini impurity most.

    Labels y are -1 and +1. Of equal ones the first column and the lowest threshold is taken.
    """
    best, chosen = -np.inf, None
    for column in X.T:
        values = np.unique(column[D > 0])
        for low, high in pairwise(values):
            sides = [column <= (low + high) / 2, column > (low + high) / 2]
            leads = [(D * y)[side].sum() for side in sides]
            score = sum(lead**2 / D[side].sum() for lead, side in zip(leads, sides, strict=True))
            if score > best + 1e-12:
                best, labels = score, [1 if lead > 0 else -1 for lead in leads]
                chosen = np.where(sides[0], *labels)
    return chosen


def boosted(X, y, weight, n_rounds, alpha_cap=None):
    """(e, alpha, Z, training error of the vote) of each round; y are -1 and +1."""
    first = weight / weight.sum()
    D, f, rounds = first.copy(), np.zeros(len(y)), []
    for _ in range(n_rounds):
        h = best_stump(X, y, D)
        e = D[h != y].sum()
        alpha = 0.5 * np.log((1 - e) / e)
        alpha = alpha if alpha_cap is None else np.clip(alpha, -alpha_cap, alpha_cap)
        D = D * np.exp(-alpha * y * h)
        Z = D.sum()
        D, f = D / Z, f + alpha * h
        rounds.append((e, alpha, Z, first[np.where(f > 0, 1, -1) != y].sum()))
    return rounds
