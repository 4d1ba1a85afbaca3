"""What `BasisExpansion` is told: names of families with their parameters, and of columns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bases import Basis, Bumps, Given, Polynomial, Powers, Splines, Waves

NAMES = ("polynomial", "powers", "interactions", "gaussian", "fourier", "spline", "identity")


def family_of(kind: Any, told: Any) -> Basis:
    """The family of a name or function, with the parameters that `told`, an expansion, has."""
    if callable(kind) and not isinstance(kind, str):
        return Given(kind)
    least, most = _degrees(told.degree, 3 if kind in ("fourier", "spline") else 2)
    families: dict[str, Callable[[], Basis]] = {
        "polynomial": lambda: Polynomial(least, most),
        "interactions": lambda: Polynomial(least, most, different=True),
        "powers": lambda: Powers(least, most),
        "gaussian": lambda: Bumps(told.n_functions, told.width),
        "fourier": lambda: Waves(most, told.period),
        "spline": lambda: _splines(told.n_functions, most),
        "identity": lambda: Powers(1, 1),
    }
    if not isinstance(kind, str) or kind not in families:
        raise ValueError(f"basis must be made of {', '.join(NAMES)}, or functions; got {kind!r}.")
    return families[kind]()


def columns_named(key: Any, names: Sequence[str], d: int) -> NDArray[np.intp]:
    """The numbers of the columns, of d with these names if any, that a key of `basis` names."""
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


def _degrees(degree: int | tuple[int, int] | None, default: int) -> tuple[int, int]:
    """The lowest and the highest degree."""
    if not isinstance(degree, tuple):
        return 1, default if degree is None else int(degree)
    if len(degree) != 2 or not 1 <= degree[0] <= degree[1]:
        raise ValueError(f"degree must be one number or (lowest, highest); got {degree!r}.")
    return int(degree[0]), int(degree[1])


def _splines(n_functions: int, degree: int) -> Splines:
    """Splines, if there are enough of them for their degree."""
    if n_functions < degree:
        raise ValueError(
            f"Splines of degree {degree} need n_functions of {degree} or more; got {n_functions}."
        )
    return Splines(n_functions, degree)
