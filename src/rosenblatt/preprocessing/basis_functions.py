"""Families of functions of columns. Legend: m columns of a family, x one of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from rosenblatt.loops.rows import read_only

from . import scaling_loops

CELLS_AT_ONCE = 2**20

Table = Any  # (n, m): an array, or CSR where a family says so


class Basis(ABC):
    """A family of functions; without `count` and `sources`, the same number of each column."""

    n_functions: int  # of each column, those of the first column first
    takes_sparse = False

    def count(self, m: int) -> int:
        """Return the number of functions of m columns."""
        return m * self.n_functions

    def fit(self, X: Table) -> Self:
        """Learn where the functions lie."""
        return self

    @abstractmethod
    def transform(self, X: Table) -> Table:
        """Return the values of the functions, (n, count)."""

    @abstractmethod
    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the functions."""

    def sources(self, m: int) -> NDArray[np.intp]:
        """Return the column that each is a function of, (count,); -1 for several columns."""
        return np.repeat(np.arange(m), self.n_functions)


@dataclass
class Polynomial(Basis):
    """Monomials of the columns together; with `different`, products of different columns."""

    least: int
    degree: int
    different: bool = False
    takes_sparse: bool = True

    def count(self, m: int) -> int:
        if not self.different:
            return math.comb(m + self.degree, m) - math.comb(m + self.least - 1, m)
        return sum(math.comb(m, k) for k in range(self.least, min(self.degree, m) + 1))

    def fit(self, X: Table) -> Self:
        self._made = PolynomialFeatures(
            (self.least, self.degree), interaction_only=self.different, include_bias=False
        ).fit(X[:1])
        return self

    def transform(self, X: Table) -> Table:
        return self._made.transform(X)

    def names(self, columns: Sequence[str]) -> list[str]:
        return list(self._made.get_feature_names_out(np.array(columns, dtype=object)))

    def sources(self, m: int) -> NDArray[np.intp]:
        occurs = self._made.powers_ > 0
        return np.where(occurs.sum(axis=1) == 1, occurs.argmax(axis=1), -1)


@dataclass
class Powers(Basis):
    """x, x^2, ... of each column alone, all columns of one power together."""

    least: int
    degree: int
    takes_sparse: bool = True

    @property
    def _powers(self) -> range:
        return range(self.least, self.degree + 1)

    def count(self, m: int) -> int:
        return m * len(self._powers)

    def transform(self, X: Table) -> Table:
        if sp.issparse(X):
            return sp.csr_matrix(sp.hstack([X.power(k) for k in self._powers]))
        return np.hstack([X**k for k in self._powers])

    def names(self, columns: Sequence[str]) -> list[str]:
        return [name if k == 1 else f"{name}^{k}" for k in self._powers for name in columns]

    def sources(self, m: int) -> NDArray[np.intp]:
        return np.tile(np.arange(m), len(self._powers))


@dataclass
class Bumps(Basis):
    """``exp(-(x - c)^2 / (2 s^2))``, centers c evenly from the least to the greatest x."""

    n_functions: int
    width: float | None

    def fit(self, X: Table) -> Self:
        low, high = X.min(axis=0), X.max(axis=0)
        self.centres = np.linspace(low, high, self.n_functions).T  # (m, n_functions)
        if self.n_functions == 1:
            self.centres = ((low + high) / 2)[:, np.newaxis]
        self.widths = _given_or(self.width, (high - low) / max(self.n_functions - 1, 1))
        return self

    def transform(self, X: Table) -> Table:
        distance = (X[:, :, np.newaxis] - self.centres) / self.widths[:, np.newaxis]
        return np.exp(-0.5 * distance**2).reshape(len(X), -1).astype(X.dtype, copy=False)

    def names(self, columns: Sequence[str]) -> list[str]:
        pairs = zip(columns, self.centres, strict=True)
        return [f"bump({name} at {c:.4g})" for name, centres in pairs for c in centres]


@dataclass
class Waves(Basis):
    """``sin(2 pi k x / period)`` and the cosine for k = 1, 2, ..., the highest frequency."""

    frequencies: int
    period: float | None

    @property
    def n_functions(self) -> int:  # type: ignore[override]
        return 2 * self.frequencies

    def fit(self, X: Table) -> Self:
        self.periods = _given_or(self.period, X.max(axis=0) - X.min(axis=0))
        return self

    def transform(self, X: Table) -> Table:
        k = np.arange(1, self.frequencies + 1)
        angle = 2 * np.pi * (X / self.periods)[:, :, np.newaxis] * k
        waves = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
        # Columns of a few values may meet zeros alone: rounding there is no wave.
        size = np.finfo(X.dtype).eps * (4 + np.abs(angle))
        waves[np.abs(waves) <= size[..., np.newaxis]] = 0.0
        return waves.reshape(len(X), -1).astype(X.dtype, copy=False)

    def names(self, columns: Sequence[str]) -> list[str]:
        return [
            f"{wave}({k} x 2 pi {name} / {period:.4g})"
            for name, period in zip(columns, self.periods, strict=True)
            for k in range(1, self.frequencies + 1)
            for wave in ("sin", "cos")
        ]


@dataclass
class Splines(Basis):
    """B-splines of each column over knots at its quantiles; straight lines beyond the last."""

    n_functions: int
    degree: int

    def __post_init__(self) -> None:
        if self.n_functions < self.degree:
            raise ValueError(
                f"Splines of degree {self.degree} need n_functions of {self.degree} or more; "
                f"got {self.n_functions}."
            )

    def fit(self, X: Table) -> Self:
        # One of them follows from the others and the intercept, and is left out.
        knots = self.n_functions + 2 - self.degree
        self._made = SplineTransformer(
            n_knots=knots, degree=self.degree, knots="quantile", extrapolation="linear",
            include_bias=False,
        ).fit(X)  # fmt: skip
        return self

    def transform(self, X: Table) -> Table:
        made = self._made.bsplines_
        knots = np.array([spline.t for spline in made])
        low, high = knots[:, self.degree], knots[:, -self.degree - 1]
        if not self.degree or (low == high).any():  # odd ones are left to scikit-learn
            return self._made.transform(X).astype(X.dtype, copy=False)
        ends = np.array(
            [
                [spline(x, nu=nu) for x in (a, b) for nu in (0, 1)]
                for spline, a, b in zip(made, low, high, strict=True)
            ]
        )
        # All but so many are zero there, with slope zero; exactly so even where knots coincide.
        lines = max(self.degree, 2)
        ends[:, :2, lines:] = ends[:, 2:, :-lines] = 0.0
        ends = np.ascontiguousarray(ends[:, :, : self.n_functions])
        found = np.empty((len(X), self.count(len(made))), X.dtype)
        scratch = np.empty(self.degree + 1)
        size = CELLS_AT_ONCE // X.shape[1] + 1
        for start in range(0, len(X), size):  # a signal interrupts between two calls
            rows, here = read_only(X[start : start + size]), found[start : start + size]
            scaling_loops.fill_splines(rows, knots, self.degree, ends, scratch, here)
        return found

    def names(self, columns: Sequence[str]) -> list[str]:
        return [f"spline({name}, {i})" for name in columns for i in range(self.n_functions)]


@dataclass
class Given(Basis):
    """A function of the user, of an array (n, m): numbers for each entry, or any columns."""

    function: Callable[[NDArray[Any]], Any]
    takes_sparse: bool = False

    def __post_init__(self) -> None:
        self.name = str(getattr(self.function, "__name__", type(self.function).__name__))

    def count(self, m: int) -> int:
        return int(self._values(np.ones((1, m))).shape[1])

    def fit(self, X: Table) -> Self:
        self._width = self._values(X[:1]).shape[1]
        return self

    def transform(self, X: Table) -> Table:
        values = self._values(X)
        if values.shape != (len(X), self._width):
            raise ValueError(
                f"{self.name} must give as many columns for any rows: it gave {self._width} for "
                f"one row and an array of shape {values.shape} for {len(X)} rows."
            )
        return values.astype(X.dtype, copy=False)

    def names(self, columns: Sequence[str]) -> list[str]:
        if self._width == len(columns):
            return [f"{self.name}({name})" for name in columns]
        return [f"{self.name}({', '.join(columns)}){i}" for i in range(self._width)]

    def sources(self, m: int) -> NDArray[np.intp]:
        return np.full(self._width, 0 if m == 1 else -1)  # it may use any of several columns

    def _values(self, X: NDArray[Any]) -> NDArray[Any]:
        values = np.asarray(self.function(X))
        return values[:, np.newaxis] if values.ndim == 1 else values


def _given_or(width: float | None, learned: NDArray[Any]) -> NDArray[Any]:
    """Return a given width for all columns, else the learned ones (m,), 1 in place of zero."""
    if width is not None:
        return np.full(len(learned), float(width))
    return np.where(learned > 0, learned, 1.0)


# Parameters of `BasisExpansion`: names of families and of columns.


NAMES = ("polynomial", "powers", "interactions", "gaussian", "fourier", "spline", "identity")


def family_of(kind: Any, expansion: Any) -> Basis:
    """Return the family of a name or function, with the parameters of an expansion."""
    if callable(kind) and not isinstance(kind, str):
        return Given(kind)
    degree = expansion.degree or (3 if kind in ("fourier", "spline") else 2)
    degrees = degree if isinstance(degree, tuple) else (1, degree)
    if len(degrees) != 2 or not 1 <= degrees[0] <= degrees[1]:
        raise ValueError(f"degree must be one number or (lowest, highest); got {degree!r}.")
    least, most = map(int, degrees)
    families: dict[str, Callable[[], Basis]] = {
        "polynomial": lambda: Polynomial(least, most),
        "interactions": lambda: Polynomial(least, most, different=True),
        "powers": lambda: Powers(least, most),
        "gaussian": lambda: Bumps(expansion.n_functions, expansion.width),
        "fourier": lambda: Waves(most, expansion.period),
        "spline": lambda: Splines(expansion.n_functions, most),
        "identity": lambda: Powers(1, 1),
    }
    if not isinstance(kind, str) or kind not in families:
        raise ValueError(f"basis must be made of {', '.join(NAMES)}, or functions; got {kind!r}.")
    return families[kind]()


def columns_named(key: Any, names: Sequence[str], d: int) -> NDArray[np.intp]:
    """Return the numbers of the columns, of d with these names if any, that a key names."""
    found = []
    for one in key if isinstance(key, tuple) else (key,):
        if isinstance(one, int | np.integer):
            if not -d <= one < d:
                raise ValueError(f"basis names column {one}, but X has {d} columns.")
            found.append(int(one) % d)
        elif one in names:
            found.append(names.index(one))
        else:
            known = ", ".join(map(str, names)) or "none; use numbers"
            raise ValueError(f"basis names column {one!r}; X has names: {known}.")
    return np.array(found, dtype=np.intp)
