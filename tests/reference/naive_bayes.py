"""The slow, obvious naive Bayes of discrete features: one probability at a time, in fractions."""

import math
from fractions import Fraction


def share(counts, v, alpha):
    """Laplace's rule, one value of several; equal shares where nothing is known."""
    if math.isinf(alpha):
        return Fraction(1, len(counts))
    total = sum(counts) + Fraction(alpha) * len(counts)
    return (counts[v] + Fraction(alpha)) / total if total else Fraction(1, len(counts))


def bernoulli(X, y, x, alpha):
    """{class: P(y) prod_j P(x_j | y)} for rows of zeros and ones; None is left out."""
    joint = {}
    for label in sorted(set(y)):
        rows = [row for row, its in zip(X, y, strict=True) if its == label]
        joint[label] = Fraction(len(rows), len(y))
        for j, present in enumerate(x):
            known = [row[j] for row in rows if row[j] is not None]
            if present is not None:
                joint[label] *= share([known.count(0), known.count(1)], present, alpha)
    return joint


def multinomial(X, y, x, alpha):
    """{class: P(y) prod_j mu_j ** x_j} for rows of counts; None is left out."""
    joint = {}
    for label in sorted(set(y)):
        rows = [row for row, its in zip(X, y, strict=True) if its == label]
        counts = [sum(v or 0 for v in column) for column in zip(*rows, strict=True)]
        joint[label] = Fraction(len(rows), len(y))
        for j, count in enumerate(x):
            joint[label] *= share(counts, j, alpha) ** (count or 0)
    return joint


def categorical(X, y, x, alpha, widths):
    """{class: P(y) prod_j P(x_j | y)} for rows of categories 0, ..., widths[j] - 1."""
    joint = {}
    for label in sorted(set(y)):
        rows = [row for row, its in zip(X, y, strict=True) if its == label]
        joint[label] = Fraction(len(rows), len(y))
        for j, value in enumerate(x):
            counts = [sum(row[j] == v for row in rows) for v in range(widths[j])]
            joint[label] *= share(counts, value, alpha)
    return joint


def linear_scores(X, W, start, threshold):
    """start + X W, number by number; with a threshold the numbers above it count as one."""
    scores = []
    for row in X:
        present = [x if threshold is None else float(x > threshold) for x in row]
        scores.append(
            [
                start[k] + math.fsum(x * W[j][k] for j, x in enumerate(present))
                for k in range(len(start))
            ]
        )
    return scores
