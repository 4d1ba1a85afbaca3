"""Q7, W10: customers by habit, and runs of a program that behave as no other."""

import numpy as np

from rosenblatt import GaussianMixture, KMeans, Standardizer


def test_customers_fall_into_their_habits():
    rng = np.random.default_rng(0)
    habits = np.repeat([0, 1, 2], 40)  # rare and dear, often and cheap, between
    middle = np.array([[1.0, 90.0], [12.0, 8.0], [6.0, 30.0]])[habits]
    customers = middle * rng.uniform(0.8, 1.2, middle.shape)
    scaled = Standardizer().fit_transform(customers)
    found = KMeans(3, n_init=10, random_state=0).fit_predict(scaled)
    assert all(len(set(found[habits == k])) == 1 for k in range(3))
    assert len(set(found)) == 3


def test_an_odd_run_is_far_from_every_centre_and_unlikely():
    rng = np.random.default_rng(0)
    usual = np.concatenate(
        [rng.normal([2, 100], [0.2, 5], (50, 2)), rng.normal([9, 30], [0.5, 3], (50, 2))]
    )
    runs = np.concatenate([usual, [[5.0, 300.0]]])
    assert KMeans(2, random_state=0).fit(usual).transform(runs).min(axis=1).argmax() == 100
    assert GaussianMixture(2, random_state=0).fit(usual).score_samples(runs).argmin() == 100
