"""Forests by parts: the same bits on any workers, samples that are what they say, and scores."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_classification, make_regression

from rosenblatt import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    certify,
)
from rosenblatt.data import Source, TableError
from rosenblatt.distributed import fit

X, Y = make_classification(600, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
NUMBERS = make_regression(600, 5, n_informative=3, noise=1.0, random_state=0)
NAMES = list("abcde")


def frame_of(X, y):
    return pl.DataFrame(dict(zip(NAMES, X.T, strict=True)) | {"y": y})


def source_of(frame):
    return Source([frame[start : start + 90] for start in range(0, len(frame), 90)], target="y")


CLASSES, REGRESSION = frame_of(X, Y), frame_of(*NUMBERS)
SMALL = {"n_estimators": 3, "max_depth": 4, "random_state": 0}
MODELS = [
    (RandomForestClassifier(**SMALL), CLASSES),
    (RandomForestClassifier(**SMALL, criterion="entropy", class_weight="balanced"), CLASSES),
    (ExtraTreesClassifier(**SMALL, min_samples_leaf=5), CLASSES),
    (RandomForestRegressor(**SMALL, max_samples=0.5), REGRESSION),
    (ExtraTreesRegressor(**SMALL, ccp_alpha=1.0), REGRESSION),
]


def same_trees(one, other):
    assert len(one) == len(other)
    assert all(a.tree_ == b.tree_ for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        yield workers


@pytest.mark.parametrize(("model", "frame"), MODELS)
def test_workers_change_no_bit_and_the_nodes_count_their_samples(model, frame, pool):
    here = fit(model, source_of(frame))
    same_trees(here, fit(model, source_of(frame), pool))
    rows, y = frame.drop("y"), frame["y"].to_numpy()
    found = certify(here, rows, y)
    assert found.holds, found
    if getattr(model, "class_weight", None) is None:
        assert any(claim.name == "counts" for claim in found.claims)
    sizes = [len(sample) for sample in here.estimators_samples_]
    share = (model.max_samples or 1.0) if model.bootstrap else 1.0
    assert np.allclose(sizes, share * len(frame), rtol=0.2)
    assert max(tree.tree_.max_depth for tree in here) <= 4


@pytest.mark.parametrize(("model", "frame"), MODELS[::3])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(model, frame, tmp_path):
    class Stopped(Exception):
        pass

    def stop(progress):
        if (progress.number, progress.n_done) == (3, 4):
            raise Stopped

    with pytest.raises(Stopped):
        fit(model, source_of(frame), checkpoint=tmp_path, progress=stop)
    seen = []
    resumed = fit(model, source_of(frame), checkpoint=tmp_path, progress=seen.append)
    assert (seen[0].number, seen[0].n_done) == (3, 5)
    same_trees(fit(model, source_of(frame)), resumed)
    same_trees(resumed, fit(model, source_of(frame), checkpoint=tmp_path))


def test_a_tree_of_all_rows_and_columns_is_the_tree_in_memory():
    """With few values each is a level of its own, so that thresholds are the same."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20, (500, 5)).astype(float)
    y = (rows[:, 0] + rows[:, 1] * (rows[:, 2] > 9) + 3 * rng.standard_normal(500) > 15).astype(int)
    model = RandomForestClassifier(
        1, bootstrap=False, max_features=None, max_depth=4, min_samples_leaf=7, random_state=0
    )
    frame = frame_of(rows, y)
    parts, whole = (
        fit(model, source_of(frame)).estimators_[0].tree_,
        DecisionTreeClassifier(max_depth=4, min_samples_leaf=7).fit(rows, y).tree_,
    )
    assert parts.n_leaves == whole.n_leaves > 8
    assert sorted(parts.n_node_samples) == sorted(whole.n_node_samples)
    agree = parts.predict(rows) == whole.predict(rows)
    assert agree.mean() > 0.99  # ties between columns fall as their order does


@pytest.mark.parametrize(
    ("kind", "frame"),
    [(RandomForestClassifier, CLASSES), (RandomForestRegressor, REGRESSION)],
)
def test_forests_by_parts_score_as_forests_in_memory(kind, frame):
    model = kind(30, max_depth=6, random_state=0)
    train, test = frame[:450], frame[450:]
    parts = fit(model, source_of(train))
    whole = model.fit(train.drop("y"), train["y"].to_numpy())
    ours, theirs = (m.score(test.drop("y"), test["y"].to_numpy()) for m in (parts, whole))
    assert ours > theirs - 0.05
    assert np.argmax(parts.feature_importances_) == np.argmax(whole.feature_importances_)


def test_missing_values_take_the_better_side():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 5))
    y = rng.integers(0, 2, 400)
    rows[y == 1, 0] = np.nan
    model = RandomForestClassifier(3, max_features=None, max_depth=2, random_state=0)
    frame = frame_of(rows, y)
    found = fit(model, source_of(frame))
    assert found.score(frame.drop("y"), y) == 1.0
    with pytest.raises(TableError, match="batch 0: column 'a' holds nan, and this model reads"):
        fit(model.set_params(missing="error"), source_of(frame))


def test_what_parts_do_not_do_is_refused():
    source = source_of(CLASSES)
    for settings in (
        {"oob_score": True}, {"warm_start": True}, {"max_leaf_nodes": 4}, {"missing": "branch"},
        {"class_weight": "balanced_subsample"}, {"categorical_features": [0]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"not fitted by parts with {next(iter(settings))}="):
            fit(RandomForestClassifier(**settings), source)
    with pytest.raises(ValueError, match="criterion='poisson'"):
        fit(RandomForestRegressor(criterion="poisson"), source)
