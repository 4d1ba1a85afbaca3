# mypy: ignore-errors
"""Scores of the classes and rows of zeros, for linear and kernel perceptrons."""

from rosenblatt.loops import compiled


@compiled
def best_rival(scores, true, ties):
    """Return the class other than `true` with the highest score in scores (K,).

    Of equal scores the highest class is returned if ties > 0, else the lowest.
    """
    rival = -1
    for k in range(scores.shape[0]):
        if k == true:
            continue
        if rival < 0 or scores[k] > scores[rival] or (ties > 0 and scores[k] == scores[rival]):
            rival = k
    return rival


@compiled
def beats(scores, true, rival, ties):
    """Return True if the true class wins against its best rival; `ties` decides equal scores."""
    if scores[true] == scores[rival]:
        return (true - rival) * ties > 0
    return scores[true] > scores[rival]


@compiled
def find_empty(X, empty):
    """Fill empty (n,) with whether each row of X is all zero; most show at their first number."""
    for i in range(empty.shape[0]):
        empty[i] = True
        if isinstance(X, tuple):
            data, _, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                if data[p] != 0:
                    empty[i] = False
                    break
        else:
            for j in range(X.shape[1]):
                if X[i, j] != 0:
                    empty[i] = False
                    break
