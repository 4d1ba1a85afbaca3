"""k-means as it is written down: all distances, all means, again."""

import numpy as np


def lloyd(X, centres, weights):
    """Centres, labels and the loss after each iteration, until no row changes sides."""
    labels, losses = np.full(len(X), -1), []
    centres = centres.astype(float).copy()
    while True:
        before = labels.copy()
        distances = ((X[:, None] - centres) ** 2).sum(axis=2)
        for i, row in enumerate(distances):
            own = labels[i] >= 0 and row[labels[i]] == row.min()
            labels[i] = labels[i] if own else row.argmin()
        fill_empty(X, centres, weights, labels)
        for k in range(len(centres)):
            mine = (labels == k) & (weights > 0)
            if mine.any():
                centres[k] = np.average(X[mine], axis=0, weights=weights[mine])
        losses.append(float(weights @ ((X - centres[labels]) ** 2).sum(axis=1)))
        if np.array_equal(labels[weights > 0], before[weights > 0]):
            return centres, labels, losses


def fill_empty(X, centres, weights, labels):
    """Each cluster without weight gets the farthest row of one that has others, and its copies."""
    far = np.where(weights > 0, ((X - centres[labels]) ** 2).sum(axis=1), 0.0)
    for k in range(len(centres)):
        if weights[labels == k].sum() > 0:
            continue
        alone = [len(np.unique(X[(labels == c) & (weights > 0)], axis=0)) < 2 for c in labels]
        candidates = np.where(alone, 0.0, far)
        if candidates.max() > 0:
            row = candidates.argmax()
            copies = (labels == labels[row]) & (X[row] == X).all(axis=1) & (weights > 0)
            labels[copies], far[copies] = k, 0.0
