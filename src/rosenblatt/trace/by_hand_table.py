"""The tables of the lecture notes: a run worked by hand, visit by visit or pass by pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view
from rosenblatt.trace.frame import has, kept, searches_penalty
from rosenblatt.trace.notation import (
    MOST_NUMBERS,
    has_bias,
    number,
    planes,
    rounding,
    score,
    tidied,
    vector,
)
from rosenblatt.trace.run import Run, Step

from .model_views import coefficients, has_supports, published, running
from .notation import Table

COUNTS = ("pass", "mistakes", "so far")
PROVED = {"dual_gap": "gap", "gradient_norm": "gradient"}  # columns, of models that know them
MOST_ROWS = 4  # weights of so many classes are written out
MOST_FEATURES = 4  # an example of more is not


def table_of(run: Run, unit: str, max_rows: int) -> Table:
    """The by-hand table of a run; `unit` is what a step is: pass, update, visit, split or tree."""
    if max_rows < 2:
        raise ValueError(f"max_rows must be an integer >= 2; got {max_rows!r}.")
    caption = _caption(run, unit, max_rows)
    if run.single:
        return _visits(run, max_rows, caption)
    return _passes(run, max_rows, caption, unit)


def _visits(run: Run, max_rows: int, caption: str) -> Table:
    """A row per visit: the example, weights before it, score, right or wrong, and the update."""
    visits = run.steps[1:]
    # One pass in data order needs no word about which example it is.
    ordered = [step.row for step in visits] == list(range(len(visits)))
    place = () if ordered else ("pass", "row")
    example = ("x", "y") if 0 < run.data.n_features <= MOST_FEATURES else ()
    columns = ("step", *place, *example, *_states(run), "score", "right?", "update")
    shown = [_visit(run, visits[i]) if i >= 0 else None for i in _shown(len(visits), max_rows)]
    shown.append({"step": "end", **_state(run, visits[-1])})
    note = "" if ordered else "; rows count from 0, as in X"
    return Table(columns, _rows(shown, columns), f"{caption[:-1]}{note}.")


def _rows(
    shown: Sequence[dict[str, str] | None], columns: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The cells of each row, in the order of the columns; dots for None."""
    return tuple(
        tuple("..." if cells is None else cells.get(name, "") for name in columns)
        for cells in shown
    )


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


def _passes(run: Run, max_rows: int, caption: str, unit: str) -> Table:
    """A row per pass: mistakes in it and so far, error, objective, and weights if they are few.

    Steps of a fixed length have the next update: the length, and the gradient they go along.
    """
    few = _few_weights(run)
    shown = [
        _pass(run, run.steps[i], few) if i >= 0 else None for i in _shown(len(run.steps), max_rows)
    ]
    states = ("supports", "w", published(run.last), "update")
    known = (*COUNTS, "what", "alpha", "kept", *_qualities(run), *states)
    columns = tuple(name for name in known if any(cells and cells.get(name) for cells in shown))
    names = tuple(unit if name == "pass" else name for name in columns)
    return Table(names, _rows(shown, columns), caption)


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
    later = run.steps[step.step + 1 : step.step + 2]
    return {
        **dict(zip(COUNTS, counts, strict=True)),
        "what": trace_view(model).get("news", ""),
        **search,
        **dict(zip(_qualities(run), map(number, values), strict=True)),
        "supports": str(len(trace_view(model)["supports"])) if has_supports(model) else "",
        **(_state(run, step) if with_weights else {}),
        "update": pace_of(model, later[0].estimator) if with_weights and later else "",
    }


def _shown(n: int, most: int) -> Sequence[int]:
    """Which of n rows to show; -1 stands for the rows left out between first and last."""
    if n <= most:
        return range(n)
    head = (most + 1) // 2
    return [*range(head), -1, *range(n - (most - head), n)]


def _caption(run: Run, unit: str, most: int) -> str:
    n = len(run.steps) - 1
    units = unit if n == 1 else {"pass": "passes"}.get(unit, f"{unit}s")
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


# What stands in the cells of a by-hand table: weights, coefficients and their updates.


MOST_COUNTS = 4  # coefficients of so many supports are written out where there are many rows


def weights_of(model: Any, later: Any, most: int) -> str:
    """The weights; of more than `most` classes only the rows that are others in `later`."""
    rows = planes(model)
    if rows is None:
        return ""
    words = [vector(tidied(row, rounding(model))) for row in rows]
    if len(rows) == 1:
        return words[0]
    lines = [f"{name}: {word}" for name, word in zip(_classes(model), words, strict=True)]
    if len(rows) <= most:
        return "\n".join(lines)
    changed = None if later is None else planes(later)
    if changed is None or np.array_equal(changed, rows):
        return f"{len(rows)} rows"
    return "\n".join(lines[k] for k in np.flatnonzero((changed != rows).any(axis=1)))


def counts_of(run: Run, model: Any) -> str:
    """How much each row counts in a kernel model: all if they are few, else the supports."""
    view = trace_view(model)
    n, several = len(run.data.labels()), len(view["support_weights"]) > 1
    names = [f"{name}: " for name in _classes(model)] if several else [""]
    if n <= MOST_NUMBERS:
        rows = tidied(coefficients(model, range(n)), rounding(model))
        return "\n".join(f"{name}{vector(row)}" for name, row in zip(names, rows, strict=True))
    s = len(view["supports"])
    if several or s > MOST_COUNTS:
        return "1 support" if s == 1 else f"{s} supports"
    pairs = zip(view["supports"], view["support_weights"][0], strict=True)
    return ", ".join(f"a{row} = {number(float(count))}" for row, count in pairs) or "0"


def bias_of(model: Any) -> str:
    """The intercept, or one per class."""
    view = trace_view(model)
    biases = tidied(view["intercept"], rounding(model), beside=view["support_weights"])
    return score(biases if len(biases) > 1 else biases[0])


def update_of(run: Run, before: Step, after: Step) -> str:
    """What a visit changed, in the weights of the run or the coefficients of a kernel model."""
    if after.row is None or before.estimator is None:
        return "yes"
    if has_supports(after.estimator):
        return _counted(before.estimator, after.estimator, after.row)
    return _added(run, _run_of(before.estimator), _run_of(after.estimator), after.row)


def _counted(before: Any, after: Any, row: int) -> str:
    """``a1 += 1, b += 1``, or between classes ``elm: a1 -= 1, b -= 1; oak: a1 += 1, b += 1``."""
    # A row may speak for those identical to it, so the change is that of the sum over rows.
    then, now = trace_view(before), trace_view(after)
    old, new = (np.asarray(v["support_weights"], np.float64).sum(axis=1) for v in (then, now))
    counts = np.asarray(new - old)
    biases = np.subtract(now["intercept"], then["intercept"], dtype=np.float64)
    names = [f"{name}: " for name in _classes(after)] if len(counts) > 1 else [""]
    changes = [
        (name, _steps({f"a{row}": float(count), "b": float(bias)}))
        for name, count, bias in zip(names, counts, biases, strict=True)
    ]
    return "; ".join(name + steps for name, steps in changes if steps)


def _steps(changes: dict[str, float]) -> str:
    return ", ".join(
        f"{letter} {'+=' if change > 0 else '-='} {number(abs(change))}"
        for letter, change in changes.items()
        if change
    )


def _added(run: Run, before: Any, after: Any, row: int) -> str:
    """What was added: ``+[1,3,2]``, or ``+[1,3,2] to a, -[1,3,2] from b`` between classes."""
    old, new = planes(before), planes(after)
    if old is None or new is None:
        return "yes"
    x = run.data.row(row)
    x = np.concatenate([[1.0], x]) if has_bias(after) else x
    if len(new) == 1:
        return _times(new[0] - old[0], x)
    return ", ".join(
        _times(delta, x) + f" {'to' if delta @ x > 0 else 'from'} {name}"
        for delta, name in zip(new - old, after.classes_, strict=True)
        if delta.any()
    )


def pace_of(model: Any, later: Any) -> str:
    """How a step of fixed length leads from a model to a later one: +0.1 [0,2.5,-2.5]."""
    length = getattr(model, "eta0", None)
    if later is None or length is None or getattr(model, "solver", None) != "gradient":
        return ""
    before, after = planes(model), planes(later)
    if before is None or after is None or len(before) > 1:
        return ""
    return f"+{number(length)} {vector(tidied((after - before)[0] / length, rounding(model)))}"


def _times(delta: NDArray[np.float64], x: NDArray[np.float64]) -> str:
    """`delta` as a multiple of the example x where it is one, else as it is."""
    rate = float(delta @ x / (x @ x)) if x.any() else math.nan
    if not np.allclose(delta, rate * x, rtol=1e-6, atol=1e-12):
        return f"+{vector(delta)}"
    sign = "+" if rate > 0 else "-"
    size = "" if math.isclose(abs(rate), 1, rel_tol=1e-6) else f"{number(abs(rate))} "
    return f"{sign}{size}{vector(x)}"


def _run_of(model: Any) -> Any:
    """The model with the weights of its run, whatever it publishes."""
    run_itself = running(model)
    return model if run_itself is None else run_itself


def _classes(model: Any) -> Any:
    """Names for the rows of weights."""
    view = trace_view(model)
    coef = view.get("weights", view.get("support_weights", ()))
    return getattr(model, "classes_", range(len(coef)))
