"""One measurement in a process of its own: ``python -m benchmarks.worker JOB SCENARIO ...``.

The environment (threads, heap) is set by `runner.py`, before NumPy is imported here.
"""

import argparse
import json
import warnings
from pathlib import Path

from benchmarks import measure
from benchmarks.scenarios import all_scenarios


def main(arguments=None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.worker")
    parser.add_argument("job", choices=["time", "memory", "cold"])
    parser.add_argument("scenario")
    parser.add_argument("answer", type=Path)
    parser.add_argument("--contender", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args(arguments)

    warnings.simplefilter("ignore")  # one pass is short of convergence, and says so
    scenario = next(s for s in all_scenarios(given.scale) if s.slug == given.scenario)
    contender = next((c for c in scenario.contenders if c.name == given.contender), None)
    data = scenario.data()
    if given.job == "time":
        answer = _time(scenario, data)
    elif given.job == "memory":
        answer = measure.peak_memory(contender, data)
    else:
        answer = measure.cold_call(contender, data)
    given.answer.write_text(json.dumps(answer))


def _time(scenario, data) -> dict:
    from benchmarks import limits  # here, so that a cold call does not find numba imported

    before = limits.machine_limits()
    contenders = measure.time_contenders(scenario, data)
    return {
        "limits": limits.best(before, limits.machine_limits()),
        "work": {**scenario.limits(data)},
        "text_bytes": scenario.text_bytes(data) if scenario.text_bytes else None,
        "contenders": contenders,
    }


if __name__ == "__main__":
    main()
