"""GC36, L6: sizes, of support vector machines."""

import numpy as np
from sklearn.datasets import load_iris

from rosenblatt import LinearSVC


def test_one_slack_for_each_row_also_where_all_classes_share_a_problem():
    X, y = load_iris(return_X_y=True)
    N, K = len(X), 3
    machine = LinearSVC(multi_class="joint", C=0.1, random_state=0, tol=1e-3).fit(X, y)
    scores = machine.decision_function(X)
    own = np.arange(N), y
    leads = scores[own][:, np.newaxis] - scores
    leads[own] = np.inf
    shared = np.maximum(0, 1 - leads.min(axis=1))  # one for each row
    assert shared.shape == (N,)
    each = np.maximum(0, 1 - leads)  # one for each row and other class
    assert np.count_nonzero(np.isfinite(leads)) == N * (K - 1)
    assert (each.sum(axis=1) >= shared).all()
    objective = np.sum(machine.coef_**2) + 0.1 * shared.sum()
    np.testing.assert_allclose(machine.objective_, [objective], rtol=1e-9)
