"""GC01, F9: table sizes of naive Bayes, n on/off features and two classes."""

import numpy as np
import pytest

from rosenblatt import BernoulliNB


@pytest.mark.parametrize(
    ("n", "joint", "tables"),
    [(1, 4, 6), (2, 8, 10), (3, 16, 14), (5, 64, 22), (10, 2048, 42), (20, 2097152, 82)],
)
def test_tables_grow_by_four_a_feature_and_the_joint_doubles(n, joint, tables):
    model = BernoulliNB().fit(np.eye(2, n), [0, 1])
    on, off = np.exp(model.feature_log_prob_), np.exp(model.feature_log_absent_)
    np.testing.assert_allclose(on + off, 1)
    assert on.size + off.size + model.class_log_prior_.size == tables == 4 * n + 2
    assert model.n_parameters_ == 2 * n + 1  # one prior, and one number a table row
    assert 2 ** (n + 1) == joint
    assert (tables < joint) == (n >= 3)
