"""The arithmetic of a row, on numbers small enough to check by hand."""

import pytest

from benchmarks import ratios, report


def contender(name, cpu, *, wall=None, quality=0.9, wanted=None, memory=None, **more):
    return {
        "name": name,
        "settings": "defaults",
        "package": f"{name} 1.0",
        "wanted": wanted,
        "cpu": cpu,
        "wall": wall or cpu,
        "quality": [quality],
        "memory": memory or {"extra": 5, "input": 100},
        "cold": {"cpu": 1.0, "wall": 1.5},
        **more,
    }


def row(*contenders, name="a job", **more):
    measured = {
        "name": name,
        "job": "Does it.",
        "quality": {"name": "accuracy", "slack": 0.01, "least": None},
        "memory_wanted": 0.1,
        "tried": "",
        "limits": {"read": 1000.0},
        "work": {"read": 500.0},
        "contenders": list(contenders),
        "commit": "abc1234",
        "date": "2026-01-01",
        **more,
    }
    return ratios.summarize(measured)


def test_the_ratio_is_taken_round_by_round_and_its_quartiles_are_the_spread():
    ours = contender("ours", [1.0, 2.0, 1.0, 2.0, 1.0])
    peer = contender("peer", [3.0, 8.0, 5.0, 12.0, 7.0])  # ratios 3, 4, 5, 6, 7
    _, found = row(ours, peer)["contenders"]
    assert ratios.ratio(found) == ratios.Spread(median=5.0, low=4.0, high=6.0)


def test_wall_and_cpu_ratios_are_separate():
    ours = contender("ours", [1.0], wall=[2.0])
    peer = contender("peer", [3.0], wall=[3.0])
    _, found = row(ours, peer)["contenders"]
    assert ratios.ratio(found).median == 3.0
    assert ratios.ratio(found, "wall").median == 1.5


def test_the_best_peer_is_the_fastest_that_ran():
    ours = contender("ours", [1.0])
    absent = {"name": "gone", "absent": "gone is not installed", "wanted": 2}
    slow, fast = contender("slow", [9.0]), contender("fast", [2.0])
    assert ratios.best_peer(row(ours, absent, slow, fast))["name"] == "fast"
    assert ratios.best_peer(row(ours, absent)) is None


def test_the_share_of_a_limit_is_the_least_work_over_our_time_over_the_limit():
    # 500 bytes in 2 seconds on a machine that reads 1000 bytes a second.
    assert ratios.limit_shares(row(contender("ours", [2.0]))) == {"read": 0.25}


def test_nothing_is_marked_when_all_is_reached():
    met = row(contender("ours", [1.0]), contender("peer", [3.0], wanted=3))
    assert ratios.shortfalls(met) == []


def test_a_ratio_below_the_wanted_is_marked_for_each_peer():
    below = row(
        contender("ours", [1.0]),
        contender("fast", [2.5], wanted=3),
        contender("slow", [3.5], wanted=4),
        contender("extra", [1.0]),  # nothing wanted of it
    )
    assert ratios.shortfalls(below) == ["2.50x of 3x over fast", "3.50x of 4x over slow"]


@pytest.mark.parametrize(("quality", "marked"), [(0.895, False), (0.88, True)])
def test_a_quality_below_the_best_peer_is_marked_beyond_the_slack(quality, marked):
    found = ratios.shortfalls(
        row(contender("ours", [1.0], quality=quality), contender("peer", [3.0], quality=0.9))
    )
    assert found == (["accuracy 0.0200 below peer"] if marked else [])


def test_one_bad_seed_counts_against_the_quality():
    """A median and a wide slack once called a fit equal that failed on one seed in eleven."""
    ours = contender("ours", [1.0]) | {"quality": [0.9] * 10 + [0.73]}
    peer = contender("peer", [3.0]) | {"quality": [0.9] * 11}
    assert ratios.shortfalls(row(ours, peer)) == ["accuracy 0.0155 below peer"]


def test_the_scatter_of_the_peer_is_allowed_for_and_our_own_is_no_excuse():
    steady, scattered = [0.90] * 8, [0.80, 1.00] * 4
    lower = [0.86] * 8
    allowed = row(
        contender("ours", [1.0]) | {"quality": lower},
        contender("peer", [3.0]) | {"quality": scattered},
    )
    assert ratios.shortfalls(allowed) == []
    wild = row(
        contender("ours", [1.0]) | {"quality": [0.72, 1.00] * 4},  # mean 0.86 too
        contender("peer", [3.0]) | {"quality": steady},
    )
    assert ratios.shortfalls(wild) == ["accuracy 0.0400 below peer"]


def test_a_peer_that_did_not_do_the_job_is_not_beaten():
    """A linear program without a verdict once stood in the table as a win of 485x."""
    ours = contender("ours", [1.0], quality=1.0)
    failed = contender("failed", [485.0], quality=0.0, wanted=1)
    right = contender("right", [12.0], quality=1.0, wanted=1)
    judged = row(ours, failed, right, quality={"name": "verdict", "slack": 0.0, "least": 1.0})
    assert [peer["name"] for peer in ratios.present(judged)] == ["right"]
    assert ratios.best_peer(judged)["name"] == "right"
    page = report.section(judged)
    assert "none: did not do the job" in page
    assert "485.00x" not in page


def test_ours_failing_the_job_is_marked():
    ours, peer = contender("ours", [1.0], quality=0.0), contender("peer", [2.0], quality=0.0)
    judged = row(ours, peer, quality={"name": "verdict", "slack": 0.0, "least": 1.0})
    assert ratios.shortfalls(judged) == ["verdict: not in every round"]


def test_memory_above_the_wanted_share_is_marked():
    greedy = row(contender("ours", [1.0], memory={"extra": 120, "input": 100}))
    assert ratios.shortfalls(greedy) == ["memory +120% of the input, wanted +10%"]
    assert ratios.shortfalls(greedy | {"memory_wanted": None}) == []


def test_a_row_without_ours_says_so():
    absent = {"name": "ours", "absent": "ours is not installed", "wanted": None}
    found = row(absent, contender("peer", [1.0], wanted=3))
    assert ratios.shortfalls(found) == ["not measured: ours is not installed"]
    assert ratios.limit_shares(found) == {}
