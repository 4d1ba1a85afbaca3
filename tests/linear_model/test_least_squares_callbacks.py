"""How far plain least squares is from its best: a bound, checked in exact arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from rosenblatt.linear_model.centred_rows import Centred
from rosenblatt.linear_model.least_squares_callbacks import Span


def exact(values):
    return [Fraction(float(value)) for value in values]


def solved(gram, right):
    """Gauss and Jordan, in fractions."""
    rows = [[*row, b] for row, b in zip(gram, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(len(rows)):
            share = rows[k][i] / rows[i][i]
            if k != i:
                rows[k] = [a - share * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


class ExactProblem:
    """Least squares about the means, in fractions."""

    def __init__(self, X, y):
        columns = [exact(column) for column in X.T]
        self.columns = [[x - sum(c) / len(c) for x in c] for c in columns]
        target = exact(y)
        self.target = [t - sum(target) / len(target) for t in target]

    def value(self, w):
        fitted = [
            sum(a * b for a, b in zip(row, w, strict=True))
            for row in zip(*self.columns, strict=True)
        ]
        return sum((t - f) ** 2 for t, f in zip(self.target, fitted, strict=True))

    def best(self, positive):
        """By all sets of columns, of which a few may be positive."""
        d = len(self.columns)
        sizes = range(d + 1) if positive else (d,)
        found = [self._on(chosen) for k in sizes for chosen in combinations(range(d), k)]
        allowed = [w for w in found if not positive or min(w) >= 0]
        return min(allowed, key=self.value)

    def _on(self, chosen):
        def dot(a, b):
            return sum(x * y for x, y in zip(a, b, strict=True))

        columns = [self.columns[j] for j in chosen]
        part = solved(
            [[dot(a, b) for b in columns] for a in columns], [dot(a, self.target) for a in columns]
        )
        w = [Fraction(0)] * len(self.columns)
        for j, value in zip(chosen, part, strict=True):
            w[j] = value
        return w


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_no_excess_is_larger_than_said(seed, positive):
    """Columns of all scales, far from zero: nothing that rounding hides may be left out."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 10)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) + 10.0 ** rng.integers(0, 5) * rng.normal(size=d)
    X *= 10.0 ** rng.integers(-3, 4, d)
    y = rng.normal(size=n) + seed % 2 * X @ rng.normal(size=d)
    problem, rows = ExactProblem(X, y), Centred(X, y[:, None], None, True)
    span, target = Span.of(rows), rows.targets[:, 0]
    best = problem.best(positive)
    least = problem.value(best)
    for nudge in (0, 1e-8, 1e-3, 1):
        w = np.array([float(value) for value in best]) * (1 + nudge * rng.normal(size=d))
        w = np.maximum(w, 0) if positive else w
        r = target - rows.product(w)
        said = span.excess(w, target, r, rows.adjoint(r), positive)
        excess = float(problem.value(exact(w)) - least)
        assert said >= excess
        if not positive:  # there it is the excess, but for rounding
            assert said <= excess * (1 + 1e-6) + 1e-9 * float(target @ target)


def test_columns_that_repeat_others_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = rng.normal(size=20)
    twice = np.hstack([X, X, np.ones((20, 1))])
    found = []
    for table in (X, twice):
        rows = Centred(table, y[:, None], None, True)
        target = rows.targets[:, 0]
        nothing = np.zeros(table.shape[1])
        found.append(Span.of(rows).excess(nothing, target, target, rows.adjoint(target), False))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_nothing_is_said_where_no_dual_point_is_known():
    """Among twice the same column in two directions, products of both signs have no such point."""
    X = np.array([[1.0, -1.0], [2.0, -2.0], [4.0, -4.0]])
    rows = Centred(X, np.array([[1.0], [3.0], [2.0]]), None, True)
    target = rows.targets[:, 0]
    span = Span.of(rows)
    products = rows.adjoint(target)
    assert np.isinf(span.excess(np.zeros(2), target, target, products, True))
    assert np.isfinite(span.excess(np.zeros(2), target, target, products, False))
