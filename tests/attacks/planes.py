"""Attacks on perceptrons: errors, margins and separability, recounted in fractions."""

from fractions import Fraction

import numpy as np
import sklearn.linear_model

import rosenblatt as rb
from rosenblatt import certify

from . import tables
from .exact import dot, fractions

MOST_UPDATES = 300


def perceptron(rng):
    return _judge(rng, (rb, sklearn.linear_model)[rng.randint(2)].Perceptron)


def averaged_and_pocket(rng):
    return _judge(rng, (rb.AveragedPerceptron, rb.PocketPerceptron)[rng.randint(2)])


def _judge(rng, kind):
    X = tables.stored(rng, tables.rows(rng, rng.randint(3, 10), rng.randint(1, 4)))
    y = tables.labels(rng, tables.exactly(X))
    model = kind(max_iter=int(rng.choice([1, 5, 50])), random_state=0).fit(X, y)
    model.coef_ = model.coef_ * model.coef_.dtype.type(10.0 ** rng.randint(-30, 30))
    if rng.randint(2):
        model.coef_ = tables.changed(rng, model.coef_).astype(model.coef_.dtype)
    certificate = certify(model, X, y)
    if not np.isfinite(model.coef_).all():
        return ["infinite coefficients hold"] * certificate.holds
    leads = exact_leads(tables.exactly(X), y, model.coef_[0], model.intercept_[0])
    return [
        *wrong_rows(certificate, leads, y),
        *wide_margin(certificate, leads, dot(*[fractions(model.coef_[0])] * 2)),
        *no_plane(certificate, tables.exactly(X), y),
    ]


def exact_leads(X, y, w, b):
    w, b = fractions(w), Fraction(float(b))
    scores = [dot(x, w) + b for x in fractions(X)]
    return [z if code else -z for z, code in zip(scores, y, strict=True)]


def wrong_rows(certificate, leads, y):
    """A row on the boundary is given the first class."""
    claim = certificate["training error"]
    wrong = sum(lead < 0 or (lead == 0 and code == 1) for lead, code in zip(leads, y, strict=True))
    exact = claim.grade == "proved"
    if (exact and claim.value != wrong) or claim.value < wrong:
        return [f"{claim.value} wrong rows claimed, {wrong} are"]
    return []


def wide_margin(certificate, leads, square):
    claims = [claim for claim in certificate if claim.name == "margin"]
    if not claims or square == 0:
        return []
    value = claims[0].value
    if not np.isfinite(value) or Fraction(value) ** 2 * square > max(min(leads), 0) ** 2:
        return [f"a margin of {value} claimed, {float(min(leads))} / sqrt({float(square)}) is true"]
    return []


def no_plane(certificate, X, y):
    """Where no plane is said to exist, the rule of the perceptron must not find one."""
    claims = [c for c in certificate if c.name in ("separability", "run: separability")]
    if not claims or not claims[0].holds or claims[0].grade != "proved":
        return []
    size = [
        max(abs(v) for v in column) or Fraction(1) for column in zip(*fractions(X), strict=True)
    ]
    rows = [[*(v / s for v, s in zip(x, size, strict=True)), Fraction(1)] for x in fractions(X)]
    v = [Fraction(0)] * len(rows[0])
    for _ in range(MOST_UPDATES):
        for x, code in zip(rows, y, strict=True):
            sign = 1 if code else -1
            if sign * dot(x, v) <= 0:
                v = [a + sign * b for a, b in zip(v, x, strict=True)]
                break
        else:
            return ["no plane claimed, and there is one"]
    return []


def kernel_perceptron(rng):
    X = tables.rows(rng, rng.randint(3, 9), rng.randint(1, 3), ["whole", "dependent", "plain"])
    y = tables.labels(rng, X)
    model = rb.KernelPerceptron("poly", degree=2, gamma=0.5, coef0=1.0, max_iter=20).fit(X, y)
    if rng.randint(2):
        model.dual_coef_ = tables.changed(rng, model.dual_coef_).astype(model.dual_coef_.dtype)
    certificate = certify(model, X, y)
    a, b = fractions(model.dual_coef_[0]), Fraction(float(model.intercept_[0]))
    supports, rows = fractions(model.support_vectors_), fractions(X)
    scores = [sum((c * _value(x, s) for c, s in zip(a, supports, strict=True)), b) for x in rows]
    leads = [z if code else -z for z, code in zip(scores, y, strict=True)]
    square = sum((c * e * _value(s, t) for c, s in zip(a, supports, strict=True)
                  for e, t in zip(a, supports, strict=True)), b * b)  # fmt: skip
    return [*wrong_rows(certificate, leads, y), *wide_margin(certificate, leads, square)]


def _value(u, v):
    return (dot(u, v) / 2 + 1) ** 2


def neighbours(rng):
    """Answers of a search that may have missed some: no row may be nearer than the last."""
    kinds = ["plain", "whole", "equal rows", "scales"]
    X = tables.rows(rng, rng.randint(4, 10), rng.randint(1, 4), kinds)
    y, k = tables.labels(rng, X), rng.randint(1, 4)
    model = rb.KNeighborsClassifier(k).fit(X, y)
    search, worst = model.kneighbors, rng.randint(2)

    def other(Q=None, n_neighbors=None, return_distance=True):
        wide = min(len(X), (n_neighbors or k) + worst)
        distance, place = search(Q, wide)
        keep = np.r_[np.arange(wide - 1 - worst), wide - 1]
        return (distance[:, keep], place[:, keep]) if return_distance else place[:, keep]

    if rng.randint(2):
        model.kneighbors = other
    answers = model.kneighbors(X, k)[1]
    certificate = certify(model, X, y)
    rows = fractions(X)
    missed = 0
    for x, found in zip(rows, answers, strict=True):
        far = [
            sum(((a - b) ** 2 for a, b in zip(x, row, strict=True)), Fraction(0)) for row in rows
        ]
        last = max(far[i] for i in found)
        others = [far[i] for i in range(len(rows)) if i not in set(found.tolist())]
        missed += any(float(d) < float(last) * (1 - 1e-6) for d in others)
    if missed and certificate.holds:
        return [f"{missed} rows have a nearer neighbour, and all holds"]
    return []
