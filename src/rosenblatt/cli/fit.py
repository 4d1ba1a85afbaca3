"""`rosenblatt fit`: fit one model to all rows of a table and save it."""

from argparse import Namespace
from shlex import quote

from rosenblatt.data.files import place_for
from rosenblatt.data.source import is_many
from rosenblatt.workbench.findings import rows_counted
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.model_catalogue import families_named
from rosenblatt.workbench.model_file import save_model
from rosenblatt.workbench.row_view import first_of
from rosenblatt.workbench.weights import rule_in_words

from .output import print_line, print_note
from .tables import Reading, named_target


def run(args: Namespace) -> None:
    """Fit, write the file, and print a summary."""
    out = args.out
    place_for(out, args.table)
    families_named(args.model)  # raises if there is no such model
    if is_many(args.table) or args.engine or args.scheduler or args.checkpoint:
        from .source_fit import fit_by_parts  # Dask takes a second to import

        fit_by_parts(args)
        return
    read = Reading.of(args).table(args.table)
    target = named_target(read, args.target)
    saved = fit_table(
        read, target, args.model, args.settings, task=args.task, certificate=args.certificate,
        clean_labels=args.clean_labels,
    )  # fmt: skip
    left_out = len(read) - saved.n_rows
    if left_out:
        were = "was" if left_out == 1 else "were"
        print_note(f"{rows_counted(left_out)} without {target} {were} ignored.")
    if saved.columns:
        used = {target, *(column.name for column in saved.columns)}
        if unused := [name for name in read.frame.columns if name not in used]:
            print_note(f"Columns not used by {saved.family}: {first_of(unused)}.")
    save_model(saved, out)
    n_columns = len(saved.columns) or saved.width
    columns = "1 column" if n_columns == 1 else f"{n_columns:,} columns"
    print_line(f"{saved.family} fitted to {saved.n_rows:,} rows and {columns}: {out}")
    if rule := rule_in_words(saved.model):
        print_line(f"Rule: {rule}")
    if saved.certificate is not None:
        every = saved.certificate["claims"]  # includes measurements, which have no bound
        claims = [claim for claim in every if claim["bound"] is not None or not claim["holds"]]
        n_held = sum(claim["holds"] for claim in claims)
        if claims:
            print_line(f"Certificate: {n_held} of {len(claims)} claims hold.")
        for claim in claims:
            if not claim["holds"]:
                print_line(f"Failed claim: {claim['name']}: {claim['statement']}")
    print_line(f"Next: rosenblatt predict {quote(str(out))} TABLE")
