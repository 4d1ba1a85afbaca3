"""The nearest point of small hulls, against hand calculations and its own theorem."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.separation.nearest_point import nearest_point


def test_a_segment_is_nearest_in_its_middle():
    found = nearest_point(np.array([[1, 3], [3, 1]], dtype=object), np.zeros(2, int))
    assert found.point[0] == found.point[1] > 0
    assert found.weights == [0.5, 0.5]


def test_two_groups_are_as_near_as_their_hulls():
    # Rows of -x and +x: the segment from (-1, 0) to (1, 0) and the point (0, 2).
    A = np.array([[1, 0], [-1, 0], [0, 2]], dtype=object)
    found = nearest_point(A, np.array([0, 0, 1]))
    assert found.weights == [0.5, 0.5, 1]
    assert found.point[0] == 0 < found.point[1]


def test_rows_of_no_group_do_not_count():
    A = np.array([[1, 1], [-5, -5], [2, 2]], dtype=object)
    assert nearest_point(A, np.array([0, -1, 0])).weights == [1, 0, 0]


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 2), st.integers(0))
def test_every_row_lies_beyond_the_nearest_point(n, m, G, seed):
    rng = np.random.default_rng(seed)
    A = np.array(rng.integers(-4, 6, (n + 1, m)).tolist(), dtype=object)
    group = np.arange(n + 1) % G
    found = nearest_point(A, group)
    p = np.array(found.weights, dtype=object)
    z = p.dot(A)
    assert all(p[group == g].sum() == 1 for g in range(G))
    assert all(weight >= 0 for weight in p)
    assert sum(min(A[group == g].dot(z)) for g in range(G)) == z.dot(z)  # z.s >= z.z, with equality
    assert found.point.any() == z.any()
    assert all(a * z.dot(z) == b * z.dot(found.point) for a, b in zip(found.point, z, strict=True))
