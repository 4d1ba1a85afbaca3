"""The middle of each bucket is amid most of its rows, wherever the others are."""

import numpy as np

from rosenblatt.runtime.storage import read_only
from rosenblatt.statistics import scatter_loops


def middles(X, buckets, n_buckets, m=17, step=1):
    n_rows = np.bincount(buckets[::step] + 1, minlength=n_buckets + 1)[1:]
    chosen, seen = np.zeros((n_buckets, m), np.int64), np.zeros((2, n_buckets), np.int64)
    scatter_loops.choose_rows(read_only(buckets), step, n_rows, seen, chosen)
    centres, reach = np.zeros((2, n_buckets, X.shape[1]))
    rows = read_only(X[chosen.ravel()])
    scatter_loops.find_centres(rows, n_rows, centres, reach, np.empty(m))
    return chosen, centres, reach


def test_rows_are_chosen_evenly_from_each_bucket_that_has_enough():
    buckets = np.array([-1, 0, 1, 1] * 100)
    chosen, _, reach = middles(np.zeros((400, 4)), buckets, 3)
    assert np.array_equal(buckets[chosen[0]], np.zeros(17))
    assert np.array_equal(buckets[chosen[1]], np.ones(17))
    assert np.all(np.diff(chosen[:2], axis=1) >= 16)
    assert np.array_equal(reach[2], np.full(4, -1.0))


def test_the_centre_is_amid_most_rows_and_the_others_are_out_of_reach():
    rng = np.random.RandomState(0)
    X = 1e6 + rng.standard_normal((300, 3))
    X[::3] *= -1e3
    for step in (1, 2):
        _, centres, reach = middles(X, np.zeros(300, np.int64), 1, step=step)
        assert np.all(np.abs(centres - 1e6) < 10)
        far = (np.abs(X - centres) > reach).any(axis=1)
        assert np.array_equal(far, np.arange(300) % 3 == 0)


def test_equal_numbers_reach_nowhere_else():
    X = np.full((100, 2), 0.1)
    _, centres, reach = middles(X, np.zeros(100, np.int64), 1)
    assert np.array_equal(centres, X[:1])
    assert not reach.any()
