"""`rosenblatt trace`: a fit, step by step, as a page."""

from rosenblatt.data import read_table
from rosenblatt.data.files import place_for
from rosenblatt.trace import Trace
from rosenblatt.workbench.fitting import trace_table

from .errors import tell


def trace(
    table: str,
    target: str,
    model: str,
    settings: list[str] | None,
    every: str,
    task: str | None,
    format: str | None,
    header: bool,
    out: str,
) -> None:
    """Fit with a trace, write the page, and say what is in it."""
    place_for(out, table)
    steps = Trace(every=every)  # type: ignore[arg-type]
    names = trace_table(
        read_table(table, format, header=header), target, model, settings, steps, task=task
    )
    steps.save(out, feature_names=names)
    tell(f"{len(steps):,} steps of {model} on {table}: {out}")
