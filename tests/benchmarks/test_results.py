"""Rows on disk, and the page made of them."""

import pytest

from benchmarks import ratios, report, results

MACHINE = {"processor": "a processor, 2 cores", "system": "Linux", "python": "3.11"}


def contender(name, cpu, **more):
    return {
        "name": name,
        "settings": f"{name}(defaults)",
        "package": f"{name} 1.0",
        "wanted": None,
        "cpu": cpu,
        "wall": cpu,
        "quality": [0.9],
        "memory": {"extra": 2**20, "input": 20 * 2**20},
        "cold": {"cpu": 0.25, "wall": 0.5},
        **more,
    }


def row(name, ours=(0.001,), peer=(0.002,), **more):
    return {
        "name": name,
        "job": "Does it.",
        "quality": {"name": "accuracy", "slack": 0.0, "least": None},
        "memory_wanted": 0.1,
        "tried": "",
        "limits": {"read": 2e10, "dgemm": 4e10, "gather": 1e9},
        "work": {"read": 1e7},
        "contenders": [
            contender("ours", list(ours)),
            contender("peer", list(peer), wanted=3),
        ],
        "commit": "abc1234",
        "date": "2026-01-01",
        **more,
    }


def test_saving_replaces_rows_of_the_same_name_and_keeps_order_and_commit_of_the_others(tmp_path):
    results.save([row("b"), row("a"), row("gone")], MACHINE, ["a", "b", "gone"], tmp_path)
    results.save([row("b", commit="new"), row("c")], MACHINE, ["a", "b", "c"], tmp_path)
    stored = results.load(tmp_path)
    assert list(stored) == ["a", "b", "c"]
    assert [r["commit"] for r in stored.values()] == ["abc1234", "new", "abc1234"]
    assert stored["c"]["machine"] == MACHINE
    assert (tmp_path / "RESULTS.md").read_text() == report.render(list(stored.values()))


def test_rounding_shortens_floats_and_nothing_else():
    assert results.rounded({"a": [0.12345678, 3], "b": "0.12345678", "c": None}) == {
        "a": [0.123457, 3],
        "b": "0.12345678",
        "c": None,
    }


@pytest.fixture
def page():
    absent = {"name": "gone", "absent": "gone is not installed", "wanted": 4, "settings": "x"}
    below = row("slow job", peer=(0.0025,), tried="Unrolling by four.")
    below["contenders"].append(absent | {"package": "gone"})
    met = row("quick job", ours=(0.001, 0.001, 0.001), peer=(0.003, 0.004, 0.005))
    rows = [ratios.summarize(row) | {"machine": MACHINE} for row in (below, met)]
    return report.render(rows) + report.section(rows[0])


def line_of(page, start):
    return next(line for line in page.splitlines() if line.startswith(start))


def test_a_row_below_the_wanted_stays_marked_with_what_was_tried(page):
    assert "**below:** 2.50x of 3x over peer" in line_of(page, "| slow job |")
    assert "over peer. Tried: Unrolling by four." in line_of(page, "**Below what is wanted:**")


def test_a_row_that_reaches_the_wanted_shows_ratio_spread_and_wanted(page):
    assert (
        line_of(page, "| quick job |")
        == "| quick job | peer | 4.00x (3.50 to 4.50) | 4.00x (3.50 to 4.50) | 3x | reached |"
    )


def test_a_missing_peer_is_named_in_its_row(page):
    assert "gone is not installed" in line_of(page, "| gone |")


def test_every_number_of_a_contender_is_on_the_page(page):
    cells = [cell.strip() for cell in line_of(page, "| ours |").split("|")[1:-1]]
    assert cells == [
        "ours",
        "1 ms (1 ms wall)",
        "1",
        "1",
        "–",
        "0.9000 (one run)",
        "1.0 MB (5%)",
        "250 ms (500 ms wall)",
    ]
    assert "- peer (peer 1.0): peer(defaults)" in page
    # 1e7 bytes in a millisecond is half of 2e10 a second.
    assert "Ours reaches 50% of read bandwidth." in page
    assert "read bandwidth 20.0 GB/s" in page
    assert "random gather in cache 1.00 ns an element" in page
    assert "Measured at abc1234, 2026-01-01." in page


def test_a_bar_in_a_cell_does_not_break_the_table():
    found = row("a job")
    found["contenders"][1] = {
        "name": "peer",
        "absent": "failed with a | b",
        "wanted": None,
        "settings": "",
        "package": "peer",
    }
    assert "failed with a \\| b" in report.section(ratios.summarize(found))
