"""Attacks on clusters: centres, labels, losses and mixtures changed, each number worked out again.

Tables are so small that every clustering is tried. Rows that are as near to two centres, within
rounding, may go to either, so that a step from them is not judged.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import sklearn.cluster
import sklearn.mixture

import rosenblatt as rb
from rosenblatt import certify

from . import tables
from .exact import DIGITS, fractions

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
LEAST = Decimal("-1e60")  # the logarithm of no share
NEAR = Fraction(1, 10**9)  # distances no further apart are equal
KINDS = ["full", "tied", "diag", "spherical"]


def squared(a, b):
    return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


def centres(rng):
    """Centres, labels or the loss changed; a careful liar publishes what belongs to its centres."""
    X = tables.stored(rng, tables.rows(rng, rng.randint(3, 8), rng.randint(1, 3)))
    weight, K = tables.weights(rng, X.shape[0]), int(rng.randint(1, 4))
    name = ("KMeans", "KMeans", "MiniBatchKMeans")[rng.randint(3)]
    kind = getattr((rb, sklearn.cluster)[rng.randint(2)], name)
    model = kind(K, n_init=1, random_state=0, max_iter=int(rng.choice([1, 50])))
    model.fit(X, sample_weight=weight)
    C, careful = model.cluster_centers_, rng.randint(2)
    C = tables.changed(rng, C) if rng.randint(2) else C + rng.choice([0.0, 2.0**-20, 0.5])
    model.cluster_centers_ = C.astype(model.cluster_centers_.dtype)
    rows, C = fractions(tables.exactly(X)), fractions(model.cluster_centers_.astype(np.float64))
    s = fractions(tables.ones(weight, len(rows)))
    far = [[squared(x, c) for c in C] for x in rows]
    nearest = [row.index(min(row)) for row in far]
    loss = sum((w * min(row) for w, row in zip(s, far, strict=True)), Fraction(0))
    if careful:
        model.labels_, model.inertia_ = np.array(nearest), float(loss)
    elif rng.randint(2):
        model.labels_ = rng.permutation(model.labels_)
    else:
        model.inertia_ = float(tables.changed(rng, model.inertia_))
    certificate = certify(model, X, sample_weight=weight, effort=int(rng.randint(2)))
    spread, best = one_cluster(rows, s, range(len(rows))), best_loss(rows, s, K)
    share = Fraction(1, 10**6 if model.cluster_centers_.dtype == np.float64 else 500)

    def room(size):
        """What rounding may hide of a number of some size."""
        return share * size + spread * NEAR

    found = []
    off = abs(Fraction(model.inertia_) - loss)
    if certificate["loss"].holds and off > room(loss):
        found.append(f"inertia_ is off by {float(off):.3g} of {float(loss):.3g}, and loss holds")
    total = sum(s, Fraction(0))
    own = [row[k] - min(row) - room(min(row)) - share * spread / total
           for row, k in zip(far, model.labels_.tolist(), strict=True)]  # fmt: skip
    if certificate["labels"].holds and max(own) > 0:
        found.append(f"a row has a centre that is nearer by {float(max(own)):.3g}, and labels hold")
    step = certificate["next step"]
    gain = gain_of_a_step(rows, s, C, nearest)
    near = [sum(d <= min(row) * (1 + NEAR) + spread / total * NEAR for d in row) for row in far]
    if step.holds and max(near) == 1 and gain > Fraction(step.value) + room(loss):
        found.append(f"a step gains {float(gain):.6g}, {step.value:.6g} is claimed")
    excess = certificate["optimum"].value
    if np.isfinite(excess) and loss > best * (1 + Fraction(excess)) * (1 + NEAR) + spread * NEAR:
        words = f"the loss is within {excess} of the best, but that is {float(best):.9g}"
        found.append(f"{words} and the loss {float(loss):.9g}")
    return [f"{certificate.model}: {words}" for words in found]


def one_cluster(rows, s, members):
    """The loss of some rows about their mean."""
    total = sum((s[i] for i in members), Fraction(0))
    columns = zip(*(rows[i] for i in members), strict=True)
    mean = [sum((s[i] * x for i, x in zip(members, c, strict=True)), Fraction(0)) / total
            for c in columns]  # fmt: skip
    return sum((s[i] * squared(rows[i], mean) for i in members), Fraction(0))


def best_loss(rows, s, K):
    """The least loss of K clusters: all sets of rows are tried as the one with the last row."""
    n = len(rows)
    loss = [Fraction(0)] * 2**n
    for members in range(1, 2**n):
        loss[members] = one_cluster(rows, s, [i for i in range(n) if members >> i & 1])
    best = loss
    for _ in range(K - 1):
        least = [Fraction(0)] * 2**n
        for members in range(1, 2**n):
            last, part, found = 1 << members.bit_length() - 1, members, loss[members]
            while part:
                if part & last:
                    found = min(found, loss[part] + best[members ^ part])
                part = (part - 1) & members
            least[members] = found
        best = least
    return best[-1]


def gain_of_a_step(rows, s, C, nearest):
    """By how much the loss falls if every centre moves to the mean of its rows."""
    gain = Fraction(0)
    for k, centre in enumerate(C):
        mine = [i for i, code in enumerate(nearest) if code == k]
        if mine:
            about = sum((s[i] * squared(rows[i], centre) for i in mine), Fraction(0))
            gain += about - one_cluster(rows, s, mine)
    return gain


def mixture(rng):
    """Weights, means, covariances or the likelihood changed; a careful liar fits the precisions."""
    rows = tables.rows(rng, rng.randint(6, 12), rng.randint(1, 3))
    X = tables.stored(rng, rows)
    X = X if isinstance(X, np.ndarray) else tables.exactly(X)
    kind, K = KINDS[rng.randint(4)], int(rng.randint(1, 3))
    settings = {"covariance_type": kind, "random_state": 0, "max_iter": int(rng.choice([2, 60]))}
    weight = None
    if rng.randint(2):
        model, weight = rb.GaussianMixture(K, **settings), tables.weights(rng, len(X))
        model.fit(X, sample_weight=weight)
    else:
        model = sklearn.mixture.GaussianMixture(K, **settings).fit(X)
    change_parameters(rng, model)
    certificate = certify(model, X, sample_weight=weight)
    exact = model.means_.dtype == np.float64
    allowed = Decimal("1e-5") if exact else Decimal("2e-2")
    with localcontext(DIGITS):
        return [
            f"{certificate.model}, {kind}: {words}"
            for words in false_densities(certificate, model, X, weight, allowed)
        ]


def change_parameters(rng, model):
    """Change one or two of the tables, or none; precisions follow, or do not."""
    kind = rng.randint(5)
    spread = np.sqrt(np.max(model.covariances_))
    if kind == 1:
        shift = rng.choice([1e-9, 1e-3, 0.5]) * spread
        model.means_ = (model.means_ + shift).astype(model.means_.dtype)
    elif kind == 2:
        model.means_ = tables.changed(rng, model.means_).astype(model.means_.dtype)
    elif kind == 3:
        shares = np.abs(tables.changed(rng, model.weights_)) + 1e-9
        model.weights_ = shares / shares.sum() if rng.randint(2) else shares
    elif kind == 4:
        factor = (1 + 10.0 ** rng.uniform(-9, 1)) ** rng.choice([-1, 1])
        model.covariances_ = model.covariances_ * model.covariances_.dtype.type(factor)
        if rng.randint(2):
            model.precisions_ = model.precisions_ / factor
            model.precisions_cholesky_ = model.precisions_cholesky_ / np.sqrt(factor)
    if not rng.randint(3):
        raised = model.lower_bound_ + 10.0 ** rng.uniform(-6, 1)
        model.lower_bound_ = raised
        if rng.randint(2) and hasattr(model, "lower_bounds_"):
            model.lower_bounds_ = [*model.lower_bounds_, raised]


def false_densities(certificate, model, X, weight, allowed):
    """What is false in a certificate, of densities in 60 digits."""
    numbers = np.asarray(X, np.float64)
    rows = [[Decimal(float(x)) for x in row] for row in numbers]
    s = [Decimal(float(w)) for w in tables.ones(weight, len(rows))]
    s = [w / sum(s) for w in s]
    parameters = published_components(model)
    joint = log_joint(rows, *parameters)
    if joint is None:
        return ["a covariance is not positive, and all holds"] * certificate.holds
    if any(abs(c[i][j] - c[j][i]) > allowed / 100 * (c[i][i] * c[j][j]).sqrt()
           for c in parameters[2] for i in range(len(c)) for j in range(i)):  # fmt: skip
        return ["a covariance is not symmetric, and all holds"] * certificate.holds
    densities = [log_sum(row) for row in joint]
    shares = [[(z - total).exp() for z in row] for row, total in zip(joint, densities, strict=True)]
    before = sum(w * z for w, z in zip(s, densities, strict=True))
    found, own = [], model.score_samples(X)
    worst = max(
        abs(Decimal(float(a)) - b) / (1 + abs(b)) for a, b in zip(own, densities, strict=True)
    )
    if certificate["likelihood"].holds and worst > allowed:
        found.append(f"score_samples is off by {worst:.3g}, and the likelihood holds")
    worst = max(abs(Decimal(float(a)) - b) for row, exact in
                zip(model.predict_proba(X), shares, strict=True)
                for a, b in zip(row, exact, strict=True))  # fmt: skip
    if certificate["shares"].holds and worst > allowed:
        found.append(f"predict_proba is off by {worst:.3g}, and shares hold")
    after = log_joint(rows, *maximised(rows, s, shares, parameters, model))
    gain = sum(w * log_sum(row) for w, row in zip(s, after, strict=True)) - before
    step = certificate["next step"]
    if step.holds and gain > Decimal(float(step.value)) + allowed * (1 + abs(before)) / 10:
        found.append(f"a step gains {gain:.6g}, {step.value:.6g} is claimed")
    fell = [claim for claim in certificate if claim.name == "never fell"]
    if fell and fell[0].holds:
        fall = Decimal(float(model.lower_bound_)) - before
        if fall > Decimal(float(fell[0].bound)) + allowed * (1 + abs(before)) / 10:
            found.append(f"the likelihood is {fall:.6g} below lower_bound_, and never fell")
    return found


def published_components(model):
    """Weights, means and covariances (K, d, d) in 60 digits."""
    K, d = model.means_.shape
    S, kind = np.asarray(model.covariances_, np.float64), model.covariance_type
    if kind == "tied":
        S = np.broadcast_to(S, (K, d, d))
    elif kind != "full":
        S = np.broadcast_to(S.reshape(K, -1), (K, d))[:, :, None] * np.eye(d)
    return tuple(digits(np.asarray(v, np.float64)) for v in (model.weights_, model.means_, S))


def digits(array):
    return Decimal(float(array)) if array.ndim == 0 else [digits(part) for part in array]


def log_sum(scores):
    top = max(scores)
    return top + sum((z - top).exp() for z in scores).ln()


def log_joint(rows, p, m, S):
    """``log p_k + log N(x; m_k, S_k)``, or None if a covariance is not positive."""
    columns = []
    for share, mean, cov in zip(p, m, S, strict=True):
        column = []
        for x in rows:
            away = [a - b for a, b in zip(x, mean, strict=True)]
            solved = quadratic_and_log_det(cov, away)
            if solved is None:
                return None
            quadratic, log_det = solved
            constant = (
                (share.ln() if share > 0 else LEAST) - len(x) * (2 * PI).ln() / 2 - log_det / 2
            )
            column.append(constant - quadratic / 2)
        columns.append(column)
    return list(zip(*columns, strict=True))


def quadratic_and_log_det(S, away):
    """``a'S^-1 a`` and ``log det S`` by elimination, or None."""
    rows, log_det, quadratic = [[*row, a] for row, a in zip(S, away, strict=True)], Decimal(0), 0
    for i, row in enumerate(rows):
        if row[i] <= 0:
            return None
        log_det += row[i].ln()
        quadratic += row[-1] ** 2 / row[i]
        for below in rows[i + 1 :]:
            factor = below[i] / row[i]
            below[:] = [b - factor * a for a, b in zip(row, below, strict=True)]
    return quadratic, log_det


def maximised(rows, s, shares, parameters, model):
    """The M step in 60 digits, with the floor under the variances."""
    kind, floor, d = model.covariance_type, Decimal(float(model.reg_covar)), len(rows[0])
    p, m, S = [], [], []
    for k in range(len(parameters[0])):
        r = [w * row[k] for w, row in zip(s, shares, strict=True)]
        p.append(sum(r))
        if not p[k]:  # no row is its own: it stays
            m.append(parameters[1][k])
            S.append(parameters[2][k])
            continue
        m.append([sum(a * x[j] for a, x in zip(r, rows, strict=True)) / p[k] for j in range(d)])
        S.append([[sum(a * (x[i] - m[k][i]) * (x[j] - m[k][j]) for a, x in
                       zip(r, rows, strict=True)) / p[k] for j in range(d)]
                  for i in range(d)])  # fmt: skip
    if kind == "tied":
        tied = [[sum(q * C[i][j] for q, C in zip(p, S, strict=True)) for j in range(d)]
                for i in range(d)]  # fmt: skip
        S = [tied] * len(p)
    for k, C in enumerate(S):
        mean = sum(C[i][i] for i in range(d)) / d
        S[k] = [[(mean if kind == "spherical" else C[i][j]) * (i == j or kind in ("full", "tied"))
                 + floor * (i == j) for j in range(d)] for i in range(d)]  # fmt: skip
    return p, m, S
