"""Whether the arrays of a file can be those of a statistic; what no rows can give is refused.

Files may be damaged, or written by others. Models believe their statistics, and would make NaN of
these. Every check raises a ValueError that ends a sentence.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .statistic import Names

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
    """Raise if sums of squares (K, d), or of products (K, d, d), are no such sums.

    They may be off by `noise` (K, d).
    """
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
