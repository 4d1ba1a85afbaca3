"""DC19, C10, C11, N2: distances, counts of differences, and a weighted vote."""

import numpy as np
import pytest

from rosenblatt import KNeighborsClassifier, NearestNeighbors
from rosenblatt.neighbors import hamming

A, B = [[1.0, 2.0, 3.0]], [[4.0, 0.0, 3.0]]


@pytest.mark.parametrize(("p", "distance"), [(1, 5), (2, 3.605551), (3, 3.271066), (np.inf, 3)])
def test_distances_of_two_points(p, distance):
    found, _ = NearestNeighbors(n_neighbors=1, p=p).fit(A).kneighbors(B)
    assert found[0, 0] == pytest.approx(distance, abs=1e-6)


@pytest.mark.filterwarnings("ignore:Mind that for 0 < p < 1")
def test_an_exponent_below_one():
    search = NearestNeighbors(n_neighbors=1, p=0.5, algorithm="brute").fit(A)
    assert search.kneighbors(B)[0][0, 0] == pytest.approx(9.898979, abs=1e-6)


def test_places_that_differ():
    assert hamming("1011", "1101") == 2
    share, _ = (
        NearestNeighbors(n_neighbors=1, metric="hamming")
        .fit([[1, 0, 1, 1]])
        .kneighbors([[1, 1, 0, 1]])
    )
    assert share[0, 0] == 0.5
    with pytest.raises(ValueError, match="one length; got 1 and 2"):
        hamming("a", "ab")


def test_the_boundary_between_two_points():
    # halfway between (0, 0) and (4, 2): 2x + y = 5
    model = KNeighborsClassifier(n_neighbors=1).fit([[0.0, 0.0], [4.0, 2.0]], [0, 1])
    on = np.array([[2.0, 1.0], [1.0, 3.0], [0.0, 5.0]])
    np.testing.assert_array_equal(model.predict(on - 1e-6), [0, 0, 0])
    np.testing.assert_array_equal(model.predict(on + 1e-6), [1, 1, 1])


def test_one_near_neighbour_against_two_far_ones():
    X, y = [[0.5], [-2.0], [2.5]], ["+", "-", "-"]
    votes = {w: KNeighborsClassifier(3, weights=w).fit(X, y) for w in ("uniform", "distance")}
    assert votes["uniform"].predict([[0.0]]) == ["-"]
    assert votes["distance"].predict([[0.0]]) == ["+"]  # 1 / 0.5 = 2.0 against 0.5 + 0.4
    np.testing.assert_allclose(votes["distance"].predict_proba([[0.0]]), [[2 / 2.9, 0.9 / 2.9]])
