"""`rosenblatt cluster`, from a table to a report, labels and a model that assigns rows."""

from dataclasses import replace

import polars as pl
import pytest

from rosenblatt import cluster_table
from rosenblatt.cli.cluster import numbers_of
from rosenblatt.cli.compare import names_in
from rosenblatt.workbench import clustering
from rosenblatt.workbench.clustering import FAMILIES
from tests.cli.commands import done, refused, run


def test_it_writes_a_report_labels_and_a_model(tmp_path):
    report, labels, model = (tmp_path / name for name in ("r.html", "l.csv", "m.skops"))
    said = done("cluster", "iris", "--k", "2-3", "--without", "species", "-o", report,
                "--labels", labels, "--save", model)  # fmt: skip
    assert "2 clusters of 150 rows" in said
    assert "petal_length lower, 1.46 on average" in " ".join(said.split())
    assert "species" in said  # among the columns left out
    assert "Map of the rows" in report.read_text(encoding="utf-8")
    written = pl.read_csv(labels)["cluster"].to_list()
    assigned = done("predict", model, "iris").splitlines()
    assert assigned[0] == "cluster"
    assert [int(line) for line in assigned[1:151]] == written
    assert "--score needs a target column" in refused("predict", model, "iris", "--score")


def test_bad_numbers_and_places_are_refused(tmp_path):
    assert "2-8 or 2,4,8" in refused("cluster", "iris", "--k", "many", "-o", tmp_path / "r.html")
    assert "from 2 to 149" in refused("cluster", "iris", "--k", "1", "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("out", "labels", "save"), [("r", "one", "one"), ("one", "one", "m"), ("one", "l", "one")]
)
def test_one_file_for_two_outputs_is_refused_before_the_work(tmp_path, out, labels, save):
    words = ["-o", tmp_path / out, "--labels", tmp_path / labels, "--save", tmp_path / save]
    result = run("cluster", "iris", *words)
    assert "one is given for two output files" in " ".join(result.stderr.split())
    assert not result.stdout  # nothing was tried
    assert not list(tmp_path.iterdir())


def test_a_column_named_cluster_stays(tmp_path):
    table = pl.DataFrame({"x": [*range(9), *range(30, 40)], "cluster": ["a", "b"] * 9 + ["a"]})
    table.write_csv(tmp_path / "t.csv")
    said = done("cluster", tmp_path / "t.csv", "--k", "2", "-o", tmp_path / "r.html",
                "--labels", tmp_path / "l.csv")  # fmt: skip
    assert "(column cluster_2)" in " ".join(said.split())
    written = pl.read_csv(tmp_path / "l.csv")
    assert written.columns == ["x", "cluster", "cluster_2"]
    assert written["cluster"].to_list() == table["cluster"].to_list()


def test_a_search_cut_short_is_said_so_on_the_screen_too(tmp_path, monkeypatch):
    found = cluster_table("iris", k=2)
    found.findings = replace(found.findings, stopped="budget")
    monkeypatch.setattr("rosenblatt.cli.cluster.cluster_table", lambda *_, **__: found)
    said = " ".join(done("cluster", "iris", "-o", tmp_path / "r.html").split())
    assert "note: The time was over before everything was tried" in said
    assert "The time was over" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "numbers"), [("4", 4), ("2-4", [2, 3, 4]), ("2,6", [2, 6])])
def test_numbers_are_read(text, numbers):
    assert numbers_of(text) == numbers
    assert names_in(["a, b", "c"]) == ["a", "b", "c"]


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    """A table of two groups with a column named cluster."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"x": [*range(9), *range(30, 40)], "cluster": ["a", "b"] * 9 + ["a"]})
    table.write_csv("t.csv")
    return table


@pytest.mark.parametrize("without", [(), ("--without", "cluster")])
def test_a_model_of_a_table_with_a_column_cluster_can_be_read(mixed, without):
    done("cluster", "t.csv", "--k", "2", "--labels", "l.csv", "--save", "m.skops", *without)
    done("predict", "m.skops", "t.csv", "--keep", "-o", "p.csv")
    assert pl.read_csv("p.csv").equals(pl.read_csv("l.csv"))
    assert pl.read_csv("p.csv").columns == ["x", "cluster", "cluster_2"]
    assert done("predict", "m.skops", "t.csv").splitlines()[0] == "cluster"


def test_numbers_in_the_wrong_order_are_named(tmp_path):
    said = refused("cluster", "iris", "--k", "8-2", "-o", tmp_path / "r.html")
    assert "got '8-2', and 8 is above 2" in said


def test_the_list_says_why_a_clustering_with_a_larger_silhouette_is_left_aside(tmp_path):
    said = done("cluster", "iris", "--k", "2-3", "--without", "species", "-o", tmp_path / "r.html")
    assert "average linkage, 3 clusters (left aside: a cluster of 3 rows)" in said
    assert "Hollow marks are excluded" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_clusters_are_certified_without_a_column_of_answers(mixed, family, monkeypatch):
    monkeypatch.setattr(clustering, "FAMILIES", (family,))
    done("cluster", "t.csv", "--k", "2", "--save", "m.skops")
    result = run("certify", "m.skops", "t.csv")
    assert result.exit_code == 0, result.output
    assert "KNeighbors" not in result.stdout
    if "linkage" in family:
        assert "all 18 joins replayed" in result.stdout
        assert "0 rows are in another of the 2 clusters" in result.stdout
        assert "nearest training row" in " ".join(result.stderr.split())
        mixed.head(12).write_csv("half.csv")
        assert "was fitted to 19 rows, but the table has 12" in refused(
            "certify", "m.skops", "half.csv"
        )


@pytest.mark.parametrize("words", [("trace", "iris"), ("fit", "iris"), ("models",)])
def test_other_commands_refer_to_it_for_a_clustering(tmp_path, words):
    named = ("KMeans",) if words == ("models",) else ("--model", "KMeans", "-o", tmp_path / "o")
    assert "use `rosenblatt cluster`" in refused(*words, *named)
