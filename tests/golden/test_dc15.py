"""DC15, Q1: a tie decides which optimum k-means reaches."""

import numpy as np

from rosenblatt import KMeans

X = np.array([[-1.0], [0.0], [2.0]])
START = np.array([[-1.0], [0.0]])


def test_a_row_between_two_centres_stays_where_it_is():
    # Rows 0 | 1, 2 with loss 0 + 0 + 4; centres -1 and (0 + 2) / 2 = 1 with loss 0 + 1 + 1 = 2. Now
    # the row at 0 is at distance 1 from both centres, and stays.
    model = KMeans(2, init=START, tol=0).fit(X)
    assert model.labels_.tolist() == [0, 1, 1]
    assert model.cluster_centers_.ravel().tolist() == [-1.0, 1.0]
    assert model.loss_curve_.tolist() == [2.0, 2.0]
    assert KMeans(2, init=START, tol=0, max_iter=300).fit(X).objective(X) == 2.0


def test_the_first_of_both_would_lead_to_the_best():
    # Rows 0, 1 | 2: centres -0.5 and 2, loss 0.25 + 0.25 = 0.5.
    model = KMeans(2, init=[[-0.5], [2.0]], tol=0).fit(X)
    assert model.inertia_ == 0.5
    assert KMeans(2, n_init=10, init="random", random_state=0).fit(X).inertia_ == 0.5
