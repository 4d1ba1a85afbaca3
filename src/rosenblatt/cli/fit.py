"""`rosenblatt fit`: one model, fitted to all rows of a table, in a file."""

from shlex import quote

from rosenblatt.data.files import place_for
from rosenblatt.data.source import is_many
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.model_catalogue import families_named
from rosenblatt.workbench.model_file.files import save_model
from rosenblatt.workbench.preparation.row_view import first_of
from rosenblatt.workbench.protocol.results import rows_counted
from rosenblatt.workbench.weights import rule_in_words

from .sentences import print_line, print_note
from .tables import Reading, named_target


def fit(
    table: str,
    target: str | None,
    model: str,
    settings: list[str] | None,
    task: str | None,
    clean_labels: bool,
    reading: Reading,
    certificate: bool,
    out: str,
    engine: str | None,
    workers: int,
    scheduler: str | None,
    checkpoint: str | None,
) -> None:
    """Fit, write the file, and print what is in it."""
    place_for(out, table)
    families_named(model)  # which refuses an unknown name
    if is_many(table) or engine or scheduler or checkpoint:
        from .source_fit import fit_by_parts  # Dask takes a second to import

        how = {"task": task, "clean_labels": clean_labels, "checkpoint": checkpoint}
        where = (engine, workers, scheduler)
        fit_by_parts(table, target, model, settings, reading, where, out, how)
        return
    read = reading.table(table)
    target = named_target(read, target)
    saved = fit_table(
        read, target, model, settings, task=task, certificate=certificate, clean_labels=clean_labels
    )
    left_out = len(read) - saved.n_rows
    if left_out:
        were = "was" if left_out == 1 else "were"
        print_note(f"{rows_counted(left_out)} without {target} {were} left out.")
    if saved.columns:
        used = {target, *(column.name for column in saved.columns)}
        if unused := [name for name in read.frame.columns if name not in used]:
            print_note(f"{saved.family} learns nothing from {first_of(unused)}: left out.")
    save_model(saved, out)
    n_columns = len(saved.columns) or saved.width
    columns = "1 column" if n_columns == 1 else f"{n_columns:,} columns"
    print_line(f"{saved.family} fitted to {saved.n_rows:,} rows and {columns}: {out}")
    if rule := rule_in_words(saved.model):
        print_line(f"The rule: {rule}")
    if saved.certificate is not None:
        every = saved.certificate["claims"]  # of which plain measurements neither hold nor fail
        claims = [claim for claim in every if claim["bound"] is not None or not claim["holds"]]
        n_held = sum(claim["holds"] for claim in claims)
        if claims:
            print_line(f"{n_held} of {len(claims)} claims of its certificate hold.")
        for claim in claims:
            if not claim["holds"]:
                print_line(f"Does not hold: {claim['name']}: {claim['statement']}")
    print_line(f"Next: rosenblatt predict {quote(str(out))} TABLE")
