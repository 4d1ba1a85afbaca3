"""From a scenario to its row: fresh processes, their environment, commit and versions."""

import datetime
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.scenario import Contender, Scenario

ROOT = Path(__file__).parents[1]
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "ROSENBLATT_NUM_THREADS",
)
# Fresh pages are dear: the heap stays resident, or whoever allocates least would win by that alone.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "30000000000"}
COLD_CALLS = 3


def measure_row(scenario: Scenario, scale: float = 1.0, times_only: bool = False) -> dict:
    """Everything measured of one scenario, as plain JSON types."""
    timed = _in_fresh_process("time", scenario, scale, extra_environment=HEAP)
    if "absent" in timed:
        raise RuntimeError(f"{scenario.name}: {timed['absent']}")
    contenders = [_describe(c) | timed["contenders"][c.name] for c in scenario.contenders]
    for contender, entry in zip(scenario.contenders, contenders, strict=True):
        if "absent" in entry:
            entry["absent"] = without_paths(entry["absent"])
        elif not (scenario.score_only or times_only):
            # Memory and cold calls as a user has them: with the default heap.
            entry["memory"] = _in_fresh_process("memory", scenario, scale, contender)
            entry["cold"] = _cold_calls(scenario, scale, contender)
    return {
        "name": scenario.name,
        "job": scenario.job,
        "quality": {
            "name": scenario.quality.name,
            "slack": scenario.quality.slack,
            "least": scenario.quality.least,
        },
        "memory_wanted": scenario.memory_wanted,
        "tried": scenario.tried,
        "limits": timed["limits"],
        "work": timed["work"],
        "text_bytes": timed["text_bytes"],
        "contenders": contenders,
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }


def _describe(contender: Contender) -> dict:
    try:
        version = importlib.metadata.version(contender.package)
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return {
        "name": contender.name,
        "settings": contender.settings,
        "package": f"{contender.package} {version}".strip(),
        "wanted": contender.wanted,
    }


def _cold_calls(scenario: Scenario, scale: float, contender: Contender) -> dict:
    """The middle one of a few cold calls; a slow one is measured once."""
    calls = []
    while len(calls) < COLD_CALLS:
        calls.append(_in_fresh_process("cold", scenario, scale, contender))
        if "absent" in calls[-1] or calls[-1]["wall"] > 5:
            break
    return sorted(calls, key=lambda call: call.get("cpu", 0))[len(calls) // 2]


def _in_fresh_process(
    job: str,
    scenario: Scenario,
    scale: float,
    contender: Contender | None = None,
    extra_environment: dict[str, str] | None = None,
) -> dict:
    """The answer of `worker.py`, or {"absent": the last line it said}."""
    inherited = {name: value for name, value in os.environ.items() if name not in HEAP}
    threads = dict.fromkeys(THREADS, str(scenario.threads))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "benchmarks.worker", job, scenario.slug, str(answer)]
        command += ["--scale", str(scale), "--contender", contender.name if contender else ""]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=inherited | threads | (extra_environment or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return json.loads(answer.read_text())
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return {"absent": without_paths(f"failed with {lines[-1]}")}


def without_paths(text: str) -> str:
    """The text with folders of this machine taken off file names."""
    return re.sub(r"(?<![\w.])/(?:[^\s/'\"]+/)+", "", text)


def commit() -> str:
    """Short hash of the commit measured, with + when files beside the results differ from it."""
    head = _git("rev-parse", "--short", "HEAD")
    results = [":!benchmarks/RESULTS.md", ":!benchmarks/results.jsonl"]
    changed = _git("status", "--porcelain", "--", ".", *results)
    return (head or "before the first commit") + ("+" if head and changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> dict[str, str]:
    """The kind of machine, without its name."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            names = [line.split(":", 1)[1].strip() for line in info if "model name" in line]
        processor = f"{names[0]}, {len(names)} cores"
    except (OSError, IndexError):
        pass
    return {
        "processor": processor,
        "system": platform.system(),
        "python": platform.python_version(),
    }
