"""Certificates of gradient boosting against the rounds replayed in fractions, or in 50 digits.

Published trees are read one row and one test at a time; their values are binary fractions, so that
scores, derivatives of the squared error and Newton steps are fractions, too. The logistic and the
Poisson loss take exponentials, of 50 digits.
"""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import HistGradientBoostingClassifier, HistGradientBoostingRegressor, certify
from rosenblatt.certificates.gradient_boosting import LEAST_SIZE, TINY

RATES = [0.1, 0.5, 1.0]
NUDGES = [0.0, 0.0, 1e-13, 1e-4, -0.3]  # of a leaf: by rounding, or by more

tables = st.lists(
    st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 3), st.integers(1, 3)),
    min_size=6, max_size=20,
).map(np.array)  # fmt: skip


def derivatives(loss, y, raw):
    """g and h of one row with score `raw`, a fraction or a decimal."""
    if loss == "squared_error":
        return raw - y, type(raw)(1)
    mean = raw.exp() if loss == "poisson" else 1 / (1 + (-raw).exp())
    return mean - y, mean if loss == "poisson" else mean * (1 - mean)


def row_loss(loss, y, raw):
    if loss == "squared_error":
        return (raw - y) ** 2 / 2
    return raw.exp() - y * raw if loss == "poisson" else (1 + raw.exp()).ln() - y * raw


def leaf_of(trees, t, row):
    node = int(trees.starts[t])
    while trees.left[node] >= 0:
        x = row[trees.column[node]]
        left = trees.missing_left[node] if np.isnan(x) else x <= trees.threshold[node]
        node = int(trees.left[node]) + (not left)
    return node


def replayed(model, X, y, w, number):
    """How far leaves are from the Newton steps of their rows, in shares; and the mean losses."""
    trees, worst = model.trees_, number(0)
    rate, added = number(model.learning_rate), number(model.l2_regularization) + number(TINY)
    raw = [number(float(model.baseline_[0]))] * len(y)

    def mean_loss():
        each = [row_loss(model.loss, yi, r) for yi, r in zip(y, raw, strict=True)]
        return sum(wi * one for wi, one in zip(w, each, strict=True)) / sum(w)

    losses = [mean_loss()]
    for t in range(len(trees)):
        sums = {}
        leaves = [leaf_of(trees, t, row) for row in X]
        for leaf, yi, wi, r in zip(leaves, y, w, raw, strict=True):
            g, h = derivatives(model.loss, yi, r)
            G, H, size = sums.get(leaf, (number(0),) * 3)
            sums[leaf] = G + wi * g, H + wi * h, size + wi * abs(g)
        least = number(LEAST_SIZE) * (1 + max(map(abs, raw)))
        for leaf, (G, H, size) in sums.items():
            gap = abs(number(float(trees.value[leaf])) + rate * G / (H + added))
            worst = max(worst, gap / max(rate * size / (H + added), least))
        raw = [r + number(float(trees.value[v])) for r, v in zip(raw, leaves, strict=True)]
        losses.append(mean_loss())
    return float(worst), [float(one) for one in losses], [float(r) for r in raw]


@given(
    tables, st.sampled_from(["squared_error", "poisson", "log_loss"]), st.sampled_from(RATES),
    st.sampled_from([0.0, 1.5]), st.booleans(), st.sampled_from(NUDGES), st.integers(0, 99),
)  # fmt: skip
def test_leaves_pass_just_if_they_are_newton_steps(table, loss, rate, l2, holes, nudge, seed):
    X, y, w = table[:, :3].astype(float), table[:, 3].tolist(), table[:, 4].tolist()
    if holes:
        X[X == 0] = np.nan
    if loss == "log_loss":
        y = [one // 2 for one in y]
    assume(len(set(y)) > 1)
    Model = HistGradientBoostingClassifier if loss == "log_loss" else HistGradientBoostingRegressor
    model = Model(
        loss, learning_rate=rate, max_iter=4, max_leaf_nodes=4, min_samples_leaf=1,
        l2_regularization=l2, early_stopping=True, validation_fraction=None, n_iter_no_change=9,
        random_state=seed,
    ).fit(X, y, w)  # fmt: skip
    rng, trees = np.random.default_rng(seed), model.trees_
    value = trees.value.copy()
    value[rng.choice(np.flatnonzero(trees.left < 0))] += nudge
    model.trees_ = replace(trees, value=value)
    with localcontext(prec=50):
        number = Fraction if loss == "squared_error" else Decimal
        worst, losses, raw = replayed(model, X, y, w, number)
    claims = {claim.name: claim for claim in certify(model, X, y, sample_weight=w)}
    assert claims["leaves"].value == pytest.approx(worst, rel=1e-6, abs=1e-9)
    assert claims["leaves"].holds == (worst <= 1e-8)
    assert claims["leaves"].holds or nudge != 0
    assert claims["descent"].value == pytest.approx(losses[-1], rel=1e-9, abs=1e-12)
    off = np.abs(np.array(losses) + model.train_score_).max()
    assert claims["losses by round"].holds == (off <= 1e-8 * (1 + np.abs(losses).max()))
    said = model.decision_function(X) if loss == "log_loss" else model.predict(X)
    said = np.log(said) if loss == "poisson" else said
    assert np.allclose(said, raw, rtol=1e-9, atol=1e-9)
    assert claims["predictions"].holds


@given(tables, st.sampled_from(RATES), st.floats(0.1, 0.9), st.sampled_from(NUDGES))
def test_leaves_pass_just_if_they_are_quantiles(table, rate, share, nudge):
    X, y, w = table[:, :3].astype(float), table[:, 3].tolist(), table[:, 4].tolist()
    model = HistGradientBoostingRegressor(
        "quantile", quantile=share, learning_rate=rate, max_iter=1, max_leaf_nodes=3,
        min_samples_leaf=1, early_stopping=False, scoring="loss",
    ).fit(X, y, w)  # fmt: skip
    trees = model.trees_
    value = trees.value.copy()
    value[-1] += nudge
    model.trees_ = replace(trees, value=value)
    leaves = [leaf_of(trees, 0, row) for row in X]
    start, room = Fraction(float(model.baseline_[0])), Fraction(1, 10**6)
    true = True
    for leaf in set(leaves):
        mine = [(yi - start, wi) for yi, wi, v in zip(y, w, leaves, strict=True) if v == leaf]
        step = Fraction(value[leaf]) / Fraction(rate)
        wanted = Fraction(share) * sum(wi for _, wi in mine)
        below = sum(wi for residual, wi in mine if residual < step - room)
        up_to = sum(wi for residual, wi in mine if residual <= step + room)
        tie = Fraction(1, 10**12)  # a third in binary is not quite a third
        true &= below - tie <= wanted <= up_to + tie
    certificate = certify(model, X, y, sample_weight=w)
    assert certificate["leaves"].holds == true, str(certificate)
    assert true or abs(nudge) > 1e-12
