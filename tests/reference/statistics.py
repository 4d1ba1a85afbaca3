"""The slow, obvious statistics: one row at a time, in exact rational arithmetic."""

from fractions import Fraction

import numpy as np


def rational(values):
    """Numbers as exact fractions, in lists of lists."""
    return [[Fraction(float(v)) for v in row] for row in np.asarray(values)]


def feature_sums(X, y, weights, threshold=None):
    """{class: sum of weight times value, or of weights where the value is above the threshold}."""
    sums = {}
    for row, label, weight in zip(rational(X), y, weights, strict=True):
        if weight == 0:
            continue
        total = sums.setdefault(label, [Fraction(0)] * len(row))
        for j, x in enumerate(row):
            held = x if threshold is None else Fraction(int(x > threshold))
            total[j] += Fraction(float(weight)) * held
    return sums


def moments(X, y, weights):
    """{class: (weight, means, full scatter)}."""
    found = {}
    for label in sorted({c for c, w in zip(y, weights, strict=True) if w > 0}):
        chosen = [i for i in range(len(y)) if y[i] == label and weights[i] > 0]
        rows = rational(np.asarray(X)[chosen])
        ws = [Fraction(float(weights[i])) for i in chosen]
        d, total = len(rows[0]), sum(ws)
        mean = [sum(w * row[j] for w, row in zip(ws, rows, strict=True)) / total for j in range(d)]
        away = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
        scatter = [
            [sum(w * a[i] * a[j] for w, a in zip(ws, away, strict=True)) for j in range(d)]
            for i in range(d)
        ]
        found[label] = total, mean, scatter
    return found


def extremes(X, y, weights):
    """{class: (least values, greatest values)}."""
    found = {}
    for row, label, weight in zip(np.asarray(X, float), y, weights, strict=True):
        if weight > 0:
            low, high = found.get(label, (row, row))
            found[label] = list(map(min, low, row)), list(map(max, high, row))
    return found


def category_counts(X, y, weights):
    """{(class, feature, value): weight}."""
    counts = {}
    for row, label, weight in zip(X, y, weights, strict=True):
        for j, value in enumerate(row):
            if weight > 0:
                key = label, j, value
                counts[key] = counts.get(key, Fraction(0)) + Fraction(float(weight))
    return counts


def floats(values):
    """Fractions, nested in lists, as an array of doubles."""
    return np.vectorize(float, otypes=[float])(np.array(values, dtype=object))
