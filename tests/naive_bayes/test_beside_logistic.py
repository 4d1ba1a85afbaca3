"""F12, T16: learning curves of Gaussian naive Bayes and of logistic regression.

With the same form of answer and another aim, naive Bayes comes near its limit with few rows, and
logistic regression has the better limit where the features are not independent.
"""

import numpy as np
import pytest
from scipy.stats import norm

from rosenblatt import GaussianNB, LogisticRegression

BAYES = GaussianNB(variance="feature")
LOGISTIC = LogisticRegression(C=1e3)  # next to no penalty; without one few rows are separated


def independent(n, rng):
    """Thirty features with a little to say each: naive Bayes assumes the truth."""
    y = np.arange(n) % 2
    return rng.normal(size=(n, 30)) + 0.25 * (2 * y - 1)[:, None], y


def repeated(n, rng):
    """One feature said nine times, and a better one said once: counted nine times over."""
    y = np.arange(n) % 2
    said, better = (rng.normal(size=n) + shift * (2 * y - 1) for shift in (0.7, 1.0))
    return np.column_stack([said] * 9 + [better]) + 0.1 * rng.normal(size=(n, 10)), y


def error(model, draw, n, runs=10):
    """The mean error on new rows after training on n."""
    X, y = draw(20_000, np.random.default_rng(10**6))
    fits = (model.fit(*draw(n, np.random.default_rng(seed))) for seed in range(runs))
    return np.mean([1 - fitted.score(X, y) for fitted in fits])


def test_where_its_assumptions_hold_naive_bayes_needs_far_fewer_rows():
    best = norm.cdf(-0.25 * np.sqrt(30))  # the error of Bayes' own rule: 0.0855
    few, many = 80, 5000
    assert error(BAYES, independent, few) < best + 0.04
    assert error(LOGISTIC, independent, few) > best + 0.07
    # With 80 rows it errs less than logistic regression does with 200.
    assert error(BAYES, independent, few) < error(LOGISTIC, independent, 200)
    for model in (BAYES, LOGISTIC):
        assert error(model, independent, many, 3) == pytest.approx(best, abs=0.01)


def test_where_they_fail_logistic_regression_has_the_lower_limit():
    limits = {model: error(model, repeated, 5000, 3) for model in (BAYES, LOGISTIC)}
    assert limits[BAYES] > limits[LOGISTIC] + 0.05
    assert error(BAYES, repeated, 40) < limits[BAYES] + 0.02  # it was there with forty rows
