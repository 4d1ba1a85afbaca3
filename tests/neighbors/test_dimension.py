"""GC34, C13, N4, T17: volume near the surface, and distances that become alike."""

import numpy as np
import pytest

from rosenblatt.neighbors import distance_concentration, shell_fraction


@pytest.mark.parametrize(
    ("eps", "d", "share"),
    [(0.1, 2, 0.19), (0.1, 3, 0.271), (0.1, 10, 0.651322), (0.1, 100, 0.999973),
     (0.01, 100, 0.633968), (0.01, 1000, 0.999957), (1.0, 3, 1.0), (0.0, 3, 0.0)],
)  # fmt: skip
def test_the_share_of_a_balls_volume_near_its_surface(eps, d, share):
    assert shell_fraction(eps, d) == pytest.approx(share, abs=1e-6)


def test_a_share_outside_the_ball_is_refused():
    with pytest.raises(ValueError, match=r"eps must be between 0 and 1.*got 1.5"):
        shell_fraction(1.5, 3)
    with pytest.raises(ValueError, match="d must be an integer >= 1; got 0"):
        shell_fraction(0.1, 0)


def test_distances_become_alike_with_the_number_of_columns():
    X = np.random.default_rng(0).uniform(size=(150, 200))
    ratios = [distance_concentration(X[:, :d]) for d in (1, 5, 20, 200)]
    assert ratios == sorted(ratios)
    assert ratios[0] < 0.05 < 0.6 < ratios[-1]
