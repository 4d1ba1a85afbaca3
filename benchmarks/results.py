"""The rows on disk: `results.json`, and `RESULTS.md` rendered from it."""

import json
from pathlib import Path

from benchmarks.report import render

FOLDER = Path(__file__).parent
DIGITS = 6


def save(rows: list[dict], machine: dict, order: list[str], folder: Path = FOLDER) -> None:
    """Merge the rows into results.json and write RESULTS.md from it."""
    path = folder / "results.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    results = merge(old, rounded(rows), machine, order)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    (folder / "RESULTS.md").write_text(render(results))


def merge(old: dict, rows: list[dict], machine: dict, order: list[str]) -> dict:
    """The old results with `rows` put in place of those of the same name, in the given order."""
    by_name = {row["name"]: row for row in [*old.get("rows", []), *rows]}
    return {"machine": machine, "rows": [by_name[name] for name in order if name in by_name]}


def rounded(value):
    """The same JSON value with floats shortened: the digits beyond are noise."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value
