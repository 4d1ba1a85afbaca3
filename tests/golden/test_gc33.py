"""GC33, B1: 120 points, 20 of them for the test."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from rosenblatt import train_dev_test_split

POINTS = np.arange(120)


@pytest.mark.parametrize(("dev", "train"), [(5, 95), (40, 60)])
def test_the_two_poor_splits_of_the_hundred_that_are_left(dev, train):
    parts = train_dev_test_split(POINTS, dev_size=dev, test_size=20, random_state=0)
    assert [len(part) for part in parts] == [train, dev, 20]
    assert np.array_equal(np.sort(np.concatenate(parts)), POINTS)


def test_five_folds_of_the_hundred_are_eighty_and_twenty_five_times():
    train, dev, test = train_dev_test_split(POINTS, dev_size=5, test_size=20, random_state=0)
    usable = np.concatenate([train, dev])
    sizes = [(len(a), len(b)) for a, b in KFold(5).split(usable)]
    assert sizes == [(80, 20)] * 5
    assert not set(usable) & set(test)
