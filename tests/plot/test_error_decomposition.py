"""What an error is made of, in bars and in curves."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from rosenblatt import bias_variance as decompose
from rosenblatt.plot import bias_variance

matplotlib.use("agg")
RNG = np.random.RandomState(0)
X = RNG.standard_normal((60, 30))
T = X[:, 0] - X[:, 1] + RNG.standard_normal(60)
TRUTH = X[:, 0] - X[:, 1]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def line(ax, label):
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return found.get_ydata()


def test_bias_falls_where_variance_rises():
    ax = bias_variance(Ridge(), X, T, "alpha", [1000.0, 1e-3], n_models=20, random_state=0)
    bias, variance = line(ax, "bias\u00b2 and noise"), line(ax, "variance")
    assert variance[1] > variance[0]
    np.testing.assert_allclose(line(ax, "error"), bias + variance)


def test_noise_is_drawn_where_it_is_known():
    ax = bias_variance(
        Ridge(), X, T, "alpha", [1.0, 10.0], truth=X[:, 0] - X[:, 1], n_models=40, random_state=0
    )
    assert line(ax, "noise")[0] == pytest.approx(np.mean((T - X[:, 0] + X[:, 1]) ** 2))


@pytest.mark.parametrize("truth", [None, TRUTH])
def test_bars_begin_where_the_last_one_ended_and_add_up_to_the_error(truth):
    parts = decompose(Ridge(), X, T, truth=truth, n_models=20, random_state=0)
    ax = bias_variance(Ridge(), X, T, truth=truth, n_models=20, random_state=0)
    *bars, error = ax.patches
    assert [bar.get_width() for bar in bars] == list(parts.addends.values())
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    np.testing.assert_allclose([bar.get_x() for bar in bars], [0, *ends[:-1]], atol=1e-12)
    assert error.get_x() == 0
    np.testing.assert_allclose([ends[-1], error.get_width()], parts.error)
    names = [label.get_text() for label in ax.get_yticklabels()]
    noise = (
        ["noise", "bias\u00b2", "luck of the noise"]
        if truth is not None
        else ["bias\u00b2 and noise"]
    )
    assert names == [*noise, "variance", "error"]


def test_variance_that_helps_a_classifier_goes_back():
    y = np.where(T + 2 * RNG.standard_normal(60) > 0, "yes", "no")
    parts = decompose(KNeighborsClassifier(1), X, y, n_models=30, random_state=0)
    helps = parts.addends["variance that helps"]
    assert helps < 0
    assert sum(parts.addends.values()) == pytest.approx(parts.error)
    ax = bias_variance(parts)
    assert ax.patches[2].get_width() == helps
    assert ax.get_xlabel() == "share of wrong labels"


def test_several_fits_at_a_time_give_the_same():
    given = {"n_models": 10, "random_state": 0}
    one = bias_variance(Ridge(), X, T, **given, ax=plt.figure().gca())
    two = bias_variance(Ridge(), X, T, n_jobs=2, **given, ax=plt.figure().gca())
    assert [bar.get_width() for bar in one.patches] == [bar.get_width() for bar in two.patches]


@pytest.mark.parametrize("args", [(Ridge(),), (Ridge(), X, T, "alpha"), (Ridge(), X, T, None, [1])])
def test_what_it_is_called_with_is_said(args):
    with pytest.raises(ValueError, match=r"bias_variance\(model, X, y\)"):
        bias_variance(*args)
