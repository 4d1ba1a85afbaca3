"""Training sets as sums: each holds its own rows, as often as the split says, and no others."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as theirs

from rosenblatt import folds
from rosenblatt.folds import Split, all_but_one, blocks


class Rows(Counter):
    """A statistic that remembers its rows, and counts additions."""

    additions = 0

    def __add__(self, other):
        Rows.additions += 1
        return Rows(super().__add__(other))


def measured(block):
    """The statistic of each group of a block."""
    parts = [Rows() for _ in range(block.n_groups)]
    for row, group in enumerate(block.groups):
        parts[group][row] += 1
    assert all(parts)
    return parts


def summed(splits, n, most_folds=10**6, most_groups=10**6):
    """The rows of each training set, as often as they are in it, and the number of reads."""
    found, n_reads = [], 0
    for block in blocks([Split.of(train, test, n) for train, test in splits], n,
                        most_folds, most_groups):  # fmt: skip
        trained, whole = block.training_sets(measured(block))
        assert whole == dict.fromkeys(range(n), 1)
        found += trained
        n_reads += 1
    return found, n_reads


SPLITTERS = {
    "folds": theirs.KFold(5),
    "shuffled folds": theirs.KFold(4, shuffle=True, random_state=0),
    "one left out": theirs.LeaveOneOut(),
    "two left out": theirs.LeavePOut(2),
    "shuffles": theirs.ShuffleSplit(6, random_state=0),
    "one shuffle": theirs.ShuffleSplit(1, random_state=0),
    "repeated folds": theirs.RepeatedKFold(n_splits=3, n_repeats=3, random_state=0),
    "time series": theirs.TimeSeriesSplit(5),
    "some rows always trained on": theirs.PredefinedSplit([0, 1, -1, 1] * 5),
}


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("limit", [10**6, 3])
def test_training_sets_are_those_of_the_splitter(name, limit):
    splits = list(SPLITTERS[name].split(np.zeros(20)))
    found, n_reads = summed(splits, 20, limit, limit)
    assert found == [dict.fromkeys(train, 1) for train, _ in splits]
    assert n_reads == 1 or limit == 3


@given(
    st.lists(st.lists(st.integers(-7, 6), max_size=20), min_size=1, max_size=9),
    st.integers(1, 12),
)
def test_any_lists_of_rows_are_summed_with_their_repetitions(trains, limit):
    found, _ = summed([(train, [0]) for train in trains], 7, limit, limit)
    for rows, train in zip(found, trains, strict=True):
        assert (rows or {}) == Counter(row % 7 for row in train)


def test_masks_are_rows_too():
    mask = np.array([True, False, True])
    split = Split.of(mask, ~mask, 3)
    assert summed([(mask, ~mask)], 3)[0] == [{0: 1, 2: 1}]
    assert split.once
    assert split.train is mask


@pytest.mark.parametrize("k", [2, 5, 50, 1000])
def test_folds_take_three_additions_each_and_no_subtraction(k):
    Rows.additions = 0
    others, whole = all_but_one([Rows({row: 1}) for row in range(k)])
    assert Rows.additions <= 3 * k
    assert whole == dict.fromkeys(range(k), 1)
    assert [set(range(k)) - set(rows) for rows in others] == [{row} for row in range(k)]


def test_what_training_sets_share_is_added_once():
    """Adding up every group for every split anew would take some 7 x 100 x 20 additions."""
    splits = theirs.ShuffleSplit(20, test_size=0.3, random_state=0).split(np.zeros(100))
    Rows.additions = 0
    summed(splits, 100)
    assert Rows.additions < 700


def test_a_training_set_that_is_all_rows_but_some_is_kept_as_these():
    train, test = next(theirs.LeaveOneOut().split(np.zeros(1000)))
    split = Split.of(train, test, 1000)
    assert split.listed is None
    np.testing.assert_array_equal(split.left_out, [0])
    np.testing.assert_array_equal(split.train, train)
    unsorted = Split.of(train[::-1], test, 1000)
    np.testing.assert_array_equal(unsorted.train, train[::-1])


def test_an_empty_training_set_has_no_sum():
    found, _ = summed([([], [0, 1]), ([0, 1], [])], 2)
    assert found == [None, {0: 1, 1: 1}]


def test_random_splits_beyond_what_pays_are_read_in_blocks(monkeypatch):
    monkeypatch.setattr(folds, "MOST_GROUPS", 16)
    splits = list(theirs.ShuffleSplit(12, test_size=0.5, random_state=0).split(np.zeros(200)))
    found, n_reads = summed(splits, 200)
    assert n_reads == 3  # four splits make sixteen groups
    assert found == [dict.fromkeys(train, 1) for train, _ in splits]
