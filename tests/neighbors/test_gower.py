"""Gower's distance: tables of numbers and categories as they are, gaps left out."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import (
    GridSearchCV,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    certify,
)

rng = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "size": rng.normal(size=N) * 10,
        "colour": rng.choice(["red", "blue", "green"], N),
        "old": rng.uniform(size=N) < 0.5,
        "kind": pd.Categorical(rng.choice(["a", "b"], N)),
    }
)
GAPS = FRAME.assign(
    size=FRAME["size"].where(rng.uniform(size=N) > 0.1),
    colour=FRAME["colour"].where(rng.uniform(size=N) > 0.1, None),
)
Y = (FRAME["colour"] == "red").to_numpy() & (FRAME["size"] > 0).to_numpy()


def gower(a, b, ranges):
    """The distance of two rows, column by column."""
    parts = []
    for x, y, spread in zip(a, b, ranges, strict=True):
        if x is None or y is None or x != x or y != y:
            continue
        parts.append(float(x != y) if isinstance(x, str) else abs(x - y) / spread)
    return sum(parts) / len(parts) if parts else 1.0


@pytest.mark.parametrize("frame", [FRAME, GAPS], ids=["whole", "gaps"])
def test_distances_are_those_of_the_definition(frame):
    model = NearestNeighbors(n_neighbors=N, metric="gower").fit(frame)
    distances, found = model.kneighbors(frame.iloc[:5])
    rows = frame.astype({"old": float}).to_numpy(object)
    ranges = [np.ptp(frame["size"].dropna()), None, 1.0, None]
    for i in range(5):
        expected = np.array([gower(rows[i], row, ranges) for row in rows])
        np.testing.assert_allclose(distances[i], expected[found[i]], atol=1e-12)
        np.testing.assert_array_equal(found[i], np.argsort(expected.round(12), kind="stable"))


def test_pandas_polars_and_objects_agree():
    expected = KNeighborsClassifier(3, metric="gower").fit(FRAME, Y).predict_proba(GAPS)
    table, gaps = pl.from_pandas(FRAME), pl.from_pandas(GAPS)
    for rows, queries in ((table, gaps), (FRAME.to_numpy(object), GAPS.to_numpy(object))):
        model = KNeighborsClassifier(3, metric="gower").fit(rows, Y)
        np.testing.assert_array_equal(model.predict_proba(queries), expected)


def test_columns_of_numbers_can_be_named_as_categories():
    codes = np.array([[0.0], [1.0], [5.0]])
    near = NearestNeighbors(n_neighbors=3, metric="gower").fit(codes)
    equal = NearestNeighbors(n_neighbors=3, metric="gower", metric_params={"categorical": [0]}).fit(
        codes
    )
    assert near.kneighbors([[1.0]])[0].tolist() == [[0.0, 0.2, 0.8]]
    assert equal.kneighbors([[1.0]])[0].tolist() == [[0.0, 1.0, 1.0]]


def test_a_category_never_seen_is_refused_or_unlike_all():
    strange = FRAME.iloc[:1].assign(colour="violet")
    with pytest.raises(ValueError, match=r"'colour' has a category .*'violet'. metric_params"):
        KNeighborsClassifier(metric="gower").fit(FRAME, Y).predict(strange)
    model = NearestNeighbors(metric="gower", metric_params={"unknown": "differs"}).fit(FRAME)
    assert model.kneighbors(strange)[0][0, 0] >= 0.25


@pytest.mark.parametrize("settings", [{"unknown": "guess"}, {"weights": [1, 2]}], ids=str)
def test_other_settings_are_refused(settings):
    model = KNeighborsClassifier(metric="gower", metric_params=settings)
    with pytest.raises(ValueError, match=r"may hold 'categorical', .*; got"):
        model.fit(FRAME, Y)
    assert not hasattr(model, "classes_")
    assert (model.metric, model.metric_params) == ("gower", settings)


def test_rows_are_added_merged_and_forgotten():
    whole = KNeighborsClassifier(3, metric="gower").fit(GAPS, Y)
    part = KNeighborsClassifier(3, metric="gower").fit(GAPS[:50], Y[:50])
    part.partial_fit(GAPS[50:90], Y[50:90])
    part.merge(KNeighborsClassifier(3, metric="gower").fit(GAPS[90:], Y[90:]))
    np.testing.assert_array_equal(part.predict_proba(FRAME), whole.predict_proba(FRAME))
    part.forget(GAPS[:50], Y[:50])
    rest = KNeighborsClassifier(3, metric="gower").fit(GAPS[50:], Y[50:])
    np.testing.assert_array_equal(part.predict_proba(FRAME), rest.predict_proba(FRAME))
    assert list(part.feature_names_in_) == list(FRAME)
    with pytest.raises(ValueError, match="Row 0 is not stored"):
        part.forget(GAPS[:1], Y[:1])


def test_one_search_serves_every_number_of_neighbours():
    settings = {"metric": "gower", "metric_params": {"unknown": "differs"}}
    search = GridSearchCV(KNeighborsClassifier(**settings), {"n_neighbors": [1, 3, 8]}, cv=3)
    search.fit(FRAME, Y)
    for k, score in zip([1, 3, 8], search.cv_results_["mean_test_score"], strict=True):
        alone = GridSearchCV(KNeighborsClassifier(k, **settings), {"p": [2]}, cv=3).fit(FRAME, Y)
        assert alone.best_score_ == score


def test_radius_graph_and_pickles():
    model = NearestNeighbors(n_neighbors=4, metric="gower").fit(FRAME)
    distances, found = model.radius_neighbors(FRAME.iloc[:3], 0.1)
    full = model.kneighbors(FRAME.iloc[:3], N)
    for i in range(3):
        assert set(found[i]) == set(full[1][i][full[0][i] <= 0.1])
        assert (distances[i] <= 0.1).all()
    assert model.kneighbors_graph(FRAME.iloc[:3]).nnz == 12
    again = pickle.loads(pickle.dumps(model)).kneighbors(FRAME.iloc[:3])
    np.testing.assert_array_equal(again[1], model.kneighbors(FRAME.iloc[:3])[1])


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_the_certificate_holds_and_finds_a_wrong_range(kind):
    model = kind(3, metric="gower").fit(GAPS, Y.astype(int))
    assert certify(model, GAPS, Y.astype(int)).holds
    other = GAPS.assign(size=GAPS["size"] * rng.uniform(1, 3, N))
    assert not certify(model, other, Y.astype(int)).holds


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 3)), st.sampled_from(["a", "b", None]),
            st.sampled_from(["x", "y", "z"]),
        ),
        min_size=2, max_size=80,
    ),
    st.integers(1, 5),
)  # fmt: skip
def test_any_table_is_searched_exactly(rows, k):
    table, k = np.array(rows, object), min(k, len(rows))
    model = NearestNeighbors(n_neighbors=k, metric="gower").fit(table)
    numbers = [row[0] for row in rows if row[0] is not None]
    spread = (max(numbers) - min(numbers) if numbers else 0) or 1
    distances, _ = model.kneighbors(table)
    for row, own in zip(rows, distances, strict=True):
        expected = sorted(gower(row, other, [spread, None, None]) for other in rows)[:k]
        np.testing.assert_allclose(own, expected, atol=1e-12)


def test_tables_with_missing_values_of_pandas_are_certified():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0, 8.0], "w": ["x", "y", "x", "y"]})
    frame = frame.astype({"a": "Float64", "w": "string"})
    frame.loc[0, "a"] = frame.loc[1, "w"] = pd.NA
    model = KNeighborsClassifier(2, metric="gower").fit(frame, [0, 0, 1, 1])
    assert certify(model, frame, [0, 0, 1, 1]).holds


def test_an_unknown_column_is_named_beside_the_setting_it_stands_in():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0]})
    model = KNeighborsClassifier(2, metric="gower", metric_params={"categorical": ["nope"]})
    with pytest.raises(ValueError, match=r"metric_params\['categorical'\] names the column 'nope'"):
        model.fit(frame, [0, 0, 1])
