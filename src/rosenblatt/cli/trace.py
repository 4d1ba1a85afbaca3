"""`rosenblatt trace`: write a page that replays a fit step by step."""

from argparse import Namespace

from rosenblatt.data.files import place_for
from rosenblatt.trace import Trace
from rosenblatt.workbench.fitting import trace_table
from rosenblatt.workbench.model_catalogue import families_named

from .output import print_line
from .tables import Reading, named_target


def run(args: Namespace) -> None:
    """Fit with a trace, write the page, and print a summary."""
    place_for(args.out, args.table)
    families_named(args.model)  # raises if there is no such model
    steps = Trace(every=args.every)
    read = Reading.of(args).table(args.table)
    target = named_target(read, args.target)
    names = trace_table(read, target, args.model, args.settings, steps, task=args.task)
    steps.save(args.out, feature_names=names)
    print_line(f"{len(steps):,} steps of {args.model} on {args.table}: {args.out}")
