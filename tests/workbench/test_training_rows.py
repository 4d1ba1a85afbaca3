"""The rows that a model learned from are found again, or it is said that they are not there."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt.data import Table, read_table
from rosenblatt.workbench.comparison import compare
from rosenblatt.workbench.fitting import digest_of, learned_rows
from rosenblatt.workbench.model_file import load_model
from tests.workbench.models import fitted, mixed_frame


def saved_by(folder, table, target, **options):
    family = "least squares" if target == "age" else "Gaussian naive Bayes"
    found = compare(
        table, target=target, families=[family], ledger=folder / "openings.jsonl", **options
    )
    found.save(folder / "model.skops")
    return found, load_model(folder / "model.skops")


SPLITS = [("town", {}), ("age", {}), ("age", {"time": "since"}), ("visits", {"groups": "house"})]


@pytest.mark.parametrize(("target", "options"), SPLITS, ids=str)
def test_rows_are_those_of_the_comparison(tmp_path, target, options):
    house = pl.Series("house", np.arange(120) // 4)
    frame = mixed_frame().with_columns(house)
    found, saved = saved_by(tmp_path, frame, target, random_state=2, **options)
    rows, y = learned_rows(saved, read_table(frame))
    assert len(rows) == len(y) == saved.n_rows
    assert saved.n_rows == found.findings.protocol.n_train + found.findings.protocol.n_dev
    assert digest_of(y) == saved.digest
    assert saved.split_by == next(iter(options.values()), None)


def test_another_table_is_noticed(tmp_path):
    iris = read_table("iris")
    _, saved = saved_by(tmp_path, "iris", "species")
    assert learned_rows(saved, iris) is not None
    backwards = Table(iris.frame.reverse(), "iris")
    assert learned_rows(saved, backwards) is None
    assert learned_rows(replace(saved, digest=None), backwards) is not None  # an older file
    assert learned_rows(saved, Table(iris.frame.head(100), "iris")) is None
    assert learned_rows(saved, Table(iris.frame.head(5), "iris")) is None


def test_a_model_of_all_rows_has_no_part():
    assert learned_rows(fitted("Ridge"), read_table("iris")) is None


def test_matrices_without_names(tmp_path):
    X = sp.csr_matrix(np.random.default_rng(0).poisson(1.0, (90, 4)).astype(float))
    y = np.arange(90) % 3
    found = compare(X, y, families=["multinomial naive Bayes"], ledger=tmp_path / "openings.jsonl")
    found.save(tmp_path / "m.skops")
    table = Table(pl.DataFrame({"target": y}), "the table", X)
    rows, again = learned_rows(load_model(tmp_path / "m.skops"), table)
    assert rows.sparse.shape == (72, 4)
    assert len(again) == 72
