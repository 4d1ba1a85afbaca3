"""Results on disk: `results.jsonl`, a line for each scenario, and the table `RESULTS.md`."""

import json
from pathlib import Path
from typing import Any

from benchmarks.ratios import summarize
from benchmarks.report import render

FOLDER = Path(__file__).parent
DIGITS = 6  # of a number; more is noise


def load(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """Return the stored rows by name."""
    path = folder / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def save(rows: list[dict], machine: dict, order: list[str], folder: Path = FOLDER) -> None:
    """Replace the rows of the same names in results.jsonl, and write RESULTS.md from it."""
    new = {row["name"]: rounded(summarize(row) | {"machine": machine}) for row in rows}
    by_name = load(folder) | new
    kept = [by_name[name] for name in order if name in by_name]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
    (folder / "results.jsonl").write_text(lines, encoding="utf-8")
    (folder / "RESULTS.md").write_text(render(kept), encoding="utf-8")


def rounded(value: Any) -> Any:
    """Return the same JSON value with fewer digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value
