"""GC18, F9: how many free numbers a model holds."""

import numpy as np
import pytest

from rosenblatt import (
    AveragedPerceptron,
    BernoulliNB,
    CategoricalNB,
    ElasticNet,
    ElasticNetCV,
    GaussianNB,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    Perceptron,
    PocketPerceptron,
    Ridge,
    RidgeCV,
)
from rosenblatt.linear_model import LogisticRegressionCV


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


RNG = np.random.RandomState(0)
ROWS = RNG.standard_normal((30, 4))
CLASSIFIERS = [LogisticRegression, LogisticRegressionCV, Perceptron, AveragedPerceptron]
CLASSIFIERS += [PocketPerceptron]
REGRESSORS = [LinearRegression, Ridge, RidgeCV, Lasso, LassoCV, ElasticNet, ElasticNetCV]


@pytest.mark.usefixtures("unconverged")
@pytest.mark.filterwarnings("ignore:The (default value|fitted attributes):FutureWarning")
@pytest.mark.parametrize("Model", CLASSIFIERS)
@pytest.mark.parametrize("K", [2, 3])
def test_linear_classifiers_have_a_plane_for_each_class_but_one(Model, K):
    y = np.arange(30) % K
    model = Model()
    assert not hasattr(model, "n_parameters_")
    assert model.fit(ROWS, y).n_parameters_ == (K - 1) * (4 + 1)
    assert model.sparsify().n_parameters_ == (K - 1) * (4 + 1)
    assert Model(fit_intercept=False).fit(ROWS, y).n_parameters_ == (K - 1) * 4


@pytest.mark.parametrize("Model", REGRESSORS)
def test_linear_regressors_have_a_weight_for_each_column_and_an_intercept(Model):
    t = ROWS @ [1.0, 0, 0, 2] + RNG.standard_normal(30)
    assert Model().fit(ROWS, t).n_parameters_ == 4 + 1
    assert Model(fit_intercept=False).fit(ROWS, t).n_parameters_ == 4
    if Model in (LinearRegression, Ridge, Lasso, ElasticNet):
        assert Model().fit(ROWS, np.column_stack([t, -t])).n_parameters_ == 2 * (4 + 1)


def test_weights_that_the_lasso_makes_zero_are_free_all_the_same():
    model = Lasso(alpha=100.0).fit(ROWS, ROWS[:, 0])
    assert not model.coef_.any()
    assert model.n_parameters_ == 5


def test_a_straight_boundary_takes_fewer_numbers_than_the_clouds_it_lies_between():
    """Of n features: 4n + 1, with shared variances 3n + 1, and n + 1 for the boundary alone."""
    y = np.arange(30) % 2
    n = ROWS.shape[1]
    assert GaussianNB().fit(ROWS, y).n_parameters_ == 4 * n + 1
    assert GaussianNB(variance="feature").fit(ROWS, y).n_parameters_ == 3 * n + 1
    assert LogisticRegression().fit(ROWS, y).n_parameters_ == n + 1
