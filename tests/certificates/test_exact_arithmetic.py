"""The verifiers' exact arithmetic, beside the answers of `separability` and of a slow search."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import separability
from rosenblatt.certificates.exact_arithmetic import (
    positive_balance,
    rows_ahead,
    simple_proportions,
    stands,
    whole_numbers,
)


def small_table(seed):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(4, 30)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    X = rng.integers(-3, 4, (n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, K))).argmax(axis=1) if seed % 4 == 0 else rng.integers(0, K, n)
    y[:2] = 0, 1
    return X, y, len(np.unique(y)) > 2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_what_separability_answers_stands_and_a_wrong_answer_does_not(seed, fit_intercept):
    X, y, joint = small_table(seed)
    answer = separability(X, y, fit_intercept=fit_intercept, joint=joint)
    assert stands(answer, X, y)
    assert stands(answer, sp.csr_matrix(X), y)
    if answer.separable:
        assert not stands(replace(answer, coef=-np.asarray(answer.coef)), X, y)
        assert not stands(replace(answer, margin=1.001 * answer.margin), X, y)
    else:
        assert not stands(replace(answer, combination=0 * answer.combination), X, y)
        assert not stands(replace(answer, combination=-answer.combination), X, y)


def test_weights_that_cancel_only_nearly_are_no_proof():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    answer = separability(X, y)
    assert stands(answer, X, y)
    assert not stands(replace(answer, combination=np.array([0.5, 1.0, 0.5001])), X, y)
    nudged = X + [[0.0], [0.0], [-1.5]]  # 0 and 0.5 have 1 on their other side
    assert not stands(answer, nudged, y)


def test_whole_numbers_have_exactly_the_proportions_of_floats():
    values = np.array([0.1, -3e-30, 0.0, 7e20])
    exact = whole_numbers(values)
    first = Fraction(0.1) / Fraction(int(exact[0]))
    assert [first * int(number) for number in exact] == [Fraction(v) for v in values.tolist()]


def test_simple_proportions_of_thirds():
    assert simple_proportions(np.array([0.2, 0.0, -0.3 * (1 + 1e-12)])).tolist() == [2, 0, -3]


def slow_rows_ahead(X, codes, W, fit_intercept):
    """The union of what biases on a grid of halves of whole numbers show."""
    K, best = len(W), None
    halves = [Fraction(i, 2) for i in range(-12, 13)] if fit_intercept else [Fraction(0)]
    scores = [[sum(int(a) * int(b) for a, b in zip(x, w, strict=True)) for w in W] for x in X]
    for biases in product([Fraction(0)], *[halves] * (K - 1)):
        leads = [
            [row[c] + biases[c] - row[k] - biases[k] for k in range(K)]
            for row, c in zip(scores, codes, strict=True)
        ]
        if all(lead >= 0 for row in leads for lead in row):
            ahead = np.array([[lead > 0 for lead in row] for row in leads])
            best = ahead if best is None else best | ahead
    return best if best is not None and best.any() else None


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_rows_ahead_are_those_that_a_search_over_biases_finds(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    K = 2 + seed % 2
    W = rng.integers(-1, 2, (K, 2)).astype(object)
    X = rng.integers(-1, 2, (6, 2)).astype(float)
    codes = np.arange(6) % K
    if seed % 3:  # else most directions lower some row
        codes = np.asarray((X @ W.T.astype(float)).argmax(axis=1))
    if len(np.unique(codes)) < K or not W.any():
        assert rows_ahead(X, codes, W, fit_intercept) is None
        return
    found = rows_ahead(X, codes, W, fit_intercept)
    wanted = slow_rows_ahead(X.astype(int), codes, W, fit_intercept)
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert np.array_equal(found, wanted)


def test_a_positive_balance_is_found_where_there_is_one():
    rows = np.array([[1, 0], [0, 1], [-1, -1]], dtype=object)
    assert positive_balance(rows, np.array([0.3, 0.3, 0.3]))
    assert not positive_balance(np.array([[1, 0], [0, 1], [-1, 1]], object), np.ones(3))
    assert not positive_balance(np.array([[1], [2]], dtype=object), np.ones(2))
