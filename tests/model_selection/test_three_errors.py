"""B6, B7, B8: the error on new data, on the training data, and on the test data."""

import numpy as np
import pytest

from rosenblatt import BasisExpansion, LinearRegression

DEGREES = range(1, 13)


def truth(x):
    return np.sin(3 * x)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x[:, None], truth(x) + 0.3 * rng.normal(size=n)


def mean_square(model, H, t):
    return float(np.mean((t - model.predict(H)) ** 2))


@pytest.fixture(scope="module")
def errors():
    """Training, test and true error (A,) of polynomials, mean over samples of 30 rows."""
    found, rest = [], sample(5_000, 5)
    for seed in range(40):
        x, t = sample(30, seed)
        test = sample(200, 1000 + seed)
        for degree in DEGREES:
            basis = BasisExpansion("powers", degree=degree).fit(x)
            model = LinearRegression(tol=1e-12).fit(basis.transform(x), t)
            parts = ((x, t), test, rest)
            found.append([mean_square(model, basis.transform(a), b) for a, b in parts])
    return np.array(found).reshape(40, len(DEGREES), 3)


def test_the_training_error_keeps_falling_and_flatters(errors):
    """Every larger basis contains the smaller: no fit of it can be worse on its own rows."""
    train, _, true = np.moveaxis(errors, 2, 0)
    assert (np.diff(train, axis=1) <= 1e-10).all()
    assert (train.mean(axis=0) < true.mean(axis=0)).all()


def test_the_true_error_is_a_u(errors):
    true = np.median(errors[:, :, 2], axis=0)
    best = int(true.argmin())
    assert 1 <= best <= 6
    assert true[0] > 1.3 * true[best]
    assert true[-1] > 1.3 * true[best]


def test_the_test_error_estimates_the_true_one_without_bias(errors):
    """Up to degree 5, where single samples do not yet decide the mean."""
    _, test, true = np.moveaxis(errors[:, :5], 2, 0)
    off = test - true
    assert (np.abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(len(off))).all()
