"""Q1, T11: what is certified of k-means is true of every table small enough to try everything."""

import copy
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt import KMeans, MiniBatchKMeans, certify
from rosenblatt.certificates import kmeans_bounds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def best_loss(X, weight, K):
    """The least loss of all assignments."""
    least = np.inf
    for labels in itertools.product(range(K), repeat=len(X)):
        loss, labels = 0.0, np.array(labels)
        for k in set(labels):
            mine = labels == k
            centre = np.average(X[mine], axis=0, weights=weight[mine])
            loss += weight[mine] @ ((X[mine] - centre) ** 2).sum(axis=1)
        least = min(least, loss)
    return least


def drawn(seed):
    """A small table of some kind, with weights and a number of clusters."""
    rng = np.random.default_rng(seed)
    n, d, K = rng.integers(3, 8), rng.integers(1, 4), rng.integers(1, 4)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.4:
        X = np.round(X)
    if rng.random() < 0.3:
        X[1] = X[0]
    if rng.random() < 0.3:
        X += 1e6
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    return X, weight, int(min(K, n))


@given(st.integers(0, 10**6))
def test_no_bound_is_above_the_best_loss(seed):
    X, weight, K = drawn(seed)
    best = best_loss(X, weight, K)
    slack = 1e-9 * (best + weight @ ((X - X.mean(axis=0)) ** 2).sum(axis=1))
    values = kmeans_bounds.best_bound(X, weight, K, max(best, 1e-300), 1)
    assert values[0] <= best + slack
    if K > 1 and len(X) >= K:
        Z = X - X.mean(axis=0)
        assert kmeans_bounds.semidefinite(Z, weight, K, 2 * best) <= best + slack + 1e-18
        assert kmeans_bounds.best_on_a_line(Z[:, 0], weight, K) <= best + slack + 1e-18


@given(st.integers(0, 10**6))
def test_on_a_line_the_bound_is_the_best(seed):
    X, weight, K = drawn(seed)
    X = X[:, :1] - X[:, :1].mean()
    best = best_loss(X, weight, K)
    found = kmeans_bounds.best_on_a_line(X[:, 0], weight, K)
    assert found == pytest.approx(best, abs=1e-9 * float(weight @ X[:, 0] ** 2 + 1e-12))


@given(st.integers(0, 10**6))
@example(74)
@example(77)
def test_the_sentence_is_true_of_ours_and_scikit_learns(seed):
    X, weight, K = drawn(seed)
    best = best_loss(X, weight, K)
    for Model in (KMeans, sklearn.cluster.KMeans):
        model = Model(K, random_state=0, tol=0).fit(X, sample_weight=weight)
        certificate = certify(model, X, sample_weight=weight)
        excess = certificate["optimum"].value
        assert certificate["loss"].holds, str(certificate)
        scale = weight @ ((X - X.mean(axis=0)) ** 2).sum(axis=1)
        assert np.isinf(excess) or model.inertia_ <= (1 + excess) * best + 1e-9 * scale


@pytest.mark.parametrize("Model", [KMeans, sklearn.cluster.KMeans])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_a_fit_holds_and_changed_numbers_do_not(Model, dtype, kind):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(80, 3)) + 4 * rng.integers(3, size=(80, 1))).astype(dtype)
    model = Model(3, random_state=0, n_init=5).fit(kind(X))
    certificate = certify(model, kind(X))
    assert certificate.holds, str(certificate)
    assert 0 <= certificate["optimum"].value < 1
    changes = {"inertia_": lambda v: 1.01 * v, "labels_": lambda v: (v + 1) % 3}
    changes["cluster_centers_"] = lambda v: v + np.float32(0.2)
    for name, change in changes.items():
        other = copy.deepcopy(model)
        setattr(other, name, change(getattr(other, name)))
        assert not certify(other, kind(X), effort=0).holds, name


def test_an_unfinished_fit_says_what_a_step_would_gain():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = KMeans(6, random_state=0, max_iter=1, init="random", n_init=1).fit(X)
    claim = certify(model, X, effort=0)
    assert not claim["next step"].holds
    assert claim["never rose"].holds


def test_batches_are_certified_without_a_claim_on_the_next_step():
    X = np.random.default_rng(0).normal(size=(400, 2))
    for Model in (MiniBatchKMeans, sklearn.cluster.MiniBatchKMeans):
        certificate = certify(Model(4, random_state=0).fit(X), X, effort=0)
        assert certificate.holds, str(certificate)
        assert certificate["next step"].bound is None


def test_where_nothing_is_known_it_says_so(monkeypatch):
    monkeypatch.setattr(kmeans_bounds, "MOST_COLUMNS", 1)
    X = np.random.default_rng(0).normal(size=(50, 2))
    claim = certify(KMeans(3, random_state=0).fit(X), X)["optimum"]
    assert "no informative lower bound" in claim.statement


@pytest.mark.parametrize("kind", [KMeans, sklearn.cluster.KMeans])
def test_sparse_rows_far_from_zero_are_measured_as_dense_ones_are(kind):
    X = np.array([[0.0], [1.0], [10.0], [11.0]]) + 2.0**27
    model = kind(2, random_state=0, n_init=1).fit(X)
    assert certify(model, sp.csr_matrix(X)).holds
    model.cluster_centers_ = model.cluster_centers_ + 0.5  # a loss of 2, and 1 is the best
    certificate = certify(model, sp.csr_matrix(X))
    assert not certificate.holds
    assert certificate["optimum"].value >= 1.0


def test_a_step_that_rounding_hides_from_means_is_seen():
    X = 2.0**52 + np.array([[0.0], [1.0], [3.0]])  # whose mean, 2**52 + 4 / 3, is no double
    model = sklearn.cluster.KMeans(1, n_init=1).fit(X)
    model.cluster_centers_ = np.array([[2.0**52 + 1]])
    assert certify(model, X)["next step"].value == pytest.approx(1 / 3)


def test_bounds_along_axes_allow_for_weights_of_all_sizes():
    places = np.array(
        [[1.1047002188005468, -0.5345340969335778], [1.807140888460629, 0.88167787979874]]
    )
    X = places[[0, 0, 1, 0, 1]]  # two places: three centres have no loss at all
    weight = np.array(
        [
            0.08242171004930557,
            8007.309212597979,
            0.9714539630742542,
            710266.6589374759,
            0.2013208139634703,
        ]
    )
    bound, _ = kmeans_bounds.best_bound(X, weight, 3, 1e-6, 1)
    assert bound <= 0


@pytest.mark.parametrize("begun", [False, True])
def test_a_model_grown_by_batches_is_measured_on_all_rows(begun):
    """labels_ and inertia_ of the last batch counted as failures: "there are 172 labels"."""
    X = np.random.default_rng(0).normal(size=(272, 2))
    model = MiniBatchKMeans(2, random_state=0)
    model = model.fit(X) if begun else model
    model.partial_fit(X[:100]).partial_fit(X[100:])
    found = {claim.name: claim for claim in certify(model, X).claims}
    assert not any(claim.holds is False for claim in found.values())
    assert "the last batch, 172 rows" in found["labels"].statement
    assert "inertia_ is that of the last batch" in found["loss"].statement
    assert found["loss"].value == pytest.approx(-model.score(X))


def test_a_whole_fit_of_batches_with_other_labels_still_fails():
    X = np.random.default_rng(0).normal(size=(272, 2))
    model = MiniBatchKMeans(2, random_state=0).fit(X)
    assert certify(model, X).holds
    model.labels_ = model.labels_[:172]
    certificate = certify(model, X)
    assert not certificate.holds
    assert "there are 172 labels" in str(certificate)
