"""The data every contender gets, and the peers' own forms of it."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks import data, limits, peers
from benchmarks.scenarios.separability import linear_programs


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "CACHE", tmp_path / "cache")


@pytest.mark.parametrize(("make", "d", "k"), [(data.dense, 5, 3), (data.documents, 800, 3)])
def test_data_is_the_same_when_loaded_again_and_has_rows_held_out(make, d, k):
    first, second = data.kept(make, 300, d, k), data.kept(make, 300, d, k)
    assert first.X.shape == (300, d)
    assert first.X_test.shape == (60, d)
    assert set(np.unique(first.y)) == set(range(k))
    assert abs(first.X - second.X).max() == 0
    np.testing.assert_array_equal(first.y_test, second.y_test)
    assert len(list(data.CACHE.iterdir())) == 1


def test_documents_are_unit_rows_with_int32_indices_and_about_75_words():
    X, _ = data.documents(300, 50_000, 2)
    assert X.indices.dtype == np.int32
    assert X.has_canonical_format
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)
    assert 60 < X.nnz / 300 < 90
    assert data.kept(data.documents, 300, 50_000, 2).nbytes > X.nnz * 8


@pytest.mark.parametrize(("flipped", "separable"), [(0, True), (20, False)])
def test_two_sides_are_separable_until_labels_are_flipped_and_both_programs_say_so(
    flipped, separable
):
    given = data.kept(data.two_sides, 200, 5, flipped)
    for peer in linear_programs():
        assert peer.run(given, 0) is separable


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_vowpal_wabbit_text_has_a_line_per_row(form):
    X = form(np.array([[0.5, 2.0], [0.25, 1.0]]))
    assert list(peers._vw_lines(X, [1, 0])) == ["1 | 0:0.5 1:2\n", "-1 | 0:0.25 1:1\n"]


def test_a_plane_predicts_the_side():
    plane = peers.Plane(np.array([1.0, -1.0]), 0.5)
    np.testing.assert_array_equal(plane.predict(np.array([[1.0, 0.0], [0.0, 1.0]])), [1, 0])


def test_vowpal_wabbit_and_river_learn_what_they_are_given():
    pytest.importorskip("vowpalwabbit")
    pytest.importorskip("river")
    given = data.kept(data.dense, 500, 8, 2)
    for peer in (peers.vowpal_wabbit(), peers.river(500)):
        prepared = peer.prepare(given)
        peer.run(prepared, 0)
        accuracy = (peer.full(prepared, 0).predict(given.X) == given.y).mean()
        assert accuracy > 0.6, peer.name


def test_the_better_of_two_measurements_of_a_limit_counts():
    assert limits.best({"read": 1.0, "dgemm": 4.0}, {"read": 2.0, "dgemm": 3.0}) == {
        "read": 2.0,
        "dgemm": 4.0,
    }
    assert limits.UNITS.keys() == limits.ENGLISH.keys()
