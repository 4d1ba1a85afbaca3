"""DC20, C5, C6: normalising columns and rows."""

import numpy as np
import pytest

from rosenblatt import Standardizer
from rosenblatt.statistics import Moments

COLUMN = np.array([[1.0], [2.0], [3.0], [4.0]])


def test_the_z_score_of_one_to_four():
    # about 2.5: 1.5^2 + 0.5^2 + 0.5^2 + 1.5^2 = 5; over 3 is 1.290994^2, over 4 is 1.118034^2
    model = Standardizer().fit(COLUMN)
    assert model.mean_[0] == 2.5
    assert model.scale_[0] == pytest.approx(1.290994, abs=1e-6)
    expected = [-1.161895, -0.387298, 0.387298, 1.161895]
    np.testing.assert_allclose(model.transform(COLUMN).ravel(), expected, atol=1e-6)
    assert Standardizer(ddof=0).fit(COLUMN).scale_[0] == pytest.approx(1.118034, abs=1e-6)


def test_rows_of_unit_length():
    row = [[3.0, 4.0]]
    np.testing.assert_allclose(Standardizer("l1").fit_transform(row), [[3 / 7, 4 / 7]])
    np.testing.assert_allclose(Standardizer("l2").fit_transform(row), [[0.6, 0.8]])


def test_mean_and_deviation_of_five_scores():
    scores = Moments.of(np.array([[0.8], [0.85], [0.9], [0.75], [0.8]]))
    assert scores.mean[0, 0] == pytest.approx(0.82)
    assert np.sqrt(scores.scatter[0, 0] / 5) == pytest.approx(0.050990, abs=1e-6)
    assert np.sqrt(scores.scatter[0, 0] / 4) == pytest.approx(0.057009, abs=1e-6)
