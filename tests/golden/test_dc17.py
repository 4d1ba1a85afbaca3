"""DC17, Q5: scores of the clusters {0, 1, 3} and {7}."""

import pytest

from rosenblatt import cluster_quality


def test_within_between_and_their_sum():
    quality = cluster_quality([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "a", "b"])
    # Mean 4/3: (16 + 1 + 25) / 9 = 42 / 9.
    assert quality.within.tolist() == pytest.approx([42 / 9, 0])
    squared = quality.centroid_distances[0, 1] ** 2  # (7 - 4/3)^2 = 289 / 9
    assert squared == pytest.approx(32.111111, abs=5e-7)
    assert quality.closest_pair == 4
    assert quality.total_within + squared == pytest.approx(36.777778, abs=5e-7)  # as printed
