"""G1, T4: the rule that knows the true densities; its error is the floor for all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid

from rosenblatt import (
    AveragedPerceptron,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from rosenblatt.information import BayesClassifier, Gaussian

CLOUDS = {
    "a": Gaussian([-1, 0], [[1, 0], [0, 1]]),
    "b": Gaussian([1, 0], [[4, 0], [0, 1]]),
    "c": Gaussian([0, 2], [[1, 0.8], [0.8, 1]]),
}
PRIOR = [0.5, 0.3, 0.2]


def draw(n, seed):
    """Rows (n, 2) and labels (n,) of the three clouds."""
    rng = np.random.default_rng(seed)
    y = rng.choice(list(CLOUDS), size=n, p=PRIOR)
    X = np.empty((n, 2))
    for name, (mean, covariance) in CLOUDS.items():
        X[y == name] = rng.multivariate_normal(mean, covariance, (y == name).sum())
    return X, y


@pytest.mark.usefixtures("unconverged")
def test_no_learner_gets_below_its_error():
    best = BayesClassifier(CLOUDS, PRIOR)
    X, y = draw(60_000, seed=0)
    right = best.predict(X) == y
    standard_error = 0.5 / np.sqrt(len(y))
    floor = best.error(X)
    assert np.mean(~right) == pytest.approx(floor, abs=3 * standard_error)
    rows = draw(20_000, seed=1)
    errors = {}
    for Model in (
        QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis, LogisticRegression, GaussianNB,
        AveragedPerceptron,
    ):  # fmt: skip
        errors[Model.__name__] = 1 - Model().fit(*rows).score(X, y)
    assert all(error > floor - 3 * standard_error for error in errors.values())
    assert errors["QuadraticDiscriminantAnalysis"] < floor + 0.005, "it is of the true kind"
    assert errors["LinearDiscriminantAnalysis"] > floor + 0.01, "it is not"


def test_two_clouds_of_one_width_have_the_error_of_the_table_of_the_normal():
    best = BayesClassifier({0: Gaussian(-1, 1), 1: Gaussian(1, 1)})
    quantiles = (np.arange(20_000) + 0.5) / 20_000
    x = np.concatenate([stats.norm.ppf(quantiles, loc=mean) for mean in (-1, 1)])
    assert best.error(x) == pytest.approx(stats.norm.cdf(-1), abs=1e-4)
    np.testing.assert_array_equal(best.predict([-0.01, 0.01]), [0, 1])


@given(cut=st.floats(-5, 5), share=st.floats(0.05, 0.95), width=st.floats(0.3, 3))
def test_no_cut_errs_less(cut, share, width):
    """The error of any threshold, by the normal's table, is at least Bayes' error, by integral."""
    low, high = stats.norm(0, 1), stats.norm(2, width)
    best = BayesClassifier({0: low, 1: high}, [1 - share, share])
    x = np.linspace(-12, 18, 6001)
    together = (1 - share) * low.pdf(x) + share * high.pdf(x)
    floor = trapezoid(together * (1 - best.predict_proba(x).max(axis=1)), x)
    assert (1 - share) * low.sf(cut) + share * high.cdf(cut) >= floor - 1e-5


def test_counts_and_functions_are_densities_too():
    best = BayesClassifier({"rare": stats.poisson(2), "often": stats.poisson(9)}, [0.9, 0.1])
    expected = 0.9 * stats.poisson.pmf(4, 2), 0.1 * stats.poisson.pmf(4, 9)
    np.testing.assert_allclose(best.predict_proba([4])[0], np.array(expected) / sum(expected))
    flat = BayesClassifier({0: lambda x: np.zeros(len(x)), 1: stats.norm(0, 1)})
    np.testing.assert_array_equal(flat.predict([0.0, 3.0]), [0, 0])
    np.testing.assert_array_equal(flat.classes_, [0, 1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: BayesClassifier({}), ValueError, "at least one class"),
        (lambda: BayesClassifier({0: stats.norm()}, [0.5, 0.5]), ValueError, "each of 1 classes"),
        (lambda: BayesClassifier({0: stats.norm()}, [0.5]), ValueError, "sum to one"),
        (lambda: BayesClassifier({0: 3.0}).predict([1.0]), TypeError, "densities must be .* 3.0"),
        (
            lambda: BayesClassifier({0: stats.uniform()}).predict([2.0]),
            ValueError,
            "probability zero",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()
