"""F1, W6: a cold from its symptoms, its numbers worked out by hand."""

import numpy as np
import pytest

from rosenblatt import BernoulliNB, CategoricalNB

# headache, cough, sore throat of two with a cold and three without
SYMPTOMS = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
COLD = np.array(["cold", "cold", "none", "none", "none"])
each_model = pytest.mark.parametrize("model", [BernoulliNB, CategoricalNB])


@each_model
def test_the_posterior_is_the_joint_over_the_sum_of_the_joints(model):
    """P(cold | no headache, cough, sore throat), smoothed by one in each table."""
    fitted = model(alpha=1).fit(SYMPTOMS, COLD)
    cold = 2 / 5 * (2 / 4) * (3 / 4) * (3 / 4)
    none = 3 / 5 * (3 / 5) * (2 / 5) * (1 / 5)
    joints = np.exp(fitted.predict_joint_log_proba([[0, 1, 1]])[0])
    np.testing.assert_allclose(joints, [cold, none], rtol=1e-12)
    posterior = [cold / (cold + none), none / (cold + none)]
    np.testing.assert_allclose(fitted.predict_proba([[0, 1, 1]])[0], posterior, rtol=1e-12)


@each_model
def test_without_smoothing_counts_alone_speak(model):
    fitted = model(alpha=0).fit(SYMPTOMS, COLD)
    joints = np.exp(fitted.predict_joint_log_proba([[0, 1, 1]])[0])
    np.testing.assert_allclose(joints, [2 / 5 * 1 / 2, 0], rtol=1e-12)  # 3/5 2/3 1/3 0 without
    assert fitted.predict_proba([[0, 1, 1]]).tolist() == [[1, 0]]


@each_model
def test_where_every_joint_is_zero_it_is_undefined_and_the_shares_answer(model):
    """A sore throat without a cough: 0 / (0 + 0)."""
    fitted = model(alpha=0).fit(SYMPTOMS, COLD)
    assert np.isneginf(fitted.predict_joint_log_proba([[0, 0, 1]])).all()
    with pytest.warns(UserWarning, match="probability zero in every class"):
        np.testing.assert_allclose(fitted.predict_proba([[0, 0, 1]]), [[2 / 5, 3 / 5]])
