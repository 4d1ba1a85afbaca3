"""Bias and variance: they add up to the error, and know a simple model from a complex one."""

import re
import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import rosenblatt as ours
from rosenblatt import BasisExpansion, GaussianNB, bias_variance


def curve(n=120, noise=0.3, seed=0):
    rng = np.random.RandomState(seed)
    x = rng.uniform(0, 3, (n, 1))
    truth = np.sin(2 * x[:, 0])
    return x, truth, truth + noise * rng.standard_normal(n)


def test_every_row_adds_up():
    x, _, t = curve()
    parts = bias_variance(KNeighborsRegressor(3), x, t, n_models=50, random_state=0)
    np.testing.assert_allclose(parts.row_error, parts.row_bias + parts.row_variance, atol=1e-12)
    assert parts.error == pytest.approx(parts.bias + parts.variance)


def test_simple_models_have_bias_and_complex_ones_variance():
    x, truth, t = curve()
    line, wild = (
        bias_variance(
            make_pipeline(BasisExpansion("powers", degree=degree), LinearRegression()), x, t,
            truth=truth, n_models=60, random_state=0,
        )
        for degree in (1, 12)
    )  # fmt: skip
    assert line.bias > 10 * wild.bias
    assert wild.variance > 2 * line.variance


def test_the_parts_of_a_simulation_are_the_true_ones():
    """A constant model, whose bias and variance are known."""
    rng = np.random.RandomState(0)
    n, noise = 400, 0.5
    t = 2 + noise * rng.standard_normal(n)
    model = DummyRegressor()  # the mean of its sample
    parts = bias_variance(model, np.zeros((n, 1)), t, truth=np.full(n, 2.0), random_state=0)
    assert parts.noise == pytest.approx(noise**2, rel=0.2)
    assert parts.variance == pytest.approx(noise**2 / n, rel=0.3)
    assert parts.bias < 5 * noise**2 / n


def test_with_the_truth_all_parts_add_up_and_luck_goes_away_on_average():
    """A12: E (t - f)^2 = noise + bias^2 + variance, over targets that there might have been."""
    luck = []
    for seed in range(30):
        rng = np.random.RandomState(seed)
        x = rng.uniform(0, 3, (60, 1))
        truth = np.sin(2 * x[:, 0])
        t = truth + 0.3 * rng.standard_normal(60)
        parts = bias_variance(LinearRegression(), x, t, truth=truth, n_models=20, random_state=0)
        whole = parts.bias + parts.noise + parts.variance + parts.luck
        assert parts.error == pytest.approx(whole)
        assert f"luck of the noise {parts.luck:.4g}" in str(parts)
        luck.append(parts.luck)
    assert abs(np.mean(luck)) < 3 * np.std(luck) / np.sqrt(len(luck))
    few = bias_variance(LinearRegression(), x, t, random_state=0)
    assert few.luck is None
    assert few.to_dict()["luck"] is None


def test_labels():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(150) > 0.7, "b", "a")
    parts = bias_variance(KNeighborsClassifier(1), X, y, n_models=60, random_state=0)
    assert parts.loss == "zero-one"
    # Two classes: where the common answer is wrong, straying from it is right.
    helps = np.where(parts.row_bias == 1, -1, 1)
    np.testing.assert_allclose(parts.row_error, parts.row_bias + helps * parts.row_variance)
    lazy = bias_variance(DummyClassifier(), X, y, n_models=60, random_state=0)
    assert lazy.variance < parts.variance
    assert lazy.bias > parts.bias


def test_it_depends_on_the_seed_alone():
    x, _, t = curve(40)
    first, second = (
        bias_variance(LinearRegression(), x, t, n_models=10, random_state=3, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert first.error == second.error
    assert str(first) == str(second)
    assert first.to_dict()["n_models"] == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_models": 1}, "n_models must be 2 or more"),
        ({"y": np.zeros(3)}, "one value per row"),
        ({"truth": np.zeros(3)}, "truth must have one value per row"),
        ({"model": DummyClassifier(), "truth": np.zeros(20), "y": np.arange(20) % 2},
         "truth is for regression"),
        ({"X": np.zeros((1, 1)), "y": np.zeros(1)}, "No row was left out"),
    ],
)  # fmt: skip
def test_bad_input(change, message):
    x, _, t = curve(20)
    given = {"model": LinearRegression(), "X": x, "y": t, "n_models": 3, **change}
    with pytest.raises(ValueError, match=message):
        bias_variance(given.pop("model"), given.pop("X"), given.pop("y"), **given)


def test_what_is_printed_adds_up():
    X, y = load_iris(return_X_y=True)
    parts = bias_variance(GaussianNB(), X[:, :2], y, random_state=0)
    numbers = re.findall(r"([\d.e-]+) \((?:models|that)", str(parts))
    hurts, helps = (float(number) for number in numbers)
    assert parts.error == pytest.approx(parts.bias + hurts - helps, abs=1e-3)
    assert "bias^2 and noise" in str(bias_variance(LinearRegression(), X, y, random_state=0))


def test_a_hundred_fits_that_warn_are_one_warning():
    x, _, t = curve()
    twice = np.hstack([x, x])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        bias_variance(ours.LinearRegression(), twice, t, n_models=30, random_state=0)
    (only,) = said
    assert only.category is LinAlgWarning
    assert str(only.message).startswith("In 30 of 30 fits: The rows determine 1 of 2")
    assert only.filename == __file__
