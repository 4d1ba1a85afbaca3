"""Above 5,000 rows, comparison with some rows stands in for kernels of all pairs."""

import numpy as np
import polars as pl
import pytest

from rosenblatt import compare, load_model
from rosenblatt.data import read_table
from rosenblatt.workbench.families import families_for
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.model_file import save_model
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.weights import note_on_weights, weights_of

NAMES = {
    "classification": "support vector machine on landmarks",
    "regression": "kernel ridge on landmarks",
}


def rings(n, task):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    far = a**2 + b**2 + 0.1 * rng.normal(size=n)
    y = np.where(far > 1.4, "out", "in") if task == "classification" else far
    return pl.DataFrame({"a": a, "b": b, "y": y})


@pytest.mark.parametrize("task", NAMES)
def test_they_stand_in_for_kernels_where_pairs_are_too_many(task):
    kernel = {"classification": "support vector machine", "regression": "support vector regression"}
    for n, stands_in in ((1_000, False), (9_000, True)):
        suiting, others = families_for(problem_of(read_table(rings(n, task)), "y"))
        assert (NAMES[task] in {family.name for family in suiting}) == stands_in
        assert (kernel[task] in dict(others)) == stands_in
    assert "compares all pairs of rows" in dict(others)[kernel[task]]


@pytest.mark.parametrize("task", NAMES)
def test_they_bend_and_their_files_are_read_again(task, tmp_path):
    frame = rings(5_500, task)
    saved = fit_table(read_table(frame), "y", NAMES[task], certificate=False)
    assert saved.model.score(frame, frame["y"]) > 0.95
    assert weights_of(saved.model) == ([], 0)
    assert "weights for 300 rows, the landmarks" in note_on_weights(saved.model)
    save_model(saved, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.model.predict(frame), saved.model.predict(frame))


def test_a_comparison_chooses_them_over_a_plane(tmp_path):
    found = compare(
        rings(9_000, "classification"), "y", families=["linear svm", NAMES["classification"]],
        ledger=tmp_path / "openings.jsonl",
    )  # fmt: skip
    assert found.leaderboard["family"][0] == NAMES["classification"]
