"""Neighbours of a source: the best of the parts are the best of all."""

import numpy as np
import polars as pl
import pytest

from rosenblatt import KNeighborsClassifier, KNeighborsRegressor
from rosenblatt.data import Source
from rosenblatt.distributed import fit

RNG = np.random.default_rng(0)
X, QUERIES = RNG.standard_normal((500, 4)), RNG.standard_normal((40, 4))
CLASSES = np.array(["no", "yes", "late"])[np.digitize(X[:, 0], [-0.5, 1.5])]
NUMBERS = X[:, 0] + RNG.standard_normal(500)


def source_of(tmp_path, y):
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    frame.write_parquet(tmp_path / "a.parquet")
    return Source(tmp_path, target="y", rows_per_part=70)


@pytest.mark.parametrize("settings", [{}, {"n_neighbors": 3, "weights": "distance", "p": 1}])
def test_predictions_are_those_of_all_rows_in_memory(settings, tmp_path):
    whole = KNeighborsClassifier(**settings).fit(X, CLASSES)
    parts = fit(KNeighborsClassifier(**settings), source_of(tmp_path, CLASSES))
    assert list(parts.classes_) == list(whole.classes_)
    np.testing.assert_allclose(parts.predict_proba(QUERIES), whole.predict_proba(QUERIES))
    assert list(parts.predict(QUERIES)) == list(whole.predict(QUERIES))
    distances, places = whole.kneighbors(QUERIES)
    ours, targets = parts.kneighbors(QUERIES)
    np.testing.assert_allclose(ours, distances)
    np.testing.assert_array_equal(targets, CLASSES[places])


def test_means_of_numbers_too(tmp_path):
    whole = KNeighborsRegressor(weights="distance").fit(X, NUMBERS)
    parts = fit(KNeighborsRegressor(weights="distance"), source_of(tmp_path, NUMBERS))
    np.testing.assert_allclose(parts.predict(X[:20]), whole.predict(X[:20]))
    frame = pl.DataFrame({f"x{j}": QUERIES[:, j] for j in range(4)})
    np.testing.assert_allclose(parts.predict(frame), whole.predict(QUERIES))
    with pytest.raises(AttributeError, match="no probabilities"):
        parts.predict_proba(X)
    with pytest.raises(ValueError, match="weights must be"):
        fit(KNeighborsRegressor(weights=np.exp), source_of(tmp_path, NUMBERS))


def test_a_checkpoint_keeps_the_classes_and_no_answers(tmp_path):
    """Labels that are words, and answers, could not be read back: the folder was called damaged."""
    rows = pl.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", "b", "b"]})
    rows.write_parquet(tmp_path / "a.parquet")
    source = Source(tmp_path / "a.parquet", target="y", rows_per_part=2)
    for query, answer in ((1.5, "a"), (8.5, "b")):
        model = fit(KNeighborsClassifier(1), source, checkpoint=tmp_path / "kept")
        assert model.predict(np.array([[query]])).tolist() == [answer]
