"""DC06, E11, T3: how many flips Hoeffding asks for."""

import pytest

from rosenblatt.estimation import hoeffding_half_width, hoeffding_n


@pytest.mark.parametrize(
    ("eps", "delta", "n"),
    [
        (0.1, 0.05, 185),  # ln 40 / 0.02 = 184.4...
        (0.05, 0.05, 738),  # ln 40 / 0.005 = 737.8
        (0.01, 0.01, 26492),  # ln 200 / 0.0002 = 26491.6
    ],
)
def test_the_sample_size(eps, delta, n):
    assert hoeffding_n(eps, delta) == n


def test_the_half_width_for_a_thousand():
    # sqrt(ln 40 / 2000)
    assert hoeffding_half_width(1000, 0.05) == pytest.approx(0.042947, abs=1e-6)
