"""All that commands print passes here: a terminal shows what names and cells hold, and obeys none.

The tables that `predict` and `split` write are data, and keep every character.
"""

from typing import Any

import typer


def printable(text: str) -> str:
    """Text whose characters a terminal shows, and does not obey.

    >>> print(printable("no orders: " + chr(27) + "[2J"))
    no orders: \\x1b[2J
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def on_one_line(text: Any) -> str:
    """The same of what is to be a part of a line.

    >>> print(on_one_line("one" + chr(10) + "two"))
    one\\ntwo
    """
    return printable(str(text)).replace("\n", "\\n")


def tell(line: Any) -> None:
    """Print a line."""
    typer.echo(on_one_line(line))


def tell_lines(text: Any) -> None:
    """Print lines that are meant to be several."""
    typer.echo(printable(str(text)))


def say(note: str) -> None:
    """Print a word beside the output, which goes elsewhere."""
    typer.echo(on_one_line(note), err=True)
