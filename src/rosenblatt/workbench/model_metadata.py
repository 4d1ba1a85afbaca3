"""What a model file says of its model, and whether that can be."""

import platform
import re
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn.pipeline import Pipeline

from rosenblatt.data.columns import USED
from rosenblatt.plot.drawing import clipped

FORMAT = 4  # the only one that is read


PACKAGES = ("rosenblatt", "numpy", "scipy", "scikit-learn", "numba", "polars")


class Damaged(ValueError):
    """A model file is not as it was written; the message says what is wrong with it."""


@dataclass(frozen=True)
class KnownColumn:
    """A column as the model met it."""

    name: str
    kind: str  # "numeric", "categorical", "boolean", "text" or "date"
    dtype: str  # as polars calls it
    notation: str = ""  # how its numbers or dates are written, if not plainly


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model and what it was fitted to.

    Attributes
    ----------
    model : Pipeline
        From rows of a table to predictions.
    family, target, task, source : str
        What kind of model, what it predicts, "classification", "regression" or "clustering", and
        the name of the table it was fitted to.
    n_rows : int
        How many rows it was fitted to; 0 if it was saved without them, by `save_model`.
    columns : tuple of KnownColumn
        Those that it reads; none if it was fitted to a matrix of `width` columns without names.
    split, seed : str, int or None
        How rows were split off before the fit, and from which seed; "all rows" and None if not.
    split_by : str or None
        The column that rows were split by, if by time or by group.
    digest : str or None
        SHA-256 of the targets it was fitted to, so that its rows are known again.
    metric : str or None
        The scorer of scikit-learn that it was chosen by, "accuracy" or "r2" if there was no choice;
        None if it was saved without a table, by `save_model`.
    certificate : dict or None
        What was proved of the fit.
    versions : dict
        Of the packages that wrote the file.
    """

    model: Pipeline
    family: str
    target: str
    task: str
    source: str
    n_rows: int
    columns: tuple[KnownColumn, ...] = ()
    width: int = 0
    split: str = "all rows"
    seed: int | None = None
    certificate: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    split_by: str | None = None
    digest: str | None = None
    metric: str | None = None

    def about(self) -> dict[str, Any]:
        """All but the model, in plain JSON types."""
        plain = {name: getattr(self, name) for name in ABOUT_FIELDS}
        return {"format": FORMAT, **plain, "columns": [asdict(known) for known in self.columns]}


ABOUT_FIELDS = [entry.name for entry in fields(SavedModel) if entry.name != "model"]

TASKS = ("classification", "regression", "clustering")
WORDS = ("family", "target", "source", "split")
DIGEST = re.compile("[0-9a-f]{64}")
LONGEST = 60  # characters of a value that are shown


def checked_about(about: Any) -> dict[str, Any]:
    """What a file says of its model, as `SavedModel` takes it; refused unless all of it can be.

    >>> checked_about({"family": 7})
    Traceback (most recent call last):
    rosenblatt.workbench.model_metadata.Damaged: it lacks 'target'
    """
    if not isinstance(about, dict):
        raise Damaged("what it says of the model is no set of names and values")
    missing = [name for name in ABOUT_FIELDS if name not in about]
    if missing:
        raise Damaged(f"it lacks {missing[0]!r}")
    known: dict[str, Any] = {name: about[name] for name in ABOUT_FIELDS}
    for name in WORDS:
        _must(isinstance(known[name], str) and known[name], name, "a word", known[name])
    _must(known["task"] in TASKS, "task", f"{', '.join(TASKS[:-1])} or {TASKS[-1]}", known["task"])
    _must(_is_count(known["n_rows"]), "n_rows", "a count of rows", known["n_rows"])
    _must(_is_count(known["width"]), "width", "a count of columns", known["width"])
    seed, by, digest = (known[name] for name in ("seed", "split_by", "digest"))
    _must(seed is None or _is_count(seed), "seed", "a whole number or nothing", seed)
    _must(by is None or isinstance(by, str), "split_by", "the name of a column or nothing", by)
    _must(
        digest is None or (isinstance(digest, str) and DIGEST.fullmatch(digest)),
        "digest", "64 hexadecimal digits or nothing", digest,
    )  # fmt: skip
    metric = known["metric"]
    named = isinstance(metric, str) and metric
    _must(metric is None or named, "metric", "a word or nothing", metric)
    proved = known["certificate"]
    _must(proved is None or isinstance(proved, dict), "certificate", "claims or nothing", proved)
    _must(isinstance(known["versions"], dict), "versions", "names and numbers", known["versions"])
    return known | {"columns": _columns(known["columns"], known["width"], known["target"])}


def _columns(columns: Any, width: int, target: str) -> tuple[KnownColumn, ...]:
    """The columns that the model reads."""
    _must(isinstance(columns, list), "columns", "a list", columns)
    found = []
    for column in columns:
        _must(isinstance(column, dict), "columns", "a list of columns", column)
        if set(column) != {"name", "kind", "dtype", "notation"}:
            raise Damaged("a column should have a name, a kind, a dtype and a notation")
        name, kind, dtype = column["name"], column["kind"], column["dtype"]
        _must(isinstance(name, str), "name of a column", "a word", name)
        _must(kind in USED, f"kind of column {name!r}", f"one of {', '.join(USED)}", kind)
        _must(isinstance(dtype, str), f"dtype of column {name!r}", "a word", dtype)
        notation = column["notation"]
        _must(isinstance(notation, str), f"notation of column {name!r}", "a word", notation)
        found.append(KnownColumn(name, kind, dtype, notation))
    names = [column.name for column in found]
    if len(set(names)) < len(names) or target in names:
        raise Damaged("two of its columns have one name, or one has that of the target")
    if bool(found) == bool(width):
        raise Damaged("it should have columns with names or without, and has both or none")
    return tuple(found)


def _must(fine: Any, name: str, wanted: str, value: Any) -> None:
    if not fine:
        raise Damaged(f"its {name} should be {wanted}, and is {clipped(repr(value), LONGEST)}")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def versions() -> dict[str, str]:
    """Of Python, this package and those it stands on."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
