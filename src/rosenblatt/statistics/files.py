"""Files of statistics: plain arrays in NumPy's format, read without running code."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.registry import FILE_TYPES

from .statistic import Statistic, kind_of

# The module of each public statistic.
KINDS = {
    name.rpartition(".")[2]: name.rpartition(".")[0]
    for name in FILE_TYPES
    if name.startswith("statistics.")
}


def save(statistic: Statistic, path: Any) -> None:
    """Write a statistic to an ``.npz`` file of plain arrays.

    Parameters
    ----------
    statistic : Statistic
        The statistic to write.
    path : the file; it is replaced if it exists.

    Examples
    --------
    >>> import os, tempfile
    >>> from rosenblatt.statistics import ClassCounts, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ClassCounts.of(["ham", "spam"]), os.path.join(folder, "counts.npz"))
    ...     load(os.path.join(folder, "counts.npz")).rows
    array([1, 1])
    """
    if not isinstance(statistic, Statistic):
        raise TypeError(
            "save takes a statistic, such as the statistics_ of a fitted model; got "
            f"{type(statistic).__name__}."
        )
    arrays = statistic.arrays()
    type(statistic).from_arrays(arrays)  # nothing is written that could not be read
    with Path(path).open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load(path: Any) -> Any:
    """Return the statistic in a file that `save` wrote; nothing in the file is run.

    Parameters
    ----------
    path : the file.

    Returns
    -------
    statistic : of the kind that was saved.

    Examples
    --------
    >>> import os, tempfile
    >>> from rosenblatt.statistics import Moments, load, save
    >>> moments = Moments.of([[1.0], [2.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(moments, os.path.join(folder, "moments.npz"))
    ...     load(os.path.join(folder, "moments.npz")) == moments
    True
    """
    with Path(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as read:
                arrays = {name: read[name] for name in read.files}
        except Exception:
            # Archives, compression and arrays have other errors; some advise to run the file.
            raise ValueError(
                f"{path} is damaged, or not a file of rosenblatt.statistics.save: it cannot be "
                "read as an archive of plain arrays."
            ) from None
    kind = kind_of(arrays)
    if kind not in KINDS:
        raise ValueError(f"{path} holds {kind!r}, not one of {', '.join(sorted(KINDS))}.")
    return rebuilt(arrays)


def rebuilt(arrays: Mapping[str, Any]) -> Any:
    """Return the statistic of arrays that its method `arrays` returned."""
    kind = str(kind_of(arrays))
    return getattr(import_module(f"rosenblatt.{KINDS[kind]}"), kind).from_arrays(arrays)
