"""`rosenblatt trace`: a fit, step by step, as a page."""

from rosenblatt.data.files import place_for
from rosenblatt.trace import Trace
from rosenblatt.workbench.fitting import trace_table
from rosenblatt.workbench.model_catalogue import families_named

from .sentences import print_line
from .tables import Reading, named_target


def trace(
    table: str,
    target: str | None,
    model: str,
    settings: list[str] | None,
    every: str,
    task: str | None,
    reading: Reading,
    out: str,
) -> None:
    """Fit with a trace, write the page, and print what is in it."""
    place_for(out, table)
    families_named(model)  # which refuses an unknown name
    steps = Trace(every=every)  # type: ignore[arg-type]
    read = reading.table(table)
    names = trace_table(read, named_target(read, target), model, settings, steps, task=task)
    steps.save(out, feature_names=names)
    print_line(f"{len(steps):,} steps of {model} on {table}: {out}")
