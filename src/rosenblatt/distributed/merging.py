"""Sums of statistics in a tree whose shape follows from their order alone."""

from typing import Any


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
