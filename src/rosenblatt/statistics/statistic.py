"""Base class of statistics: algebra, equality, summary and file form."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .batch import check_missing

Names = tuple[str, ...] | None

FORM = 2  # of the arrays in a file; a later form will get a later number

# Errors that reading arrays with other contents may raise.
READ_ERRORS = (TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)

SHOWN = ("full", "missing", "binarize", "n_targets", "parts")  # options that `repr` shows

# Kinds of arrays in files, by NumPy's letters; all but labels have 64 bits.
COUNTS, DOUBLES, NUMBERS, LABELS = "i", "f", "fi", "biufUS"
LEAST_WEIGHT = 5e-324


class ArrayForm(NamedTuple):
    """Shape, kinds and least value of an array in a file."""

    shape: str  # such as "K d": each letter is one size in all arrays of the file
    kinds: str
    least: float | None = None  # all values are finite, and at least that; None: anything but NaN
    if_missing: bool = False  # exists only if missing values are ignored


class Statistic(ABC):
    """A summary of rows, with + and -.

    Statistics are never changed; ``a + b`` is a new one. They hold raw sums: smoothing, priors and
    variances are applied when a model is derived from them.

    Examples
    --------
    >>> from rosenblatt.statistics import Moments, Statistic
    >>> isinstance(Moments.zero(n_features=2), Statistic)
    True
    """

    classes: Any  # (K,)
    rows: Any  # (K,)
    weight: Any  # (K,)

    forms: ClassVar[dict[str, ArrayForm]] = {}  # of the attributes that are arrays
    options: ClassVar[tuple[str, ...]] = ()  # attributes that must be equal in a sum; plain JSON

    @abstractmethod
    def _combined(self, other: Self, sign: int) -> Self:
        """Return the statistic of both together (+1), or without the other's rows (-1)."""

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        """Return the statistic from its arrays, whose forms were checked, and `_about`."""
        raise NotImplementedError("needed unless `_checked` is overridden")

    @classmethod
    def _forms(cls, about: Mapping[str, Any]) -> dict[str, ArrayForm]:
        """Return the forms of the arrays of a statistic with these options."""
        missing = about.get("missing", "refuse")
        check_missing(missing)
        kept = missing == "ignore"
        return {name: form for name, form in cls.forms.items() if kept or not form.if_missing}

    def _tables(self) -> dict[str, NDArray[Any]]:
        """Return every array that the statistic consists of, by name."""
        return {name: getattr(self, name) for name in self._forms(self._options())}

    def _options(self) -> dict[str, Any]:
        """Return what must be equal for two statistics to be added."""
        return {name: getattr(self, name) for name in self.options}

    @property
    def nbytes(self) -> int:
        """Number of bytes of the arrays."""
        return sum(int(table.nbytes) for table in self._tables().values())

    def relative_noise(self, floor: Any = 0.0, pooled: bool = False) -> float:
        """Return a bound on the relative error of the scatters; zero for counts."""
        return 0.0

    def __add__(self, other: Any) -> Self:
        """Return the statistic of the rows of both."""
        return self._combined(self._alike(other, "add"), 1)

    def __radd__(self, other: Any) -> Self:
        """Let ``sum`` start from its 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Self:
        """Return the statistic without the rows of the other, which must be among its own."""
        return self._combined(self._alike(other, "subtract"), -1)

    def _alike(self, other: Any, verb: str) -> Self:
        """Return the other statistic, if the two can be combined."""
        mine = type(self).__name__
        if not isinstance(other, type(self)):
            raise TypeError(f"Cannot {verb} {type(other).__name__} and {mine}.")
        ours, theirs = self._options(), other._options()
        for option, value in ours.items():
            if theirs[option] != value:
                raise ValueError(
                    f"Cannot {verb} {mine} of different {option}: {value!r} and {theirs[option]!r}."
                )
        names, others = (getattr(one, "feature_names", None) for one in (self, other))
        if names is not None and others is not None and names != others:
            a, b = next(pair for pair in zip(names, others, strict=True) if pair[0] != pair[1])
            raise ValueError(
                f"Cannot {verb} {mine} of different features: {a!r} stands where the other "
                f"has {b!r}."
            )
        return other

    def _about(self) -> dict[str, Any]:
        """Return the small part of the file form, and of the summary."""
        names = getattr(self, "feature_names", None)
        return {
            "statistic": type(self).__name__,
            **self._options(),
            "feature_names": None if names is None else list(names),
            "dtype": str(getattr(self, "dtype", np.dtype(np.float64))),
        }

    def __eq__(self, other: object) -> bool:
        """Return whether two statistics are equal to the last bit."""
        if not isinstance(other, type(self)) or self._about() != other._about():
            return False
        mine, others = self._tables(), other._tables()
        # The bound on rounding depends on the order of additions, and is not part of the value.
        return mine.keys() == others.keys() and all(
            np.array_equal(mine[name], others[name])
            for name in mine
            if name.rpartition(".")[2] != "noise"
        )

    def __repr__(self) -> str:
        """Return a summary without the arrays."""
        options = dict(self._options())
        shown = [_counted(len(self), "row")]
        if len(np.atleast_1d(self.classes)) != 1:
            shown.append(_counted(len(self.classes), "class", "classes"))
        if "n_features" in options:
            shown.append(_counted(options["n_features"], "feature"))
        shown += [f"{name}={value!r}" for name, value in options.items() if name in SHOWN]
        return f"<{type(self).__name__} of {', '.join(shown)}>"

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(np.sum(self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return a summary in plain JSON types: options, classes, rows and weight."""
        return {
            **self._about(),
            "classes": [_json_label(label) for label in np.asarray(self.classes)],
            "rows": np.asarray(self.rows).tolist(),
            "weight": np.asarray(self.weight).tolist(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the statistic as plain arrays, for ``np.savez`` or any safe format.

        One of them, ``about``, is a line of JSON. No array holds objects, so reading them runs no
        code.
        """
        about = np.array(json.dumps({"form": FORM, **self._about()}))
        tables = self._tables().items()
        return {"about": about, **{name: _plain(name, table) for name, table in tables}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the statistic of arrays that `arrays` returned; raise if they are damaged."""
        try:
            about = json.loads(str(arrays["about"]))
            if about["form"] != FORM or about["statistic"] != cls.__name__:
                raise ValueError(f"form {about['form']} of {about['statistic']}")
            return cls._checked({name: np.asarray(arrays[name]) for name in arrays}, about)
        except KeyError as error:
            raise ValueError(
                f"These arrays do not hold {cls.__name__}: {error} is missing."
            ) from error
        except READ_ERRORS as error:
            raise ValueError(f"These arrays do not hold {cls.__name__}: {error}.") from error

    @classmethod
    def _checked(cls, tables: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        """Return the statistic from arrays of a file; raise unless they have the right forms."""
        names, d = about["feature_names"], about.get("n_features", 0)
        if type(d) is not int or d < 0:
            raise ValueError(f"n_features is {d!r}, not an integer >= 0")
        if names is not None:
            names = tuple(names)
            if len(names) != d or not all(isinstance(name, str) for name in names):
                raise ValueError(f"the feature names are not {d} strings")
        if about["dtype"] not in ("float32", "float64"):
            raise ValueError(f"dtype is {about['dtype']}")
        about = {**about, "feature_names": names, "dtype": np.dtype(about["dtype"])}
        sizes = {"d": d}
        forms = cls._forms(about)
        checked = {name: check_array(name, tables[name], forms[name], sizes) for name in forms}
        return cls._rebuilt(checked, about)


def check_array(
    name: str, table: NDArray[Any], form: ArrayForm, sizes: dict[str, int]
) -> NDArray[Any]:
    """Return a copy of an array of a file in this machine's order of bytes, or raise.

    `sizes` maps the letters of shapes to sizes; new letters are added.
    """
    letters = form.shape.split()
    if len(letters) == table.ndim:
        for letter, size in zip(letters, table.shape, strict=True):
            sizes.setdefault(letter, size)
    shape = tuple(sizes.get(letter, -1) for letter in letters)
    wide = form.kinds == LABELS or table.dtype.itemsize == 8
    if table.shape != shape or table.dtype.kind not in form.kinds or not wide:
        raise ValueError(f"{name} has shape {table.shape} and dtype {table.dtype}, not {shape}")
    table = table.astype(table.dtype.newbyteorder("="))
    if table.dtype.kind == "f":
        finite = form.least is not None or form.kinds == LABELS
        if np.isnan(table).any() or (finite and not np.isfinite(table).all()):
            raise ValueError(f"{name} are not all finite")
    if form.kinds == LABELS and not (table[1:] > table[:-1]).all():
        raise ValueError(f"{name} are not sorted, or not different")
    if form.least is not None and table.size and table.min() < form.least:
        raise ValueError(f"{name} has a value of {table.min()}, less than {form.least}")
    return table


def kind_of(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Return the name of the statistic that arrays hold; None if they hold none."""
    try:
        return str(json.loads(str(arrays["about"]))["statistic"])
    except (KeyError, *READ_ERRORS):
        return None


def _plain(name: str, table: NDArray[Any]) -> NDArray[Any]:
    """Return an array without objects: class labels may be an array of Python strings."""
    labels = table.tolist()
    plain = np.array(labels) if table.dtype == object else table
    if plain.dtype.kind not in LABELS or (plain is not table and plain.tolist() != labels):
        kinds = sorted({type(label).__name__ for label in table.flat})
        raise ValueError(
            f"A file holds labels that are words, truth values, or numbers of 64 bits; {name} are "
            f"{', '.join(kinds)}. Make them words with str."
        )
    return plain


def _counted(n: int, one: str, more: str = "") -> str:
    """Return a number of things."""
    return f"{n} {one if n == 1 else more or one + 's'}"


def _json_label(label: Any) -> Any:
    """Return a label as a JSON type: None for NaN, and unknown types as strings."""
    if isinstance(label, np.generic) and not isinstance(label, np.datetime64 | np.timedelta64):
        label = label.item()
    if isinstance(label, bytes):
        return label.decode(errors="backslashreplace")
    if isinstance(label, float) and not math.isfinite(label):
        return None if label != label else str(label)
    return label if isinstance(label, str | bool | int | float) else str(label)
