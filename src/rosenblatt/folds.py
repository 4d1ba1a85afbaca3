"""Training sets as sums of statistics.

Rows that belong to the same training sets are measured together, once; a training set is the sum
of such groups. Nothing is ever subtracted: one row of size 1e8 would spoil the fold it leaves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Part = Any  # a statistic; None for a part without rows

# Random splits cut the rows into more and more groups: above this number, adding them up takes
# longer than reading the rows once more.
MOST_GROUPS = 1024


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on, and rows to test on.

    Leave-one-out has as many training sets as rows, each of all rows but one: only the rows that
    are left out are stored.
    """

    test: NDArray[Any]
    left_out: NDArray[np.int64]  # rows that are not trained on, sorted
    n_rows: int
    listed: NDArray[Any] | None  # the training rows, unless they are all others, once, in order

    @staticmethod
    def of(train: Any, test: Any, n_rows: int) -> "Split":
        """Return the split of `n_rows` rows by two lists of row numbers, or masks."""
        train = np.asarray(train) if len(train) else np.zeros(0, np.int64)
        chosen = np.zeros(n_rows, dtype=bool)
        chosen[train] = True
        left_out = np.flatnonzero(~chosen)
        in_order = (
            train.dtype.kind in "iu"
            and len(train) == n_rows - len(left_out)
            and (len(train) == 0 or (train[0] >= 0 and bool((train[1:] > train[:-1]).all())))
        )
        return Split(np.asarray(test), left_out, n_rows, None if in_order else train)

    @property
    def train(self) -> NDArray[Any]:
        """Training rows."""
        if self.listed is not None:
            return self.listed
        return np.delete(np.arange(self.n_rows), self.left_out)

    @property
    def once(self) -> bool:
        """True if no row is trained on twice."""
        if self.listed is None or self.listed.dtype == bool:
            return True
        return len(self.listed) == self.n_rows - len(self.left_out)

    @property
    def tests_what_it_leaves_out(self) -> bool:
        """True if the test rows are the rows that are not trained on, each once."""
        test = self.test
        if test.dtype.kind not in "iu" or len(test) != len(self.left_out):
            return False
        return np.array_equal(test, self.left_out) or np.array_equal(np.sort(test), self.left_out)

    def times(self) -> NDArray[np.int64]:
        """Return how often each row is trained on, (n,)."""
        times = np.ones(self.n_rows, np.int64)
        if self.once:
            times[self.left_out] = 0
            return times
        return np.bincount(np.arange(self.n_rows)[self.train], minlength=self.n_rows)


@dataclass(frozen=True, eq=False)
class Block:
    """Some splits, and the rows in groups that are in the same of their training sets."""

    splits: Sequence[Split]
    groups: NDArray[np.int64]  # (n,), from 0; none is empty
    # How often each group is in each training set, (G, S). For folds, instead, the split that each
    # group is left out of, (G,): as many as there are splits for the rows that are never left out.
    members: NDArray[np.int64]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.members)

    @property
    def leaves_each_row_out_once(self) -> bool:
        """True if splits are folds: each row is left out and tested by exactly one of several."""
        n_splits = len(self.splits)
        return (
            self.members.ndim == 1
            and n_splits > 1
            and np.array_equal(self.members, np.arange(n_splits))
            and all(split.tests_what_it_leaves_out for split in self.splits)
        )

    def training_sets(
        self, parts: Sequence[Part], in_order: bool = False
    ) -> tuple[list[Part], Part]:
        """Return the sum of the statistics of groups for each split, and the sum for all rows."""
        # `in_order` adds the parts of each sum one after the other, in k steps for each of k folds.
        if self.members.ndim == 2:
            return sums(parts, self.members), total(parts)
        if in_order:
            others = (
                [p for p, s in zip(parts, self.members, strict=True) if s != split]
                for split in range(len(self.splits))
            )
            return [total(some) for some in others], total(parts)
        folds: list[Part] = [None] * (len(self.splits) + 1)
        for s, part in zip(self.members, parts, strict=True):
            folds[s] = part
        return all_but_one(folds[:-1], folds[-1])

    def test_sets(self, parts: Sequence[Part]) -> list[Part]:
        """Return the statistic of the test rows of each split; None where they are not a group."""
        found: list[Part] = [None] * len(self.splits)
        if self.members.ndim == 2:
            return found
        for s, part in zip(self.members, parts, strict=True):
            if s < len(self.splits) and self.splits[s].tests_what_it_leaves_out:
                found[s] = part
        return found


def blocks(splits: Sequence[Split], n_rows: int, most_folds: int, most_groups: int) -> list[Block]:
    """Return the splits in blocks with few enough groups; nearly always one block."""
    if not _are_folds(splits, n_rows):
        return _blocks_of_sets(splits, n_rows, min(most_groups, MOST_GROUPS))
    found = []
    for start in range(0, len(splits), most_folds):
        some = splits[start : start + most_folds]
        folds = np.full(n_rows, len(some), np.int64)
        for s, split in enumerate(some):
            folds[split.left_out] = s
        found.append(Block(some, *_numbered(folds, len(some) + 1)))
    return found


def _are_folds(splits: Sequence[Split], n_rows: int) -> bool:
    """Return True if no row is left out by two splits or trained on twice by one."""
    if sum(len(split.left_out) for split in splits) > n_rows:
        return False
    seen = np.zeros(n_rows, dtype=bool)
    for split in splits:
        if not split.once or seen[split.left_out].any():
            return False
        seen[split.left_out] = True
    return True


def _blocks_of_sets(splits: Sequence[Split], n_rows: int, most_groups: int) -> list[Block]:
    """Return blocks of splits whose training sets may overlap in any way."""
    found = []
    first, groups, members = 0, np.zeros(n_rows, np.int64), np.zeros((1, 0), np.int64)
    for s, split in enumerate(splits):
        finer = _divided(groups, members, split)
        if len(finer[1]) > most_groups and s > first:
            found.append(Block(splits[first:s], groups, members))
            first, finer = s, _divided(np.zeros(n_rows, np.int64), np.zeros((1, 0), int), split)
        groups, members = finer
    return [*found, Block(splits[first:], groups, members)]


def _divided(
    groups: NDArray[np.int64], members: NDArray[np.int64], split: Split
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return groups divided by how often one more split trains on their rows, and their members."""
    times = split.times()
    width = int(times.max(initial=0)) + 1
    groups, seen = _numbered(groups * width + times, len(members) * width)
    return groups, np.column_stack([members[seen // width], seen % width])


def _numbered(codes: NDArray[np.int64], n_codes: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes renumbered from 0 without gaps, and the codes that occur."""
    seen = np.bincount(codes, minlength=n_codes) > 0
    return (np.cumsum(seen) - 1)[codes], np.flatnonzero(seen)


def all_but_one(folds: Sequence[Part], rest: Part = None) -> tuple[list[Part], Part]:
    """Return the sum of the other folds for each of k folds, and of all, in about 3 k additions."""
    # Each is the sum of the folds before and of those after it; `rest` is added to all.
    after = [rest]
    for fold in reversed(folds[1:]):
        after.append(_plus(fold, after[-1]))
    others: list[Part] = []
    before: Part = None
    for fold in folds:
        others.append(_plus(before, after.pop()))
        before = _plus(before, fold)
    return others, _plus(before, rest)


def sums(parts: Sequence[Part], members: NDArray[np.int64]) -> list[Part]:
    """Return the sum of parts for each column of members (G, S), the multiplicity of each part."""
    # Sums that two columns share are added once: parts that are equal in the first half of the
    # columns are added first, and so are those that are equal in the second half.
    if members.shape[1] == 1:
        pairs = zip(parts, members[:, 0], strict=True)
        return [total(part for part, n in pairs for _ in range(n))]
    if not parts:
        return [None] * members.shape[1]
    found: list[Part] = []
    for half in np.array_split(members, 2, axis=1):
        kinds, places = np.unique(half, axis=0, return_inverse=True)
        together: list[Part] = [None] * len(kinds)
        for part, place in zip(parts, places.ravel(), strict=True):
            if kinds[place].any():
                together[place] = _plus(together[place], part)
        kept = kinds.any(axis=1)
        found += sums([part for part in together if part is not None], kinds[kept])
    return found


def total(parts: Iterable[Part]) -> Part:
    """Return the sum of parts; None without parts."""
    result: Part = None
    for part in parts:
        result = _plus(result, part)
    return result


def _plus(a: Part, b: Part) -> Part:
    """Return a + b; None counts as zero."""
    if a is None or b is None:
        return a if b is None else b
    return a + b
