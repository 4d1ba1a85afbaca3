"""What is wrong with a table, in one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches


class TableError(ValueError):
    """A table that cannot be read or used as asked; the message says why and what to do.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("iriss")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: There is no file iriss. Did you mean iris?
    """


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question naming what is nearest to a word, or nothing.

    >>> did_you_mean("specis", ["species", "island"])
    ' Did you mean species?'
    """
    known = list(known)
    lower = {name.lower(): name for name in reversed(known)}
    near = get_close_matches(word.lower(), list(lower), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(lower[name] for name in near)}?" if near else ""
