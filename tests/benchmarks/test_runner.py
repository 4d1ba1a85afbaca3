"""Fresh processes and what is recorded of them."""

import json
import os
import subprocess

import pytest

from benchmarks import runner
from benchmarks.scenario import choose
from benchmarks.scenarios import all_scenarios

SCALE = 0.01


@pytest.fixture(scope="module")
def separable():
    return next(s for s in all_scenarios(SCALE) if s.slug.endswith("100-separable"))


def test_slugs_are_unique_and_every_row_has_a_wanted_ratio():
    scenarios = all_scenarios()
    assert len({s.slug for s in scenarios}) == len(scenarios)
    for scenario in scenarios:
        names = [c.name for c in scenario.contenders]
        assert len(set(names)) == len(names)
        assert any(peer.wanted for peer in scenario.peers)


def test_scenarios_are_chosen_by_name_slug_or_part_of_it():
    scenarios = all_scenarios()
    in_order = scenarios[1]
    assert choose(scenarios, []) == scenarios
    # An exact name is that one alone, though it also begins the next one's.
    assert choose(scenarios, [scenarios[0].slug]) == [scenarios[0]]
    assert choose(scenarios, [in_order.name, "in-order"]) == [in_order]
    assert len(choose(scenarios, ["separability"])) == 2
    with pytest.raises(ValueError, match=r"only must name a scenario of .*; got 'nothing'\."):
        choose(scenarios, ["nothing"])


def test_a_worker_process_answers_in_json(separable):
    peer = separable.peers[0]
    answer = runner._in_fresh_process("cold", separable, SCALE, peer)
    assert set(answer) == {"cpu", "wall"}


def test_a_worker_that_fails_says_its_last_line(separable, monkeypatch):
    def broken(command, **more):
        return subprocess.CompletedProcess(command, 1, stderr="Traceback\nOSError: no /a/b/c.npy")

    monkeypatch.setattr(subprocess, "run", broken)
    answer = runner._in_fresh_process("time", separable, SCALE)
    assert answer == {"absent": "failed with OSError: no c.npy"}


def test_timings_have_one_thread_and_a_resident_heap_and_the_rest_the_default_heap(
    separable, monkeypatch
):
    seen = {}

    def worker(command, *, env, **more):
        job = command[3]
        seen[job] = env
        answers = {
            "time": {
                "limits": {"read": 1.0},
                "work": {"read": 1.0},
                "text_bytes": None,
                "contenders": {
                    c.name: {"cpu": [1.0], "wall": [1.0], "quality": [1.0]}
                    for c in separable.contenders
                },
            },
            "memory": {"extra": 1, "input": 10},
            "cold": {"cpu": 1.0, "wall": 1.0},
        }
        with open(command[5], "w") as answer:
            json.dump(answers[job], answer)
        return subprocess.CompletedProcess(command, 0, stdout="", stderr="")

    monkeypatch.setenv("MALLOC_MMAP_MAX_", "7")
    monkeypatch.setattr(runner, "commit", lambda: "abc1234+")
    monkeypatch.setattr(subprocess, "run", worker)
    row = runner.measure_row(separable, SCALE)

    for environment in seen.values():
        assert environment.items() >= dict.fromkeys(runner.THREADS, "1").items()
        assert environment["PATH"] == os.environ["PATH"]
    assert seen["time"].items() >= runner.HEAP.items()
    assert not runner.HEAP.keys() & seen["memory"].keys()
    assert not runner.HEAP.keys() & seen["cold"].keys()
    assert row["commit"] == "abc1234+"
    assert [c["name"] for c in row["contenders"]] == [c.name for c in separable.contenders]
    assert row["contenders"][1]["package"].startswith("scipy ")
    assert row["contenders"][0]["cold"] == {"cpu": 1.0, "wall": 1.0}
    assert json.loads(json.dumps(row)) == row


def test_the_commit_has_a_plus_when_files_differ(monkeypatch):
    said = {"rev-parse": "abc1234", "status": ""}
    monkeypatch.setattr(runner, "_git", lambda verb, *more: said[verb])
    assert runner.commit() == "abc1234"
    said["status"] = " M src/rosenblatt/base.py"
    assert runner.commit() == "abc1234+"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("no file /home/someone/main/x.npy", "no file x.npy"),
        ("13 GB/s and a/b/c", "13 GB/s and a/b/c"),
        ("cannot import 'P' (/usr/lib/p.py)", "cannot import 'P' (p.py)"),
    ],
)
def test_folders_of_this_machine_do_not_reach_the_results(text, kept):
    assert runner.without_paths(text) == kept


def test_the_machine_is_described_without_its_name():
    described = runner.machine()
    assert set(described) == {"processor", "system", "python"}
    assert os.uname().nodename not in described.values()
