"""What is learned of columns is learned from training rows, and new values do no harm."""

import datetime

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt.workbench import column_parts, features
from rosenblatt.workbench.features import TableColumns, TableFeatures

FRAME = pl.DataFrame(
    {
        "age": [20.0, None, 40.0, 30.0],
        "town": ["Rome", "Oslo", None, "Rome"],
        "ok": ["yes", "no", "YES", None],
        "day": [datetime.date(2020, 1, d) for d in (1, 2, 3, 4)],
        "said": ["hello world", "hello", None, "good day to you"],
    }
)
KINDS = {"age": "numeric", "town": "categorical", "ok": "boolean", "day": "date", "said": "text"}


def part(name, counts=False):
    return TableFeatures({name: KINDS[name]}, counts=counts)


def test_numbers_are_standardised_and_what_is_missing_is_marked():
    Z = part("age").fit_transform(FRAME)
    known = FRAME["age"].drop_nulls().to_numpy()
    np.testing.assert_allclose(Z[[0, 2, 3], 0], (known - known.mean()) / known.std())
    assert Z[1].tolist() == [0, 1]
    assert part("age", counts=True).fit_transform(FRAME)[:, 0].tolist() == [20, 0, 40, 30]


def test_categories_never_seen_are_none_of_those_seen():
    fitted = part("town").fit(FRAME)
    Z = fitted.transform(pl.DataFrame({"town": ["Oslo", "Paris", None]}))
    assert Z.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert list(fitted.get_feature_names_out()) == ["town = Oslo", "town = Rome", "town is missing"]


def test_only_the_most_frequent_categories_get_columns():
    words = [f"w{i}" for i in range(column_parts.MOST_CATEGORIES + 50)]
    frame = pl.DataFrame({"town": words + words[-10:]})
    fitted = part("town").fit(frame)
    assert fitted.n_features_out_ == column_parts.MOST_CATEGORIES
    assert fitted.transform(frame.tail(10)).sum() == 10


def test_truth_and_dates():
    assert part("ok").fit_transform(FRAME).tolist()[:3] == [[1, 0], [0, 0], [1, 0]]
    names = part("day").fit(FRAME).get_feature_names_out().tolist()
    assert names == ["day days", "day month", "day weekday"]
    assert part("day").fit_transform(FRAME).shape == (4, 3)


def test_texts_become_counts_of_words():
    Z = sp.csr_matrix(part("said", counts=True).fit_transform(FRAME))
    assert Z.sum(axis=1).A1.tolist() == [2, 1, 0, 4]


def test_all_together_whatever_the_order_of_columns():
    fitted = TableFeatures(KINDS).fit(FRAME)
    other = FRAME.select(reversed(FRAME.columns)).with_columns(extra=1)
    assert np.array_equal(fitted.transform(FRAME), fitted.transform(other))
    assert fitted.transform(FRAME).shape == (4, len(fitted.get_feature_names_out()))


def test_wide_tables_stay_sparse(monkeypatch):
    monkeypatch.setattr(features, "MOST_BYTES", 1000)
    words = [f"w{i % 50}" for i in range(200)]
    assert sp.issparse(part("town").fit_transform(pl.DataFrame({"town": words})))


def test_a_constant_in_a_fold_does_no_harm():
    frame = pl.DataFrame({"age": [0.1 + 0.2] * 5})
    assert np.abs(part("age").fit_transform(frame)).max() < 1e-12


@pytest.mark.parametrize("kind", ["numeric", "date", "boolean", "categorical"])
def test_columns_as_they_are(kind):
    [name] = [n for n, k in KINDS.items() if k == kind]
    columns = TableColumns({name: kind})
    assert columns.fit(FRAME).transform(FRAME).columns == [name]
    assert columns.mixed_kinds()[name] in ("numeric", "categorical")


def test_stretches_of_a_sparse_table_are_the_table(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": [None if i % 7 == 0 else float(i) for i in range(50)],
            "town": [f"t{k}" for k in rng.integers(0, 20, 50)],
        }
    )
    made = TableFeatures({"age": "numeric", "town": "categorical"}).fit(frame)
    dense = made.transform(frame)
    monkeypatch.setattr(features, "MOST_BYTES", 10)
    monkeypatch.setattr(features, "ROWS_AT_A_TIME", 7)
    rows = rng.permutation(50)
    for table, expected in ((frame, dense), (frame[rows], dense[rows])):
        sparse = made.transform(table)
        assert sparse.has_canonical_format
        np.testing.assert_array_equal(sparse.toarray(), expected)


def test_coded_categories_are_numbers_and_gaps_stay():
    frame = pl.DataFrame({"age": [20.0, None, 40.0], "town": ["Rome", None, "Oslo"]})
    kinds = {"town": "categorical", "age": "numeric"}
    features = TableFeatures(kinds, counts=True, coded=True).fit(frame)
    np.testing.assert_array_equal(
        features.transform(frame), [[1.0, 20.0], [np.nan, np.nan], [0.0, 40.0]]
    )
    assert list(features.get_feature_names_out()) == ["town", "age"]
    other = pl.DataFrame({"age": [1.0], "town": ["Bonn"]})  # never seen
    np.testing.assert_array_equal(features.transform(other), [[np.nan, 1.0]])
