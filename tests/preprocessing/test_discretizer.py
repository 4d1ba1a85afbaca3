"""C7: cuts by information, by quantiles and by width."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer

from rosenblatt import Discretizer
from rosenblatt.information import information_cuts, information_gain

X, Y = load_iris(return_X_y=True)


def test_the_first_cut_has_the_largest_information_gain():
    for x in X.T:
        (cut,) = information_cuts(x, Y, max_cuts=1, stop=None)
        values = np.unique(x)
        gains = {c: information_gain(labels=Y, given=x > c) for c in (values[1:] + values[:-1]) / 2}
        assert gains[min(gains, key=lambda c: abs(c - cut))] == pytest.approx(max(gains.values()))


def test_cuts_of_iris_are_those_of_the_literature():
    # Fayyad and Irani's rule, as printed in many texts
    cuts = [information_cuts(x, Y).round(2).tolist() for x in X.T]
    assert cuts == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_what_tells_nothing_is_not_cut():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=200)
    assert information_cuts(noise, rng.integers(0, 2, 200)).size == 0
    assert information_cuts(np.ones(5), [0, 1, 0, 1, 0], stop=None).size == 0
    assert information_cuts(noise, rng.integers(0, 2, 200), stop=None, max_cuts=3).size == 3


def test_a_weight_of_two_is_a_row_twice():
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    rows = np.repeat(np.arange(len(Y)), weight)
    for x in X.T:
        twice = information_cuts(x[rows], Y[rows])
        assert np.allclose(information_cuts(x, Y, sample_weight=weight), twice)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_other_strategies_are_those_of_scikit_learn(strategy):
    x = np.random.default_rng(1).normal(size=(301, 2))
    ours = Discretizer(strategy=strategy, max_bins=4).fit(x)
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy=strategy).fit(x)
    for cuts, edges in zip(ours.cuts_, theirs.bin_edges_, strict=True):
        assert np.allclose(cuts, edges[1:-1], atol=0.05)
    counts = np.bincount(ours.transform(x)[:, 0].astype(int))
    if strategy == "quantile":
        assert np.ptp(counts) <= 1


def test_encodings_agree():
    bins = Discretizer().fit_transform(X, Y)
    above = Discretizer(encode="thresholds").fit(X, Y)
    onehot = Discretizer(encode="onehot").fit_transform(X, Y)
    ends = np.cumsum(above.n_bins_ - 1)[:-1]
    parts = np.split(above.transform(X), ends, axis=1)
    assert np.array_equal(np.column_stack([part.sum(axis=1) for part in parts]), bins)
    assert (onehot.sum(axis=1) == 4).all()
    assert onehot.shape[1] == above.n_bins_.sum()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    names = Discretizer(encode="onehot").fit(frame, Y).get_feature_names_out().tolist()
    assert names[:3] == ["a <= 5.55", "5.55 < a <= 6.15", "a > 6.15"]


def test_classes_are_needed_where_they_are_used():
    with pytest.raises(ValueError, match="y"):
        Discretizer().fit(X)
    assert Discretizer(strategy="uniform").fit(X).n_bins_.tolist() == [8] * 4
    with pytest.raises(ValueError, match="stop must be 'mdl' or None"):
        information_cuts(X[:, 0], Y, stop="never")


@pytest.mark.parametrize("strategy", ["information", "uniform"])
def test_cuts_lie_between_values_whose_distance_overflows(strategy):
    x = np.array([[-1.7e308], [-1.6e308], [1.6e308], [1.7e308]])
    (cuts,) = Discretizer(strategy=strategy, max_bins=2).fit(x, [0, 0, 1, 1]).cuts_
    assert np.abs(cuts).max() < 1e307


def test_a_cut_parts_neighbouring_numbers():
    low = np.nextafter(1.0, 2.0)
    x = np.repeat([low, np.nextafter(low, 2.0)], 4)
    assert information_cuts(x, x > low).tolist() == [low]
