"""Classification by least squares: NumPy's own answer, Fisher's direction, and the algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import FisherDiscriminant, LeastSquaresClassifier


def clouds(n=120, d=4, k=2, seed=0):
    rng = np.random.default_rng([n, d, k, seed])
    y = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(k, d))[y] + 3, y


def codes(y, k):
    return 2.0 * (y == 1)[:, None] - 1 if k == 2 else np.eye(k)[y]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_least_squares_fit_of_the_codes(k, fit_intercept):
    X, y = clouds(k=k)
    model = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(X, y)
    design = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    best = np.linalg.lstsq(design, codes(y, k), rcond=None)[0].T
    np.testing.assert_allclose(model.coef_, best[:, : X.shape[1]], rtol=1e-9, atol=1e-12)
    if fit_intercept:
        np.testing.assert_allclose(model.intercept_, best[:, -1], rtol=1e-9, atol=1e-12)
    assert model.solution_ == "unique"
    scores = model.decision_function(X)
    expected = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)
    # normal equations: what is left is orthogonal to every feature
    left = codes(y, k) - scores.reshape(len(X), -1)
    np.testing.assert_allclose(design.T @ left, 0, atol=1e-9)


def test_the_direction_is_fishers():
    # I3: with targets N/N_1 and -N/N_2 too
    X, y = clouds(n=130)
    y[:15] = 0
    w = FisherDiscriminant().fit(X, y).direction_
    share = len(y) / np.bincount(y)
    other = np.linalg.lstsq(
        np.hstack([X, np.ones((len(X), 1))]), np.where(y == 1, share[1], -share[0]), rcond=None
    )[0][:-1]
    for found in (LeastSquaresClassifier().fit(X, y).coef_[0], other):
        np.testing.assert_allclose(found / np.linalg.norm(found), w / np.linalg.norm(w))


@pytest.mark.parametrize("k", [2, 3])
def test_of_many_solutions_the_shortest(k):
    X, y = clouds(k=k)
    X = np.hstack([X, X[:, :1] + 1e3 * X[:, 1:2], np.full((len(X), 1), 7.0)])
    model = LeastSquaresClassifier().fit(X, y)
    assert (model.rank_, model.solution_) == (4, "minimum norm")
    centred = X - X.mean(axis=0)
    best = np.linalg.lstsq(centred, codes(y, k), rcond=1e-10)[0].T
    np.testing.assert_allclose(model.coef_, best, rtol=1e-6, atol=1e-9)


def test_more_features_than_rows():
    X, y = clouds(n=12, d=30)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.solution_ == "minimum norm"
    assert model.score(X, y) == 1
    np.testing.assert_allclose(model.decision_function(X), codes(y, 2)[:, 0], atol=1e-8)


def test_features_of_very_different_size():
    X, y = clouds()
    scale = 10.0 ** np.array([-8, 0, 4, 8])
    model, plain = LeastSquaresClassifier().fit(X * scale, y), LeastSquaresClassifier().fit(X, y)
    assert model.solution_ == "unique"
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-7)


@given(cut=st.integers(1, 119), seed=st.integers(0, 20), k=st.integers(2, 4))
def test_merge_forget_and_batches_equal_a_refit(cut, seed, k):
    X, y = clouds(k=k, seed=seed)
    whole = LeastSquaresClassifier().fit(X, y)
    stream = LeastSquaresClassifier()
    for rows in np.split(np.arange(len(X)), [1, cut]):
        if len(rows):
            stream.partial_fit(X[rows], y[rows])
    pieces = [LeastSquaresClassifier().fit(X[s], y[s]) for s in (slice(cut), slice(cut, None))]
    for model in (stream, pieces[0].merge(pieces[1])):
        np.testing.assert_array_equal(model.classes_, whole.classes_)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7, atol=1e-10)
    expected = LeastSquaresClassifier().fit(X[5:], y[5:])
    model = stream.forget(X[:5], y[:5])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7, atol=1e-10)


def test_weights_sparse_rows_and_float32():
    X, y = clouds(k=3)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    a = LeastSquaresClassifier().fit(X, y, sample_weight=weights)
    b = LeastSquaresClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    X[np.abs(X) < 0.5] = 0
    dense, sparse = (LeastSquaresClassifier().fit(Z, y) for Z in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9)
    np.testing.assert_allclose(
        dense.decision_function(sp.csr_matrix(X)), dense.decision_function(X)
    )
    narrow = LeastSquaresClassifier().fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert narrow.n_parameters_ == 3 * 5
