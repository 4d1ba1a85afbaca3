"""Attacks on claims of nearness to an optimum: a value must not be below the exact excess."""

from decimal import localcontext
from fractions import Fraction

import numpy as np
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.linear_model as theirs
import sklearn.svm

import rosenblatt as rb
from rosenblatt import certify
from rosenblatt.certificates.fold_lassos import Fold, best_coefficients, held_out_errors

from . import tables
from .exact import (
    DIGITS,
    absolute,
    best_excess,
    decimal,
    dot,
    fractions,
    log_sum,
    logistic_loss,
    solve,
    squares_excess,
)
from .false_claims import below


def regression(rng, most_rows=11):
    X = tables.rows(rng, rng.randint(2, most_rows), rng.randint(1, 4))
    X = tables.stored(rng, X)
    t = tables.targets(rng, tables.exactly(X))
    return X, t, tables.weights(rng, len(t))


def put(model, coef, intercept):
    """Publish other numbers, in the shape and precision of those there."""
    model.coef_ = np.asarray(coef).astype(model.coef_.dtype).reshape(model.coef_.shape)
    if np.ndim(model.intercept_):
        model.intercept_ = np.asarray(intercept).reshape(np.shape(model.intercept_))
    else:
        model.intercept_ = float(np.ravel(intercept)[0])


def put_off(rng, model):
    """Change what a model of planes publishes, or not."""
    coef, intercept = tables.changed(rng, model.coef_), np.asarray(model.intercept_, np.float64)
    if model.fit_intercept and rng.randint(2):
        intercept = tables.changed(rng, intercept)
    put(model, coef, intercept)


def published(model):
    return np.ravel(np.asarray(model.coef_, np.float64)), float(np.ravel(model.intercept_)[0])


def least_squares(rng):
    X, t, weight = regression(rng)
    kind = (rb.LinearRegression, theirs.LinearRegression)[rng.randint(2)]
    return _squares(rng, kind(fit_intercept=bool(rng.randint(3))), 0.0, X, t, weight)


def ridge(rng):
    X, t, weight = regression(rng)
    alpha = 10.0 ** rng.randint(-12, 6)
    kind = (rb.Ridge, theirs.Ridge)[rng.randint(2)]
    return _squares(rng, kind(alpha, fit_intercept=bool(rng.randint(3))), alpha, X, t, weight)


def _squares(rng, model, alpha, X, t, weight):
    model.fit(X, t, sample_weight=weight)
    put_off(rng, model)
    certificate = certify(model, X, t, sample_weight=weight)
    w, b = published(model)
    X, weight = tables.exactly(X), tables.ones(weight, len(t))
    return below(certificate, squares_excess(X, t, weight, alpha, model.fit_intercept, w, b))


def lasso(rng):
    X, t, weight = regression(rng)
    rho = (1.0, rng.uniform(0.05, 0.95))[rng.randint(2)]
    settings = {
        "alpha": 10.0 ** rng.randint(-6, 2), "fit_intercept": bool(rng.randint(3)),
        "positive": not rng.randint(4),
    }  # fmt: skip
    package = (rb, theirs)[rng.randint(2)]
    make = package.Lasso if rho == 1 else package.ElasticNet
    model = make(**settings, **({} if rho == 1 else {"l1_ratio": rho}), max_iter=2000)
    best = type(model)(**{**model.get_params(), "tol": 1e-10})
    model.fit(X, t, sample_weight=weight)
    best.fit(X, t, sample_weight=weight)
    tried = [published(model), published(best), (0 * published(best)[0], float(np.mean(t)))]
    put_off(rng, model)
    certificate = certify(model, X, t, sample_weight=weight)
    X, share = tables.exactly(X), fractions(tables.ones(weight, len(t)))
    total = sum(share, Fraction(0))
    share = [s / total for s in share]
    alpha, rho = Fraction(settings["alpha"]), Fraction(float(rho))

    def objective(w, b):
        rest = zip(fractions(X), fractions(t), share, strict=True)
        w, b = fractions(w), Fraction(b)
        loss = sum((p * (y - dot(x, w) - b) ** 2 for x, y, p in rest), Fraction(0)) / 2
        return loss + alpha * rho * absolute(w) + alpha * (1 - rho) / 2 * dot(w, w)

    w, b = published(model)
    if settings["positive"] and (w < 0).any():
        return [] if np.isinf(certificate["gap"].value) else ["a negative coefficient passes"]
    if not settings["fit_intercept"]:
        tried = [(v, 0.0) for v, _ in tried]
    P = objective(w, b)
    return below(certificate, best_excess(P, [objective(*numbers) for numbers in tried]))


def path_errors(rng):
    """Held-out errors of the best fits, and of any within the gap that is allowed."""
    X = tables.rows(rng, rng.randint(5, 12), rng.randint(1, 9))
    n = len(X)
    t, weight = tables.targets(rng, X), tables.ones(tables.weights(rng, n), n)
    order, centred, positive = rng.permutation(n), bool(rng.randint(3)), not rng.randint(4)
    train, test = order[: rng.randint(3, n)], order[-1 - rng.randint(n // 2) :]
    fold = Fold(X, t, weight, (train, test), centred)
    steepest = np.abs(fold.c).max(initial=0.0) or 1.0
    alphas = steepest * 10.0 ** np.array([-0.3, -1, -3])
    rho = (1.0, rng.uniform(0.05, 0.95))[rng.randint(2)]
    tol = 10.0 ** rng.randint(-8, -2)
    found = best_coefficients(fold, rho * alphas, (1 - rho) * alphas, positive,
                              1e-3 * tol * fold.size)  # fmt: skip
    errors = held_out_errors(fold, found, (1 - rho) * alphas, tol * fold.size, 2.0**-53)
    rows, held = exact_fold(X, t, weight, train, test, centred)
    false = []
    for a in range(len(alphas)):
        if not np.isfinite(errors.room[a]):
            continue
        l1, l2 = Fraction(rho * alphas[a]), Fraction((1 - rho) * alphas[a])
        best = exact_lasso(rows, l1, l2, positive, found.W[a])
        if best is None:
            continue
        least, e = penalised(rows, best, l1, l2), mean_square(held, best)
        base = Fraction(errors.best[a])
        if abs(e - base) > Fraction(errors.blur[a]):
            false.append(f"the best error {float(e)} is not {errors.best[a]} +- {errors.blur[a]}")
        for w in others(rng, rows, best, l1, l2, positive, least + Fraction(tol * fold.size)):
            if abs(mean_square(held, w) - base) > Fraction(errors.room[a]):
                off = float(abs(mean_square(held, w) - base)) / errors.room[a]
                false.append(f"an error within tol is off by {off} times the room")
    return false


def exact_fold(X, t, weight, train, test, centred):
    """(share, row, target) of both parts in fractions, about the means of the first."""
    parts = []
    for rows in (train, test):
        s = fractions(weight[rows])
        parts.append([fractions(X[rows]), fractions(t[rows]), [w / sum(s) for w in s]])
    x, y, p = parts[0]
    mean = [dot(p, column) if centred else Fraction(0) for column in zip(*x, strict=True)]
    level = dot(p, y) if centred else Fraction(0)
    return [
        [(q, [v - m for v, m in zip(row, mean, strict=True)], z - level)
         for row, z, q in zip(x, y, p, strict=True)]
        for x, y, p in parts
    ]  # fmt: skip


def mean_square(rows, w):
    return sum((p * (y - dot(x, w)) ** 2 for p, x, y in rows), Fraction(0))


def penalised(rows, w, l1, l2):
    return mean_square(rows, w) / 2 + l1 * absolute(w) + l2 / 2 * dot(w, w)


def exact_lasso(rows, l1, l2, positive, near):
    """The best coefficients in fractions, if those near have their signs; else None."""
    used, signs, d = np.flatnonzero(near), np.sign(near), len(near)
    H = [[sum(p * x[i] * x[j] for p, x, _ in rows) + (l2 if i == j else 0) for j in used]
         for i in used]  # fmt: skip
    c = [sum(p * x[j] * y for p, x, y in rows) - l1 * int(signs[j]) for j in used]
    w = [Fraction(0)] * d
    for j, value in zip(used, solve(H, c), strict=True):
        w[j] = value
    slopes = [sum(p * x[j] * (y - dot(x, w)) for p, x, y in rows) - l2 * w[j] for j in range(d)]
    fits = [slopes[j] == l1 * int(np.sign(w[j])) if w[j] else
            (slopes[j] if positive else abs(slopes[j])) <= l1 for j in range(d)]  # fmt: skip
    return w if all(fits) and not (positive and min(w) < 0) else None


def others(rng, rows, best, l1, l2, positive, highest):
    """Coefficients whose objective is not above the highest, some of them nearly there."""
    for _ in range(4):
        way = fractions(rng.standard_normal(len(best)) * (rng.uniform(size=len(best)) < 0.6))
        step = Fraction(2.0 ** rng.randint(-10, 40))
        for _ in range(80):
            w = [v + step * u for v, u in zip(best, way, strict=True)]
            w = [max(v, Fraction(0)) for v in w] if positive else w
            if penalised(rows, w, l1, l2) <= highest:
                yield w
                break
            step /= 2


def classification(rng, most_rows=12):
    K = 2 + rng.randint(2)
    X = tables.rows(rng, rng.randint(2 * K, most_rows), rng.randint(1, 4))
    X = tables.stored(rng, X)
    y = tables.labels(rng, tables.exactly(X), K)
    return X, y, tables.weights(rng, len(y)), K


def planes(W, b, K):
    """Planes of all classes; of two the first is zero."""
    W, b = np.atleast_2d(np.asarray(W, np.float64)), np.ravel(np.asarray(b, np.float64))
    if K == 2 and len(W) == 1:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    return W, b


def logistic(rng):
    return _logistic(rng, 10.0 ** rng.randint(-4, 5), (0.0, 0.0, 1.0, 0.5)[rng.randint(4)])


def unpenalised_logistic(rng):
    return _logistic(rng, np.inf, 0.0)


def _logistic(rng, C, ratio):
    X, y, weight, K = classification(rng)
    settings = {
        "C": C,
        "fit_intercept": bool(rng.randint(3)),
        "max_iter": int(rng.choice([2, 200])),
    }
    if ratio == 0 and rng.randint(2):
        model = theirs.LogisticRegression(**settings)
    else:
        model = rb.LogisticRegression(**settings, l1_ratio=ratio)
    model.fit(X, y, sample_weight=weight)
    best = rb.LogisticRegression(
        C=C, l1_ratio=ratio, fit_intercept=settings["fit_intercept"], tol=1e-9
    )
    best.fit(X, y, sample_weight=weight)
    tried = [(best.coef_, best.intercept_), (model.coef_, model.intercept_)]
    tried.append((0 * best.coef_, 0 * best.intercept_))
    if np.isinf(C):
        tried.append((3 * best.coef_, 3 * best.intercept_))
    put_off(rng, model)
    certificate = certify(model, X, y, sample_weight=weight)
    factor = 1.0 if np.isinf(C) else C
    X, c = tables.exactly(X), factor * tables.ones(weight, len(y))

    def objective(coef, intercept):
        W, b = planes(coef, intercept, K)
        with localcontext(DIGITS):
            loss, w = logistic_loss(X, y, c, W, b), fractions(np.ravel(coef))
            if np.isinf(C):
                return loss
            l1, l2 = Fraction(float(ratio)), 1 - Fraction(float(ratio))
            return loss + decimal(l1 * absolute(w) + l2 / 2 * dot(w, w))

    if "gap" not in [claim.name for claim in certificate]:
        return None  # nothing is claimed
    with localcontext(DIGITS):
        P = objective(model.coef_, model.intercept_)
        return below(certificate, best_excess(P, [objective(*numbers) for numbers in tried]))


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
]


def kernel_values(X, setting):
    X = fractions(X)
    if setting["kernel"] == "linear":
        return [[dot(u, v) for v in X] for u in X]
    return [[(dot(u, v) / 2 + 1) ** 2 for v in X] for u in X]


def tame(rng, n):
    """Rows whose kernel is within range."""
    return tables.rows(rng, n, rng.randint(1, 4), ["plain", "whole", "dependent", "equal rows"])


def kernel_logistic(rng):
    K = 2 + rng.randint(2)
    X = tame(rng, rng.randint(2 * K, 9))
    y, setting = tables.labels(rng, X, K), KERNELS[rng.randint(2)]
    C = 10.0 ** rng.randint(-2, 3)
    model = rb.KernelLogisticRegression(**setting, C=C).fit(X, y)
    best = rb.KernelLogisticRegression(**setting, C=C, tol=1e-9).fit(X, y)
    model.dual_coef_ = tables.changed(rng, model.dual_coef_)
    certificate = certify(model, X, y)
    gram = kernel_values(X, setting)

    def objective(coef, intercept):
        A, b = planes(coef, intercept, K)
        with localcontext(DIGITS):
            A = fractions(A)
            f = [[dot(row, a) for a in A] for row in gram]
            norm = sum((dot(a, [row[k] for row in f]) for k, a in enumerate(A)), Fraction(0))
            loss = _losses(f, y, C, fractions(b))
            return loss + decimal(norm / 2)

    with localcontext(DIGITS):
        P = objective(model.dual_coef_, model.intercept_)
        tried = [objective(best.dual_coef_, best.intercept_)]
        return below(certificate, best_excess(P, tried))


def _losses(f, y, C, b):
    """Logistic losses of scores in fractions."""
    total = decimal(0.0)
    for row, own in zip(f, y, strict=True):
        z = [score + bias for score, bias in zip(row, b, strict=True)]
        total += decimal(float(C)) * (log_sum(z) - decimal(z[own]))
    return total


def kernel_ridge(rng):
    X = tame(rng, rng.randint(2, 8))
    t, setting = tables.targets(rng, X), KERNELS[rng.randint(2)]
    alpha = 10.0 ** rng.randint(-6, 3)
    kind = (rb.KernelRidge, sklearn.kernel_ridge.KernelRidge)[rng.randint(2)]
    model = kind(alpha=alpha, **setting).fit(X, t)
    model.dual_coef_ = tables.changed(rng, model.dual_coef_)
    certificate = certify(model, X, t)
    gram, c, a = kernel_values(X, setting), fractions(np.ravel(model.dual_coef_)), Fraction(alpha)
    # sum (t - K c)^2 + alpha c'Kc is least where (K + alpha) c = t; the excess is e'K(K + alpha)e.
    right = [y - dot(row, c) - a * ci for row, y, ci in zip(gram, fractions(t), c, strict=True)]
    shifted = [[v + a * (i == j) for j, v in enumerate(row)] for i, row in enumerate(gram)]
    e = solve(shifted, right)
    moved = [dot(row, e) for row in gram]
    return below(certificate, dot(moved, moved) + a * dot(e, moved))


def hinge_loss(margin, squared):
    rest = max(1 - margin, Fraction(0))
    return rest * rest if squared else rest


def linear_machine(rng):
    X = tables.rows(rng, rng.randint(4, 11), rng.randint(1, 4))
    squared, weight = bool(rng.randint(2)), tables.weights(rng, len(X))
    C = 10.0 ** rng.randint(-3, 3)
    regress = not rng.randint(3)
    package = (rb, sklearn.svm)[rng.randint(2)]
    loss = "squared_" * squared + ("epsilon_insensitive" if regress else "hinge")
    settings = {"C": C, "loss": loss, "fit_intercept": False}
    name = "LinearSVR" if regress else "LinearSVC"
    y = tables.targets(rng, X) if regress else tables.labels(rng, X)
    model = getattr(package, name)(**settings).fit(X, y, sample_weight=weight)
    best = getattr(rb, name)(**settings, tol=1e-9).fit(X, y, sample_weight=weight)
    tried = [published(model)[0], published(best)[0], 0 * published(best)[0]]
    model.coef_ = tables.changed(rng, model.coef_)
    certificate = certify(model, X, y, sample_weight=weight)
    rows, c = fractions(X), [Fraction(C) * s for s in fractions(tables.ones(weight, len(y)))]
    aims = fractions(y if regress else 2.0 * y - 1)

    def objective(w):
        w, total = fractions(w), Fraction(0)
        for x, t, s in zip(rows, aims, c, strict=True):
            if regress:
                rest = abs(t - dot(x, w))
                total += s * (rest * rest if squared else rest)
            else:
                total += s * hinge_loss(t * dot(x, w), squared)
        return dot(w, w) / 2 + total

    P = objective(np.ravel(model.coef_))
    return below(certificate, best_excess(P, [objective(w) for w in tried]))


def kernel_machine(rng):
    X = tame(rng, rng.randint(4, 9))
    setting, C, regress = KERNELS[rng.randint(2)], 10.0 ** rng.randint(-2, 3), not rng.randint(3)
    package, name = (rb, sklearn.svm)[rng.randint(2)], "SVR" if regress else "SVC"
    y = tables.targets(rng, X) if regress else tables.labels(rng, X)
    model = getattr(package, name)(**setting, C=C).fit(X, y)
    best = getattr(rb, name)(**setting, C=C, tol=1e-8).fit(X, y)
    if rng.randint(2):
        model.intercept_ = tables.changed(rng, model.intercept_)
    if package is rb and rng.randint(2):
        model.dual_coef_ = tables.changed(rng, model.dual_coef_)
    certificate = certify(model, X, y)
    gram, aims = kernel_values(X, setting), fractions(y if regress else 2.0 * y - 1)

    def objective(fit):
        beta = np.zeros(len(y))
        beta[fit.support_] = np.ravel(fit.dual_coef_)
        beta, b = fractions(beta), Fraction(float(np.ravel(fit.intercept_)[0]))
        f = [dot(row, beta) for row in gram]
        tube = Fraction(0.1)
        each = [
            max(abs(t - z - b) - tube, Fraction(0)) if regress else hinge_loss(t * (z + b), False)
            for t, z in zip(aims, f, strict=True)
        ]
        return dot(beta, f) / 2 + Fraction(C) * sum(each, Fraction(0))

    if "gap" not in [claim.name for claim in certificate]:
        return None  # nothing is claimed
    return below(certificate, best_excess(objective(model), [objective(best)]))


def principal_axes(rng):
    """What the axes capture of the variance, against what better ones do."""
    n, d = rng.randint(3, 10), rng.randint(2, 4)
    X = tables.rows(rng, n, d, ["plain", "whole", "far", "dependent", "constant", "equal rows"])
    k = rng.randint(1, min(n, d))
    kind = (rb.PCA, sklearn.decomposition.PCA)[rng.randint(2)]
    model = kind(k).fit(X)
    model.components_ = tables.changed(rng, model.components_)
    certificate = certify(model, X)
    rows = fractions(X)
    mean = [sum(column, Fraction(0)) / n for column in zip(*rows, strict=True)]
    rows = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]

    def captured(axes):
        total, basis = Fraction(0), []
        for axis in fractions(axes):
            for other, square in basis:
                part = dot(axis, other) / square
                axis = [a - part * b for a, b in zip(axis, other, strict=True)]
            square = dot(axis, axis)
            if square:
                basis.append((axis, square))
                total += sum((dot(row, axis) ** 2 for row in rows), Fraction(0)) / square
        return total / (n - 1)

    centred = np.array([[float(x) for x in row] for row in rows])
    best = np.linalg.svd(centred)[2][:k]
    names = [claim.name for claim in certificate]
    if "captured" not in names:
        return None  # nothing is claimed
    if not certificate["orthonormal"].holds:
        return []
    return below(certificate, captured(best) - captured(model.components_), "captured")
