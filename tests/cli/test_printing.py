"""Names and cells give no orders to a terminal, whichever command prints them."""

import re
from pathlib import Path

import polars as pl
import pytest

import rosenblatt.cli
from tests.cli.commands import done, run

ORDER = "\x1b[2J\x9b31m\x07"
LINE = "\nError: all is lost"


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """A table whose names, classes and cells are orders, and a model of it."""
    monkeypatch.chdir(tmp_path)
    n = 60
    frame = pl.DataFrame(
        {
            f"size{ORDER}": [float(i % 7) for i in range(n)],
            f"town{LINE}": [f"Rome{ORDER}{LINE}" if i % 3 else "Oslo" for i in range(n)],
            f"label{ORDER}": [f"high{ORDER}{LINE}" if i % 7 > 3 else "low" for i in range(n)],
        }
    )
    frame.write_parquet("t.parquet")
    fit("GaussianNB", "m.skops")
    return frame


def fit(name, out):
    return done("fit", "t.parquet", "--target", f"label{ORDER}", "--model", name, "-o", out)


def harmless(result):
    text = result.stdout + result.stderr
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), text
    assert not any(line.startswith("Error: all is lost") for line in text.splitlines())
    return text


def test_explain_and_certify_show_orders_and_do_not_give_them(odd):
    text = harmless(run("explain", "m.skops", "t.parquet", "--row", 4))
    assert "high\\x1b[2J" in text
    harmless(run("certify", "m.skops", "t.parquet"))
    odd.head(30).write_parquet("half.parquet")
    harmless(run("certify", "m.skops", "half.parquet"))


def test_nor_do_errors_and_words_beside_predictions(odd):
    odd.rename({f"size{ORDER}": f"sise{ORDER}"}).write_parquet("u.parquet")
    assert "lacks the column" in harmless(run("predict", "m.skops", "u.parquet"))
    odd.with_columns(pl.lit(1).alias(f"more{ORDER}{LINE}")).write_parquet("u.parquet")
    assert "Columns not used by the model: more" in harmless(
        run("predict", "m.skops", "u.parquet", "-o", "p.csv")
    )
    harmless(run("predict", "m.skops", "t.parquet", "--score", "-o", "p.csv"))
    harmless(run("fit", f"no{ORDER}.csv", "--target", "y", "--model", "Ridge", "-o", f"{ORDER}"))


def test_nor_do_split_trace_and_fit(odd):
    target = f"label{ORDER}"
    harmless(run("split", "t.parquet", "--target", target))
    harmless(run("trace", "t.parquet", "--target", target, "--model", "Perceptron", "-o", "r.html"))
    words = ("--model", "Ridge", "--task", "regression", "-o", "r.skops")
    harmless(run("fit", "t.parquet", "--target", target, *words))


def test_predictions_are_data_and_keep_every_character(odd):
    text = run("predict", "m.skops", "t.parquet").stdout
    assert f'"high{ORDER}{LINE}"' in text
    done("predict", "m.skops", "t.parquet", "-o", "p.csv")
    assert set(pl.read_csv("p.csv")["prediction"]) == {f"high{ORDER}{LINE}", "low"}


def test_there_is_one_place_that_prints():
    for path in Path(rosenblatt.cli.__file__).parent.glob("*.py"):
        prints = re.findall(r"(?<![.\w])print\(|\bConsole\(", path.read_text())
        assert not prints or path.name in ("output.py", "arguments.py", "compare.py", "doctor.py",
                                           "warm.py"), path.name  # fmt: skip
