"""The slow, obvious perceptrons: nothing compiled, nothing clever."""

import numpy as np


def is_right(score, y, boundary):
    """Whether a two-class score counts as right; y is -1 or +1."""
    if score == 0:
        return (boundary == "positive" and y > 0) or (boundary == "negative" and y < 0)
    return score * y > 0


def perceptron(X, y, orders, *, step=None, boundary="mistake", start=None, bias=1.0):
    """Two classes, y of -1 and +1, one order a pass; (w, b, mistakes in each pass)."""
    X = np.asarray(X, dtype=float)
    step = np.ones(len(X)) if step is None else step
    w, b = (np.zeros(X.shape[1]), 0.0) if start is None else (np.array(start[0], float), start[1])
    mistakes = []
    for order in orders:
        mistakes.append(0)
        for i in order:
            if not is_right(X[i] @ w + b, y[i], boundary):
                w = w + step[i] * y[i] * X[i]
                b = b + bias * step[i] * y[i]
                mistakes[-1] += 1
    return w, b, mistakes


def best_rival(scores, true, boundary):
    """The class other than the true one with the highest score; of equals by the tie rule."""
    others = [k for k in range(len(scores)) if k != true]
    best = max(scores[k] for k in others)
    tied = [k for k in others if scores[k] == best]
    return tied[-1] if boundary == "positive" else tied[0]


def wins(scores, true, boundary):
    """Whether the true class has the highest score, or wins a tie."""
    rival = best_rival(scores, true, boundary)
    if scores[true] == scores[rival]:
        return {"mistake": False, "positive": true > rival, "negative": true < rival}[boundary]
    return scores[true] > scores[rival]


def multiclass(X, y, n_classes, orders, *, step=None, boundary="mistake", bias=1.0):
    """K classes, y of 0..K-1; (W, b, mistakes in each pass)."""
    X = np.asarray(X, dtype=float)
    step = np.ones(len(X)) if step is None else step
    W, b = np.zeros((n_classes, X.shape[1])), np.zeros(n_classes)
    mistakes = []
    for order in orders:
        mistakes.append(0)
        for i in order:
            scores = W @ X[i] + b
            if wins(scores, y[i], boundary):
                continue
            rival = best_rival(scores, y[i], boundary)
            W[y[i]] += step[i] * X[i]
            W[rival] -= step[i] * X[i]
            b[y[i]] += bias * step[i]
            b[rival] -= bias * step[i]
            mistakes[-1] += 1
    return W, b, mistakes
