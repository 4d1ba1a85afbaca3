"""Splines of columns that can bend, and the curves that are shown of them."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.report import page
from rosenblatt.workbench.splines import (
    Bends,
    bends_of,
    n_bent,
    why_no_products,
    why_no_splines,
)

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
    curves = text[text.index("Effect of each column") :]
    assert curves.index(">x<") < curves.index(">line<")
    assert 'aria-label="x: effect from ' in curves


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
    assert "Effect of each column" not in page(found.findings)


def test_nothing_bends_if_there_are_few_values():
    X = np.column_stack([np.arange(40) % 3, np.arange(40) % 2]).astype(float)
    np.testing.assert_array_equal(Bends().fit(X).transform(X), X)


def test_beyond_the_rows_learned_from_curves_go_straight_on_and_that_is_said(found, table):
    row = table.head(1)
    far = [table["x"].max() + step for step in (1.0, 2.0, 3.0, 10.0)]
    at = found.best.predict(pl.concat([row] * 4).with_columns(pl.Series("x", far)))
    slopes = np.diff(at) / np.diff(far)
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-6)
    assert slopes[0] > 10  # as steep as 5 x² is at its end, about
    assert "it goes straight on, as steep as" in found.findings.learned_note
    assert "it goes straight on, as steep as" in page(found.findings)


def numbers_and_categories(n_numbers, n_categories, n=800):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n) for j in range(n_numbers)}
    columns |= {"few": rng.integers(0, 5, n), "y": rng.normal(size=n)}
    kinds = np.array([f"kind {k}" for k in range(n_categories)])
    return pl.DataFrame(columns | {"kind": rng.choice(kinds, n)})


def test_categories_do_not_count_as_columns_that_bend():
    """Splines were left out for 60 categories, none of which they bend."""
    problem = problem_of(read_table(numbers_and_categories(3, 60)), "y")
    assert n_bent(problem) == 3
    assert why_no_splines(problem) == ""
    assert "multiplies columns, and 64 with those of categories" in why_no_products(problem)
    many = problem_of(read_table(numbers_and_categories(41, 3)), "y")
    assert why_no_splines(many) == "bends columns, and 41 of many values are more than 40"


def test_where_nothing_can_bend_or_a_column_is_text_it_is_said():
    none = problem_of(read_table(numbers_and_categories(0, 3)), "y")
    assert why_no_splines(none) == "bends columns of 10 values or more, and there are none"
    table = numbers_and_categories(2, 3).with_row_index("i")
    texts = table.with_columns(pl.format("a text of words {} and {}", "i", "x0").alias("kind"))
    problem = problem_of(read_table(texts), "y", kinds={"kind": "text"})
    for why in (why_no_splines(problem), why_no_products(problem)):
        assert why == "expands columns, and of a text each word is one"


def test_rows_that_come_sparse_are_bent_as_others_are():
    """Many rows of many categories are handed on as a sparse matrix."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), *np.eye(6)[np.arange(300) % 6].T])
    dense, sparse = Bends().fit(X), Bends().fit(sp.csr_matrix(X))
    np.testing.assert_array_equal(sparse.transform(sp.csr_matrix(X)), dense.transform(X))
