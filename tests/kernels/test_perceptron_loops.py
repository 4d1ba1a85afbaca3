"""Dual passes equal the obvious ones on the rows themselves, K being the matrix of products."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.base import read_only
from rosenblatt.kernels import perceptron_loops
from tests.linear_model.test_perceptron_loops import MANY, TIES, problems
from tests.reference import perceptron as reference

bounds = st.sampled_from(sorted(TIES))
biases = st.sampled_from([0.0, 1.0])


@given(problems(2), bounds, biases)
def test_two_classes(problem, boundary, bias):
    X, y, step, orders = problem
    sign, n = np.where(y == 1, 1.0, -1.0), len(y)
    kept, slot = read_only(X @ X.T), np.arange(n, dtype=np.int32)
    a, f, b = np.zeros(n), np.zeros(n), np.zeros(1)
    mistakes = []
    for order in orders:
        rows = read_only(np.array(order, np.int32))
        made, loss, visits = perceptron_loops.dual_pass(
            read_only(sign * step), rows, TIES[boundary], MANY, bias, kept, slot, a, f, b
        )
        assert visits == n
        assert loss >= 0
        mistakes.append(made)
    w, expected_b, expected = reference.perceptron(
        X, sign, orders, step=step, boundary=boundary, bias=bias
    )
    assert mistakes == expected
    assert np.array_equal(a @ X, w)
    assert np.array_equal(f, X @ w)
    assert b[0] == expected_b


@given(problems(3), bounds, biases)
def test_several_classes(problem, boundary, bias):
    X, y, step, orders = problem
    n = len(y)
    kept, slot = read_only(X @ X.T), np.arange(n, dtype=np.int32)
    a, f, b, scores = np.zeros((3, n)), np.zeros((3, n)), np.zeros(3), np.empty(3)
    mistakes = []
    for order in orders:
        rows = read_only(np.array(order, np.int32))
        made, _, visits = perceptron_loops.dual_multiclass_pass(
            read_only(y), read_only(step), rows, TIES[boundary], MANY, bias, kept, slot,
            a, f, b, scores,
        )  # fmt: skip
        assert visits == n
        mistakes.append(made)
    W, expected_b, expected = reference.multiclass(
        X, y, 3, orders, step=step, boundary=boundary, bias=bias
    )
    assert mistakes == expected
    assert np.array_equal(a @ X, W)
    assert np.array_equal(b, expected_b)


def test_it_ends_at_a_mistake_whose_row_is_not_kept():
    X = np.array([[1.0], [-1.0], [2.0]])
    kept, slot = read_only((X @ X.T)[:1]), np.array([0, -1, -1], np.int32)
    a, f, b = np.zeros(3), np.zeros(3), np.zeros(1)
    push, order = read_only(np.array([1.0, 1.0, 1.0])), read_only(np.arange(3, dtype=np.int32))
    # Row 0 is corrected; row 1 then scores -1 and is wrong, but its row is missing.
    made, _, visits = perceptron_loops.dual_pass(push, order, 0, MANY, 0.0, kept, slot, a, f, b)
    assert (made, visits) == (1, 1)
    assert a.tolist() == [1, 0, 0]
    assert f.tolist() == [1, -1, 2]
