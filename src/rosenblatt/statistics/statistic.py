"""What all statistics share: the algebra, equality, the summary and the file form."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Names = tuple[str, ...] | None

FORM = 1  # of the arrays in a file; a later form will get a later number

# What trying to read arrays that hold something else may raise.
NOT_THESE = (TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)

SHOWN = ("full", "missing", "binarize", "n_targets", "parts")  # options that `repr` tells

PLAIN = "biufUS"  # kinds of labels that a file holds: truth, numbers, words


class Statistic(ABC):
    """What a counting model knows of its data: a value with + and -.

    All statistics are of this kind. They are never changed; ``a + b`` is a new one. They hold raw
    sums: smoothing, priors and variances are conclusions for models to draw.

    Examples
    --------
    >>> from rosenblatt.statistics import Moments, Statistic
    >>> isinstance(Moments.zero(n_features=2), Statistic)
    True
    """

    classes: Any  # (K,)
    rows: Any  # (K,)
    weight: Any  # (K,)

    @abstractmethod
    def _combined(self, other: Self, sign: int) -> Self:
        """The statistic of both together (+1), or of this one without the other's rows (-1)."""

    @abstractmethod
    def _tables(self) -> dict[str, NDArray[Any]]:
        """Every array that the statistic consists of, by name."""

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays take."""
        return sum(int(table.nbytes) for table in self._tables().values())

    @abstractmethod
    def _options(self) -> dict[str, Any]:
        """What must be equal for two statistics to be added, as plain JSON types."""

    @classmethod
    @abstractmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        """The statistic from its arrays and `_about`."""

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
        """The other statistic, if the two can be combined."""
        mine = type(self).__name__
        if not isinstance(other, type(self)):
            raise TypeError(f"Cannot {verb} {type(other).__name__} and {mine}.")
        ours, theirs = self._options(), other._options()
        for option, value in ours.items():
            if theirs[option] != value:
                raise ValueError(
                    f"Cannot {verb} {mine} of different {option}: {value!r} and {theirs[option]!r}."
                )
        names, others = self._names(), other._names()
        if names is not None and others is not None and names != others:
            a, b = next(pair for pair in zip(names, others, strict=True) if pair[0] != pair[1])
            raise ValueError(
                f"Cannot {verb} {mine} of different features: {a!r} stands where the other "
                f"has {b!r}."
            )
        return other

    def _names(self) -> Names:
        return getattr(self, "feature_names", None)

    def _about(self) -> dict[str, Any]:
        """The small part of the file form, and of the summary."""
        names = self._names()
        return {
            "statistic": type(self).__name__,
            **self._options(),
            "feature_names": None if names is None else list(names),
            "dtype": str(getattr(self, "dtype", None)),
        }

    def __eq__(self, other: object) -> bool:
        """Say whether two statistics are equal to the last bit."""
        if not isinstance(other, type(self)) or self._about() != other._about():
            return False
        mine, others = self._tables(), other._tables()
        # How far off a value may be depends on the way it was reached, and is not part of it.
        return mine.keys() == others.keys() and all(
            _equal(mine[name], others[name]) for name in mine if name.rpartition(".")[2] != "noise"
        )

    def __repr__(self) -> str:
        """Say what it is of, not all that it holds."""
        told = [_counted(len(self), "row")]
        if len(np.atleast_1d(self.classes)) != 1:
            told.append(_counted(len(self.classes), "class", "classes"))
        options = dict(self._options())
        if "n_features" in options:
            told.append(_counted(options.pop("n_features"), "feature"))
        told += [f"{name}={value!r}" for name, value in options.items() if name in SHOWN]
        return f"<{type(self).__name__} of {', '.join(told)}>"

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(np.sum(self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return a summary in plain JSON types: what it is, classes, rows and weight."""
        return {
            **self._about(),
            "classes": [_simple(label) for label in np.asarray(self.classes)],
            "rows": np.asarray(self.rows).tolist(),
            "weight": np.asarray(self.weight).tolist(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays that hold all of it, for ``np.savez`` or any safe format.

        One of them, ``about``, is a line of JSON. None holds objects, so that reading them back
        runs no code.
        """
        about = np.array(json.dumps({"form": FORM, **self._about()}))
        tables = self._tables().items()
        return {"about": about, **{name: _plain(name, table) for name, table in tables}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the statistic that `arrays` came from, after checking that they fit."""
        try:
            about = json.loads(str(arrays["about"]))
            if about["form"] != FORM or about["statistic"] != cls.__name__:
                raise ValueError(f"form {about['form']} of {about['statistic']}")
            return cls._rebuilt({name: _native(arrays[name]) for name in arrays}, about)
        except KeyError as error:
            raise ValueError(
                f"These arrays do not hold {cls.__name__}: {error} is missing."
            ) from error
        except NOT_THESE as error:
            raise ValueError(f"These arrays do not hold {cls.__name__}: {error}.") from error


def kind_of(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """The name of the statistic that arrays hold; None if they hold none."""
    try:
        return str(json.loads(str(arrays["about"]))["statistic"])
    except (KeyError, *NOT_THESE):
        return None


def freeze(*tables: NDArray[Any] | None) -> None:
    """Make arrays refuse to be written to."""
    for table in tables:
        if table is not None:
            table.setflags(write=False)


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays hold the same values, a sum of integers being a pair with low zero."""
    if a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} == {"i", "f"}:
        from .sums import as_pairs

        a, b = as_pairs(a), as_pairs(b)
    return np.array_equal(a, b)


def _plain(name: str, table: NDArray[Any]) -> NDArray[Any]:
    """An array without objects: class labels that are words may come as such."""
    labels = table.tolist()
    plain = np.array(labels) if table.dtype == object else table
    if plain.dtype.kind not in PLAIN or (plain is not table and plain.tolist() != labels):
        kinds = sorted({type(label).__name__ for label in table.flat})
        raise ValueError(
            f"A file holds labels that are words, truth values, or numbers of 64 bits; {name} are "
            f"{', '.join(kinds)}. Make them words with str."
        )
    return plain


def _counted(n: int, one: str, more: str = "") -> str:
    """A number of things."""
    return f"{n} {one if n == 1 else more or one + 's'}"


def _native(table: Any) -> NDArray[Any]:
    """An array in this machine's order of bytes."""
    given: NDArray[Any] = np.asarray(table)
    return given.astype(given.dtype.newbyteorder("="), copy=False)


def _simple(label: Any) -> Any:
    """A label as JSON has it: words, numbers, truth; None for NaN, other labels as words."""
    if isinstance(label, np.generic) and not isinstance(label, np.datetime64 | np.timedelta64):
        label = label.item()
    if isinstance(label, bytes):
        return label.decode(errors="backslashreplace")
    if isinstance(label, float) and not math.isfinite(label):
        return None if label != label else str(label)
    return label if isinstance(label, str | bool | int | float) else str(label)


# Whether the arrays of a file can be those of a statistic.
#
# Files may be damaged, or written by others, and models would make NaN of numbers that no rows can
# give. Every check raises a ValueError that ends a sentence.

ROUNDING = 1e-9  # a share by which sums that are equal may differ


def expect(name: str, table: NDArray[Any], shape: tuple[int, ...], kinds: str = "f") -> None:
    """Raise if an array read from a file has another shape or kind than it must have."""
    # Sums are of 64 bits; labels, which may be words, of any.
    wrong_size = "U" not in kinds and table.dtype.itemsize != 8
    if table.shape != shape or table.dtype.kind not in kinds or wrong_size:
        raise ValueError(f"{name} has shape {table.shape} and dtype {table.dtype}, not {shape}")


def expect_labels(name: str, values: NDArray[Any], n: int) -> None:
    """Raise if values are not n labels, each more than the last."""
    expect(name, values, (n,), "biufUS")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} are not all finite")
    if not (values[1:] > values[:-1]).all():
        raise ValueError(f"{name} are not sorted, or not different")


def expect_sums(name: str, sums: NDArray[Any], shape: tuple[int, ...], most: Any = np.inf) -> None:
    """Raise if sums (p, ...) of integers, or of pairs, are not from 0 to `most`."""
    expect(name, sums, (2 if sums.dtype.kind == "f" else 1, *shape), "fi")
    if not np.isfinite(sums).all():
        raise ValueError(f"{name} is not finite")
    if (sums[0] < 0).any():
        raise ValueError(f"{name} is negative: {sums[0][sums[0] < 0][0]}")
    if (sums[0] > np.multiply(most, 1 + ROUNDING)).any():
        raise ValueError(f"{name} is more than the weight of the rows")


def expect_scatter(scatter: NDArray[np.float64], noise: NDArray[np.float64]) -> None:
    """Raise if no rows have such squares (K, d), or products (K, d, d), off by `noise` (K, d)."""
    full = scatter.ndim == 3
    squares = np.diagonal(scatter, axis1=1, axis2=2) if full else scatter
    if (squares < 0).any() or (noise < 0).any():
        raise ValueError("scatter, or its noise, is negative")
    for k in range(len(scatter) if full else 0):
        # Where rounding is much of what there is, products may be anything.
        known = (squares[k] > 0) & (noise[k] <= ROUNDING * squares[k])
        scale = np.sqrt(squares[k][known])
        products = scatter[k][np.ix_(known, known)] / scale[:, None] / scale
        if not np.allclose(products, products.T, rtol=0, atol=1e-6):
            raise ValueError("scatter is not symmetric")
        try:
            if scatter[k][(squares[k] == 0) & (noise[k] == 0)].any():
                raise np.linalg.LinAlgError
            np.linalg.cholesky(products + 1e-6 * np.eye(len(scale)))
        except np.linalg.LinAlgError:
            raise ValueError("scatter has a negative direction, as no products have") from None


def names_and_dtype(about: Mapping[str, Any]) -> tuple[Names, np.dtype[Any]]:
    """Feature names and precision."""
    names, d = about["feature_names"], whole_number("n_features", about["n_features"])
    if names is not None and not (
        isinstance(names, list) and len(names) == d and all(isinstance(n, str) for n in names)
    ):
        raise ValueError(f"the names are not {d} words, one for each feature")
    if about["dtype"] not in ("float32", "float64"):
        raise ValueError(f"dtype is {about['dtype']}")
    return None if names is None else tuple(names), np.dtype(about["dtype"])


def whole_number(name: str, value: Any) -> int:
    """A number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is {value!r}, not a whole number >= 0")
    return value
