"""The tables of the lecture notes: a run worked by hand, visit by visit or pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.trace.cells import bias_of, counts_of, pace_of, update_of, weights_of
from rosenblatt.trace.frame import has, kept, searches_penalty
from rosenblatt.trace.guises import published, running
from rosenblatt.trace.notation import MOST_NUMBERS, has_bias, number, planes, score, vector
from rosenblatt.trace.run import Run, Step
from rosenblatt.trace.supports import has_supports
from rosenblatt.trace.table import Table

COUNTS = ("pass", "mistakes", "so far")
PROVED = {"dual_gap": "gap", "gradient_norm": "gradient"}  # columns, of models that know them
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
    columns = ("step", *place, *example, *_states(run), "score", "right?", "update")
    shown = [_visit(run, visits[i]) if i >= 0 else None for i in _shown(len(visits), max_rows)]
    rows = [
        _gap(len(columns)) if cells is None else tuple(cells[name] for name in columns)
        for cells in shown
    ]
    last = {"step": "end", **_state(run, visits[-1])}
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
        **_state(run, before, step),
        "score": "" if step.score is None else score(step.score),
        "right?": "no" if step.mistake else "yes",
        "update": update_of(run, before, step) if step.mistake else "-",
    }


def _states(run: Run) -> tuple[str, ...]:
    """The columns for what is learnt: the run's weights first, since they are worked with."""
    if has_supports(run.last):
        return ("a", "b") if has_bias(run.last) else ("a",)
    name = published(run.last)
    return ("w", name) if name else ("w",)


def _state(run: Run, step: Step, after: Step | None = None) -> dict[str, str]:
    """What was learnt up to `step`, by column."""
    model, later = step.estimator, None if after is None else after.estimator
    if has_supports(model):
        return {"a": counts_of(run, model), "b": bias_of(model)}
    name = published(model)
    if not name:
        return {"w": weights_of(model, later, MOST_ROWS)}
    now, then = running(model), None if later is None else running(later)
    return {"w": weights_of(now, then, MOST_ROWS), name: weights_of(model, later, MOST_ROWS)}


def _passes(run: Run, max_rows: int, caption: str) -> Table:
    """A row per pass: mistakes in it and so far, error, objective, and weights if they are few.

    Steps of a fixed length have the next update: the length, and the gradient they go along.
    """
    few = _few_weights(run)
    shown = [
        _pass(run, run.steps[i], few) if i >= 0 else None for i in _shown(len(run.steps), max_rows)
    ]
    columns = [
        name
        for name in (
            *COUNTS,
            "alpha",
            "kept",
            *_qualities(run),
            "supports",
            "w",
            published(run.last),
            "update",
        )
        if any(cells and cells.get(name) for cells in shown)
    ]
    rows = [
        _gap(len(columns)) if cells is None else tuple(cells.get(name, "") for name in columns)
        for cells in shown
    ]
    return Table(tuple(columns), tuple(rows), caption)


def _few_weights(run: Run) -> bool:
    """Whether there are weights, and so few that a table of passes has them."""
    last = planes(run.last)
    return last is not None and last.shape[1] <= MOST_NUMBERS and len(last) <= MOST_ROWS


def _qualities(run: Run) -> tuple[str, ...]:
    """The columns for objective and errors: whose they are is said where there are two.

    The objective is the run's, whose corrections are steps against its gradient.
    """
    name = published(run.last)
    if name:
        return ("error of w", "objective of w", f"error of {name}")
    return ("error", "objective", *(word for of, word in PROVED.items() if has(run, of)))


def _pass(run: Run, step: Step, with_weights: bool) -> dict[str, str]:
    """The cells of a pass, by column."""
    measures, model = run.measures(step), step.estimator
    values = [measures.error, measures.objective]
    values += [getattr(measures, of) for of in PROVED if has(run, of)]
    if published(run.last):
        values = [measures.last_error, measures.last_objective, measures.error]
    counts = (str(step.step), number(run.mistakes(step)), number(step.n_updates))
    search = {}
    if searches_penalty(run):
        search = {"alpha": number(model.alpha_), "kept": str(kept(model))}
    return {
        **dict(zip(COUNTS, counts, strict=True)),
        **search,
        **dict(zip(_qualities(run), map(number, values), strict=True)),
        "supports": str(len(model.support_)) if has_supports(model) else "",
        **(_state(run, step) if with_weights else {}),
        "update": pace_of(model, _after(run, step)) if with_weights else "",
    }


def _after(run: Run, step: Step) -> Any:
    """The model one step later; None at the end."""
    later = run.steps[step.step + 1 : step.step + 2]
    return later[0].estimator if later else None


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
    shown = planes(run.last) is not None if run.single else _few_weights(run)
    bias = "; w has the bias first" if shown and has_bias(run.last) else ""
    name = published(run.last)
    whose = f"; w is the run's, beside its {name}" if name else ""
    if run.single and has_supports(run.last):
        whose = "; a has a number for each row of X"
    if searches_penalty(run):
        whose = "; alpha was searched for, and the last passes are made with what was found"
    return f"{run.label}: {n} {units}{part}{bias}{whose}."
