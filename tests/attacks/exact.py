"""Objectives without rounding: fractions where they are rational, else decimals of 60 digits.

What a certificate claims is compared with an exact difference of two objectives, that of the
published numbers and that of others which are better: no claim may be below it.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

DIGITS = Context(prec=60, Emax=10**9, Emin=-(10**9))


def fractions(values):
    """Floats as nested lists of fractions."""
    array = np.asarray(values)
    if array.ndim == 0:
        return Fraction(float(array))
    return [fractions(part) for part in array]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def solve(A, right):
    """Some x with ``A x = right`` for a semidefinite A that has one, by elimination."""
    rows = [[*row, r] for row, r in zip(A, right, strict=True)]
    pivots = []
    for j in range(len(A)):
        free = [i for i in range(len(rows)) if i not in pivots and rows[i][j]]
        if not free:
            continue
        i = free[0]
        pivots.append(i)
        rows[i] = [value / rows[i][j] for value in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][j]:
                rows[k] = [a - rows[k][j] * b for a, b in zip(rows[k], rows[i], strict=True)]
    x = [Fraction(0)] * len(A)
    for i in pivots:
        j = next(j for j in range(len(A)) if rows[i][j])
        x[j] = rows[i][-1]
    return x


def design(X, intercept):
    """Rows as fractions, a one before each if there is an intercept."""
    return [[Fraction(1)] * intercept + row for row in fractions(X)]


def of_class(X, y, weight, k):
    """Weight, mean (d,) and scatter (d, d) of one class, in fractions."""
    rows = [row for row, code in zip(fractions(X), y, strict=True) if code == k]
    s = [w for w, code in zip(fractions(weight), y, strict=True) if code == k]
    total = sum(s, Fraction(0))
    mean = [dot(s, column) / total for column in zip(*rows, strict=True)]
    away = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    d = len(mean)
    scatter = [[sum((w * a[i] * a[j] for w, a in zip(s, away, strict=True)), Fraction(0))
                for j in range(d)] for i in range(d)]  # fmt: skip
    return total, mean, scatter


def squares_excess(X, t, weight, alpha, intercept, w, b):
    """``sum s r^2 + alpha |w|^2`` less its least value."""
    Z, s, t = design(X, intercept), fractions(weight), fractions(t)
    v = [Fraction(float(b))] * intercept + fractions(w)
    if not intercept:
        t = [y - Fraction(float(b)) for y in t]
    rest = [y - dot(z, v) for z, y in zip(Z, t, strict=True)]
    width, alpha = len(v), Fraction(float(alpha))
    penalty = [Fraction(0)] * intercept + [alpha] * (width - intercept)
    columns = list(zip(*Z, strict=True))
    weighed = [[c * x for c, x in zip(s, column, strict=True)] for column in columns]
    A = [[dot(a, b) for b in columns] for a in weighed]
    g = [dot(a, rest) for a in weighed]
    for i in range(width):
        A[i][i] += penalty[i]
        g[i] -= penalty[i] * v[i]
    return dot(g, solve(A, g))


def squares(X, t, weight, w, b):
    """``sum s (t - w.x - b)^2``."""
    w, b = fractions(w), Fraction(float(b))
    rows = zip(fractions(X), fractions(t), fractions(weight), strict=True)
    return sum((s * (y - dot(x, w) - b) ** 2 for x, y, s in rows), Fraction(0))


def absolute(w):
    return sum((abs(x) for x in w), Fraction(0))


def decimal(value):
    """A fraction or float in 60 digits."""
    if isinstance(value, Fraction):
        return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(float(value))


def log_sum(scores):
    """``log sum exp`` of fractions, in 60 digits."""
    with localcontext(DIGITS):
        numbers = [decimal(score) for score in scores]
        top = max(numbers)
        return top + sum(((z - top).exp() for z in numbers if z - top > -400), Decimal(0)).ln()


def logistic_loss(X, codes, c, W, b):
    """``sum c (logsumexp(z) - z_y)`` with ``z = W x + b`` of all classes, W (K, d)."""
    with localcontext(DIGITS):
        W, b, total = fractions(W), fractions(b), Decimal(0)
        for x, y, weight in zip(fractions(X), codes, fractions(c), strict=True):
            z = [dot(w, x) + bias for w, bias in zip(W, b, strict=True)]
            total += decimal(weight) * (log_sum(z) - decimal(z[y]))
        return total


def best_excess(P, others):
    """By how much an objective is above the lowest of others."""
    return max((P - other for other in others), default=type(P)(0))
