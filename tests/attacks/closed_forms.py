"""Attacks on numbers in closed form: means, variances, shares, planes, each worked out exactly.

A likelihood's shortfall must not be below the exact one. Of other numbers: a certificate that holds
must not have one that is off by more than `OFF` of its size.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import sklearn.discriminant_analysis
import sklearn.naive_bayes
import sklearn.neighbors

import rosenblatt as rb
from rosenblatt import certify

from . import tables
from .exact import DIGITS, decimal, dot, fractions, of_class, solve, squares_excess
from .false_claims import OFF, below, off_by
from .optima import published


def gaussian_naive_bayes(rng):
    X = tables.rows(rng, rng.randint(4, 10), rng.randint(1, 4))
    y = np.arange(len(X)) % 2
    X, weight = tables.stored(rng, X), tables.weights(rng, len(y))
    X = tables.exactly(X) if not isinstance(X, np.ndarray) else X
    kind = (rb.GaussianNB, sklearn.naive_bayes.GaussianNB)[rng.randint(2)]
    model = kind(var_smoothing=(1e-9, 0.0)[rng.randint(2)]).fit(X, y, sample_weight=weight)
    if rng.randint(3):
        model.theta_ = tables.changed(rng, model.theta_).astype(model.theta_.dtype)
    if rng.randint(3):
        model.var_ = np.abs(tables.changed(rng, model.var_)).astype(model.var_.dtype)
    certificate = certify(model, X, y, sample_weight=weight)
    weight, gap = tables.ones(weight, len(y)), Decimal(0)
    with localcontext(DIGITS):
        for k in range(2):
            total, mean, scatter = of_class(np.asarray(X, np.float64), y, weight, k)
            for j, m in enumerate(mean):
                s2 = scatter[j][j] / total + Fraction(float(model.epsilon_))
                var, theta = (Fraction(float(t[k, j])) for t in (model.var_, model.theta_))
                if s2 > 0 and var <= 0:
                    return [] if np.isinf(certificate["likelihood"].value) else ["no variance"]
                if s2 > 0:
                    ratio = decimal(s2 / var)
                    far = decimal((m - theta) ** 2 / var)
                    gap += decimal(total) * (ratio - 1 - ratio.ln() + far) / 2
    return below(certificate, gap, "likelihood")


def counting_naive_bayes(rng):
    X = rng.randint(0, 4, (rng.randint(4, 10), rng.randint(1, 4)))
    y, alpha = np.arange(len(X)) % 2, (1.0, 0.5, 1e-3)[rng.randint(3)]
    weight = tables.weights(rng, len(y))
    name = ("MultinomialNB", "BernoulliNB")[rng.randint(2)]
    model = getattr((rb, sklearn.naive_bayes)[rng.randint(2)], name)(alpha=alpha)
    model.fit(X, y, sample_weight=weight)
    log_q = tables.changed(rng, model.feature_log_prob_)
    model.feature_log_prob_ = log_q = np.minimum(log_q, -1e-3 if name == "BernoulliNB" else 9.0)
    certificate = certify(model, X, y, sample_weight=weight)
    rows, s, a = fractions(X), fractions(tables.ones(weight, len(y))), Fraction(alpha)
    gap = Decimal(0)
    with localcontext(DIGITS):
        for k in range(2):
            own = [(row, w) for row, w, code in zip(rows, s, y, strict=True) if code == k]
            whole = sum((w for _, w in own), Fraction(0))
            columns = range(X.shape[1])
            if name == "MultinomialNB":
                held = [sum((w * row[j] for row, w in own), a) for j in columns]
                total = sum(held, Fraction(0))
                for j, n in enumerate(held):
                    gap += decimal(n) * (decimal(n / total).ln() - Decimal(float(log_q[k, j])))
                continue
            for j in columns:
                n = sum((w for row, w in own if row[j] > 0), a)
                q = Decimal(float(log_q[k, j]))
                gap += decimal(n) * (decimal(n / (whole + 2 * a)).ln() - q)
                rest = whole + 2 * a - n
                absent = (1 - q.exp()).ln()
                if hasattr(model, "feature_log_absent_"):
                    absent = Decimal(float(model.feature_log_absent_[k, j]))
                gap += decimal(rest) * (decimal(rest / (whole + 2 * a)).ln() - absent)
    return below(certificate, gap, "likelihood")


def categorical_naive_bayes(rng):
    X = rng.randint(0, 3, (rng.randint(4, 10), rng.randint(1, 4)))
    y, alpha = np.arange(len(X)) % 2, (1.0, 0.5)[rng.randint(2)]
    model = (rb, sklearn.naive_bayes)[rng.randint(2)].CategoricalNB(alpha=alpha).fit(X, y)
    tablets = [tables.changed(rng, table) for table in model.feature_log_prob_]
    model.feature_log_prob_, gap = tablets, Decimal(0)
    certificate = certify(model, X, y)
    with localcontext(DIGITS):
        for j, log_q in enumerate(tablets):
            x, m = X[:, j], log_q.shape[1]
            values = np.unique(x) if m != x.max() + 1 else range(m)
            for k in range(2):
                counts = [int(np.sum((x == v) & (y == k))) for v in values]
                held = [n + Fraction(alpha) for n in counts]
                total = sum(held, Fraction(0))
                for n, q in zip(held, log_q[k], strict=True):
                    gap += decimal(n) * (decimal(n / total).ln() - Decimal(float(q)))
    return below(certificate, gap, "likelihood")


def complement_naive_bayes(rng):
    X = rng.randint(0, 4, (rng.randint(4, 10), rng.randint(2, 4)))
    y = np.arange(len(X)) % 2
    model = (rb, sklearn.naive_bayes)[rng.randint(2)].ComplementNB().fit(X, y)
    model.feature_log_prob_ = tables.changed(rng, model.feature_log_prob_)
    certificate = certify(model, X, y)
    exact = []
    for k in range(2):
        held = [Fraction(int(n) + 1) for n in X[y != k].sum(axis=0)]
        exact.append([-float(decimal(n / sum(held, Fraction(0))).ln()) for n in held])
    return off_by(certificate, model.feature_log_prob_, exact, np.abs(exact), "feature_log_prob_")


def two_clouds(rng, kinds=("plain", "whole", "scales", "far")):
    X = tables.rows(rng, rng.randint(8, 13), rng.randint(1, 4), kinds)
    return X, np.arange(len(X)) % 2


def inverse_times(S, right):
    """Solve in fractions; None if S is singular."""
    x = solve(S, right)
    full = all(dot(row, x) == r for row, r in zip(S, right, strict=True))
    rank = [solve(S, [Fraction(int(i == j)) for j in range(len(S))]) for i in range(len(S))]
    unit = all(dot(S[i], rank[j]) == (i == j) for i in range(len(S)) for j in range(len(S)))
    return x if full and unit else None


def linear_discriminants(rng):
    X, y = two_clouds(rng)
    solver = ("svd", "lsqr", "eigen")[rng.randint(3)]
    kind = (rb, sklearn.discriminant_analysis)[rng.randint(2)].LinearDiscriminantAnalysis
    model = kind(solver=solver).fit(X, y)
    return _planes(rng, model, X, y)


def fisher_discriminants(rng):
    X, y = two_clouds(rng)
    return _planes(rng, rb.FisherDiscriminant().fit(X, y), X, y, direction=True)


def _planes(rng, model, X, y, direction=False):
    """The plane between two classes; `direction` if its length is free."""
    if rng.randint(2):
        model.coef_ = tables.changed(rng, model.coef_).astype(model.coef_.dtype)
    else:
        model.means_ = tables.changed(rng, model.means_)
    certificate = certify(model, X, y)
    parts = [of_class(X, y, np.ones(len(y)), k) for k in range(2)]
    d, n = X.shape[1], len(y)
    spread = [[sum((p[2][i][j] for p in parts), Fraction(0)) for j in range(d)] for i in range(d)]
    apart = [a - b for a, b in zip(parts[1][1], parts[0][1], strict=True)]
    exact = inverse_times(spread, apart)
    means = np.array([[float(x) for x in p[1]] for p in parts])
    size = np.sqrt([float(spread[j][j]) / n for j in range(d)]) + 1e-9 * np.abs(means)
    found = off_by(certificate, model.means_, means, 10 * size, "means_")
    if exact is None:
        return found
    w, planes = np.ravel(np.asarray(model.coef_, np.float64)), []
    for divisor in (n, n - 2):
        right = np.array([float(x * divisor) for x in exact])
        if direction:
            right = right * (w @ right) / (right @ right)
        planes.append(right)
    size = np.sqrt([float(spread[j][j]) / n for j in range(d)])
    scaled = np.array([[float(v) / n for v in row] for row in spread]) / np.outer(size, size)
    if np.linalg.cond(scaled) > 1e8:
        return found
    # In units of log-odds, of which the certificate allows a hundredth.
    steps = [(w - right) * size for right in planes]
    off = min(float(np.sqrt(max(step @ scaled @ step, 0.0))) for step in steps)
    return found + off_by(certificate, off, 0.0, 0.02 / OFF, "coef_")


def quadratic_discriminants(rng):
    X, y = two_clouds(rng, ["plain", "whole", "far"])  # tiny variances are raised to tol
    kind = (rb, sklearn.discriminant_analysis)[rng.randint(2)].QuadraticDiscriminantAnalysis
    model = kind().fit(X, y)
    if rng.randint(2):
        model.means_ = tables.changed(rng, model.means_)
    else:
        model.scalings_ = [np.abs(tables.changed(rng, s)) for s in model.scalings_]
    certificate = certify(model, X, y)
    found = []
    for k in range(2):
        total, mean, scatter = of_class(X, y, np.ones(len(y)), k)
        S = np.array([[float(v) for v in row] for row in scatter])
        size = np.sqrt(np.diag(S) / float(total))
        mean = np.array([float(x) for x in mean])
        size = 10 * (size + 1e-9 * np.abs(mean))
        found += off_by(certificate, model.means_[k], mean, size, "means_")
        R = np.asarray(model.rotations_[k])
        C = (R * np.asarray(model.scalings_[k])) @ R.T
        each = [S / m for m in (float(total), float(total) - 1)]
        off = [np.abs(C - T).max() / np.abs(T).max() for T in each]
        found += off_by(certificate, min(off), 0.0, 10.0, "scalings_")
    return found


def least_squares_classifier(rng):
    X = tables.rows(rng, rng.randint(4, 11), rng.randint(1, 4))
    y = tables.labels(rng, X)
    model = rb.LeastSquaresClassifier().fit(X, y)
    model.coef_ = tables.changed(rng, model.coef_)
    certificate = certify(model, X, y)
    w, b = published(model)
    return below(certificate, squares_excess(X, 2.0 * y - 1, np.ones(len(y)), 0.0, True, w, b))


def nearest_centroids(rng):
    X, y = two_clouds(rng)
    model = (rb, sklearn.neighbors)[rng.randint(2)].NearestCentroid().fit(X, y)
    model.centroids_ = tables.changed(rng, model.centroids_)
    certificate = certify(model, X, y)
    exact = np.array([[float(x) for x in of_class(X, y, np.ones(len(y)), k)[1]] for k in range(2)])
    size = 10 * (np.ptp(X, axis=0) + 1e-9 * np.abs(exact))
    return off_by(certificate, model.centroids_, exact, size, "centroids_")
