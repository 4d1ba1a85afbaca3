"""Curves to choose a model by."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge, lasso_path
from sklearn.model_selection import cross_validate

from rosenblatt import GaussianNB
from rosenblatt.plot import learning_curve, path, validation_curve

matplotlib.use("agg")
RNG = np.random.RandomState(0)
X = RNG.standard_normal((60, 30))
T = X[:, 0] - X[:, 1] + RNG.standard_normal(60)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def line(ax, label):
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return found.get_ydata()


def test_the_held_out_curve_is_that_of_cross_validation():
    # B10: curves that diagnose a fit
    ax = validation_curve(Ridge(), X, T, "alpha", [0.1, 10.0, 1000.0])
    scores = [
        cross_validate(Ridge(alpha), X, T, scoring="neg_mean_squared_error")["test_score"].mean()
        for alpha in (0.1, 10.0, 1000.0)
    ]
    np.testing.assert_allclose(line(ax, "held out"), -np.array(scores), rtol=1e-9)
    assert (line(ax, "training") <= line(ax, "held out")).all()
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.texts] == ["10"]


def test_learning_curves_come_together():
    y = (X[:, 0] > 0).astype(int)
    ax = learning_curve(GaussianNB(), X, y, sizes=[0.2, 1.0], random_state=0)
    gap = line(ax, "held out") - line(ax, "training")
    assert gap[0] > gap[1]
    assert ax.get_ylabel() == "share of wrong labels"


def test_paths_name_the_largest():
    alphas, coefs, _ = lasso_path(X, T)
    ax = path(alphas, coefs, [f"column {j}" for j in range(30)], most_names=2)
    assert {text.get_text() for text in ax.texts} == {"column 0", "column 1"}
    with pytest.raises(ValueError, match="one column for each penalty"):
        path(alphas, coefs.T)


def test_scorers_of_other_names():
    y = (X[:, 0] > 0).astype(int)
    ax = validation_curve(GaussianNB(), X, y, "var_smoothing", [1e-9, 0.1], scoring="roc_auc")
    assert ax.get_ylabel() == "1 - roc_auc"
    ax = validation_curve(Ridge(), X, T, "alpha", [1, 2], scoring="neg_mean_absolute_error")
    assert "mean absolute error" in ax.get_ylabel()


def test_the_best_at_an_end_is_said_to_be_one():
    ax = validation_curve(Ridge(), X, T, "alpha", [100.0, 1000.0, 1e5])
    assert [text.get_text() for text in ax.texts] == ["100, the smallest tried"]
    assert "band" in ax.get_legend().get_title().get_text()


def test_values_that_are_no_numbers_or_zero_have_their_places():
    ax = validation_curve(Ridge(), X, T, "solver", ["auto", "svd"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["auto", "svd"]
    ax = validation_curve(Ridge(), X, T, "fit_intercept", [True, False], ax=plt.figure().gca())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["True", "False"]
    ax = validation_curve(Ridge(), X, T, "alpha", [0, 0.1, 10, 1000], ax=plt.figure().gca())
    assert ax.get_xscale() == "symlog"
    ax = validation_curve(Ridge(), X, T, "max_iter", [1, 2, 3], ax=plt.figure().gca())
    assert (ax.get_xticks() % 1 == 0).all()


def test_no_band_goes_below_an_error_of_zero():
    ax = learning_curve(Ridge(), X, T, sizes=[0.2, 1.0], random_state=0)
    bands = [path.get_paths()[0].vertices[:, 1].min() for path in ax.collections]
    assert min(bands) >= 0


def test_names_of_a_path_stand_beyond_the_ends_of_its_lines():
    alphas, coefs, _ = lasso_path(X, T)
    ax = path(alphas, coefs, [f"a rather long name of column {j}" for j in range(30)])
    figure = ax.get_figure()
    figure.canvas.draw()
    end = ax.transData.transform((alphas.min(), 0))[0]
    for text in ax.texts:
        assert text.get_window_extent().x0 >= end
        assert text.get_window_extent().x1 <= ax.get_window_extent().x1 + 5
    named = [line for line in ax.get_lines() if line.get_linewidth() == 1.4]
    assert len({(line.get_color(), line.get_linestyle()) for line in named}) == len(named) == 8


def test_several_fits_at_a_time_give_the_same():
    one = validation_curve(Ridge(), X, T, "alpha", [0.1, 10.0])
    two = validation_curve(Ridge(), X, T, "alpha", [0.1, 10.0], n_jobs=2, ax=plt.figure().gca())
    np.testing.assert_array_equal(line(one, "held out"), line(two, "held out"))
    given = {"sizes": [0.2, 1.0], "random_state": 0}
    one = learning_curve(Ridge(), X, T, **given, ax=plt.figure().gca())
    two = learning_curve(Ridge(), X, T, **given, n_jobs=2, ax=plt.figure().gca())
    np.testing.assert_array_equal(line(one, "held out"), line(two, "held out"))
