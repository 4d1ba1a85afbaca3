"""What is wrong with a table, in one sentence."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_SHOWN = 60  # characters of a value
LEAST_PART = 3  # letters of a name that may stand for it


class TableError(ValueError):
    """A table that cannot be read or used as asked; the message says why and what to do.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("iriss")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: There is no file iriss. Did you mean iris?
    """


def shown(value: object) -> str:
    """A value as a message shows it: not longer than a message should be.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    word = str(value) if isinstance(value, str) else repr(value)
    word = word if len(word) < LONGEST_SHOWN else word[: LONGEST_SHOWN - 2] + "…"
    return repr(word) if isinstance(value, str) else word


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question naming what is nearest to a word, or what it is a part of, or nothing.

    >>> did_you_mean("specis", ["species", "island"])
    ' Did you mean species?'
    >>> did_you_mean("length", ["island", "length of the bill"])
    ' Did you mean length of the bill?'
    """
    known = list(known)
    lower = {name.lower(): name for name in reversed(known)}
    near = get_close_matches(word.lower(), list(lower), n=2, cutoff=0.6)
    if not near and len(word) >= LEAST_PART:
        parts = [name.lower() for name in known if word.lower() in name.lower()]
        near = sorted(parts, key=lambda name: not name.startswith(word.lower()))[:2]
    return f" Did you mean {' or '.join(lower[name] for name in near)}?" if near else ""
