"""LogisticRegressionCV: the choices and the paths of scikit-learn's."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV as Theirs
from sklearn.model_selection import KFold, StratifiedKFold

from rosenblatt import Trace
from rosenblatt.linear_model import LogisticRegression, LogisticRegressionCV
from rosenblatt.linear_model.penalty_search import ROUNDS
from tests.pairwise import pairwise

CS = [0.01, 0.1, 1.0, 10.0]
SET = {"l1_ratios": (0.0,), "scoring": "accuracy", "use_legacy_attributes": False}


def noisy(n_classes=2):
    return make_classification(
        240, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=1
    )


def theirs(**parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Theirs(tol=1e-8, max_iter=10_000, **parameters)


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


@pairwise(n_classes=(2, 3), legacy=(True, False), refit=(True, False))
def test_it_chooses_and_publishes_as_scikit_learn_does(n_classes, legacy, refit):
    X, y = noisy(n_classes)
    common = {"Cs": CS, "refit": refit, **SET, "use_legacy_attributes": legacy}
    model = LogisticRegressionCV(tol=1e-7, **common).fit(X, y)
    other = fitted(theirs(**common), X, y)
    np.testing.assert_allclose(model.C_, other.C_)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    for name in ("scores_", "coefs_paths_"):
        ours, their = getattr(model, name), getattr(other, name)
        for key in ours if legacy else [Ellipsis]:
            assert ours[key].shape == their[key].shape
            np.testing.assert_allclose(ours[key], their[key], atol=1e-3)
    assert np.shape(model.n_iter_) == np.shape(other.n_iter_)
    assert model.score(X, y) == other.score(X, y)


def test_elastic_net_over_both_parameters():
    X, y = noisy()
    common = {"Cs": [0.02, 0.2], "l1_ratios": [0.2, 1.0], "use_legacy_attributes": False}
    model = LogisticRegressionCV(tol=1e-6, scoring="neg_log_loss", **common).fit(X, y)
    other = fitted(theirs(solver="saga", random_state=0, scoring="neg_log_loss", **common), X, y)
    assert (model.C_, model.l1_ratio_) == (other.C_, other.l1_ratio_)
    # Where all weights are zero saga stops at once, and its intercept is not yet at its best.
    np.testing.assert_allclose(model.scores_, other.scores_, atol=1e-3)


def test_the_chosen_fit_is_that_of_the_plain_model():
    X, y = noisy(3)
    weight = np.random.RandomState(0).uniform(0.5, 2, len(y))
    model = LogisticRegressionCV(Cs=CS, class_weight="balanced", tol=1e-8, **SET)
    model.fit(X, y, weight)
    plain = LogisticRegression(C=model.C_, class_weight="balanced", tol=1e-8).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)
    assert model.dual_gap_ < 1e-4


def test_sparse_rows_and_given_folds():
    X, y = noisy()
    folds = StratifiedKFold(3)
    dense = LogisticRegressionCV(Cs=3, cv=folds, **SET).fit(X, y)
    sparse = LogisticRegressionCV(Cs=3, cv=folds, **SET).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)
    assert len(dense.Cs_) == 3


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_folds_that_miss_a_class_are_fitted_and_scored_with_all_classes(n_classes, scoring):
    X, y = noisy(n_classes)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    given = {"Cs": CS[:2], "cv": KFold(n_classes), "scoring": scoring, "l1_ratios": (0,)}
    given["use_legacy_attributes"] = False
    with pytest.warns(ConvergenceWarning, match="training rows of a fold have none of class"):
        ours = LogisticRegressionCV(tol=1e-8, **given).fit(X, y)
    reference = fitted(theirs(solver="newton-cholesky", **given), X, y)
    # A bias that is best at infinity is stopped where the gradient is short enough.
    np.testing.assert_allclose(ours.scores_, reference.scores_, rtol=1e-3)
    assert ours.coefs_paths_.shape == reference.coefs_paths_.shape
    assert ours.C_ == reference.C_
    assert ours.classes_.tolist() == sorted(set(y))


def test_the_deprecated_penalty_is_reported():
    X, y = noisy()
    with pytest.warns(FutureWarning, match=r"'penalty' was deprecated.*l1_ratios=\[0\] for L2"):
        LogisticRegressionCV(Cs=CS, penalty="l2", **SET).fit(X, y)
    with (
        pytest.raises(ValueError, match="l1_ratios must be specified"),
        pytest.warns(FutureWarning, match="'penalty' was deprecated"),
    ):
        LogisticRegressionCV(Cs=CS, penalty="elasticnet", l1_ratios=None).fit(X, y)


LEFT_OUT = {
    "use_legacy_attributes": "of use_legacy_attributes will change from True",
    "l1_ratios": "for l1_ratios will change",
    "scoring": "of the parameter 'scoring' will change",
}


@pytest.mark.parametrize("left_out", [["scoring"], ["l1_ratios", "scoring"], list(LEFT_OUT)])
def test_one_warning_names_the_defaults_to_change_that_are_left_out(left_out):
    given = {name: value for name, value in SET.items() if name not in left_out}
    with pytest.warns(FutureWarning) as caught:
        LogisticRegressionCV(Cs=CS[:2], **given).fit(*noisy())
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    for name, change in LEFT_OUT.items():
        assert (f"The default value {change}" in text) == (name in left_out)
        assert (f"{name}=" in text) == (name in left_out)


def test_the_deprecated_ratio_is_reported():
    with pytest.warns(FutureWarning, match="'l1_ratios=None' was deprecated"):
        LogisticRegressionCV(Cs=CS[:2], **{**SET, "l1_ratios": None}).fit(*noisy())


def test_with_liblinear_the_chosen_fit_is_the_plain_model_to_the_last_bit():
    X, y = noisy()
    model = LogisticRegressionCV(Cs=CS, solver="liblinear", **SET).fit(X, y)
    plain = LogisticRegression(C=model.C_, solver="liblinear").fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_ratios_outside_are_refused():
    with pytest.raises(ValueError, match="numbers between 0 and 1"):
        LogisticRegressionCV(l1_ratios=[2.0]).fit(*noisy())


def test_a_search_says_once_what_many_of_its_fits_say():
    X, y = noisy(3)
    model = LogisticRegressionCV(Cs=CS, max_iter=1, cv=3, **{**SET, "l1_ratios": [0.0, 1.0]})
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y)
    (warning,) = told
    assert "of 25 fits, here the last: LogisticRegression stopped short" in str(warning.message)
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegressionCV(Cs=CS, cv=3, **SET).fit(X, y)


def test_it_says_what_to_trace_instead():
    assert not hasattr(LogisticRegressionCV(), "set_callbacks")
    with pytest.raises(AttributeError, match=r"Attach them to LogisticRegression\(C=search"):
        LogisticRegressionCV().set_callbacks(Trace())


@pytest.mark.parametrize(("scale", "sparse"), [(1.0, False), (1e-5, True)])
def test_decades_find_a_better_C_than_powers_of_ten_whatever_the_units(scale, sparse):
    X, y = noisy()
    X = sp.csr_array(X * scale) if sparse else X * scale
    common = {"scoring": "neg_log_loss", "use_legacy_attributes": False, "l1_ratios": (0,)}
    model = LogisticRegressionCV(Cs="decades", **common).fit(X, y)
    powers = np.log10(model.Cs_)
    coarse = np.abs(powers - powers.round()) < 1e-9
    means = model.scores_[:, 0].mean(axis=0)
    assert 5 <= coarse.sum() <= 25
    assert (~coarse).sum() >= 5 * ROUNDS
    assert model.Cs_[means.argmax()] == model.C_
    assert 0 < means.argmax() < len(means) - 1  # with something tried on either side
    assert means.max() >= means[coarse].max()
    # Each fit is that of a model of its own, though it began at a neighbour's.
    same = LogisticRegressionCV(Cs=model.Cs_[::5], tol=1e-8, **common).fit(X, y)
    np.testing.assert_allclose(same.scores_, model.scores_[..., ::5], atol=1e-3)


def test_decades_serve_each_l1_ratio():
    X, y = noisy(3)
    common = {"scoring": "neg_log_loss", "use_legacy_attributes": False, "cv": 3}
    model = LogisticRegressionCV(Cs="decades", l1_ratios=[0.0, 1.0], **common).fit(X, y)
    assert model.scores_.shape == (3, 2, len(model.Cs_))
    best = model.Cs_[model.scores_.mean(axis=0).argmax(axis=1)]
    for ratio, C in zip([0.0, 1.0], best, strict=True):
        alone = LogisticRegressionCV(Cs="decades", l1_ratios=[ratio], **common).fit(X, y)
        assert abs(np.log10(alone.C_ / C)) < 0.2


def test_of_equal_scores_the_strongest_penalty_is_chosen():
    X, y = np.r_[-np.ones(20), np.ones(20)][:, None] * 3, np.repeat([0, 1], 20)
    model = LogisticRegressionCV(Cs="decades", **SET).fit(X, y)
    assert model.Cs_[0] == model.C_


def test_other_words_than_decades_are_refused():
    with pytest.raises(ValueError, match="'Cs' parameter of LogisticRegressionCV must be"):
        LogisticRegressionCV(Cs="octaves").fit(*noisy())


def test_columns_of_other_scales_are_told_by_name():
    X, y = noisy()
    frame = pd.DataFrame(X * [1, 1e-9, 1, 1, 1e3, 1], columns=list("abcdef"))
    search = LogisticRegressionCV(Cs=[0.1, 1.0], **SET)
    with pytest.warns(LinAlgWarning, match=r"\(column 'b'\) to .*\(column 'e'\)"):
        search.fit(frame, y)
    with pytest.warns(LinAlgWarning, match=r"\(column 1\) to .*\(column 4\)"):
        search.fit(frame.to_numpy(), y)
