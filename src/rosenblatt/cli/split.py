"""`rosenblatt split`: a table in three files, to fit to, to choose by, and to test on once."""

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
from rosenblatt.data.table import write_table
from rosenblatt.model_selection import SealedTest, train_dev_test_split
from rosenblatt.workbench.preparation.problem import LEAST_ROWS
from rosenblatt.workbench.preparation.targets import task_of
from rosenblatt.workbench.protocol.splits import moments_of, split_by_group, split_by_time

from .output import print_line, print_note
from .tables import Reading

PARTS = ("train", "dev", "test")
LEAST_OF_A_CLASS = 3  # rows, so that each part can have one


def run(args: Namespace) -> None:
    """Write the three files, seal the test file, and print the next steps."""
    table, target, group, time = args.table, args.target, args.groups, args.time
    reading = Reading.of(args)
    if group is not None and time is not None:
        raise ValueError("Give --group or --time, not both: rows are in the order of one of them.")
    read = reading.table(table)
    form, paths = _places(table, args.out, reading.format)
    there = [str(path) for path in paths if path.exists()]
    if there and not args.force:
        raise ValueError(f"{there[0]} is there already: --force replaces it.")
    if len(read) < len(PARTS):
        raise TableError(f"{table} has {len(read)} rows, too few to split them in three.")
    rows, how = _rows(read, target, group, time, args.seed)
    parts = [
        Table(read.frame[some], read.name, None if read.sparse is None else read.sparse[some])
        for some in rows
    ]
    if len(read) < LEAST_ROWS:
        print_note(
            f"{table} has {len(read)} rows, and `compare` asks for {LEAST_ROWS}: a test on "
            f"{len(parts[2])} says next to nothing."
        )
    with _folder(paths[0].parent), whole_files(paths) as drafts:  # all three, or none
        for part, draft in zip(parts, drafts, strict=True):
            write_table(part, draft, form)
    seal = _seal(paths[2], form)
    for path, part, word in zip(
        paths, parts, ("fit to", "choose by", "test on, once"), strict=True
    ):
        print_line(f"{len(part):>9,} rows to {word:<14} {path}")
    opened = f" ({seal.n_openings} so far)" if seal.n_openings else ""
    print_line(f"Split {how}. The test is sealed: {seal.ledger.name}{opened} counts its openings.")
    named = f" --target {quote(target)}" if target else " --target COLUMN"
    train, dev, test = (quote(str(path)) for path in paths)
    print_line(f"Next: rosenblatt fit {train}{named} --model NAME -o model.skops")
    print_line(f"then: rosenblatt predict model.skops {dev} --score")
    print_line(f"last: rosenblatt predict model.skops {test} --score")


def _rows(
    read: Table, target: str | None, group: str | None, time: str | None, seed: int
) -> tuple[list[Any], str]:
    """The rows of each part, and how they were chosen."""
    if time is not None:
        moments = moments_of(read.column(time))
        return list(split_by_time(moments)), f"by {time}, first things first, equal ones together"
    if group is not None:
        parts = split_by_group(read.column(group), seed)
        how = f"by {group}, whose rows stay together (seed {seed})"
        return [np.sort(some) for some in parts], how
    options: dict[str, Any] = {"random_state": seed}
    how = f"at random (seed {seed})"
    if target is not None and task_of(read.column(target).drop_nulls()) == "classification":
        labels = read.column(target).cast(pl.String).fill_null("").to_numpy()
        if np.unique(labels, return_counts=True)[1].min() >= LEAST_OF_A_CLASS:
            options["stratify"] = labels
            how = f"at random, each part with its share of every {target} (seed {seed})"
    everyone: Any = np.arange(len(read))
    return [np.sort(some) for some in train_dev_test_split(everyone, **options)], how


def _places(table: str, folder: str | None, format: str | None) -> tuple[Form, list[Path]]:
    """What kind of files they are, and where: beside the table by default."""
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
    """A folder to write to; one that was made for it goes again if nothing is written."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):  # something is in it by now
                folder.rmdir()
        raise


def _seal(path: Path, form: Form) -> SealedTest:
    """The test as `predict --score` will read it; its ledger is there from now on, and counts."""
    _ledger(path).touch()  # first: Ctrl-C leaves no test without a seal
    part = read_table(str(path), form.name)
    return SealedTest(part.frame if part.sparse is None else part.sparse, ledger=_ledger(path))


def _ledger(path: Any) -> Path:
    return Path(f"{path}.openings.jsonl")


def ledger_of_test(table: str) -> Path | None:
    """The ledger of a test that was sealed here; None of any other table.

    `compare` keeps one beside a whole table, for the part that it tests on: that one seals nothing.
    """
    ledger = _ledger(table)
    return ledger if f".{PARTS[2]}." in Path(table).name and ledger.exists() else None
