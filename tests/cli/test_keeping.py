"""`predict --keep` gives cells back as they were in the file."""

import io

import polars as pl
import pytest

from rosenblatt.data import read_batches
from tests.cli.commands import done, run

CELLS = ["1.50", "?", "NA", "", "007", " 2 ", "nan", "1e3"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = [1.0, 2.0, 3.0, 4.0] * 10
    pl.DataFrame({"x": x, "y": ["a" if v < 3 else "b" for v in x]}).write_csv("learn.csv")
    done("fit", "learn.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops")
    return "m.skops"


def kept(text):
    lines = text.splitlines()
    assert lines[0] == "x,when,prediction"
    return [line.rsplit(",", 1)[0] for line in lines[1:]]


@pytest.mark.parametrize("rows", [3, 50_000])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_kept_cells_are_those_of_the_file(model, tmp_path, monkeypatch, suffix, rows):
    import gzip

    def few(*words, **options):
        return read_batches(*words, rows=rows, **options)

    monkeypatch.setattr("rosenblatt.cli.tables.read_batches", few)
    between = "\t" if suffix == "tsv" else ","
    lines = [between.join(["x", "when"])]
    lines += [between.join([cell, "2020-01-02 03:04"]) for cell in CELLS]
    content = "\n".join(lines).encode() + b"\n"
    path = tmp_path / f"new.{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    expected = [f"{cell},2020-01-02 03:04" for cell in CELLS]
    assert kept(done("predict", model, path, "--keep")) == expected


def test_of_standard_input_too(model):
    text = "x,when\n" + "".join(f"{cell},NA\n" for cell in CELLS)
    result = run("predict", model, "-", "--keep", input=text)
    assert kept(result.stdout) == [f"{cell},NA" for cell in CELLS]


def test_decimal_commas_are_understood_and_kept(model, tmp_path):
    (tmp_path / "new.csv").write_text("x;town\n1,5;Rome\n?;NA\n4,5;Bonn\n")
    out = pl.read_csv(io.StringIO(done("predict", model, "new.csv", "--keep")), infer_schema=False)
    assert out["x"].to_list() == ["1,5", "?", "4,5"]
    assert out["town"].to_list() == ["Rome", "NA", "Bonn"]
    assert out["prediction"].to_list()[::2] == ["a", "b"]


def test_a_file_of_predictions_is_told_with_its_number(model, tmp_path):
    assert done("predict", model, "learn.csv", "-o", "out.csv") == (
        "40 predictions written to out.csv\n"
    )
    (tmp_path / "one.csv").write_text("x\n1\n")
    assert done("predict", model, "one.csv", "-o", "out.csv") == "1 prediction written to out.csv\n"
