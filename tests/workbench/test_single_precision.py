"""Large tables of 32-bit numbers stay in 32 bits on the way to models, for the memory's sake."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import Table
from rosenblatt.workbench import problem as problems
from rosenblatt.workbench.features import TableColumns, TableFeatures
from rosenblatt.workbench.problem import problem_of

FAMILIES = {
    "classification": [
        "GaussianNB", "MixedNB", "lda", "qda", "LeastSquaresClassifier", "LogisticRegression",
        "AveragedPerceptron",
    ],
    "regression": ["ols", "ridge regression", "Lasso", "ridge on products", "ridge on splines"],
}  # fmt: skip


def numbers(dtype=np.float32, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[:, 3] = np.round(3 * X[:, 3])
    y = np.where(X[:, 0] + X[:, 3] + rng.normal(size=n) > 0, "yes", "no")
    names = ["a", "b", "c", "whole"]
    frame = pl.DataFrame(X, schema=names).with_columns(pl.col("whole").cast(pl.Int16))
    if dtype == np.float64:
        frame = frame.with_columns(pl.col("a").cast(pl.Float64))
    return frame.with_columns(pl.Series("y", y))


@pytest.mark.parametrize(("dtype", "most", "single"), [
    (np.float32, 0, True), (np.float64, 0, False), (np.float32, 2**27, False),
])  # fmt: skip
def test_large_tables_without_longer_numbers_are_single(monkeypatch, dtype, most, single):
    monkeypatch.setattr(problems, "MOST_BYTES_IN_DOUBLE", most)
    assert problem_of(Table(numbers(dtype), "numbers"), "y").single == single


def test_features_in_32_bits_are_those_in_64_rounded():
    frame = numbers()
    kinds = dict.fromkeys("abc", "numeric") | {"whole": "numeric"}
    wide = TableFeatures(kinds).fit_transform(frame)
    narrow = TableFeatures(kinds, single=True).fit_transform(frame)
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))
    columns = TableColumns(kinds, single=True).fit(frame).transform(frame)
    assert columns.dtypes == [pl.Float32] * 4


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_comparison_in_32_bits_says_the_same_and_its_models_are_saved(
    monkeypatch, tmp_path, task
):
    frame = numbers()
    if task == "regression":
        frame = frame.with_columns(pl.col("a") + pl.col("b") ** 2 + pl.col("whole")).rename(
            {"y": "unused", "a": "y", "c": "a"}
        ).drop("unused")  # fmt: skip
    given = {"target": "y", "ledger": tmp_path / "openings", "families": FAMILIES[task]}
    wide = rosenblatt.compare(frame, **given)
    monkeypatch.setattr(problems, "MOST_BYTES_IN_DOUBLE", 0)
    narrow = rosenblatt.compare(frame, **given)
    scores = [
        found.leaderboard.set_index("family")["score"].sort_index() for found in (narrow, wide)
    ]
    assert scores[0].index.tolist() == scores[1].index.tolist()
    # Perceptrons take another way after the first row that rounding puts on the other side.
    np.testing.assert_allclose(*scores, atol=0.03)
    steady = [name for name in scores[0].index if "perceptron" not in name]
    np.testing.assert_allclose(scores[0][steady], scores[1][steady], atol=0.005)
    narrow.save(tmp_path / "model.skops")
    again = rosenblatt.load_model(tmp_path / "model.skops").model
    rows = frame.head(50)
    np.testing.assert_array_equal(again.predict(rows), narrow.best.predict(rows))
    assert getattr(again.steps[0][1], "single", True)
