"""Separability against hand calculations, an oracle, tampering and real tables."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from rosenblatt.separation import separability, widest
from rosenblatt.separation.exact import integers, nearest_point

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"

FIVE_X = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]]  # golden case GC06
FIVE_Y = ["-", "+", "+", "+", "-"]
FIVE_SIGN = [-1, 1, 1, 1, -1]
THREE_X = [[3, 2], [-2, 2], [-2, -3]]  # golden case GC22
THREE_SIGN = [1, -1, 1]
XOR_X = [[0, 0], [0, 1], [1, 0], [1, 1]]
XOR_Y = [0, 1, 1, 0]


def plane_exists(A):
    """The oracle: a linear programme on rows of small integers, far from any rounding."""
    k, m = A.shape
    solved = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-A, np.ones(k)]),
        b_ub=np.zeros(k),
        bounds=[(-1, 1)] * m + [(None, 1)],
    )
    return -solved.fun > 1e-7


def rows_of_classes(X, y, fit_intercept):
    """The rows sign (x, 1) that a plane must keep positive."""
    sign = np.where(y == np.max(y), 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    return sign[:, None] * Z


def kesler_rows(X, y, K):
    """The rows (e_y - e_k) (x) (x, 1), spelled out."""
    rows = []
    for x, own in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
        for k in range(K):
            if k != own:
                block = np.zeros((K, len(x)))
                block[own] += x
                block[k] -= x
                rows.append(block.ravel())
    return np.array(rows)


def with_margin(n, d, margin, seed):
    """Rows on both sides of a known plane through the origin, each at least `margin` from it."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = X @ w > 0
    y[:2] = True, False
    X[0] += (abs(X[0] @ w) - X[0] @ w) * w
    X[1] -= (abs(X[1] @ w) + X[1] @ w) * w
    return X + np.outer(np.where(y, margin, -margin), w), y.astype(int)


# Golden numbers


def test_five_points_have_the_margin_worked_out_by_hand():
    # The plane 4 x1 + 2 x2 = 15 has value 1 at its nearest rows: margin 1 / sqrt(20).
    found = separability(FIVE_X, FIVE_Y)
    assert found.separable
    assert found.grade == "proved"
    assert found.classes.tolist() == ["+", "-"]
    assert found.margin == pytest.approx(1 / np.sqrt(20), rel=1e-12)
    np.testing.assert_allclose(found.coef, -np.array([4, 2]) / np.sqrt(20), rtol=1e-9)
    assert found.intercept == pytest.approx(15 / np.sqrt(20), rel=1e-9)
    assert found.verify(FIVE_X, FIVE_Y)


def test_five_points_in_the_augmented_space():
    found = widest(FIVE_X, FIVE_SIGN)
    np.testing.assert_allclose(found.direction, np.array([4, 2, -15]) / np.sqrt(245), rtol=1e-9)
    assert found.margin == pytest.approx(1 / np.sqrt(245), rel=1e-9)


def test_three_points_through_the_origin_and_with_an_intercept():
    through = separability(THREE_X, THREE_SIGN, fit_intercept=False)
    assert through.margin == pytest.approx(1 / np.sqrt(2), rel=1e-12)
    np.testing.assert_allclose(through.coef, [1 / np.sqrt(2), -1 / np.sqrt(2)], rtol=1e-9)
    assert through.intercept == 0.0
    free = separability(THREE_X, THREE_SIGN)
    length = np.hypot(0.4, 0.4)  # hard margin: w = (0.4, -0.4), b = 0.6
    np.testing.assert_allclose(free.coef * length, [0.4, -0.4], rtol=1e-9)
    assert free.intercept * length == pytest.approx(0.6, rel=1e-9)
    assert free.margin == pytest.approx(1.767767, rel=1e-6)
    assert widest(THREE_X, THREE_SIGN, bias=None).margin == pytest.approx(0.7071068, rel=1e-7)


def test_xor_has_the_proof_everybody_knows():
    # J5: can it be separated? Cycles when it cannot
    found = separability(XOR_X, XOR_Y)
    assert not found.separable
    assert found.grade == "proved"
    assert found.gap == 0.0
    np.testing.assert_allclose(found.combination, 0.5)
    assert found.verify(XOR_X, XOR_Y)
    assert found.coef is found.margin is None


def test_the_answer_is_a_sentence():
    assert "margin is 0.223607 (proved)" in str(separability(FIVE_X, FIVE_Y))
    assert "same average (proved)" in repr(separability(XOR_X, XOR_Y))
    assert "each two of the 3 classes" in str(separability([[0], [1], [2]], [0, 1, 2]))


# Against an oracle


small_tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=d, max_size=d), st.integers(0, 1)),
        min_size=2,
        max_size=14,
    )
)


@given(small_tables, st.booleans())
def test_small_integer_tables_agree_with_a_linear_programme(table, fit_intercept):
    X = np.array([row for row, _ in table], dtype=float)
    y = np.array([label for _, label in table])
    if len(set(y.tolist())) < 2:
        return
    found = separability(X, y, fit_intercept=fit_intercept)
    assert found.separable == plane_exists(rows_of_classes(X, y, fit_intercept))
    assert found.grade == "proved"
    assert found.verify(X, y)
    assert found.verify(sparse.csc_matrix(X), y)


@given(small_tables, st.integers(0, 2**20))
def test_joint_scores_agree_with_a_linear_programme(table, seed):
    X = np.array([row for row, _ in table], dtype=float)
    rng = np.random.default_rng(seed)
    y = (X @ rng.integers(-2, 3, (X.shape[1], 3)) + rng.integers(-1, 2, 3)).argmax(axis=1)
    y[: seed % 3] = 0
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return
    found = separability(X, y, joint=True)
    assert found.separable == plane_exists(kesler_rows(X, code, len(classes)))
    assert found.grade == "proved"
    assert found.verify(X, y)


@given(st.integers(4, 60), st.integers(1, 8), st.sampled_from([1e-1, 1e-5, 1e-9]), st.integers(0))
def test_rows_on_two_sides_of_a_plane_are_separated_as_widely(n, d, margin, seed):
    # T2: where a plane exists it is found
    X, y = with_margin(n, d, margin, seed)
    found = separability(X, y)
    assert found.separable
    assert found.margin >= margin * (1 - 1e-6)
    assert found.verify(X, y)


@given(small_tables, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_classes_do_not_matter(table, random):
    X = np.array([row for row, _ in table], dtype=float)
    y = np.array([label for _, label in table])
    if len(set(y.tolist())) < 2:
        return
    order = list(range(len(y)))
    random.shuffle(order)
    found = separability(X, y)
    assert separability(X[order], y[order]).separable == found.separable
    swapped = separability(X, 1 - y)
    assert swapped.separable == found.separable
    if found.separable:
        assert swapped.margin == pytest.approx(found.margin, rel=1e-9)


def test_the_margin_is_the_distance_between_the_hulls():
    # Any weights, one in each class, bound every margin by half the distance of the averages.
    X, y = with_margin(300, 6, 0.01, 3)
    found = separability(X, y)
    scores = X @ found.coef + found.intercept
    near = np.isclose(np.abs(scores), found.margin, rtol=1e-7)
    plus, minus = X[near & (y == 1)], X[near & (y == 0)]
    k, m = len(plus), len(minus)
    # Weights of the nearest rows whose difference is 2 margin w: exists at the optimum only.
    A = np.vstack(
        [
            np.hstack([plus.T, -minus.T]),
            np.r_[np.ones(k), np.zeros(m)],
            np.r_[np.zeros(k), np.ones(m)],
        ]
    )
    target = np.r_[2 * found.margin * found.coef, 1, 1]
    solved = linprog(np.zeros(k + m), A_eq=A, b_eq=target)
    assert solved.status == 0


# Against exact decisions

SPREADS = {
    "whole": lambda rng, n, d: rng.integers(-3, 4, (n, d)),
    "columns": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-145, 145, d),
    "cells": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-20, 20, (n, d)),
    "decades": lambda rng, n, d: (
        rng.integers(-2, 3, (n, d)) * 10.0 ** rng.integers(-140, 140, (n, d))
    ),
    "last bits": lambda rng, n, d: 1 + rng.integers(-3, 4, (n, d)) * 2.0**-52,
    "far away": lambda rng, n, d: rng.integers(-3, 4, (n, d)) + 2.0 ** rng.integers(0, 52),
    "limits": lambda rng, n, d: (
        rng.integers(-1, 2, (n, d)) * rng.choice([1e-150, 1e150, 1], (n, d))
    ),
}


@pytest.mark.parametrize("kind", SPREADS)
@given(st.integers(0), st.booleans(), st.booleans())
@example(80_185_203_929_613_088, False, False)  # weights of very different size
@example(513_183_755_435_033_100_288, False, True)  # a margin that underflows
def test_a_proved_answer_is_never_wrong(kind, seed, fit_intercept, planted):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    X = np.asarray(SPREADS[kind](rng, n, d), dtype=float)
    y = rng.integers(0, 2, n)
    if planted:
        scores = X / (abs(X).max(axis=0) + 1e-300) @ rng.normal(size=d)
        y = (scores > np.median(scores)).astype(int)
    if len(set(y.tolist())) < 2:
        return
    largest = abs(X).max(axis=0)
    if (largest > 1e150).any() or ((largest > 0) & (largest < 1e-150)).any():
        return  # refused
    found = separability(X, y, fit_intercept=fit_intercept)
    assert found.verify(X, y)
    if found.grade == "proved":
        assert found.separable == separates(rows_of_classes(X, y, fit_intercept))


def separates(A):
    """Whether some v has ``a.v > 0`` for all rows, by Fourier and Motzkin's elimination."""
    rows = [[Fraction(v) for v in row] for row in A.tolist()]
    for _ in range(A.shape[1]):
        up = [r for r in rows if r[0] > 0]
        down = [r for r in rows if r[0] < 0]
        level = [r[1:] for r in rows if r[0] == 0]
        both = [
            [a / p[0] - b / q[0] for a, b in zip(p[1:], q[1:], strict=True)]
            for p in up
            for q in down
        ]
        rows = level + both
        if len(rows) > 3000:
            return separates_by_hull(A)
    return not rows


def separates_by_hull(A):
    """The same by the nearest point, each column in units of its own."""
    whole = np.column_stack([integers(column)[0] for column in A.T])
    return bool(nearest_point(whole)[0].any())


# Tampering


def test_a_nudged_plane_fails():
    found = separability(FIVE_X, FIVE_Y)
    assert not replace(found, intercept=found.intercept + 0.3).verify(FIVE_X, FIVE_Y)
    assert not replace(found, coef=-found.coef).verify(FIVE_X, FIVE_Y)
    assert not replace(found, coef=0 * found.coef).verify(FIVE_X, FIVE_Y)
    assert not replace(found, coef=np.nan * found.coef).verify(FIVE_X, FIVE_Y)
    assert not replace(found, margin=found.margin * 1.001).verify(FIVE_X, FIVE_Y)
    assert not found.verify(FIVE_X, ["+", "+", "+", "+", "-"])


@given(st.integers(0, 3), st.floats(1e-6, 1.0), st.booleans())
def test_a_nudged_combination_fails(at, nudge, joint):
    found = separability(XOR_X, XOR_Y, joint=joint)
    weights = found.combination.copy()
    weights.reshape(4, -1)[at, 0] += nudge
    assert not replace(found, combination=weights).verify(XOR_X, XOR_Y)
    assert not replace(found, combination=-found.combination).verify(XOR_X, XOR_Y)


def test_a_margin_that_is_no_number_fails():
    found = separability(FIVE_X, FIVE_Y)
    for margin in (np.nan, np.inf, -np.inf, 0.0, None):
        assert not replace(found, margin=margin).verify(FIVE_X, FIVE_Y)


def test_a_plane_through_the_origin_has_no_intercept():
    found = separability([[1.0], [2.0]], [0, 1])
    assert not replace(found, fit_intercept=False).verify([[1.0], [2.0]], [0, 1])
    joint = separability([[1.0], [2.0]], [0, 1], joint=True)
    assert not replace(joint, fit_intercept=False).verify([[1.0], [2.0]], [0, 1])


def test_what_is_said_of_pairs_must_follow_from_all_of_them():
    X, y = [[0.0], [2.0], [1.0], [10.0]], [0, 0, 1, 2]
    found = separability(X, y)
    assert found.verify(X, y)
    assert not found.separable
    without = {key: pair for key, pair in found.pairs.items() if pair.separable}
    renamed = {**without, (0, 1): found.pairs[1, 2]}
    for pairs in ({}, without, renamed, found.pairs):
        rosy = replace(found, separable=True, margin=5.0, gap=None, pairs=pairs)
        assert not rosy.verify(X, y)
        assert not replace(rosy, margin=min(p.margin or 9 for p in without.values())).verify(X, y)
    apart = separability([[0.0], [1.0], [10.0]], y[1:])
    assert apart.verify([[0.0], [1.0], [10.0]], y[1:])
    assert not replace(apart, margin=5.0).verify([[0.0], [1.0], [10.0]], y[1:])


def test_averages_that_nearly_agree_are_no_proof():
    # 1 and 1 + 1e-13 differ by less than published weights are rounded, and yet are apart.
    nearly = replace(separability([[1.0], [1.0]], [0, 1]), combination=np.ones(2))
    assert nearly.verify([[1.0], [1.0]], [0, 1])
    assert not nearly.verify([[1.0], [1 + 1e-13]], [0, 1])
    assert not replace(nearly, gap=1.0).verify([[1.0], [1.0]], [0, 1])


def test_nobody_can_claim_a_plane_for_xor():
    claim = replace(
        separability(FIVE_X, FIVE_SIGN), coef=np.array([1.0, 0.0]), intercept=-0.5, margin=0.5
    )
    assert not replace(claim, classes=np.array([0, 1])).verify(XOR_X, XOR_Y)


# Kinds of data


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_same_point_in_both_classes_is_a_proof(fit_intercept):
    X, y = [[1.5, 2.0], [0.0, 7.0], [1.5, 2.0]], ["a", "a", "b"]
    found = separability(X, y, fit_intercept=fit_intercept)
    assert not found.separable
    assert found.verify(X, y)
    assert np.flatnonzero(found.combination).tolist() == [0, 2]


def test_the_origin_lies_on_every_plane_through_the_origin():
    X, y = [[0.0, 0.0], [1.0, 1.0]], [0, 1]
    assert not separability(X, y, fit_intercept=False).separable
    assert separability(X, y).margin == pytest.approx(np.sqrt(2) / 2)


def test_one_feature_and_classes_of_one_row():
    found = separability([[2.0], [5.0]], ["low", "high"])
    assert found.margin == pytest.approx(1.5)
    assert not separability([[1.0], [2.0], [3.0]], [0, 1, 0]).separable


def test_hulls_that_touch_in_a_point_are_not_separable():
    X, y = [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [5.0, 0.0]], [0, 0, 1, 1]
    found = separability(X, y)
    assert not found.separable
    assert found.grade == "proved"
    np.testing.assert_allclose(found.combination, [0.5, 0.5, 1.0, 0.0])


def test_columns_far_away_of_all_sizes_and_repeated():
    rng = np.random.default_rng(0)
    X, y = with_margin(400, 5, 0.05, 1)
    noise = rng.integers(0, 2, 400)
    for change in (
        lambda X: X + 1e6,
        lambda X: X * 10.0 ** np.array([-6, -3, 0, 3, 6]),
        lambda X: np.column_stack([X, X[:, 0] * 2.54, X[:, 1] + X[:, 2], np.full(400, 7.0)]),
        lambda X: np.column_stack([X, np.eye(3)[rng.integers(0, 3, 400)]]),
    ):
        Z = change(X)
        assert separability(Z, y).verify(Z, y)
        assert separability(Z, y).separable
        found = separability(Z, noise)
        assert not found.separable
        assert found.grade == "proved"
        assert found.verify(Z, noise)
        assert widest(Z, 2 * y - 1).margin > 0


def test_margins_near_rounding_are_still_proved():
    X, y = with_margin(60, 4, 0.0, 8)
    w = np.ones(4) / 2
    for margin in (1e-8, 1e-10, 1e-12):
        Z = X - np.outer(X @ w, w) + np.outer((2 * y - 1) * margin, w)
        found = separability(Z, y)
        assert found.separable
        assert found.margin == pytest.approx(margin, rel=0.01)
        assert found.verify(Z, y)


def test_values_too_far_apart_for_scaling_are_decided_in_integers_if_few():
    # Scaling such a column would lose its smallest value; integers of a thousand bits do not.
    X, y = [[1e140], [1e-160], [0.0], [2e-160]], [1, 0, 1, 1]
    found = separability(X, y)
    assert not found.separable
    assert found.grade == "proved"
    assert found.verify(X, y)


def test_values_too_far_apart_for_exact_arithmetic_are_graded_checked_if_many():
    X = np.repeat([[1e140], [1e-160], [0.0], [2e-160]], 30_000, axis=0)
    X[:, 0] *= 1 + np.arange(len(X)) % 30_000 / 30_000
    X = np.column_stack([X, np.ones(len(X)), np.arange(len(X)) % 2])
    y = np.repeat([1, 0, 1, 1], 30_000)
    found = separability(X, y)
    assert not found.separable
    assert found.grade == "checked"
    assert found.verify(X, y)
    assert "by a margin above" in str(found)
    assert not replace(found, gap=-1.0).verify(X, y)


def test_a_value_lost_in_scaling_never_becomes_a_proof():
    # 1e-200 is above 0, so a plane exists; beside 1e140 both would be scaled to zero.
    found = separability([[1e140], [1e-200], [0.0], [-1.0]], [1, 1, 0, 0])
    assert found.separable or found.grade == "checked"


def test_weights_that_nearly_balance_bound_the_margin():
    # Averages (0.6, 0.4) and (0.5, 0.5) are sqrt(0.02) apart: no margin is above half of that.
    nearly = replace(
        separability(XOR_X, XOR_Y),
        grade="checked",
        combination=np.array([0.5, 0.4, 0.6, 0.5]),
        gap=np.hypot(0.1, 0.1) / 2,
    )
    assert nearly.verify(XOR_X, XOR_Y)
    assert not replace(nearly, gap=nearly.gap * 0.999).verify(XOR_X, XOR_Y)


FAR_SQUARE = np.array([[0, 0, 1.0], [1, 1, 1], [1, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize(
    ("X", "y", "fit_intercept"),
    [
        (np.array([[-1, -2, 0, 2], [0, 1, -1, -1]]) + 1e15, [0, 1], False),
        (sparse.csr_matrix([[0.9999999999999982], [0.9999999999999991]]), [0, 1], True),
        (FAR_SQUARE + 1e12 * np.array([1, 1, 0]), [0, 1, 1, 1], False),
        ([[2.0**53 - 1], [2.0**53]], [0, 1], True),  # no float64 lies between: b is a fraction
    ],
)
def test_small_tables_apart_by_a_hair_are_proved_separable(X, y, fit_intercept):
    found = separability(X, y, fit_intercept=fit_intercept)
    assert found.separable
    assert found.grade == "proved"
    assert found.verify(X, y)
    assert not found.verify(X, [1 - label for label in y])


@given(small_tables, st.sampled_from([0.0, 1e6, 2.0**40, 2.0**50]), st.booleans())
def test_small_tables_far_from_the_origin_are_proved_like_near_ones(table, offset, sparsely):
    X = np.array([row for row, _ in table], dtype=float)
    y = np.array([label for _, label in table])
    if len(set(y.tolist())) < 2:
        return
    near, Z = separability(X, y), X + offset
    found = separability(sparse.csr_array(Z) if sparsely else Z, y)
    assert found.separable == near.separable
    assert found.grade == "proved"
    assert found.verify(Z, y)
    if found.separable and offset < 2.0**50:  # there, an intercept is a multiple of 1/8
        assert found.margin == pytest.approx(near.margin, rel=0.01)


def test_the_margin_of_a_small_table_far_away_is_the_largest():
    # At 1e8 the plane (1, 1, -2e8 - 0.5) / 2e8 leaves 0.5 / 2e8 on either side.
    X = FAR_SQUARE + 1e8 * np.array([1, 1, 0])
    found = separability(X, [0, 1, 1, 1], fit_intercept=False)
    assert found.margin == pytest.approx(0.5 / 2e8, rel=1e-3)
    assert found.verify(X, [0, 1, 1, 1])


@pytest.mark.parametrize("joint", [False, True])
def test_columns_of_zeros_get_zero_coefficients(joint):
    X = np.zeros((5, 7))
    X[:, [2, 5]] = FIVE_X
    found = separability(sparse.csr_array(X), FIVE_Y, joint=joint)
    assert np.flatnonzero(np.atleast_2d(found.coef).any(axis=0)).tolist() == [2, 5]
    assert found.verify(X, FIVE_Y)
    assert found.margin == separability(FIVE_X, FIVE_Y, joint=joint).margin
    assert widest(X, FIVE_SIGN).direction.shape == (8,)
    assert not separability(np.zeros((2, 3)), [0, 1]).separable


def test_wide_sparse_tables_get_a_good_plane_without_waiting():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 20_000, 0.005, format="csr", random_state=0)
    y = rng.integers(0, 2, 300)
    found = separability(X, y)
    assert found.separable
    assert found.verify(X, y)
    # Some weights of both classes bound all margins: those of rows at the margin are near best.
    sign, K = 2.0 * y - 1, (X @ X.T).toarray()
    u = np.linalg.solve(K, sign)  # for rows nearly orthogonal every row is at the margin
    best = 1 / np.sqrt(sign @ u)
    assert found.margin >= 0.95 * best


def test_more_columns_than_rows():
    X = np.random.default_rng(2).normal(size=(30, 900))
    y = np.arange(30) % 2
    found = separability(X, y)
    assert found.separable
    assert found.verify(X, y)


def test_storage_and_precision_do_not_change_the_answer():
    X, y = with_margin(80, 6, 0.02, 4)
    X = X.astype(np.float32)
    dense = separability(X, y)
    for other in (X.tolist(), X.astype(float), sparse.coo_matrix(X), sparse.csc_array(X)):
        found = separability(other, y)
        assert found.margin == pytest.approx(dense.margin, rel=1e-9)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X)
    assert separability(frame, pandas.Series(y)).margin == pytest.approx(dense.margin, rel=1e-9)


def test_the_same_question_gets_the_same_bits():
    X, y = with_margin(500, 10, 0.01, 5)
    y2 = np.random.default_rng(0).integers(0, 2, 500)
    for labels in (y, y2):
        one, two = separability(X, labels), separability(X, labels)
        assert one.margin == two.margin
        np.testing.assert_array_equal(one.coef, two.coef)
        np.testing.assert_array_equal(one.combination, two.combination)


def test_large_tables_are_decided_and_proved():
    X, y = with_margin(10_000, 50, 1e-3, 6)
    found = separability(X, y)
    assert found.verify(X, y)
    assert found.separable
    y[:500] = 1 - y[:500]
    found = separability(X, y)
    assert not found.separable
    assert found.grade == "proved"
    assert found.verify(X, y)


def test_sparse_tables_are_decided_and_proved():
    rng = np.random.default_rng(0)
    X = sparse.random(1500, 350, 0.03, format="csr", random_state=0)
    y = (X @ rng.normal(size=350) > 0).astype(int)
    assert separability(X, y).separable
    y[:300] = 1 - y[:300]
    found = separability(X, y)
    assert found.grade == "proved"
    assert not found.separable
    assert found.verify(X, y)


# Several classes


def test_each_pair_of_classes_has_its_own_answer():
    X, y = [[0.0], [1.0], [2.0], [1.5], [10.0]], ["a", "a", "b", "b", "c"]
    found = separability(X, y)
    assert set(found.pairs) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found.separable
    assert found.margin == found.pairs["a", "b"].margin == pytest.approx(0.25)
    assert found.verify(X, y)
    mixed = separability([*X, [0.5]], [*y, "b"])
    assert not mixed.separable
    assert mixed.pairs["a", "c"].separable
    assert len(mixed.pairs["a", "b"].combination) == 6
    assert mixed.verify([*X, [0.5]], [*y, "b"])
    assert mixed.pairs["a", "b"].verify([*X, [0.5]], [*y, "b"])


def test_pairs_may_be_separable_when_no_joint_scores_exist():
    # A pinwheel of three segments: joint boundaries meet in a point, these cannot.
    X = np.array([[-4, 4], [40, 4], [-1, -5], [-23, 33], [5, 1], [-17, -37]])
    y = [0, 0, 1, 1, 2, 2]
    assert separability(X, y).separable
    found = separability(X, y, joint=True)
    assert not found.separable
    assert found.grade == "proved"
    assert found.verify(X, y)


def test_joint_scores_lead_by_their_margin():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X @ rng.normal(size=(3, 4))).argmax(axis=1)
    found = separability(X, y, joint=True)
    assert found.coef.shape == (4, 3)
    scores = X @ found.coef.T + found.intercept
    own = scores[np.arange(60), y]
    scores[np.arange(60), y] = -np.inf
    assert (own - scores.max(axis=1)).min() == pytest.approx(found.margin, rel=1e-9)
    assert np.sqrt((found.coef**2).sum() + (found.intercept**2).sum()) == pytest.approx(1.0)


def test_a_pair_without_a_plane_settles_the_joint_question():
    X, y = [*XOR_X, [5.0, 5.0]], [*XOR_Y, 2]
    found = separability(X, y, joint=True)
    assert not found.separable
    assert found.combination.shape == (5, 3)
    assert found.combination.sum() == pytest.approx(1.0)
    assert found.verify(X, y)


# The widest vector


def test_widest_combination_cancels_the_rows():
    found = widest(XOR_X, [1, -1, -1, 1])
    assert not found.separable
    rows = np.array([1, -1, -1, 1])[:, None] * np.column_stack([XOR_X, np.ones(4)])
    np.testing.assert_allclose(found.combination @ rows, 0.0, atol=1e-15)
    assert found.combination.sum() == pytest.approx(1.0)


@given(st.integers(3, 40), st.integers(1, 5), st.sampled_from([0.5, 1.0, 3.0]), st.integers(0))
def test_widest_is_never_narrower_than_the_plane_of_separability(n, d, bias, seed):
    X, y = with_margin(n, d, 0.1, seed)
    plane, found = separability(X, y), widest(X, 2 * y - 1, bias=bias)
    u = np.append(plane.coef, plane.intercept / bias)
    assert found.margin >= plane.margin / np.linalg.norm(u) * (1 - 1e-9)
    margins = (2 * y - 1) * (X @ found.direction[:-1] + bias * found.direction[-1])
    assert margins.min() == pytest.approx(found.margin, rel=1e-6)
    assert np.linalg.norm(found.direction) == pytest.approx(1.0)


def test_widest_of_rows_on_one_side():
    assert widest([[3.0], [4.0]], [1, 1], bias=None).margin == pytest.approx(3.0)
    assert widest([[0.0], [0.0]], [-1, -1]).margin == pytest.approx(1.0)


# Errors


@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        ([[1.0], [2.0]], [1, 1], ValueError, "y must hold at least two classes; got only 1."),
        ([[1.0], [2.0]], [1, 0, 1], ValueError, "got 2 rows in X and 3 labels in y"),
        ([[1.0], [np.nan]], [0, 1], ValueError, "got nan in row 1, column 0"),
        ([[1.0, np.inf], [1, 1]], [0, 1], ValueError, "got inf in row 0, column 1"),
        (sparse.csr_array([[0.0, 1.0], [0.0, np.nan]]), [0, 1], ValueError, "row 1, column 1"),
        (np.zeros((0, 3)), [], ValueError, "at least one row and one column"),
        ([1.0, 2.0], [0, 1], ValueError, "X must have two dimensions"),
        ([[1.0], [2.0]], [1, "a"], TypeError, "y must hold labels of one type"),
        ([[1.0], [2.0]], [[0], [1]], ValueError, "y must have one dimension"),
        ([["a"], ["b"]], [0, 1], TypeError, "X must hold real numbers"),
        ([[1.0], [2.0]], [0.0, np.nan], ValueError, "got NaN in row 1"),
        ([[0], [2**60 + 1]], [0, 1], ValueError, "keeps exactly; got 1152921504606846977 in row 1"),
        ([[1e-200, 1.0], [0, 1.0]], [0, 1], ValueError, "1e-200 in column 0: rescale"),
        ([[1e200], [0]], [0, 1], ValueError, "1e\\+200 in row 0, column 0: rescale"),
    ],
)
def test_bad_input_is_named(X, y, error, words):
    with pytest.raises(error, match=words):
        separability(X, y)


@pytest.mark.parametrize(
    "X",
    [
        [[2**70], [2**70 + 1]],
        np.array([[2**53], [2**53 + 1]], dtype=object),
        np.array([[np.int64(2**53)], [np.int64(2**53 + 1)]], dtype=object),
        [[Fraction(1, 2)], [Fraction(1, 3)]],
        [[2**60, 0.5], [2**60 + 1, 0.5]],
        ([2**63, -1], [2**63 + 1, -1]),
        np.array([[0], [2**63 - 1]]),
        sparse.csr_array(np.array([[0], [2**53 + 1]])),
    ],
)
def test_numbers_that_float64_would_round_are_refused(X):
    with pytest.raises(ValueError, match=r"keeps exactly; got .* in row 1, column 0: subtract"):
        separability(X, [0, 1])


def test_long_floats_and_frames_of_mixed_columns_are_refused_if_rounded():
    long = np.array([[1], [1 + np.longdouble(2) ** -60]], dtype=np.longdouble)
    if long[0, 0] != long[1, 0]:
        with pytest.raises(ValueError, match="keeps exactly"):
            separability(long, [0, 1])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [2**60, 2**60 + 1], "x": [0.5, 0.5]})
    with pytest.raises(ValueError, match="got 1152921504606846977 in row 1, column 0"):
        separability(frame, [0, 1])
    assert separability(frame - [2**60, 0], [0, 1]).margin == 0.5


def test_large_numbers_that_float64_holds_are_welcome():
    for X in ([[2**70], [2**70 + 2**20]], np.array([[2**60], [2**60 + 2**20]])):
        assert separability(X, [0, 1]).margin == 2**19
    assert separability([[Fraction(1, 2)], [Fraction(1, 4)]], [0, 1]).margin == 0.125
    with pytest.raises(ValueError, match="numbers that float64 can"):
        separability([[10**400], [0]], [0, 1])
    with pytest.raises(TypeError, match=r"got '1\.5'"):
        separability(np.array([["1.5"], [2]], dtype=object), [0, 1])


def test_widest_names_bad_signs():
    with pytest.raises(ValueError, match="sign must hold -1 and"):
        widest([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="got 2 rows in X"):
        widest([[1.0], [2.0]], [1])


# Real tables


def read(name):
    path = DATA / name / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    cells = np.loadtxt(path, delimiter=",", dtype=str, skiprows=1)
    return cells[:, :-1].astype(float), cells[:, -1]


def test_all_rows_of_sonar_are_separable():
    X, y = read("sonar")
    found = separability(X, y)
    assert found.separable
    assert found.verify(X, y)
    assert widest(X, np.where(y == y[0], 1, -1)).separable


def test_ionosphere_is_not_separable():
    X, y = read("ionosphere")
    found = separability(X, y)
    assert not found.separable
    assert found.grade == "proved"
    assert found.verify(X, y)


def test_setosa_is_separable_from_the_others_which_are_not():
    X, y = pytest.importorskip("sklearn.datasets").load_iris(return_X_y=True)
    found = separability(X, y)
    assert {key: pair.separable for key, pair in found.pairs.items()} == {
        (0, 1): True,
        (0, 2): True,
        (1, 2): False,
    }
    assert found.verify(X, y)
    assert not separability(X, y, joint=True).separable
