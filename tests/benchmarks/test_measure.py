"""What the harness does with contenders, on jobs that take no time."""

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.scenario import Contender, Data, Quality, Scenario


@pytest.fixture
def data(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
    return Data(X, y, X, y, tmp_path)


def scenario(data, ours, *peers, rounds=3):
    return Scenario(
        name="a job",
        job="Does it.",
        data=lambda: data,
        ours=ours,
        peers=peers,
        quality=Quality("value", lambda model, data: float(model)),
        limits=lambda data: {"read": data.nbytes},
        rounds=rounds,
    )


def contender(name, run, **more):
    return Contender(name, "defaults", "numpy", run, **more)


@pytest.fixture
def seconds(monkeypatch):
    """A clock that charges what the job returns; the log says who ran, in turn."""
    log = []

    def clock(call, repeats=1):
        answer = call()
        log.append(answer)
        return float(answer), 2.0 * float(answer), answer

    monkeypatch.setattr(measure, "clock", clock)
    return log


def test_contenders_run_in_turns_and_each_round_begins_with_another(data, seconds):
    answers = measure.time_contenders(
        scenario(data, contender("a", lambda d, s: 1), contender("b", lambda d, s: 2)), data
    )
    assert seconds[4:] == [1, 2, 2, 1, 1, 2]  # after two warm-ups each
    assert answers["a"] == {"cpu": [1.0] * 3, "wall": [2.0] * 3, "quality": [1.0] * 3}
    assert list(answers) == ["a", "b"]


def test_a_first_run_of_more_than_a_minute_is_its_own_first_round(data, seconds):
    long, short = contender("a", lambda d, s: 61), contender("b", lambda d, s: 2)
    answers = measure.time_contenders(scenario(data, long, short, rounds=1), data)
    assert seconds == [61, 2, 2, 2]
    assert answers["a"] == {"cpu": [61.0], "wall": [122.0], "quality": [61.0]}


def test_every_round_has_its_own_seed(data, seconds):
    answers = measure.time_contenders(scenario(data, contender("a", lambda d, s: s)), data)
    assert answers["a"]["quality"] == [0.0, 1.0, 2.0]


def test_the_baseline_is_taken_off_and_the_rest_divided_by_the_jobs(data, seconds):
    cached = contender("vw", lambda d, s: 16, baseline=lambda d, s: 6, jobs=5, full=lambda d, s: 7)
    answers = measure.time_contenders(scenario(data, cached), data)
    assert answers["vw"] == {"cpu": [2.0] * 3, "wall": [4.0] * 3, "quality": [7.0]}


def test_a_part_of_a_job_is_scaled_up(data, seconds):
    part = contender("river", lambda d, s: 3, jobs=0.01, full=lambda d, s: 1)
    answers = measure.time_contenders(scenario(data, part, rounds=1), data)
    assert answers["river"]["cpu"] == [pytest.approx(300.0)]


def test_preparation_is_made_once_and_handed_to_every_run(data, seconds):
    made = []

    def prepare(given):
        made.append(given)
        return len(given.y)

    lane = contender("a", lambda rows, s: rows, prepare=prepare)
    assert measure.time_contenders(scenario(data, lane), data)["a"]["cpu"] == [6.0] * 3
    assert made == [data]


def test_a_contender_that_cannot_run_says_why_and_the_others_go_on(data):
    def missing(d, s):
        import no_such_library  # noqa: F401

    def broken(d, s):
        raise ValueError("max_iter must be an integer >= 1; got 0.\nmore")

    answers = measure.time_contenders(
        scenario(
            data,
            contender("a", lambda d, s: 1),
            contender("missing", missing),
            contender("broken", broken),
        ),
        data,
    )
    assert answers["missing"] == {"absent": "no_such_library is not installed"}
    assert answers["broken"] == {
        "absent": "failed with ValueError: max_iter must be an integer >= 1; got 0."
    }
    assert len(answers["a"]["cpu"]) == 3


def test_the_clock_divides_by_the_repeats_and_returns_the_last_answer():
    calls = []
    cpu, wall, answer = measure.clock(lambda: calls.append(0) or len(calls), repeats=4)
    assert len(calls) == answer == 4
    assert cpu >= 0
    assert wall > 0


def test_peak_memory_sees_a_temporary_and_the_size_of_the_input(data):
    def greedy(d, s):
        return np.ones(2**23 if len(d.y) == 6 else 1).sum()  # 64 MB, freed on return

    found = measure.peak_memory(contender("a", greedy), data)
    assert found["input"] == data.nbytes == 12 * 8 + 6 * 8
    assert found["extra"] > 2**25


def test_memory_and_cold_call_use_exactly_one_job(data):
    ran = []
    whole = contender("a", lambda d, s: ran.append("run"), full=lambda d, s: ran.append("full"))
    measure.peak_memory(whole, data)
    answer = measure.cold_call(whole, data)
    assert set(ran) == {"full"}
    assert set(answer) == {"cpu", "wall"}
