"""`fit`, `predict` and `compare` of folders and patterns: part by part, to the same answers."""

import numpy as np
import polars as pl
import pytest

from rosenblatt import compare, load_model
from rosenblatt.data import Source
from tests.cli.commands import run

RNG = np.random.default_rng(0)
N = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Numbers, a category with gaps, and a target that is sometimes missing, in three files."""
    place = tmp_path_factory.mktemp("data")
    x = RNG.standard_normal(N)
    kind = RNG.choice(["red", "blue", None], N)
    y = np.where(x + (kind == "red") + RNG.standard_normal(N) > 0.5, "yes", "no").astype(object)
    y[7] = None
    frame = pl.DataFrame({"x": x, "z": RNG.standard_normal(N), "kind": kind.tolist(), "y": y})
    for k in range(3):
        frame[k::3].write_parquet(place / f"{k}.parquet")
    return place


def test_a_pattern_is_fitted_as_its_rows_would_be_in_one_table(folder, tmp_path):
    many, one = tmp_path / "many.skops", tmp_path / "one.skops"
    fitted = run("fit", f"{folder}/*.parquet", "-t", "y", "-m", "logistic regression", "-o", many)
    assert fitted.exit_code == 0, fitted.output
    assert "fitted to 400 rows in 3 parts" in fitted.output
    assert "duality gap" in fitted.output
    whole = pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    whole.write_parquet(tmp_path / "whole.parquet")
    options = ("-t", "y", "-m", "logistic regression", "--no-certificate", "-o", one)
    assert run("fit", tmp_path / "whole.parquet", *options).exit_code == 0
    parts, together = load_model(many).model[-1], load_model(one).model[-1]
    np.testing.assert_allclose(parts.coef_, together.coef_, atol=1e-3)


def test_predictions_stream_to_parquet_and_csv(folder, tmp_path):
    model = tmp_path / "nb.skops"
    run("fit", folder, "-t", "y", "-m", "GaussianNB", "-o", model, "--checkpoint", tmp_path / "c")
    for name in ("out.parquet", "out.csv"):
        done = run("predict", model, f"{folder}/*.parquet", "--proba", "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert "400 predictions" in done.output
    found, lines = pl.read_parquet(tmp_path / "out.parquet"), pl.read_csv(tmp_path / "out.csv")
    assert found.columns == ["prediction", "P(no)", "P(yes)"] == lines.columns
    assert found["prediction"].to_list() == lines["prediction"].to_list()


def test_processes_give_the_same_model(folder, tmp_path):
    for engine in ("here", "processes"):
        done = run("fit", folder, "-t", "y", "-m", "GaussianNB", "-o", tmp_path / f"{engine}.skops",
                   "--engine", engine, "--workers", 1)  # fmt: skip
        assert done.exit_code == 0, done.output
    here, there = (load_model(tmp_path / f"{e}.skops").model[-1] for e in ("here", "processes"))
    np.testing.assert_array_equal(here.theta_, there.theta_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-m", "SVC"), "SVC is not fitted by parts. Those that are: AveragedPerceptron"),
        (("-m", "GaussianNB", "--engine", "spark"), "--engine must be here, processes or dask"),
        (
            ("-m", "GaussianNB", "--engine", "here", "--scheduler", "tcp://a:1"),
            "requires --engine dask",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder, tmp_path, options, sentence):
    done = run("fit", folder, "-t", "y", *options, "-o", tmp_path / "m.skops")
    assert done.exit_code == 2
    assert sentence in done.output
    assert not (tmp_path / "m.skops").exists()


def test_a_scheduler_that_does_not_answer_is_named(folder, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("rosenblatt.cli.source_fit.SECONDS_TO_ANSWER", 0.2)
    done = run("fit", folder, "-t", "y", "-m", "GaussianNB", "-o", tmp_path / "m.skops",
               "--scheduler", "tcp://127.0.0.1:9")  # fmt: skip
    assert done.exit_code == 2
    assert "The scheduler tcp://127.0.0.1:9 cannot be reached" in done.output


def test_without_a_target_the_columns_are_listed(folder, tmp_path):
    done = run("fit", folder, "-m", "GaussianNB", "-o", tmp_path / "m.skops")
    assert done.exit_code == 2
    assert "(--target)" in done.output
    assert "kind" in done.output
    done = run("fit", folder, "-t", "yy", "-m", "GaussianNB", "-o", tmp_path / "m.skops")
    assert "0.parquet has no column 'yy'." in done.output


def test_sparse_rows_are_refused_in_a_sentence_with_or_without_a_target(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2 3:1\n-1 2:1\n")
    for target in ((), ("-t", "target")):
        done = run(
            "fit", f"{tmp_path}/*.svm", *target, "-m", "GaussianNB", "-o", tmp_path / "m.skops"
        )
        assert done.exit_code == 2
        assert "sparse rows without names: fit them with distributed.fit" in done.output


def test_a_source_is_compared_by_a_sample_and_the_winner_fitted_to_all(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("rosenblatt.workbench.large_sources.SAMPLE_ROWS", 300)
    source = Source(folder, target="y")
    names = ["Gaussian naive Bayes", "logistic regression"]
    found = compare(source, families=names, ledger=tmp_path / "openings.jsonl")
    assert "a sample of 300 of 400 rows" in found.findings.notes[0]
    assert "fitted to all 400 rows" in found.findings.notes[0]
    found.save(tmp_path / "best.skops")
    assert load_model(tmp_path / "best.skops").n_rows == 400
    assert load_model(tmp_path / "best.skops").family == found.findings.contestants[0].family
    page = found.report(tmp_path / "report.html")
    assert "a sample of 300 of 400 rows" in page.read_text()
