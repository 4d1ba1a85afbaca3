"""Fisher's discriminant: the best direction, its threshold, and the algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from rosenblatt import FisherDiscriminant, LinearDiscriminantAnalysis
from rosenblatt.discriminant_analysis.fisher import best_cut


def clouds(n=150, d=3, seed=0, share=0.5):
    rng = np.random.default_rng([n, d, seed])
    y = (np.arange(n) >= share * n).astype(int)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * np.outer(y, rng.normal(size=d))
    return X, y


def criterion(w, X, y):
    """J(w), row by row."""
    a, b = (X[y == k] @ w for k in (0, 1))
    scatter = ((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()
    return (b.mean() - a.mean()) ** 2 / scatter


@given(seed=st.integers(0, 100))
def test_no_direction_is_better(seed):
    # I4, T14: Fisher's direction is the best
    X, y = clouds(seed=seed)
    model = FisherDiscriminant().fit(X, y)
    best = criterion(model.direction_, X, y)
    assert model.criterion_ == pytest.approx(best)
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    others = [apart, *np.random.default_rng(seed).normal(size=(50, 3))]
    others += [model.direction_ + 1e-3 * w for w in others[1:]]
    assert all(criterion(w, X, y) <= best * (1 + 1e-12) for w in others)
    within = sum(np.cov(X[y == k].T, bias=True) * (y == k).sum() for k in (0, 1))
    np.testing.assert_allclose(within @ model.direction_, apart, rtol=1e-7, atol=1e-9)


def test_thresholds():
    X, y = clouds(share=0.8)
    middle, prior, scan = (
        FisherDiscriminant(threshold=t).fit(X, y) for t in ("midpoint", "prior", "scan")
    )
    means = [middle.transform(X[y == k]).mean() for k in (0, 1)]
    assert middle.threshold_ == pytest.approx(np.mean(means))
    assert prior.threshold_ > middle.threshold_, "the first class is the larger"
    lda = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(prior.predict(X), lda.predict(X))
    line = scan.transform(X).ravel()
    for cut in line:
        assert scan.score(X, y) >= np.mean((line >= cut) == y)


@given(
    values=st.lists(st.integers(-3, 3), min_size=1, max_size=9),
    seed=st.integers(0, 50),
    weighted=st.booleans(),
)
def test_the_scan_finds_the_fewest_errors(values, seed, weighted):
    rng = np.random.default_rng(seed)
    values = np.array(values, float)
    codes = rng.integers(2, size=len(values))
    weights = rng.integers(1, 4, len(values)).astype(float) if weighted else None
    each = np.ones(len(values)) if weights is None else weights

    def wrong(cut):
        return each[(values >= cut) != (codes == 1)].sum()

    tried = np.concatenate([values, values + 0.5, [-10]])
    assert wrong(best_cut(values, codes, weights, 0.2)) == min(map(wrong, tried))


def test_a_point_on_the_threshold_is_of_the_second_class():
    model = FisherDiscriminant().fit([[0.0], [2.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    assert model.threshold_ / model.direction_[0] == pytest.approx(3)
    model.coef_, model.intercept_ = np.ones((1, 1)), -3 * np.ones(1)
    assert model.predict([[3.0], [2.9]]).tolist() == ["b", "a"]


@given(
    cut=st.integers(10, 140),
    seed=st.integers(0, 20),
    threshold=st.sampled_from(["midpoint", "prior"]),
)
def test_merge_forget_and_batches_equal_a_refit(cut, seed, threshold):
    X, y = clouds(seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    X, y = X[order], y[order]
    whole = FisherDiscriminant(threshold=threshold).fit(X, y)
    stream = FisherDiscriminant(threshold=threshold)
    for rows in np.split(np.arange(len(X)), [1, cut]):
        stream.partial_fit(X[rows], y[rows])
    pieces = [FisherDiscriminant(threshold=threshold).fit(X[s], y[s])
              for s in (slice(cut), slice(cut, None)) if len(set(y[s])) == 2]  # fmt: skip
    models = [stream, pieces[0].merge(pieces[1])] if len(pieces) == 2 else [stream]
    for model in models:
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-8)
        assert model.threshold_ == pytest.approx(whole.threshold_, rel=1e-8)
    model = models[-1].forget(X[:5], y[:5])
    expected = FisherDiscriminant(threshold=threshold).fit(X[5:], y[5:])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)


def test_sparse_weights_and_collinear_features():
    X, y = clouds()
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    a = FisherDiscriminant(threshold="scan").fit(X, y, sample_weight=weights)
    b = FisherDiscriminant(threshold="scan").fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(a.coef_, b.coef_)
    assert a.threshold_ == pytest.approx(b.threshold_)
    sparse = FisherDiscriminant().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, FisherDiscriminant().fit(X, y).coef_, rtol=1e-9)
    twice = FisherDiscriminant().fit(np.hstack([X, X]), y)
    assert twice.rank_ == 3
    np.testing.assert_array_equal(
        twice.predict(np.hstack([X, X])), FisherDiscriminant().fit(X, y).predict(X)
    )
    shrunk = FisherDiscriminant(shrinkage=1.0).fit(X, y)
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    cosine = shrunk.direction_ @ apart / np.linalg.norm(apart) / np.linalg.norm(shrunk.direction_)
    assert cosine == pytest.approx(1), "all shrunk, the direction is that of the means"


def test_what_is_refused():
    X, y = clouds()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        FisherDiscriminant().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="got 1 class"):
        FisherDiscriminant().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="Neither class varies"):
        FisherDiscriminant().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    model = FisherDiscriminant(threshold="scan").fit(X, y)
    with pytest.raises(ValueError, match="threshold='scan' must read the rows"):
        model.partial_fit(X, y)
    stream = FisherDiscriminant().partial_fit(X[:3], y[:3])
    with pytest.raises(NotFittedError, match="got 1 class"):
        stream.predict(X)
