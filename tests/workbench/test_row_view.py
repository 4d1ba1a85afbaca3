"""Rows as a model reads them, whatever they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import TableError
from rosenblatt.workbench.model_catalogue import family_named
from rosenblatt.workbench.model_file import load_model, save_model
from rosenblatt.workbench.row_view import as_frame, frame_for, series_of
from tests.workbench.models import fitted, table_for

FAMILIES = ["Gaussian naive Bayes", "mixed naive Bayes", "ridge regression"]


@pytest.fixture(params=FAMILIES)
def model_and_rows(request, tmp_path):
    saved = fitted(request.param, certificate=False)
    save_model(saved, tmp_path / "model.skops")
    rows = table_for(family_named(request.param)).frame.drop("target")
    return load_model(tmp_path / "model.skops").model, rows


def test_columns_that_are_missing_are_named_with_the_nearest(model_and_rows):
    model, rows = model_and_rows
    message = "The table lacks the column 'visits', which the model reads. Did you mean visit?"
    renamed = rows.rename({"visits": "visit"})
    for table in (renamed, renamed.to_pandas(), renamed.lazy()):
        with pytest.raises(TableError) as caught:
            model.predict(table)
        assert str(caught.value) == message
    with pytest.raises(TableError, match="lacks the columns 'age', 'visits', 'member', 'since'"):
        model.predict(rows.select("town"))


def test_an_array_of_objects_has_its_columns_in_the_order_of_the_model(model_and_rows):
    model, rows = model_and_rows
    expected = model.predict(rows)
    objects = np.array(rows.rows(), object)
    np.testing.assert_array_equal(model.predict(objects), expected)
    with pytest.raises(TableError) as caught:
        model.predict(objects[:, :3])
    assert str(caught.value) == (
        "The array has 3 columns without names, and the model reads 5: give age, visits, town, "
        "member, since, in this order, or a data frame with these names."
    )
    with pytest.raises(TableError, match=r"holds numbers alone.* town, .*array of objects"):
        model.predict(np.zeros((3, 5)))


def test_an_array_of_numbers_will_do_for_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["width", "height"])
    found = rosenblatt.compare(
        X, X["width"] + rng.normal(size=60), target="weight", families=["least squares"],
        ledger=tmp_path / "openings.jsonl",
    )  # fmt: skip
    np.testing.assert_array_equal(found.best.predict(X.to_numpy()), found.best.predict(X))
    with pytest.raises(TableError, match="1 columns without names, and the model reads 2: give wi"):
        found.best.predict(X.to_numpy()[:, :1])


def test_a_model_of_an_array_wants_all_its_columns():
    with pytest.raises(TableError, match=r"has 2 columns, and the model reads x2 as well"):
        frame_for(np.zeros((2, 2)), {"x0": "numeric", "x2": "numeric"})
    with pytest.raises(TableError, match=r"rows and columns is needed; got one of shape \(2,\)"):
        as_frame([1.0, 2.0])


def test_objects_become_what_they_are():
    assert series_of(np.array([1, np.nan, 2.5], object), "a").to_list() == [1.0, None, 2.5]
    assert series_of(np.array([np.int64(1), None], object), "a").dtype == pl.Int64
    assert series_of(np.array(["x", pd.NA, 3], object), "a").to_list() == ["x", None, "3"]
    assert series_of(np.array([True, False], object), "a").dtype == pl.Boolean
    assert series_of(np.array([pd.Timestamp("2020-01-01"), pd.NaT], object), "a").null_count() == 1
