"""How a comparison was done, and the call that repeats one made in Python."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .clock import Clock
from .results import Protocol
from .scoring import positive_class
from .search import Arena

PACKAGES = ("rosenblatt", "numpy", "scipy", "scikit-learn", "numba", "polars")

LONGEST = 300  # characters of an argument that are shown
USUAL = {"header": True, "peers": False, "random_state": 0}  # what need not be said; else None


def call_of(X: Any, y: Any, **options: Any) -> str:
    """The call, with the arguments that were given; tables that have no name are X and y.

    >>> print(call_of("iris", None, target="species", metric=None, random_state=0))
    import rosenblatt
    rosenblatt.compare('iris', target='species')
    >>> print(call_of([[1.0], [2.0]], [3.0, 4.0], budget=60.0))
    import rosenblatt
    # X and y are the table and the target that were given, which this page does not hold.
    rosenblatt.compare(X, y, budget=60.0)
    """
    named = isinstance(X, str | os.PathLike)
    words = [_word(X) if named else "X"]
    if isinstance(y, str):  # the name of a column, which says it all
        words, y = [*words, _word(y)], None
    words += ["y"] if y is not None else []
    for name, value in options.items():
        if value is not None and not (name in USUAL and value == USUAL[name]):
            words.append(f"{name}={_word(value)}")
    lines = ["import rosenblatt"]
    if not named and y is not None:
        lines.append(
            "# X and y are the table and the target that were given, which this page does not hold."
        )
    elif not named or y is not None:
        which = "y is the target" if named else "X is the table"
        lines.append(f"# {which} that was given, which this page does not hold.")
    return "\n".join([*lines, f"rosenblatt.compare({', '.join(words)})"])


def _word(value: Any) -> str:
    word = repr(os.fspath(value) if isinstance(value, os.PathLike) else value)
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"


def protocol_of(arena: Arena, clock: Clock, command: str) -> Protocol:
    """How it was done, so that it can be done again."""
    problem = arena.problem
    return Protocol(
        problem.task,
        problem.target,
        arena.metric,
        len(problem.train),
        len(problem.dev),
        len(problem.test),
        len(arena.folds),
        problem.split,
        problem.random_state,
        clock.budget,
        clock.seconds,
        clock.stopped,
        command,
        versions(),
        problem.split_words,
        arena.ratio,
        positive_class(problem.y, arena.metric),
        problem.why_folds(len(arena.folds)),
        n_train_there=len(arena.whole.train),
    )


def versions() -> dict[str, str]:
    """Of Python, this package and those it stands on."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
