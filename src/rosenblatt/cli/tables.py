"""Read the tables of commands; describe them with `--verbose`."""

from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from rosenblatt.data import Table, TableError, columns_of, read_batches, read_table
from rosenblatt.data.errors import listed
from rosenblatt.data.files import place_for, whole_file
from rosenblatt.workbench.known_columns import columns_of_words
from rosenblatt.workbench.model_file import SavedModel

from .output import print_note, print_text

MOST_LISTED = 30  # columns


class Reading(NamedTuple):
    """Options for reading a table."""

    format: str | None = None
    header: bool = True
    sheet: str | None = None
    verbose: bool = False

    @classmethod
    def of(cls, args: Namespace) -> "Reading":
        """Return the options among the arguments of a command."""
        return cls(args.format, args.header, args.sheet, args.verbose)

    def table(self, path: str, of_words: Collection[str] = ()) -> Table:
        """Read the whole table."""
        how: Any = {"header": self.header, "sheet": self.sheet, "of_words": of_words}
        found = read_table(path, self.format, **how)
        if self.verbose:
            print_note(described(found))
        return found

    def for_model(self, path: str, saved: SavedModel, target: str | None) -> Table:
        """Read the whole table and rename its target to the target of a model."""
        of_words = _words(saved, target)
        return _renamed(self.table(path, of_words), target, saved.target)

    def batches(self, path: str, saved: SavedModel, target: str | None) -> Iterator[Table]:
        """Read batches of strings and rename the target likewise."""
        how: Any = {"header": self.header, "sheet": self.sheet, "words": True}
        for batch in read_batches(path, self.format, of_words=_words(saved, target), **how):
            yield _renamed(batch, target, saved.target)


def named_target(table: Table, target: str | None) -> str:
    """Return the target; without one raise an error that lists the columns."""
    if target is not None:
        return target
    columns = listed(table.frame.columns, MOST_LISTED)
    raise TableError(f"Give the target column (--target); {table.name} has {columns}.")


def described(table: Table) -> str:
    """Return the number of rows and the kind of each column."""
    if table.sparse is not None:
        return f"{table.name}: {len(table):,} rows, {table.sparse.shape[1]:,} columns of numbers"
    kinds = [f"{column.name} ({column.kind})" for column in columns_of(table.frame)]
    return f"{table.name}: {len(table):,} rows; {listed(kinds, MOST_LISTED)}"


@contextmanager
def printed_to(out: str | None, *read: str) -> Iterator[Any]:
    """Yield a function that prints lines, to a file if one is given."""
    if out is None:
        yield print_text
        return
    place_for(out, *read)
    with whole_file(out) as draft, draft.open("w", encoding="utf-8") as file:
        yield lambda text: file.write(f"{text}\n")


def _words(saved: SavedModel, target: str | None) -> set[str]:
    """Return the columns of strings, the target by its name in the table."""
    found = columns_of_words(saved)
    return found | {target} if target is not None and saved.target in found else found


def _renamed(table: Table, target: str | None, known: str) -> Table:
    if target is None or target == known:
        return table
    table.column(target)  # raises if there is no such column
    frame = table.frame.drop(known, strict=False).rename({target: known})
    return replace(table, frame=frame)
