"""The tables of the lecture notes: a run worked by hand, visit by visit or pass by pass."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosenblatt.trace.notation import MOST_NUMBERS, has_bias, number, planes, vector
from rosenblatt.trace.run import Run, Step
from rosenblatt.trace.table import Table

MOST_ROWS = 4  # weights of so many classes are written out
MOST_FEATURES = 4  # an example of more is not


def table_of(run: Run, unit: str, max_rows: int) -> Table:
    """The by-hand table of a run; `unit` is what a step is: pass, update or visit."""
    if max_rows < 2:
        raise ValueError(f"max_rows must be an integer >= 2; got {max_rows!r}.")
    caption = _caption(run, unit, max_rows)
    return _visits(run, max_rows, caption) if run.single else _passes(run, max_rows, caption)


def _visits(run: Run, max_rows: int, caption: str) -> Table:
    """A row per visit: the example, weights before it, score, right or wrong, and the update."""
    visits = run.steps[1:]
    # One pass in data order needs no word about which example it is.
    ordered = [step.row for step in visits] == list(range(len(visits)))
    place = () if ordered else ("pass", "row")
    example = ("x", "y") if 0 < run.data.n_features <= MOST_FEATURES else ()
    columns = ("step", *place, *example, "w", "score", "right?", "update")
    shown = [_visit(run, visits[i]) if i >= 0 else None for i in _shown(len(visits), max_rows)]
    rows = [
        _gap(len(columns)) if cells is None else tuple(cells[name] for name in columns)
        for cells in shown
    ]
    last = {"step": "end", "w": _weights(visits[-1])}
    rows.append(tuple(last.get(name, "") for name in columns))
    note = "" if ordered else "; rows count from 0, as in X"
    return Table(columns, tuple(rows), f"{caption[:-1]}{note}.")


def _visit(run: Run, step: Step) -> dict[str, str]:
    """The cells of a visit, by column."""
    before = run.steps[step.step - 1]
    few = step.row is not None and run.data.n_features <= MOST_FEATURES
    return {
        "step": str(step.step),
        "pass": str(step.epoch),
        "row": str(step.row),
        "x": vector(run.data.row(step.row or 0)) if few else "",
        "y": "" if run.data.y is None else str(run.data.labels()[step.row or 0]),
        "w": _weights(before, step),
        "score": "" if step.score is None else _score(step.score),
        "right?": "no" if step.mistake else "yes",
        "update": _update(run, before, step) if step.mistake else "-",
    }


def _passes(run: Run, max_rows: int, caption: str) -> Table:
    """A row per pass: mistakes so far, error, objective, and the weights when they are few."""
    shown = _shown(len(run.steps), max_rows)
    last = planes(run.last)
    few = last is not None and last.shape[1] <= MOST_NUMBERS and len(last) <= MOST_ROWS
    rows = [_pass(run, run.steps[i], few) if i >= 0 else _gap(5) for i in shown]
    columns = ("pass", "mistakes", "error", "objective", "w")
    kept = [j for j in range(5) if any(row[j] not in ("", "...") for row in rows)]
    return Table(
        tuple(columns[j] for j in kept),
        tuple(tuple(row[j] for j in kept) for row in rows),
        caption,
    )


def _pass(run: Run, step: Step, with_weights: bool) -> tuple[str, ...]:
    measures = run.measures(step)
    return (
        str(step.step),
        number(step.n_updates),
        number(measures.error),
        number(measures.objective),
        _weights(step) if with_weights else "",
    )


def _update(run: Run, before: Step, after: Step) -> str:
    """What was added: ``+[1,3,2]``, or ``+[1,3,2] to a, -[1,3,2] from b`` between classes."""
    old, new = planes(before.estimator), planes(after.estimator)
    if old is None or new is None or after.row is None:
        return "yes"
    x = run.data.row(after.row)
    x = np.concatenate([[1.0], x]) if has_bias(after.estimator) else x
    if len(new) == 1:
        return _times(new[0] - old[0], x)
    return ", ".join(
        _times(delta, x) + f" {'to' if delta @ x > 0 else 'from'} {name}"
        for delta, name in zip(new - old, after.estimator.classes_, strict=True)
        if delta.any()
    )


def _times(delta: NDArray[np.float64], x: NDArray[np.float64]) -> str:
    """`delta` as a multiple of the example x where it is one, else as it is."""
    rate = float(delta @ x / (x @ x)) if x.any() else math.nan
    if not np.allclose(delta, rate * x, rtol=1e-6, atol=1e-12):
        return f"+{vector(delta)}"
    sign = "+" if rate > 0 else "-"
    size = "" if math.isclose(abs(rate), 1, rel_tol=1e-6) else f"{number(abs(rate))} "
    return f"{sign}{size}{vector(x)}"


def _weights(step: Step, after: Step | None = None) -> str:
    """The weights; of many classes only the rows that the next step changes."""
    rows = planes(step.estimator)
    if rows is None or len(rows) == 1:
        return "" if rows is None else vector(rows[0])
    names = getattr(step.estimator, "classes_", range(len(rows)))
    lines = [f"{name}: {vector(row)}" for name, row in zip(names, rows, strict=True)]
    if len(rows) <= MOST_ROWS:
        return "\n".join(lines)
    later = None if after is None else planes(after.estimator)
    if later is None or np.array_equal(later, rows):
        return f"{len(rows)} rows"
    return "\n".join(lines[k] for k in np.flatnonzero((later != rows).any(axis=1)))


def _score(score: float | np.ndarray) -> str:
    return number(float(score)) if np.ndim(score) == 0 else vector(score)


def _shown(n: int, most: int) -> Sequence[int]:
    """Which of n rows to show; -1 stands for the rows left out between first and last."""
    if n <= most:
        return range(n)
    head = (most + 1) // 2
    return [*range(head), -1, *range(n - (most - head), n)]


def _gap(width: int) -> tuple[str, ...]:
    return ("...",) * width


def _caption(run: Run, unit: str, most: int) -> str:
    n = len(run.steps) - 1
    units = unit if n == 1 else {"pass": "passes", "update": "updates", "visit": "visits"}[unit]
    rows = n if run.single else n + 1
    part = f", {most} of {rows} rows shown" if rows > most else ""
    bias = "; w has the bias first" if planes(run.last) is not None and has_bias(run.last) else ""
    return f"{run.label}: {n} {units}{part}{bias}."
