"""The scores of sparse rows equal the slow, obvious sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.loops.rows import arrays
from rosenblatt.naive_bayes import linear_scores_loops
from tests.reference.naive_bayes import linear_scores

D = 4


@given(
    nps.arrays(np.float64, st.tuples(st.integers(1, 6), st.just(D)), elements=st.integers(0, 3)),
    st.integers(1, 5),
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.sampled_from([None, 0.0, 1.5]),
)
def test_scores_of_rows(X, n_classes, dtype, threshold):
    rng = np.random.RandomState(0)
    W, start = rng.standard_normal((D, n_classes)), rng.standard_normal(n_classes)
    expected = np.array(linear_scores(X, W, start, threshold))
    order = rng.permutation(len(X))
    expected, what = expected[order], (arrays(sp.csr_matrix(X.astype(dtype))), order)
    scores, sizes = np.empty((len(X), n_classes)), np.empty(len(X))
    assert linear_scores_loops.score_classes(*what, W, start, threshold, scores, sizes) == -1
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    counted = X if threshold is None else np.greater(X, threshold)
    np.testing.assert_array_equal(sizes, counted.sum(axis=1)[order])
    plane, again = np.empty(len(X)), np.empty(len(X))
    w = np.ascontiguousarray(W[:, 0])
    assert linear_scores_loops.score_plane(*what, w, start[0], threshold, plane, again) == -1
    np.testing.assert_array_equal(again, sizes)
    np.testing.assert_allclose(plane, expected[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
def test_the_first_row_that_cannot_be_scored_is_named(bad, threshold):
    if bad == -1 and threshold is not None:
        pytest.skip("a negative number is below the threshold")
    rows = arrays(sp.csr_matrix(np.array([[1.0, 2.0], [3.0, bad], [4.0, 5.0]])))
    what, sizes = (rows, np.arange(3)), np.empty(3)
    last = threshold, np.empty((3, 3)), sizes
    assert linear_scores_loops.score_classes(*what, np.ones((2, 3)), np.zeros(3), *last) == 1
    assert (
        linear_scores_loops.score_plane(*what, np.ones(2), 0.0, threshold, np.empty(3), sizes) == 1
    )


def test_the_largest_score_is_chosen_unless_another_may_be_larger():
    scores = np.array([[1.0, 3.0, 2.0], [3.0, 3.0, 1.0], [2.0, 1.0, 2.5], [5.0, 1.0, 4.0]])
    codes = np.empty(4, np.intp)
    linear_scores_loops.choose(scores, np.array([1.0, 1.0, 2.0, 0.0]), 0.5, codes)
    assert codes.tolist() == [1, -1, -1, 0]
    linear_scores_loops.choose(scores, np.ones(4), 0.0, codes)
    assert codes.tolist() == [1, 0, 2, 0]
