"""k-means on small batches: scikit-learn's fit, our answers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from rosenblatt import KMeans, MiniBatchKMeans, certify
from tests.cluster.test_kmeans import blobs

WHY = "it draws batches of rows"


def test_it_is_scikit_learns():
    X, _ = blobs(2_000, 4, 6)
    how = {"n_clusters": 6, "random_state": 0, "batch_size": 256}
    ours, theirs = MiniBatchKMeans(**how).fit(X), sklearn.cluster.MiniBatchKMeans(**how).fit(X)
    assert np.array_equal(ours.cluster_centers_, theirs.cluster_centers_)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.stop_reason_ == "converged"
    assert ours.inertia_ >= KMeans(6, init=ours.cluster_centers_).fit(X).inertia_


def test_more_clusters_than_different_rows_is_reported():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than"):
        MiniBatchKMeans(4, random_state=0).fit(X)


def test_batches_come_one_by_one():
    X, _ = blobs(1_000, 3, 4, spread=8.0)
    model = MiniBatchKMeans(4, random_state=0)
    for batch in np.array_split(X, 10):
        model.partial_fit(batch)
    assert model.score(X) == -model.objective(X)
    assert -model.score(X) < 1.5 * KMeans(4, n_init=5, random_state=0).fit(X).inertia_


def test_it_passes_the_checks_of_scikit_learn():
    kinds = ("dense", "sparse")
    meant = {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in kinds}
    model = MiniBatchKMeans(3, random_state=0)
    with threadpool_limits(1):  # its own threads would wait for each other
        check_estimator(model, expected_failed_checks=meant, on_skip=None)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_negative_weights_are_refused(method):
    with pytest.raises(ValueError, match="Negative values"):
        getattr(MiniBatchKMeans(2, random_state=0), method)(np.eye(4), sample_weight=[1, 1, -1, 1])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_pieces_measured_apart_train_on_together(kind):
    X, start = blobs(n=300)
    first = KMeans(5, init=start, max_iter=2, tol=1e9).fit(X)
    pieces = [first.measure(kind(piece)) for piece in np.array_split(X[:200], 3)]
    known = pieces[0] + pieces[1] + pieces[2]
    model = MiniBatchKMeans.from_statistics(known, reassignment_ratio=0)
    batch = X[200:]
    both = known + model.measure(kind(batch))
    assert model.partial_fit(kind(batch)) is model
    np.testing.assert_allclose(model.cluster_centers_, both.mean, rtol=1e-12)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_rows_far_from_the_origin_are_clustered_like_rows_near_it(method):
    X, _ = blobs(600, 3, 4, spread=8.0)
    X = np.round(X * 1024) / 1024  # so that adding the offset is exact
    near, far = (MiniBatchKMeans(4, random_state=0) for _ in range(2))
    for batch in [X] if method == "fit" else np.array_split(X, 3):
        getattr(near, method)(batch)
        getattr(far, method)(batch + 2.0**27)
    np.testing.assert_allclose(far.cluster_centers_ - 2.0**27, near.cluster_centers_, atol=1e-6)
    assert np.array_equal(far.predict(X + 2.0**27), near.predict(X))
    if method == "fit":
        assert certify(far, X + 2.0**27).holds


@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("scale", [1e-160, 1e-200, 1e200])
def test_numbers_whose_squares_are_out_of_range_are_refused(model, scale):
    X, _ = blobs(60, 3, 3)
    for init in ("k-means++", "random"):
        with pytest.raises(
            ValueError, match=r"too (small|large) for 64 bits.* rescale the columns"
        ):
            model(3, init=init, random_state=0).fit(X * scale)
    assert model(3, n_init=1, random_state=0).fit(X).predict(X[:2] * 1e-200).shape == (2,)


@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans])
def test_weights_whose_sum_is_out_of_range_and_dates_are_refused(model):
    X, _ = blobs(60, 3, 3)
    with pytest.raises(ValueError, match="divide all by the largest"):
        model(3, n_init=1, random_state=0).fit(X, sample_weight=np.full(60, 1e308))
    frame = pd.DataFrame({"a": X[:, 0], "day": pd.date_range("2020-01-01", periods=60)})
    with pytest.raises(TypeError, match="Column 'day' holds dates"):
        model(3, n_init=1, random_state=0).fit(frame)
