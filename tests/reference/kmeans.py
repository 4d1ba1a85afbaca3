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
    """Each cluster without weight gets the farthest row of a cluster that has others."""
    far = ((X - centres[labels]) ** 2).sum(axis=1)
    for k in range(len(centres)):
        if weights[labels == k].sum() > 0:
            continue
        sizes = np.bincount(labels[weights > 0], minlength=len(centres))
        candidates = np.where((weights > 0) & (sizes[labels] > 1), far, 0.0)
        if candidates.max() > 0:
            row = candidates.argmax()
            labels[row], far[row] = k, 0.0
