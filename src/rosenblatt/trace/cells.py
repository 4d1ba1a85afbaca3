"""What stands in the cells of a by-hand table: weights, coefficients and their updates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.trace.guises import running
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
from rosenblatt.trace.supports import coefficients, has_supports

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
    n, several = len(run.data.labels()), len(model.dual_coef_) > 1
    names = [f"{name}: " for name in _classes(model)] if several else [""]
    if n <= MOST_NUMBERS:
        rows = tidied(coefficients(model, range(n)), rounding(model))
        return "\n".join(f"{name}{vector(row)}" for name, row in zip(names, rows, strict=True))
    s = len(model.support_)
    if several or s > MOST_COUNTS:
        return "1 support" if s == 1 else f"{s} supports"
    return _named_counts(model)


def _named_counts(model: Any) -> str:
    """``a2 = 1, a7 = -1``: the coefficients of few supports by their rows."""
    pairs = zip(model.support_, model.dual_coef_[0], strict=True)
    return ", ".join(f"a{row} = {number(float(count))}" for row, count in pairs) or "0"


def bias_of(model: Any) -> str:
    """The intercept, or one per class."""
    biases = tidied(model.intercept_, rounding(model), beside=model.dual_coef_)
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
    counts = _sums(after) - _sums(before)
    biases = np.asarray(after.intercept_, np.float64) - np.asarray(before.intercept_, np.float64)
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


def _sums(model: Any) -> NDArray[np.float64]:
    return np.asarray(np.asarray(model.dual_coef_, np.float64).sum(axis=1))


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
    coef = getattr(model, "coef_", getattr(model, "dual_coef_", ()))
    return getattr(model, "classes_", range(len(coef)))
