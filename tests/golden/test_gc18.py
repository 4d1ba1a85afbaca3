"""GC18, F9: how many free numbers a model holds."""

import numpy as np

from rosenblatt import BernoulliNB, CategoricalNB, MultinomialNB


def test_sixteen_by_sixteen_digits_need_2569():
    X, y = np.zeros((10, 256)), np.arange(10)
    assert BernoulliNB().fit(X, y).n_parameters_ == 10 * 256 + 9 == 2569


def test_one_class_of_five_on_off_features_needs_five_instead_of_31():
    model = BernoulliNB().fit(np.zeros((3, 5)), ["a"] * 3)
    assert model.n_parameters_ == 5 < 2**5 - 1


def test_two_classes_need_two_a_feature_and_one_instead_of_a_number_for_each_pattern():
    for d in (1, 3, 8):
        model = BernoulliNB().fit(np.zeros((2, d)), [0, 1])
        assert model.n_parameters_ == 2 * d + 1
        assert (model.n_parameters_ < 2**d) == (d > 2)


def test_a_given_prior_is_not_learned():
    X, y = np.eye(4), [0, 0, 1, 1]
    assert BernoulliNB(fit_prior=False).fit(X, y).n_parameters_ == 2 * 4
    assert BernoulliNB(class_prior=[0.3, 0.7]).fit(X, y).n_parameters_ == 2 * 4


def test_shares_that_sum_to_one_have_one_free_number_less():
    X, y = [[0, 1, 2], [1, 0, 0], [2, 1, 0]], [0, 1, 2]
    assert MultinomialNB().fit(X, y).n_parameters_ == 3 * (3 - 1) + 2
    assert CategoricalNB().fit(X, y).n_parameters_ == 3 * (2 + 1 + 2) + 2
