"""The three measurements: interleaved times, peak memory, the cold first call.

Each is run by `worker.py` in a fresh process; none of them decides what a good number is.
"""

import ctypes
import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from benchmarks.scenario import Contender, Data, Scenario

LEAST_SECONDS = 0.05  # shorter runs are repeated until one timing lasts about this long
A_MINUTE = 60.0  # of CPU: what a first call loads or compiles is little beside a run this long


@dataclass
class Lane:
    """One contender in the race: its prepared data and what was measured so far."""

    contender: Contender
    prepared: object
    repeats: int = 1
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)


def clock(call: Callable[[], object], repeats: int = 1) -> tuple[float, float, object]:
    """CPU seconds of this process and of those it started, wall seconds, and the last result."""
    gc.collect()
    gc.disable()
    try:
        wall, cpu = time.perf_counter(), cpu_seconds()
        for _ in range(repeats):
            result = call()
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    finally:
        gc.enable()
    return cpu / repeats, wall / repeats, result


def cpu_seconds() -> float:
    """CPU time so far, of processes that have ended, too: a peer may be a command."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def time_contenders(scenario: Scenario, data: Data) -> dict[str, dict]:
    """Run all contenders in turn, round after round; name -> cpu, wall and quality lists.

    A contender that cannot run gets {"absent": why} and the others go on.
    """
    lanes, answers = [], {}
    for contender in scenario.contenders:
        try:
            lanes.append(_warm_up(contender, scenario, data))
        except Exception as error:
            answers[contender.name] = {"absent": reason(error)}

    for number in range(scenario.rounds):
        # Start each round with another contender: nobody always runs on the caches of one rival.
        turn = number % max(len(lanes), 1)
        for lane in lanes[turn:] + lanes[:turn]:
            if len(lane.cpu) <= number:
                _timed_round(lane, scenario, data, seed=number)

    for lane in lanes:
        answers[lane.contender.name] = {
            "cpu": lane.cpu,
            "wall": lane.wall,
            "quality": lane.quality,
        }
    return {c.name: answers[c.name] for c in scenario.contenders}


def reason(error: Exception) -> str:
    """One line on why a contender cannot run."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{error.name} is not installed"
    return f"failed with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _warm_up(contender: Contender, scenario: Scenario, data: Data) -> Lane:
    """Prepare, compile, page in; find how often a short run must be repeated.

    A first run of more than a minute is its own first round.
    """
    lane = Lane(contender, contender.prepare(data))
    if scenario.score_only:
        return lane
    _timed_round(lane, scenario, data, seed=0)
    if lane.cpu[0] * contender.jobs < A_MINUTE:
        lane.cpu, lane.wall, lane.quality = [], [], []
        cpu, _, _ = clock(lambda: contender.run(lane.prepared, 0))
        lane.repeats = max(1, min(1000, round(LEAST_SECONDS / max(cpu, 1e-9))))
    if contender.full is not None:
        lane.quality.append(scenario.quality.of(contender.full(lane.prepared, 0), data))
    return lane


def _timed_round(lane: Lane, scenario: Scenario, data: Data, seed: int) -> None:
    """One timing of one contender, and the quality of the model it made."""
    contender = lane.contender
    cpu, wall, model = clock(lambda: contender.run(lane.prepared, seed), lane.repeats)
    if contender.baseline is not None:
        idle_cpu, idle_wall, _ = clock(
            lambda: contender.baseline(lane.prepared, seed), lane.repeats
        )
        cpu, wall = cpu - idle_cpu, wall - idle_wall
    lane.cpu.append(cpu / contender.jobs)
    lane.wall.append(wall / contender.jobs)
    if contender.full is None:
        lane.quality.append(scenario.quality.of(model, data))


def peak_memory(contender: Contender, data: Data) -> dict[str, int]:
    """Bytes one job adds at its peak to a process that has the data and the code loaded.

    The code is loaded by the same job on the first rows; the heap is given back to the system
    after it, so that nothing freed earlier hides what the job takes.
    """
    job = contender.full or contender.run
    job(contender.prepare(_first_rows(data)), 0)
    prepared = contender.prepare(data)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak starts again from here
    before = _status_bytes("VmRSS")
    job(prepared, 0)
    return {"extra": max(0, _status_bytes("VmHWM") - before), "input": data.nbytes}


def _first_rows(data: Data, least=200) -> Data:
    """A small part of the data with every class in it, in a folder of its own."""
    n = min(len(data.y), max(least, len(data.y) // 200))
    folder = data.folder / "first"
    folder.mkdir(exist_ok=True)
    X = data.X[:n]
    X = X.copy() if hasattr(X, "copy") else X.clone()
    return replace(data, X=X, y=data.y[:n].copy(), folder=folder)


def _status_bytes(key: str) -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(key))
    return int(line.split()[1]) * 1024


def cold_call(contender: Contender, data: Data) -> dict[str, float]:
    """Seconds of the first job of a process, the import of the library included.

    NumPy and the data are there already; compiled loops are on disk.
    """
    prepared = contender.prepare(data)
    job = contender.full or contender.run
    cpu, wall, _ = clock(lambda: job(prepared, 0))
    return {"cpu": cpu, "wall": wall}
