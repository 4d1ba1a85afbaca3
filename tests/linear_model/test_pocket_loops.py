"""Recorded passes are the plain ones with a memory, and wrong weights are counted right."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.base import arrays, read_only
from rosenblatt.linear_model import perceptron_loops, pocket_loops
from tests.linear_model.test_perceptron_loops import MANY, TIES, dtypes, problems, storages
from tests.reference import perceptron as reference


@given(problems(2), st.sampled_from(sorted(TIES)), storages, dtypes)
def test_a_recorded_pass_is_the_pass_and_remembers_every_correction(
    problem, boundary, storage, dtype
):
    X, y, step, (order, *_) = problem
    sign = np.where(y == 1, 1.0, -1.0)
    push = read_only((sign * step).astype(dtype))
    rows, X_loop = read_only(np.array(order, np.int32)), arrays(storage(X.astype(dtype)))
    w, b = np.zeros(X.shape[1], dtype), np.zeros(1, dtype)
    past_w, past_b = np.full((20, len(w)), np.nan, dtype), np.full((20, 1), np.nan, dtype)
    made, loss, visits = pocket_loops.recorded_pass(
        X_loop, push, rows, TIES[boundary], dtype(1), w, b, past_w, past_b
    )
    plain_w, plain_b = np.zeros_like(w), np.zeros_like(b)
    expected = perceptron_loops.perceptron_pass(
        X_loop, push, rows, TIES[boundary], MANY, dtype(1), plain_w, plain_b
    )
    assert (made, visits) == (expected[0], expected[2])
    assert np.isclose(loss, expected[1])
    assert np.array_equal(w, plain_w)
    for t in range(made):  # the plane after t + 1 corrections, by a run that ends there
        w, b = np.zeros_like(w), np.zeros_like(b)
        perceptron_loops.perceptron_pass(X_loop, push, rows, TIES[boundary], t + 1, dtype(1), w, b)
        assert np.array_equal(past_w[t], w)
        assert np.array_equal(past_b[t], b)
    assert np.isnan(past_w[made:]).all()


@given(problems(3), st.sampled_from(sorted(TIES)), storages)
def test_a_recorded_pass_of_several_classes(problem, boundary, storage):
    X, y, step, (order, *_) = problem
    rows, X_loop = read_only(np.array(order, np.int32)), arrays(storage(X))
    labels, room = (read_only(y), read_only(step)), 2
    W, b, scores = np.zeros((X.shape[1], 3)), np.zeros(3), np.empty(3)
    past_W, past_b = np.zeros((room, *W.shape)), np.zeros((room, 3))
    made, _, visits = pocket_loops.recorded_multiclass_pass(
        X_loop, *labels, rows, TIES[boundary], 1.0, W, b, scores, past_W, past_b
    )
    again, c = np.zeros_like(W), np.zeros(3)
    expected = perceptron_loops.multiclass_pass(
        X_loop, *labels, rows, TIES[boundary], room, 1.0, again, c, scores
    )
    assert (made, visits) == (expected[0], expected[2])
    assert np.array_equal(W, again)
    if made:
        assert np.array_equal(past_W[made - 1], W)
        assert np.array_equal(past_b[made - 1], b)


@given(problems(2), st.sampled_from(sorted(TIES)), storages, st.floats(0, 10))
def test_the_weight_of_wrong_rows(problem, boundary, storage, limit):
    X, y, step, _ = problem
    sign, w, b = np.where(y == 1, 1.0, -1.0), np.ones(X.shape[1]), np.zeros(1)
    hard, push = np.arange(len(y), dtype=np.int32), read_only(sign * step)
    wrong = [
        not reference.is_right(score, side, boundary)
        for score, side in zip(X @ w, sign, strict=True)
    ]
    expected = step[wrong].sum()
    count = pocket_loops.wrong_weight
    X_loop = arrays(storage(X))
    assert count(X_loop, push, TIES[boundary], w, b, np.inf, hard) == expected
    part = count(X_loop, push, TIES[boundary], w, b, limit, hard)
    assert part == expected if expected < limit else limit <= part <= expected


def test_weighing_what_is_below_a_limit():
    rng = np.random.RandomState(0)
    scores = rng.standard_normal((5, 40)).astype(np.float32)
    weight, total = rng.randint(1, 4, 40).astype(float), np.ones(5)
    pocket_loops.weigh_below(scores, np.float32(-0.5), weight, total)
    assert np.array_equal(total, 1 + (scores < -0.5) @ weight)
