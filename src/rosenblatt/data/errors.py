"""Errors about tables, and the parts of their messages."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_SHOWN = 60  # characters of a value
LEAST_PART = 3  # letters of a part of a name that suggest the name


class TableError(ValueError):
    """Raised when a table cannot be read or used.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("iriss")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: There is no file iriss. Did you mean iris?
    """


def shown(value: object) -> str:
    """Return a value for a message, shortened if it is long.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    word = str(value) if isinstance(value, str) else repr(value)
    word = word if len(word) < LONGEST_SHOWN else word[: LONGEST_SHOWN - 2] + "…"
    return repr(word) if isinstance(value, str) else word


def listed(names: Sequence[str], most: int) -> str:
    """Return the first names, and the number of the others.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question with the most similar names, or those that contain the word; or nothing.

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
