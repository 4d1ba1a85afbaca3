"""The passes equal the slow, obvious ones, whatever the storage, precision and tie rule."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.base import arrays, read_only
from rosenblatt.linear_model import perceptron_loops
from tests.reference import perceptron as reference

MANY = np.iinfo(np.int64).max
TIES = {"mistake": 0, "positive": 1, "negative": -1}

# Small integers: sums are exact, so that the comparison is, too.
tables = nps.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 5)),
    elements=st.integers(-3, 3).map(float),
)
storages = st.sampled_from([np.asarray, sp.csr_matrix])
dtypes = st.sampled_from([np.float64, np.float32])


@st.composite
def problems(draw, n_classes):
    X = draw(tables)
    n = len(X)
    y = draw(nps.arrays(np.int32, n, elements=st.integers(0, n_classes - 1)))
    step = draw(nps.arrays(np.float64, n, elements=st.sampled_from([1.0, 2.0, 0.5])))
    orders = [draw(st.permutations(range(n))) for _ in range(3)]
    return X, y, step, orders


def run(loop, X, labels, orders, ties, bias, w, b, most=MANY):
    """Every pass of a loop; the mistakes in each."""
    mistakes = []
    for order in orders:
        rows = read_only(np.array(order, np.int32))
        scratch = (np.empty_like(b),) if w.ndim == 2 else ()
        made, loss, visits = loop(X, *labels, rows, ties, most, b.dtype.type(bias), w, b, *scratch)
        assert visits == len(rows)
        assert loss >= 0
        mistakes.append(made)
    return mistakes


@given(problems(2), st.sampled_from(sorted(TIES)), st.sampled_from([0, 1]), storages, dtypes)
def test_two_classes(problem, boundary, bias, storage, dtype):
    X, y, step, orders = problem
    sign = np.where(y == 1, 1.0, -1.0)
    w, b = np.zeros(X.shape[1], dtype), np.zeros(1, dtype)
    push = read_only((sign * step).astype(dtype))
    X_loop = arrays(storage(X.astype(dtype)))
    mistakes = run(
        perceptron_loops.perceptron_pass, X_loop, (push,), orders, TIES[boundary], bias, w, b
    )
    expected = reference.perceptron(X, sign, orders, step=step, boundary=boundary, bias=bias)
    assert mistakes == expected[2]
    assert np.array_equal(w, expected[0])
    assert b[0] == expected[1]


@given(problems(4), st.sampled_from(sorted(TIES)), st.sampled_from([0, 1]), storages, dtypes)
def test_several_classes(problem, boundary, bias, storage, dtype):
    X, y, step, orders = problem
    W, b = np.zeros((X.shape[1], 4), dtype), np.zeros(4, dtype)
    labels = (read_only(y), read_only(step.astype(dtype)))
    X_loop = arrays(storage(X.astype(dtype)))
    mistakes = run(
        perceptron_loops.multiclass_pass, X_loop, labels, orders, TIES[boundary], bias, W, b
    )
    expected = reference.multiclass(X, y, 4, orders, step=step, boundary=boundary, bias=bias)
    assert mistakes == expected[2]
    assert np.array_equal(W.T, expected[0])
    assert np.array_equal(b, expected[1])
    assert not W.sum(axis=1).any(), "what one class gains another loses"


@given(problems(3), st.sampled_from(sorted(TIES)), storages)
def test_a_penalty_of_zero_changes_nothing(problem, boundary, storage):
    X, y, step, orders = problem
    labels = (read_only(y), read_only(step))
    plain, shrinking = np.zeros((X.shape[1], 3)), np.zeros((X.shape[1], 3))
    b, b_shrinking = np.zeros(3), np.zeros(3)
    X_loop = arrays(storage(X))
    ties = TIES[boundary]
    for order in orders:
        rows = read_only(np.array(order, np.int32))
        perceptron_loops.multiclass_pass(
            X_loop, *labels, rows, ties, MANY, 1.0, plain, b, np.empty(3)
        )
        perceptron_loops.shrinking_multiclass_pass(
            X_loop, *labels, rows, ties, MANY, 1.0, (1.0, 0.0), shrinking, b_shrinking,
            np.empty(3), np.array([1.0, 0.0]), np.zeros_like(shrinking),
        )  # fmt: skip
    assert np.array_equal(plain, shrinking)
    assert np.array_equal(b, b_shrinking)


@given(problems(2), storages)
def test_a_limit_on_mistakes_ends_the_pass_before_the_next_one(problem, storage):
    X, y, step, orders = problem
    push = read_only(np.where(y == 1, step, -step))
    w, b = np.zeros(X.shape[1]), np.zeros(1)
    rows = read_only(np.array(orders[0], np.int32))
    pass_over = perceptron_loops.perceptron_pass
    made, _, visits = pass_over(arrays(storage(X)), push, rows, 0, 1, 1.0, w, b)
    assert made == 1, "the first row is always a mistake from zero"
    assert visits <= len(rows)
    if visits < len(rows):
        i = rows[visits]
        assert push[i] * (X[i] @ w + b[0]) <= 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("w", [np.zeros(2), np.ones(2), -np.ones(2)])
def test_a_row_that_is_not_finite_ends_the_pass_untouched(bad, storage, w):
    X = np.array([[1.0, 2.0], [bad, 1.0]])
    w, b = w.copy(), np.zeros(1)
    push, order = read_only(np.array([1.0, 1.0])), read_only(np.array([1, 0], np.int32))
    before = w.copy()
    result = perceptron_loops.perceptron_pass(arrays(storage(X)), push, order, 0, MANY, 1.0, w, b)
    assert result[2] == 0
    assert np.array_equal(w, before)
