"""One model fitted to a table under the eyes of a trace."""

from rosenblatt.data import Table
from rosenblatt.trace import Trace

from .families import REGRESSION, Family
from .fitting import unfitted, whole_problem
from .naming import class_of, family_named, named_families, settings_of


def trace_table(
    table: Table,
    target: str,
    model: str,
    settings: list[str],
    trace: Trace,
    *,
    task: str | None = None,
) -> list[str] | None:
    """Fit a model to all rows of a table with a trace; return the names of its features, if any."""
    family = family_named(model)
    if not _has_steps(family):
        able = ", ".join(class_of(other) for other in named_families() if _has_steps(other))
        raise TypeError(
            f"{family.name} learns at once and has no steps to show. These have: {able}."
        )
    task = task or (REGRESSION if family.task == REGRESSION else None)
    problem = whole_problem(table, target, task)
    first, last = (
        step for _, step in unfitted(problem, family, settings_of(family, settings)).steps
    )
    features = problem.X if first == "passthrough" else first.fit_transform(problem.X)
    # One after the other: the steps of a pipeline take no callbacks of their own.
    last.set_callbacks(trace).fit(features, problem.y)
    if not len(trace):
        raise TypeError(f"{family.name} told of no steps with these settings.")
    return list(map(str, first.get_feature_names_out())) if problem.is_table else None


def _has_steps(family: Family) -> bool:
    return hasattr(family.make(), "set_callbacks") and bool(class_of(family))
