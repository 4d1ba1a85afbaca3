"""Q7, W10: groups in a table: prepared, chosen, described, resampled, saved, reported."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import TableError
from rosenblatt.workbench import clustering
from rosenblatt.workbench.clock import Clock
from rosenblatt.workbench.cluster_findings import profiles_of
from rosenblatt.workbench.clustering import FAMILIES
from rosenblatt.workbench.report.cluster_page import page


def customers(n=120, seed=0):
    """Three kinds of customers, with a name, a remark and a constant."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    return pl.DataFrame(
        {
            "name": [f"customer number {i}" for i in range(n)],
            "visits": rng.poisson([2, 10, 30], (n // 3, 3)).ravel(),
            "spent": rng.normal([300, 100, 20], 8, (n // 3, 3)).ravel(),
            "pays": np.array(["card", "cash", "cash"])[kind],
            "country": ["here"] * n,
        }
    ), kind


@pytest.fixture(scope="module")
def found():
    return rosenblatt.cluster_table(customers()[0], k=[2, 3, 4])


def test_groups_that_are_there_are_found_and_described(found):
    assert found.k == 3
    assert found.sizes.tolist() == [40, 40, 40]
    kind = customers()[1]
    assert len(set(zip(found.labels, kind, strict=True))) == 3
    assert set(found.trials["family"]) == set(FAMILIES)
    sentences = " ".join(found.summary["different"])
    assert "spent higher, 30" in sentences
    assert "pays is card in 100% (all rows: 33%)" in sentences
    assert "3 clusters of 120 rows" in str(found)


def test_it_says_why_and_how_sure(found):
    findings = found.findings
    assert findings.best.silhouette == max(t.silhouette for t in findings.trials)
    assert findings.stability.index > 0.95
    assert min(findings.stability.overlaps) > 0.9
    assert max(findings.references) < findings.best.silhouette
    assert any("go together" in reason for reason in findings.reasons)


def test_names_and_constants_are_left_out(found):
    used = {column.name for column in found.findings.columns if column.used}
    assert used == {"visits", "spent", "pays"}
    left = rosenblatt.cluster_table(customers()[0], k=3, without=["pays"])
    assert "pays" not in {c.name for c in left.findings.columns if c.used}


def test_columns_without_groups_are_reported_as_such():
    rng = np.random.default_rng(1)
    noise = pl.DataFrame({f"x{j}": rng.normal(size=150) for j in range(4)})
    reasons = " ".join(rosenblatt.cluster_table(noise, k=[2, 3]).findings.reasons)
    assert "may mean little" in reasons
    assert "overlap" in reasons


@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_model_of_any_family_assigns_the_same_clusters(family, tmp_path, monkeypatch):
    monkeypatch.setattr(clustering, "FAMILIES", (family,))
    monkeypatch.setattr(clustering, "RESAMPLES", 2)
    frame, _ = customers(60)
    found = rosenblatt.cluster_table(frame, k=3)
    found.save(tmp_path / "model.skops")
    saved = rosenblatt.load_model(tmp_path / "model.skops")
    assert saved.task == "clustering"
    np.testing.assert_array_equal(saved.model.predict(frame), found.labels)
    assert (np.diff(found.sizes) <= 0).all()


def test_the_page_and_the_labels_are_written(found, tmp_path):
    text = page(found.findings)
    for words in ("Clusters of", "Map of the rows", "Number of clusters", "Stability", "spent"):
        assert words in text
    assert "<script src" not in text
    found.report(tmp_path / "report.html")
    found.write_labels(tmp_path / "labels.csv")
    written = pl.read_csv(tmp_path / "labels.csv")
    assert written["cluster"].to_list() == found.labels.tolist()
    assert written.columns[:-1] == customers()[0].columns


def test_names_cannot_be_markup():
    frame, _ = customers(60)
    frame = frame.rename({"spent": "<b>spent</b>"})
    text = page(rosenblatt.cluster_table(frame, k=2).findings)
    assert "<b>spent" not in text
    assert "&lt;b&gt;spent" in text


def test_missing_values_and_dates_are_described():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 3, 30), eager=True)
    frame = pl.DataFrame({"day": days, "x": [1.0, None, 4.0] * 30})
    profiles = profiles_of(frame, {"day": "date", "x": "numeric"}, np.arange(90) // 45)
    assert "day later, 2020-03-" in profiles[1].sentence
    assert len(profiles[0].differences) == 2


def test_what_cannot_be_clustered_is_refused():
    with pytest.raises(TableError, match="no column to cluster by"):
        rosenblatt.cluster_table(pl.DataFrame({"name": [f"person {i} of many" for i in range(30)]}))
    with pytest.raises(TableError, match="10 are needed"):
        rosenblatt.cluster_table(pl.DataFrame({"x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="k must be a number from 2"):
        rosenblatt.cluster_table(customers()[0], k=1)
    with pytest.raises(TableError, match="shoe"):
        rosenblatt.cluster_table(customers()[0], without=["shoe"])


def test_the_budget_ends_the_search():
    frame, _ = customers(3000)
    found = rosenblatt.cluster_table(frame, budget=2.0)
    assert found.findings.seconds < 20
    assert found.k >= 2


def test_a_column_left_out_by_the_user_is_not_called_an_identifier():
    found = rosenblatt.cluster_table("iris", k=2, without=["species"])
    (species,) = [c for c in found.findings.columns if c.name == "species"]
    assert not species.used
    assert (species.kind, species.note) == ("left out", "as asked")


def test_an_error_about_k_names_the_first_wrong_number():
    with pytest.raises(ValueError, match=r"from 2 to 149, or several of them; got 150\.$"):
        rosenblatt.cluster_table("iris", k=range(2, 5000))


def test_the_page_has_the_shares_of_categories_among_all_rows(found):
    first = page(found.findings).split('<th scope="row">pays</th>')[1].split("</td>")[0]
    assert "<div>cash <span>66.7%" in first
    assert "<div>card <span>33.3%" in first


def test_numbers_whose_squares_are_too_large_are_named():
    rows = np.random.default_rng(0).normal(size=60) * 1e200
    with pytest.raises(TableError, match="column 'huge' are too large for 64 bits"):
        rosenblatt.cluster_table(pl.DataFrame({"huge": rows, "more": rows[::-1]}), k=3)


def test_clusters_are_numbered_by_falling_size():
    draw = np.random.RandomState(2)
    kinds = ((120, 1, 0), (110, 1, 3), (118, 2, 6), (52, 0.5, 9))
    X = np.vstack([draw.standard_normal((n, 2)) * s + c for n, s, c in kinds])
    found = rosenblatt.cluster_table(pl.DataFrame(X, schema=["a", "b"]), k=4, random_state=2)
    sizes = np.bincount(found.labels)
    assert (np.diff(sizes) <= 0).all()


def test_one_column_is_left_out_by_its_name_and_numbers_are_read_as_typed():
    found = rosenblatt.cluster_table(customers()[0], k="2-3", without="pays")
    assert {trial.k for trial in found.findings.trials} == {2, 3}
    assert "pays" not in {c.name for c in found.findings.columns if c.used}
    with pytest.raises(ValueError, match="2-8 or 2,4,8; got 'few'"):
        rosenblatt.cluster_table(customers()[0], k="few")
    with pytest.raises(ValueError, match=r"several of them; got 2\.5\.$"):
        rosenblatt.cluster_table(customers()[0], k=2.5)


def test_the_table_of_shares_names_the_most_common_value_and_counts_what_is_true():
    frame = pl.DataFrame({"sex": ["m"] * 5 + ["f"] * 4 + [None], "bites": [True] * 3 + [False] * 7})
    kinds = {"sex": "categorical", "bites": "boolean"}
    profiles = profiles_of(frame, kinds, np.array([0] * 4 + [1] * 6))
    shown = [{d.column: (d.common, d.common_inside) for d in p.differences} for p in profiles]
    assert shown[0] == {"sex": ("m", 1.0), "bites": ("true", 0.75)}
    assert shown[1] == {"sex": ("f", 4 / 6), "bites": ("true", 0.0)}


def test_a_value_that_each_cluster_would_name_is_named_once():
    rng = np.random.default_rng(0)
    frame = customers(60)[0].with_columns(member=pl.Series(rng.random(60) < 0.3))
    text = page(rosenblatt.cluster_table(frame, k=2).findings)
    row = text.split('<th scope="row">member is true</th>')[1].split("</tr>")[0]
    assert row.count("%") == 3
    assert "true" not in row


def test_twelve_clusters_have_marks_of_their_own_on_the_map():
    centres = np.array([[i, j] for i in range(4) for j in range(3)]) * 10.0
    X = np.repeat(centres, 20, axis=0) + np.random.default_rng(0).normal(size=(240, 2))
    text = page(rosenblatt.cluster_table(pl.DataFrame(X, schema=["a", "b"]), k=12).findings)
    marks = re.findall(r'd="M[-.0-9]+ [-.0-9]+(m[^"M]*)[^"]*" class="points (c\d)"', text)
    assert len(set(marks)) == 12
    legend = re.findall(r'd="M7 7(m[^"]*)" class="mark (c\d)"', text)
    assert legend == marks


def test_a_first_clustering_that_takes_long_leaves_time_for_the_others():
    class Hurried(Clock):
        now = 1.5  # seconds that the process took to start

        @property
        def seconds(self):
            return self.now

        def attempt(self, work, seconds, otherwise=None):
            if seconds <= 0:
                self.stopped = "budget"
                return otherwise
            self.now += 1.0 if self.now == 1.5 else 0.01  # the first one loads compiled loops
            return work()

    data = clustering.ClusterData(rosenblatt.data.read_table("iris"), {}, 0)
    assert len(clustering._search(data, [2, 3], Hurried(5.0), None)) == 8


def test_it_is_said_if_every_clustering_has_a_tiny_cluster(found):
    tiny = replace(found.findings.best, sizes=(118, 1, 1))
    assert tiny.flaw == "left aside: a cluster of 1 row"
    reasons = replace(found.findings, best=tiny, trials=[tiny]).reasons
    assert "Every clustering that was tried has a cluster below 3%" in reasons[0]
