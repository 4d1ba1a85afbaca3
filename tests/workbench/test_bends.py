"""Splines of columns that can bend, and the curves that are shown of them."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.workbench.bends import Bends, bends_of
from rosenblatt.workbench.report.page import page

FAMILY = ["ridge on splines"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 600
    x, line = rng.uniform(-3, 3, n), rng.normal(size=n)
    town, old = rng.choice(["Rome", "Oslo", "Bonn"], n), rng.random(n) < 0.5
    y = 5 * x**2 + line + 4 * (town == "Rome") + old + rng.normal(0, 0.1, n)
    return pl.DataFrame({"line": line, "x": x, "town": town, "old": old, "y": y})


@pytest.fixture
def found(table, tmp_path):
    return rosenblatt.compare(table, target="y", families=FAMILY, ledger=tmp_path / "o.jsonl")


def test_only_columns_of_many_values_are_expanded(found):
    names = found.best[:-1].get_feature_names_out()
    assert len(names) == 2 * 8 + 4  # two columns bend; three towns and a truth value do not
    assert found.findings.opening.score > 0.99


def test_a_curve_is_what_the_column_adds_beside_its_mean(found, table):
    first, second = found.findings.bends
    assert (first.name, second.name) == ("x", "line")
    assert first.reach > second.reach
    assert -3 < first.x[0] < first.x[-1] < 3
    np.testing.assert_allclose(first.effect, 5 * first.x**2 - 5 * table["x"].mean() ** 2, atol=1.5)
    # The same as predictions say of rows that differ in this column alone.
    rows = pl.concat([table.head(1)] * len(first.x)).with_columns(pl.Series("x", first.x))
    predicted = found.best.predict(rows)
    np.testing.assert_allclose(np.diff(predicted), np.diff(first.effect), atol=1e-8)


def test_weights_are_of_what_has_no_curve(found):
    names = {name for name, _ in found.findings.learned}
    assert names == {"town = Bonn", "town = Oslo", "town = Rome", "old"}
    assert found.findings.n_weights == 4


def test_the_page_draws_a_curve_for_each_column_with_words(found):
    text = page(found.findings)
    curves = text[text.index("What each column adds") :]
    assert curves.index(">x<") < curves.index(">line<")
    assert 'aria-label="x adds from ' in curves


def test_curves_of_dates_and_gaps_keep_their_columns():
    rng = np.random.default_rng(1)
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2021, 12, 31), eager=True).sample(
        400, with_replacement=True, seed=0
    )
    x = rng.normal(size=400)
    y = days.dt.month().to_numpy() * 1.0 + x
    x[::7] = np.nan
    frame = pl.DataFrame({"x": x, "when": days, "y": y}).with_columns(pl.col("x").fill_nan(None))
    found = rosenblatt.workbench.fitting.fit_table(
        rosenblatt.data.read_table(frame), "y", "ridge on splines", certificate=False
    )
    bends = bends_of(found.model, frame)
    assert {bend.name for bend in bends} == {"x", "when days", "when month"}
    assert bends[0].name == "when month"
    assert bends[0].reach == pytest.approx(11, abs=1.5)


def test_a_model_without_bends_has_none(tmp_path):
    found = rosenblatt.compare(
        "diabetes", target="progression", families=["lasso"], ledger=tmp_path / "o.jsonl"
    )
    assert found.findings.bends == []
    assert "What each column adds" not in page(found.findings)


def test_nothing_bends_if_there_are_few_values():
    X = np.column_stack([np.arange(40) % 3, np.arange(40) % 2]).astype(float)
    np.testing.assert_array_equal(Bends().fit(X).transform(X), X)
