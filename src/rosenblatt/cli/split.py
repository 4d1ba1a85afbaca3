"""`rosenblatt split`: split a table into training, development and test files."""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import polars as pl

from rosenblatt.data import BUNDLED, Table, TableError, read_table
from rosenblatt.data.files import SPREADSHEETS, Form, form_of, whole_files
from rosenblatt.data.reading import write_table
from rosenblatt.model_selection import SealedTest, train_dev_test_split
from rosenblatt.workbench.problem import LEAST_ROWS
from rosenblatt.workbench.splits import moments_of, split_by_group, split_by_time
from rosenblatt.workbench.targets import task_of

from .output import print_line, print_note
from .tables import Reading

PARTS = ("train", "dev", "test")
LEAST_OF_A_CLASS = 3  # rows, so that each part can have one


def run(args: Namespace) -> None:
    """Write the three files, seal the test file, and print the next steps."""
    table, target, group, time = args.table, args.target, args.groups, args.time
    reading = Reading.of(args)
    if group is not None and time is not None:
        raise ValueError("Give --groups or --time, not both.")
    read = reading.table(table)
    form, paths = _places(table, args.out, reading.format)
    there = [str(path) for path in paths if path.exists()]
    if there and not args.force:
        raise ValueError(f"{there[0]} exists; use --force to overwrite it.")
    if len(read) < len(PARTS):
        raise TableError(f"{table} must have at least {len(PARTS)} rows; got {len(read)}.")
    rows, how = _rows(read, target, group, time, args.seed)
    parts = [read.take(some) for some in rows]
    if len(read) < LEAST_ROWS:
        print_note(
            f"Warning: {table} has only {len(read)} rows; a score on {len(parts[2])} test rows is "
            "very uncertain."
        )
    with _folder(paths[0].parent), whole_files(paths) as drafts:  # all three, or none
        for part, draft in zip(parts, drafts, strict=True):
            write_table(part, draft, form)
    seal = _seal(paths[2], form)
    for path, part, word in zip(paths, parts, ("training", "development", "test"), strict=True):
        print_line(f"{word:<12}{len(part):>9,} rows  {path}")
    opened = f" ({seal.n_openings} so far)" if seal.n_openings else ""
    print_line(f"Split {how}. Test set evaluations{opened} are recorded in {seal.ledger.name}.")
    named = f" --target {quote(target)}" if target else " --target COLUMN"
    train, dev, test = (quote(str(path)) for path in paths)
    print_line(f"Next: rosenblatt fit {train}{named} --model NAME -o model.skops")
    print_line(f"Then: rosenblatt predict model.skops {dev} --score")
    print_line(f"Last: rosenblatt predict model.skops {test} --score")


def _rows(
    read: Table, target: str | None, group: str | None, time: str | None, seed: int
) -> tuple[list[Any], str]:
    """Return the rows of each part and a description of the split."""
    if time is not None:
        moments = moments_of(read.column(time))
        return list(split_by_time(moments)), f"by {time}: earliest rows first, equal times together"
    if group is not None:
        parts = split_by_group(read.column(group), seed)
        how = f"by {group}: rows of a group stay together (seed {seed})"
        return [np.sort(some) for some in parts], how
    options: dict[str, Any] = {"random_state": seed}
    how = f"at random (seed {seed})"
    if target is not None and task_of(read.column(target).drop_nulls()) == "classification":
        labels = read.column(target).cast(pl.String).fill_null("").to_numpy()
        if np.unique(labels, return_counts=True)[1].min() >= LEAST_OF_A_CLASS:
            options["stratify"] = labels
            how = f"at random, stratified by {target} (seed {seed})"
    everyone: Any = np.arange(len(read))
    return [np.sort(some) for some in train_dev_test_split(everyone, **options)], how


def _places(table: str, folder: str | None, format: str | None) -> tuple[Form, list[Path]]:
    """Return the format and paths of the files; the default folder is the folder of the table."""
    bundled = table in BUNDLED and not Path(table).exists()
    if bundled or table == "-":
        form = form_of(table, format or "csv")
        beside, stem, suffix = Path(), table if bundled else "table", f".{form.name}"
    else:
        form, path = form_of(table, format), Path(os.path.expanduser(table))
        beside, suffix = path.parent, "".join(path.suffixes[-2 if form.zipped else -1 :])
        stem = path.name.removesuffix(suffix)
        if form.name in SPREADSHEETS:
            form, suffix = Form("csv"), ".csv"
    into = beside if folder is None else Path(os.path.expanduser(folder))
    return form, [into / f"{stem}.{part}{suffix}" for part in PARTS]


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Create a folder to write to; remove it again if nothing is written."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):  # not empty any more
                folder.rmdir()
        raise


def _seal(path: Path, form: Form) -> SealedTest:
    """Return the test set as `predict --score` will read it, with its ledger file."""
    _ledger(path).touch()  # first, so that Ctrl-C cannot leave a test set without a ledger
    return SealedTest(read_table(str(path), form.name).rows, ledger=_ledger(path))


def _ledger(path: Any) -> Path:
    return Path(f"{path}.openings.jsonl")


def ledger_of_test(table: str) -> Path | None:
    """Return the ledger of a test set made by `split`; None for any other table.

    The ledger that `compare` writes next to a whole table is not meant.
    """
    ledger = _ledger(table)
    return ledger if f".{PARTS[2]}." in Path(table).name and ledger.exists() else None
