"""Steps of an interior point method for machines with a margin, an entry for each side of a row.

Legend: row (m,) the row of each side; s (m,) its sign; c (m,) its price; r (m,) ``s t - epsilon``;
a (m,) multipliers, u (m,) leads, xi (m,) slacks, all positive and a below c; f (n,) scores.
"""

from typing import Any, NamedTuple

from . import compiled


class Sides(NamedTuple):
    """What does not change."""

    row: Any
    s: Any
    c: Any
    r: Any


@compiled
def weigh(sides, a, u, xi, theta, h):
    """Fill theta (m,), what a multiplier gives way to its score, and h (n,), its sums by row."""
    h[:] = 0.0
    for k in range(a.shape[0]):
        theta[k] = 1.0 / (u[k] / a[k] + xi[k] / (sides.c[k] - a[k]))
        h[sides.row[k]] += theta[k]


@compiled
def push(sides, a, u, xi, theta, f, aim, da, du, dxi, beta):
    """Fill beta (n,), the multipliers of rows after a step that left all scores where they are.

    The products a u and (c - a) xi go to `aim`, less the products of the changes da, du, dxi (m,)
    of a first try.
    """
    beta[:] = 0.0
    for k in range(a.shape[0]):
        i, s = sides.row[k], sides.s[k]
        first, second = aim - da[k] * du[k], aim + da[k] * dxi[k]
        short = first / a[k] - second / (sides.c[k] - a[k]) + sides.r[k] - s * f[i]
        beta[i] += s * (a[k] + theta[k] * short)


@compiled
def change(sides, a, u, xi, theta, f, aim, df, da, du, dxi):
    """Change da, du and dxi (m,) to those of the step that changes scores by df (n,).

    Returns the longest step, up to 1, that keeps all numbers positive.
    """
    reach = 1.0
    for k in range(a.shape[0]):
        i, s, g = sides.row[k], sides.s[k], sides.c[k] - a[k]
        first, second = aim - da[k] * du[k], aim + da[k] * dxi[k]
        short = first / a[k] - second / g + sides.r[k] - s * f[i]
        da[k] = theta[k] * (short - s * df[i])
        du[k] = first / a[k] - u[k] - u[k] / a[k] * da[k]
        dxi[k] = second / g - xi[k] + xi[k] / g * da[k]
        if da[k] < 0:
            reach = min(reach, -a[k] / da[k])
        elif da[k] > 0:
            reach = min(reach, g / da[k])
        if du[k] < 0:
            reach = min(reach, -u[k] / du[k])
        if dxi[k] < 0:
            reach = min(reach, -xi[k] / dxi[k])
    return reach


@compiled
def products(sides, a, u, xi, length, da, du, dxi):
    """The sum of a u and (c - a) xi after a step of this length: the gap, if all is feasible."""
    total = 0.0
    for k in range(a.shape[0]):
        total += (a[k] + length * da[k]) * (u[k] + length * du[k])
        total += (sides.c[k] - a[k] - length * da[k]) * (xi[k] + length * dxi[k])
    return total


@compiled
def move(a, u, xi, length, da, du, dxi):
    """Make the step: changes a, u and xi, and sets the changes to zero."""
    for k in range(a.shape[0]):
        a[k] += length * da[k]
        u[k] += length * du[k]
        xi[k] += length * dxi[k]
        da[k] = du[k] = dxi[k] = 0.0
