"""What passes over parts add up: named arrays, and samples of rows; and the tree that adds them."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.statistics import Statistic
from rosenblatt.statistics.files import rebuilt

Arrays = dict[str, NDArray[Any]]
SEPARATOR = "/"


class Sums(dict[str, Any]):
    """Values by name, each with a + of its own; two are added name by name, as far as both have it.

    >>> total = Sums(n=1, x=np.array([1.0, 2.0])) + Sums(n=2, x=np.array([3.0, 4.0]))
    >>> total["n"], total["x"]
    (3, array([4., 6.]))
    """

    def __add__(self, other: "Sums") -> "Sums":
        both = {name: value + other[name] for name, value in self.items() if name in other}
        return Sums({**self, **other, **both})


class Sample:
    """The rows whose keys are the lowest, at most so many; of two samples the lowest of both.

    Keys are drawn at random, so that the sample is one of all rows, whoever drew its parts.

    >>> first = Sample(np.array([0.2, 0.7]), np.array([[2.0], [7.0]]), np.array([0, 1]), 2)
    >>> second = Sample(np.array([0.1]), np.array([[1.0]]), np.array([1]), 2)
    >>> (first + second).X.ravel()
    array([1., 2.])
    """

    def __init__(self, keys: Any, X: NDArray[Any], y: NDArray[Any], most: int) -> None:
        order = lowest(keys, most)
        self.keys, self.X, self.y, self.most = np.asarray(keys)[order], X[order], y[order], most

    def __add__(self, other: Self) -> "Sample":
        keys = np.concatenate([self.keys, other.keys])
        X, y = np.concatenate([self.X, other.X]), np.concatenate([self.y, other.y])
        return Sample(keys, X, y, self.most)

    def arrays(self) -> Arrays:
        """The sample as plain arrays."""
        return {"keys": self.keys, "X": self.X, "y": self.y, "most": np.array(self.most)}


def lowest(keys: Any, most: int) -> NDArray[np.intp]:
    """The places of the lowest keys, at most so many, in their order; of equal ones the first.

    >>> lowest(np.array([3.0, 1.0, 2.0, 1.0]), 3)
    array([1, 3, 2])
    """
    keys = np.asarray(keys)
    places = np.arange(len(keys))
    if 0 < most < len(keys):  # a few of many: no need to sort them all
        places = np.flatnonzero(keys <= np.partition(keys, most - 1)[most - 1])
    return places[np.argsort(keys[places], kind="stable")[:most]]


class MergeTree:
    """Adds statistics up in pairs, pairs of pairs and so on, keeping one sum for each level.

    Like counting in twos: the same statistics in the same order give the same bits, whoever
    computed them, and rounding grows with the logarithm of their number.

    >>> tree = MergeTree()
    >>> for n in (1, 2, 3, 4, 5):
    ...     tree.add(n)
    >>> tree.levels, tree.total()
    ([(2, 10), (0, 5)], 15)
    """

    def __init__(self) -> None:
        self.levels: list[tuple[int, Any]] = []  # the highest first
        self.n_added = 0

    def add(self, statistic: Any) -> None:
        """Add the next statistic; None stands for a part without rows."""
        self.n_added += 1
        if statistic is None:
            return
        level = 0
        while self.levels and self.levels[-1][0] == level:
            statistic = self.levels.pop()[1] + statistic
            level += 1
        self.levels.append((level, statistic))

    def total(self) -> Any:
        """The sum of all; None if there are none."""
        total = None
        for _, statistic in reversed(self.levels):
            total = statistic if total is None else statistic + total
        return total


def merged(statistics: Iterable[Any]) -> Any:
    """The sum of all statistics, by a tree; None if there are none."""
    tree = MergeTree()
    for statistic in statistics:
        tree.add(statistic)
    return tree.total()


def to_arrays(total: Any) -> Arrays:
    """A total as plain arrays, for a file that runs nothing when it is read."""
    if isinstance(total, Sums):
        return {
            SEPARATOR.join(("sums", name, key)): array
            for name, value in total.items()
            for key, array in to_arrays(value).items()
        }
    if isinstance(total, Sample):
        return {SEPARATOR.join(("sample", key)): array for key, array in total.arrays().items()}
    if isinstance(total, Statistic):
        return dict(total.arrays())
    return {"value": np.asarray(total)}


def from_arrays(arrays: Arrays) -> Any:
    """The total that `to_arrays` wrote."""
    first = next(iter(arrays))
    if first.startswith("sums" + SEPARATOR):
        found: dict[str, Arrays] = {}
        for path, array in arrays.items():
            _, name, key = path.split(SEPARATOR, 2)
            found.setdefault(name, {})[key] = array
        return Sums({name: from_arrays(inner) for name, inner in found.items()})
    if first.startswith("sample" + SEPARATOR):
        known = {path.split(SEPARATOR, 1)[1]: array for path, array in arrays.items()}
        return Sample(known["keys"], known["X"], known["y"], int(known["most"]))
    if "value" in arrays:
        return arrays["value"][()]
    return rebuilt(arrays)
