"""Three parts: every row in one of them, sizes as asked, classes in proportion, groups whole."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import train_dev_test_split


def row_numbers(n, **options):
    """The row numbers of the three parts."""
    return train_dev_test_split(np.arange(n), **options)


def is_partition(parts, n):
    return np.array_equal(np.sort(np.concatenate(parts)), np.arange(n))


sizes = st.one_of(st.integers(1, 40), st.floats(0.02, 0.6))


def asked(size, n):
    return size if isinstance(size, int) else size * n


@given(n=st.integers(3, 200), dev=sizes, test=sizes, shuffle=st.booleans())
def test_every_row_is_in_one_part_and_sizes_are_within_one_of_those_asked(n, dev, test, shuffle):
    # B1: training, development and test sets, and who may look at which
    assume(asked(dev, n) >= 1 and asked(test, n) >= 1 and asked(dev, n) + asked(test, n) < n - 1)
    parts = row_numbers(n, dev_size=dev, test_size=test, shuffle=shuffle, random_state=0)
    assert is_partition(parts, n)
    assert abs(len(parts[1]) - asked(dev, n)) <= 0.5
    assert abs(len(parts[2]) - asked(test, n)) <= 0.5
    assert abs(len(parts[0]) - (n - asked(dev, n) - asked(test, n))) <= 1
    if not shuffle:
        assert np.array_equal(np.concatenate(parts), np.arange(n))


@given(
    counts=st.lists(st.integers(3, 40), min_size=1, max_size=7),
    dev=st.floats(0.1, 0.4),
    test=st.floats(0.1, 0.4),
    seed=st.integers(0, 5),
)
def test_each_class_gives_its_share_rounded_up_or_down(counts, dev, test, seed):
    y = np.random.RandomState(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    n = len(y)
    assume(min(dev, test, 1 - dev - test) * n >= len(counts) + 1)
    parts = row_numbers(n, dev_size=dev, test_size=test, stratify=y, random_state=seed)
    assert is_partition(parts, n)
    plain = row_numbers(n, dev_size=dev, test_size=test, random_state=seed)
    assert [len(part) for part in parts] == [len(part) for part in plain]
    for part in parts:
        share = np.array(counts) * len(part) / n
        assert np.all(np.abs(np.bincount(y[part], minlength=len(counts)) - share) < 1)


def test_a_class_with_little_to_give_is_in_every_part_where_that_is_possible():
    y = np.repeat([0, 1, 2], [82, 10, 8])  # shares 8.2, 1, 0.8: one of two rounds up
    for seed in range(20):
        parts = row_numbers(100, stratify=y, dev_size=0.1, test_size=0.1, random_state=seed)
        assert all(set(y[part]) == {0, 1, 2} for part in parts)


@given(
    group_sizes=st.lists(st.integers(1, 9), min_size=3, max_size=30),
    dev=st.floats(0.1, 0.4),
    test=st.floats(0.1, 0.4),
    stratified=st.booleans(),
)
def test_groups_stay_whole_and_no_part_is_empty(group_sizes, dev, test, stratified):
    groups = np.repeat(np.arange(len(group_sizes)), group_sizes)
    n = len(groups)
    assume(min(dev, test) * n >= 1 and n - dev * n - test * n >= 2)
    y = np.arange(n) % 2 if stratified else None
    options = {"dev_size": dev, "test_size": test, "random_state": 0}
    parts = row_numbers(n, groups=groups, stratify=y, **options)
    assert is_partition(parts, n)
    homes = [set(groups[part]) for part in parts]
    assert all(homes)
    assert sum(map(len, homes)) == len(group_sizes)


@given(n_groups=st.integers(10, 60), dev=st.floats(0.1, 0.4), test=st.floats(0.1, 0.4))
def test_groups_of_one_size_leave_no_part_a_group_away_from_its_share(n_groups, dev, test):
    groups = np.arange(4 * n_groups) % n_groups
    parts = row_numbers(len(groups), groups=groups, dev_size=dev, test_size=test, random_state=1)
    plain = row_numbers(len(groups), dev_size=dev, test_size=test, random_state=1)
    for part, expected in zip(parts, plain, strict=True):
        assert abs(len(part) - len(expected)) < 4


def test_groups_and_classes_together_keep_both():
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(200), rng.randint(1, 8, 200))
    y = (rng.uniform(size=200) < 0.3)[groups].astype(int)
    parts = row_numbers(len(y), groups=groups, stratify=y, random_state=0)
    assert [round(len(part) / len(y), 2) for part in parts] == [0.6, 0.2, 0.2]
    assert np.ptp([y[part].mean() for part in parts]) < 0.02
    assert not set(groups[parts[0]]) & (set(groups[parts[1]]) | set(groups[parts[2]]))


def test_the_same_seed_gives_the_same_parts_and_another_others():
    y = np.arange(60) % 3
    for options in ({}, {"stratify": y}, {"groups": y + 3 * (np.arange(60) // 6)}):
        first, again, other = (
            np.concatenate(row_numbers(60, random_state=seed, **options)) for seed in (1, 1, 2)
        )
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


def test_arrays_frames_sparse_and_lists_are_split_alike_and_keep_their_kind():
    X = np.arange(40).reshape(20, 2)
    kinds = (
        X, pd.DataFrame(X), pl.DataFrame(X), sp.csr_matrix(X), X.tolist(), pd.Series(X[:, 0])
    )  # fmt: skip
    *parts, train, dev, test = train_dev_test_split(*kinds, random_state=0, return_indices=True)
    assert len(parts) == 18
    for i, given_kind in enumerate(kinds):
        for part, chosen in zip(parts[3 * i : 3 * i + 3], (train, dev, test), strict=True):
            assert type(part) is type(given_kind)
            rows = part.toarray() if sp.issparse(part) else np.asarray(part)
            assert np.array_equal(rows, X[chosen] if rows.ndim == 2 else X[chosen, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dev_size": 0}, r"dev_size must be a number of rows >= 1, or a share .*; got 0\."),
        ({"test_size": 1.0}, "test_size must be a number of rows >= 1, or a share"),
        ({"test_size": True}, "test_size must be a number of rows"),
        ({"test_size": "0.2"}, "test_size must be a number of rows"),
        ({"test_size": 0.01}, "test_size=0.01 of 12 rows is less than half a row; ask for more"),
        ({"dev_size": 6, "test_size": 6}, "ask for 6 and 6 of 12 rows, which leaves none to train"),
        ({"stratify": [0] * 10 + [1] * 2}, "Class 1 of stratify has 2 rows, too few for three"),
        (
            {"stratify": [0, 1, 2, 3] * 3, "dev_size": 3},
            "The test part has 2 rows, too few for the 4 classes of stratify",
        ),
        ({"stratify": [0, 1]}, r"stratify must have one label for each of the 12 rows; got shape"),
        ({"groups": [0, 1] * 6}, "groups must hold at least 3 groups, one for each part; got 2"),
        ({"shuffle": False, "stratify": [0] * 12}, "shuffle=False keeps the rows in order, which "),
        ({"shuffle": False, "groups": range(12)}, "which groups cannot"),
    ],
)
def test_errors_say_what_was_asked_and_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        row_numbers(12, **options)


def test_nothing_to_split_and_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="at least one array"):
        train_dev_test_split()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_dev_test_split([1, 2, 3], [1, 2])
