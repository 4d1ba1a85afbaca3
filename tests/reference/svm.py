"""The exact optimum of a small machine with a margin, in fractions.

Every side of a row, ``s f >= r`` at the price c, is outside its margin, on it, or inside. Each such
pattern is a system of linear equations in the weights, the intercept and the multipliers; the best
plane solves that of its own pattern, so that it is the best of all solutions.
"""

from fractions import Fraction
from itertools import product


def sides_of(X, t, c, epsilon=None):
    """Sides (x, s, r, c): one of each row with target -1 or +1; two where errors up to epsilon."""
    rows = [[Fraction(v) for v in x] for x in X]
    if epsilon is None:
        return [
            (x, Fraction(int(s)), Fraction(1), Fraction(k))
            for x, s, k in zip(rows, t, c, strict=True)
        ]
    e = Fraction(epsilon)
    return [
        (x, Fraction(s), s * Fraction(v) - e, Fraction(k))
        for x, v, k in zip(rows, t, c, strict=True)
        for s in (1, -1)
    ]


def value(sides, w, b, power):
    """|w|^2 / 2 and the sum of the losses, as a fraction."""
    total = sum(v * v for v in w) / 2
    for x, s, r, c in sides:
        total += c * max(r - s * (dot(w, x) + b), 0) ** power
    return total


def best_value(sides, free, power):
    """The least value of all planes; `free` says whether there is an intercept."""
    kinds = ("out", "on", "in") if power == 1 else ("out", "in")
    d = len(sides[0][0])
    best = value(sides, [Fraction(0)] * d, Fraction(0), power)
    for pattern in product(kinds, repeat=len(sides)):
        solution = solved(equations(sides, pattern, free, power))
        if solution is not None:
            w, b = solution[:d], solution[d] if free else Fraction(0)
            best = min(best, value(sides, w, b, power))
    return best


def equations(sides, pattern, free, power):
    """Rows (coefficients, right side) in w, b if free, and the multipliers of sides on a margin."""
    d = len(sides[0][0])
    on = [k for k, kind in enumerate(pattern) if kind == "on"]
    inside = [k for k, kind in enumerate(pattern) if kind == "in"]
    width = d + free + len(on)
    found = []
    for j in range(d + free):  # w_j = sum of a s x_j; without w for the intercept
        row, right = [Fraction(0)] * width, Fraction(0)
        if j < d:
            row[j] += 1
        for place, k in enumerate(on):
            x, s, _, _ = sides[k]
            row[d + free + place] -= s * (x[j] if j < d else 1)
        for k in inside:
            x, s, r, c = sides[k]
            at = s * (x[j] if j < d else 1)
            if power == 1:
                right += c * at
            else:  # a = 2 c (r - s f)
                right += 2 * c * r * at
                for i in range(d):
                    row[i] += 2 * c * s * x[i] * at
                if free:
                    row[d] += 2 * c * s * at
        found.append((row, right))
    for k in on:
        x, s, r, _ = sides[k]
        row = [s * v for v in x] + [s] * free + [Fraction(0)] * len(on)
        found.append((row, r))
    return found


def solved(system):
    """One solution of linear equations in fractions, unknowns without a say at zero; or None."""
    rows = [[*row, right] for row, right in system]
    width, at, pivots = len(rows[0]) - 1, 0, []
    for j in range(width):
        pick = next((i for i in range(at, len(rows)) if rows[i][j] != 0), None)
        if pick is None:
            continue
        rows[at], rows[pick] = rows[pick], rows[at]
        rows[at] = [v / rows[at][j] for v in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][j] != 0:
                rows[i] = [v - rows[i][j] * p for v, p in zip(rows[i], rows[at], strict=True)]
        pivots.append(j)
        at += 1
    if any(row[-1] != 0 for row in rows[at:]):
        return None
    solution = [Fraction(0)] * width
    for i, j in enumerate(pivots):
        solution[j] = rows[i][-1]
    return solution


def dot(w, x):
    return sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0))
