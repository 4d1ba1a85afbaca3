"""Perceptrons, k-means and mixtures by parts: the same bits on any workers, and what they reach."""

from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs

from rosenblatt import (
    AveragedPerceptron,
    GaussianMixture,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KMeans,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Perceptron,
    certify,
    registry,
)
from rosenblatt.data import Source
from rosenblatt.distributed import fit
from tests.distributed.test_training import same_bits

X, LABELS = make_blobs(900, 3, centers=4, cluster_std=1.5, random_state=0)
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Blobs in two files, nine parts; the second file lacks a class."""
    folder, order = tmp_path_factory.mktemp("blobs"), np.argsort(LABELS == 3, kind="stable")
    frame = pl.DataFrame(dict(zip(NAMES, X[order].T, strict=True)) | {"y": LABELS[order]})
    frame[:500].write_parquet(folder / "0.parquet")
    frame[500:].write_parquet(folder / "1.parquet")
    return Source(folder, target="y", rows_per_part=100)


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        yield workers


MODELS = [
    KMeans(4, random_state=0),
    KMeans(4, init="random", n_init=2, random_state=1),
    GaussianMixture(4, random_state=0),
    GaussianMixture(4, covariance_type="diag", init_params="random_from_data", random_state=0),
    Perceptron(),
    AveragedPerceptron(class_weight="balanced"),
    LogisticRegression(),
    LinearSVC(loss="hinge", C=0.01),
    LinearSVR(C=0.01),
    HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=5, random_state=0),
]


def test_every_model_that_is_fitted_in_several_passes_is_here_or_in_a_file_of_its_own():
    def is_missing(row):
        has_file = Path(__file__).with_name(f"test_{row.parts}.py").exists()
        module = import_module(f"rosenblatt.distributed.{row.parts}")
        return not (has_file or getattr(module, "ONE_PASS", False) or row.estimator in known)

    known = {type(model) for model in MODELS}
    assert [row.name for row in registry.ROWS if row.parts and is_missing(row)] == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_workers_change_no_bit(model, source, pool):
    same_bits(fit(model, source), fit(model, source, pool))


class Stopped(Exception):
    """Raised in the middle of a fit."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(model, source, tmp_path):
    def stop(progress):
        if (progress.number, progress.n_done) == (3, 4):
            raise Stopped

    with pytest.raises(Stopped):
        fit(model, source, checkpoint=tmp_path, progress=stop)
    seen = []
    resumed = fit(model, source, checkpoint=tmp_path, progress=seen.append)
    assert (seen[0].number, seen[0].n_done) == (3, 5)
    same_bits(fit(model, source), resumed)


def test_k_means_reaches_the_loss_of_the_fit_in_memory(source):
    parts, whole = fit(KMeans(4, random_state=0), source), KMeans(4, random_state=0).fit(X)
    assert parts.inertia_ <= whole.inertia_ * (1 + 1e-3)
    assert np.all(np.diff(parts.loss_curve_) <= 1e-9 * parts.loss_curve_[0])
    again = KMeans(4, init=parts.cluster_centers_, tol=0.0).fit(X)  # a fixed point of Lloyd's
    np.testing.assert_allclose(again.cluster_centers_, parts.cluster_centers_, atol=0.05)


def test_a_centre_without_rows_gets_a_far_one(tmp_path):
    rows = np.repeat([[0.0], [1.0], [50.0]], 20, axis=0)
    pl.DataFrame({"a": rows[:, 0]}).write_parquet(tmp_path / "a.parquet")
    start = np.array([[0.5], [1e3], [2e3]])
    model = fit(KMeans(3, init=start), Source(tmp_path, rows_per_part=7))
    assert sorted(model.cluster_centers_.ravel()) == [0.0, 1.0, 50.0]
    assert model.inertia_ == 0.0


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_em_by_parts_is_em(source, kind):
    model = GaussianMixture(4, covariance_type=kind, random_state=0, tol=1e-9, max_iter=1000)
    parts, whole = fit(model, source), model.fit(X)
    assert parts.lower_bound_ == pytest.approx(whole.lower_bound_, rel=1e-5)
    assert np.all(np.diff(parts.lower_bounds_) >= -1e-12)
    ours, theirs = (m.means_[np.lexsort(m.means_.T)] for m in (parts, whole))
    np.testing.assert_allclose(ours, theirs, atol=1e-2)


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron])
def test_mixing_separates_within_its_mistake_bound(kind, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 3))
    plane = np.array([1.0, -2.0, 0.5])
    rows = rows[np.abs(rows @ plane + 0.3) > 0.2]
    y = np.where(rows @ plane + 0.3 > 0, "right", "left")
    pl.DataFrame(dict(zip(NAMES, rows.T, strict=True)) | {"y": y}).write_parquet(tmp_path / "a.pq")
    source = Source(tmp_path, target="y", rows_per_part=100, format="parquet")
    model = fit(kind(tol=None), source)
    assert model.converged_
    long = np.hstack([rows, np.ones((len(rows), 1))])
    unit = np.append(plane, 0.3) / np.linalg.norm(np.append(plane, 0.3))
    margin = np.abs(long @ unit).min()
    assert 0 < model.n_updates_ <= (np.linalg.norm(long, axis=1).max() / margin) ** 2
    assert model.n_updates_ <= model.n_mistakes_
    if kind is Perceptron:
        frame = pl.DataFrame(dict(zip(NAMES, rows.T, strict=True)))
        assert model.score(frame, y) == 1.0
        assert certify(model, frame, y).holds


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_boosting_by_parts_splits_as_in_memory(loss, tmp_path):
    """Levels are those of the same rows, so that trees differ by rounding and ties alone."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (800, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    y = np.exp(np.nan_to_num(rows[:, 0]) / 25 + np.isnan(rows[:, 1])) + rng.random(800)
    columns = dict(zip(NAMES, rows.T, strict=True))
    pl.DataFrame(columns | {"y": y}).write_parquet(tmp_path / "a.parquet")
    source = Source(tmp_path, target="y", rows_per_part=150)
    model = HistGradientBoostingRegressor(loss=loss, max_iter=5, early_stopping=False)
    parts, whole = fit(model, source), model.fit(rows, y)
    one, other = parts.predict(pl.DataFrame(columns)), whole.predict(rows)
    assert np.mean(np.abs(one - other) <= 1e-4 * np.abs(other)) > 0.95
    assert parts.trees_.count[0] == 800
    assert len(parts.trees_.column) == len(whole.trees_.column)


def test_rows_that_a_worker_could_not_keep_are_read_again_to_the_same_bits(source, monkeypatch):
    model = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, random_state=0)
    kept = fit(model, source)
    monkeypatch.setattr("rosenblatt.distributed.coded_parts.BYTES_KEPT", 0)
    same_bits(kept, fit(model, source))


def test_settings_that_look_at_all_rows_are_refused(source):
    with pytest.raises(ValueError, match="pick must be 'cyclic'"):
        fit(Perceptron(pick="worst"), source)
    with pytest.raises(ValueError, match="By parts a mixture starts from"):
        fit(GaussianMixture(init_params="random"), source)
    with pytest.raises(ValueError, match=r"not fitted by parts with max_features=0\.5"):
        fit(HistGradientBoostingClassifier(max_features=0.5), source)
    with pytest.raises(ValueError, match="init is a function of all rows"):
        fit(KMeans(init=lambda *_: None), source)
    with pytest.raises(ValueError, match=r"init must have the shape \(2, 3\)"):
        fit(KMeans(2, init=np.zeros((2, 5))), source)
