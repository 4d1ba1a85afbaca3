# mypy: ignore-errors
"""Steps of an interior point method for all classes in one problem.

A row has for each other class a multiplier a and a lead ``u = f_own - f_k + xi - 1``, a slack xi,
and ``g = c - sum_k a``, all positive. A step brings the products a u and g xi towards a target.
Entries of the own class are not used, but for a multiplier of 0.
"""

from typing import Any, NamedTuple

from rosenblatt.loops import compiled

LOW, HIGH = 0.1, 10.0  # of the product that is aimed at: others are corrected


class State(NamedTuple):
    """Where the fit is: own (n,) class numbers, a and u (n, K), xi and g (n,)."""

    own: Any
    a: Any
    u: Any
    xi: Any
    g: Any
    q: Any  # a / u (n, K), 0 for the own class
    h: Any  # (n,), what the slack takes of a change of the leads


class Step(NamedTuple):
    """Changes of a and u (n, K) and xi (n,), and the products (n, K) and (n,) that they aim at."""

    a: Any
    u: Any
    xi: Any
    first: Any
    second: Any
    fixed: Any  # what a and xi change by while the scores stay
    rest: Any


@compiled
def weigh(now, start, stop, M):
    """Fill q and h of rows start to stop, and M (m, K (K + 1) / 2) with their curvature.

    That is E'(diag q - h q q')E by the scores, E the map to leads of the own class, upper half.
    """
    K = now.a.shape[1]
    for i in range(start, stop):
        own, whole = now.own[i], 0.0
        for k in range(K):
            now.q[i, k] = now.a[i, k] / now.u[i, k] if k != own else 0.0
            whole += now.q[i, k]
        now.h[i] = now.xi[i] / (now.g[i] + now.xi[i] * whole)
        p = 0
        for k in range(K):
            of_k = whole if k == own else -now.q[i, k]
            for j in range(k, K):
                of_j = whole if j == own else -now.q[i, j]
                bend = -now.h[i] * of_k * of_j
                if j == k:
                    bend += abs(of_k)
                elif k == own:
                    bend += of_j
                elif j == own:
                    bend += of_k
                M[i - start, p] = bend
                p += 1


@compiled
def multiply_pairs(X, Z):
    """Fill Z (m, d (d + 1) / 2) with the products of each two columns of the rows of X (m, d)."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        p = 0
        for j in range(d):
            for k in range(j, d):
                Z[i, p + k - j] = X[i, j] * X[i, k]
            p += d - j


@compiled
def push(now, step, beta):
    """Fill beta (n, K), what the multipliers of rows add to each class while the scores stay."""
    K = now.a.shape[1]
    for i in range(now.own.shape[0]):
        own, xi, g = now.own[i], now.xi[i], now.g[i]
        short, whole = 0.0, 0.0
        for k in range(K):
            if k != own:
                step.fixed[i, k] = step.first[i, k] / now.u[i, k] - now.a[i, k]
                short += step.fixed[i, k]
                whole += now.q[i, k]
        rest = (step.second[i] - g * xi + xi * short) / (g + xi * whole)
        step.rest[i] = rest
        total = 0.0
        for k in range(K):
            if k != own:
                step.fixed[i, k] -= now.q[i, k] * rest
                mass = now.a[i, k] + step.fixed[i, k]
                beta[i, k] = -mass
                total += mass
        beta[i, own] = total


@compiled
def change(now, step, df):
    """Fill the changes of a step that changes scores by df (n, K); return the longest, up to 1."""
    K = now.a.shape[1]
    fastest = 1.0  # of all, in lengths of their own: a step of its inverse brings it to zero
    for i in range(now.own.shape[0]):
        own, taken = now.own[i], 0.0
        for k in range(K):
            taken += now.q[i, k] * (df[i, own] - df[i, k])
        taken *= now.h[i]
        dxi, total = step.rest[i] - taken, 0.0
        step.xi[i] = dxi
        for k in range(K):
            if k != own:
                lead = df[i, own] - df[i, k]
                da = step.fixed[i, k] - now.q[i, k] * (lead - taken)
                du = lead + dxi
                step.a[i, k], step.u[i, k] = da, du
                total += da
                fastest = max(fastest, max(-da / now.a[i, k], -du / now.u[i, k]))
        fastest = max(fastest, max(total / now.g[i], -dxi / now.xi[i]))
    return 1.0 / fastest


@compiled
def products(now, step, length):
    """The sum of a u and g xi after a step of this length: the gap, if all is feasible."""
    result = 0.0
    for i in range(now.own.shape[0]):
        total = 0.0
        for k in range(now.a.shape[1]):
            if k != now.own[i]:
                da = length * step.a[i, k]
                result += (now.a[i, k] + da) * (now.u[i, k] + length * step.u[i, k])
                total += da
        result += (now.g[i] - total) * (now.xi[i] + length * step.xi[i])
    return result


@compiled
def aim(now, step, target):
    """Let products go to the target, less the products of the changes of a first try."""
    for i in range(now.own.shape[0]):
        total = 0.0
        for k in range(now.a.shape[1]):
            if k != now.own[i]:
                step.first[i, k] = target - step.a[i, k] * step.u[i, k]
                total += step.a[i, k]
        step.second[i] = target + total * step.xi[i]


@compiled
def correct(now, step, target, length):
    """Let products that a step of this length would leave far from the target come nearer.

    J. Gondzio (1996), Multiple centrality corrections.
    """
    for i in range(now.own.shape[0]):
        total = 0.0
        for k in range(now.a.shape[1]):
            if k != now.own[i]:
                da = length * step.a[i, k]
                found = (now.a[i, k] + da) * (now.u[i, k] + length * step.u[i, k])
                step.first[i, k] += correction(found, target)
                total += da
        found = (now.g[i] - total) * (now.xi[i] + length * step.xi[i])
        step.second[i] += correction(found, target)


@compiled(inline=True)
def correction(found, target):
    """What brings a product back between LOW and HIGH of the target, the latter by steps."""
    return max(LOW * target - found, 0.0) - min(max(found - HIGH * target, 0.0), HIGH * target)


@compiled
def move(now, step, length):
    """Make the step; return the sum of the products after it."""
    result = 0.0
    for i in range(now.own.shape[0]):
        total = 0.0
        for k in range(now.a.shape[1]):
            if k != now.own[i]:
                now.a[i, k] += length * step.a[i, k]
                now.u[i, k] += length * step.u[i, k]
                result += now.a[i, k] * now.u[i, k]
                total += step.a[i, k]
        now.g[i] -= length * total
        now.xi[i] += length * step.xi[i]
        result += now.g[i] * now.xi[i]
    return result
