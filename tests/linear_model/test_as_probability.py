"""T7: least squares is maximum likelihood, ridge the most probable answer under a Gaussian prior.

``t = w.x + b + noise``, the noise Gaussian of variance s^2, whatever s; for ridge each w_j is
Gaussian around zero, of variance ``s^2 / alpha``, and b may be anything.
"""

import numpy as np
import pytest
from scipy.stats import norm

from rosenblatt import LinearRegression, Ridge


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, X @ [1.0, -2.0, 0.5] + 3 + 0.7 * rng.normal(size=40)


def log_posterior(X, t, w, b, s, alpha):
    """Log-likelihood and, if there is a penalty, log-prior."""
    value = norm.logpdf(t, X @ w + b, s).sum()
    return value + (norm.logpdf(w, 0, s / np.sqrt(alpha)).sum() if alpha else 0.0)


@pytest.mark.parametrize("s", [0.1, 0.7, 5.0])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 20.0])
def test_no_other_answer_is_more_probable(s, alpha):
    X, t = problem()
    model = Ridge(alpha).fit(X, t) if alpha else LinearRegression().fit(X, t)
    best = log_posterior(X, t, model.coef_, model.intercept_, s, alpha)
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            w, b = model.coef_ + size * rng.normal(size=3), model.intercept_ + size * rng.normal()
            assert log_posterior(X, t, w, b, s, alpha) < best


def test_the_variance_of_the_noise_is_the_mean_square_of_what_is_left():
    X, t = problem()
    model = LinearRegression().fit(X, t)
    mle = np.sqrt(np.mean((t - model.predict(X)) ** 2))
    by_s = {s: log_posterior(X, t, model.coef_, model.intercept_, s, 0.0)
            for s in (0.9 * mle, 0.999 * mle, mle, 1.001 * mle, 1.1 * mle)}  # fmt: skip
    assert max(by_s, key=by_s.get) == mle
