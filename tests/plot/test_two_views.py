"""V11, W11: zebras and horses, by a generative model and by a discriminative one."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rosenblatt import GaussianNB, LogisticRegression
from rosenblatt.plot import two_views

X = np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [6.0]])
Y = np.array(["horse"] * 4 + ["zebra"] * 2)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_areas_are_the_shares_of_classes_and_curves_on_the_right_sum_to_one():
    joint, given = two_views(GaussianNB().fit(X, Y), LogisticRegression().fit(X, Y), X, Y).axes
    curves = {line.get_label(): line for line in joint.lines if line.get_label() in Y}
    for name, share in (("horse", 4 / 6), ("zebra", 2 / 6)):
        area = np.trapezoid(curves[name].get_ydata(), curves[name].get_xdata())
        assert abs(area - share) < 0.02
    solid, dashed = given.lines[::2], given.lines[1::2]
    for pair in (solid, dashed):
        np.testing.assert_allclose(sum(line.get_ydata() for line in pair), 1)
    rows = [line for line in joint.lines if line.get_label() not in Y]
    assert [len(line.get_xdata()) for line in rows] == [4, 2]


def test_two_columns_and_other_classes_are_refused():
    bayes = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="one column to be drawn; got shape"):
        two_views(bayes, bayes, np.zeros((3, 2)), Y[:3])
    other = LogisticRegression().fit(X, Y == "zebra")
    with pytest.raises(ValueError, match="same classes"):
        two_views(bayes, other, X, Y)
