"""Decisions from 32 bits are those of 64, and small tables are read as they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import model_selection as theirs

from rosenblatt.model_selection import cross_validate
from rosenblatt.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB, linear_scores
from rosenblatt.naive_bayes.linear_scores import Float32Scores

MODELS = [MultinomialNB, BernoulliNB, ComplementNB]


def documents(n_classes, n=400, d=30):
    rng = np.random.RandomState(n_classes)
    X = sp.csr_matrix(rng.poisson(0.4, (n, d)).astype(float))
    return X, rng.randint(n_classes, size=n)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
def test_float32_decisions_are_those_of_all_bits(model, n_classes, monkeypatch):
    X, y = documents(n_classes)
    fitted = model().fit(X, y)
    expected = fitted.classes_[fitted.predict_joint_log_proba(X).argmax(axis=1)]
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", 0)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    order = np.random.RandomState(0).permutation(X.shape[0])[:50]
    (together,) = model.predict_together([fitted], X, order)
    np.testing.assert_array_equal(together, expected[order])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_predict_together_what_they_predict_alone(model, n_classes):
    X, y = documents(n_classes)
    models = [model(alpha=alpha).fit(X, y) for alpha in (0.01, 1.0, 100.0)]
    order = np.arange(X.shape[0])[::-3]
    for fitted, labels in zip(models, model.predict_together(models, X, order), strict=True):
        np.testing.assert_array_equal(labels, fitted.predict(X[order]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_on_the_line_are_left_to_all_bits(n_classes, monkeypatch):
    # All classes have seen the same: every row is a tie, which fewer bits must not decide.
    row = np.array([[0.1, 0.7, 0.3, 0.0]])
    X = sp.csr_matrix(np.repeat(row, 2 * n_classes, axis=0))
    fitted = MultinomialNB().fit(X, np.arange(2 * n_classes) % n_classes)
    weights = fitted.feature_log_prob_
    weights[-1] = np.nextafter(weights[-1], 0)  # by a bit that is lost in 32
    if n_classes > 2:  # the difference of two classes is rounded after it is taken
        assert (Float32Scores.of(fitted).decide(X, np.arange(X.shape[0])) == -1).all()
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", 0)
    assert (fitted.predict(X) == n_classes - 1).all()


def test_infinite_weights_are_not_for_fewer_bits(monkeypatch):
    X, y = documents(3, d=4)
    X = sp.csr_matrix(np.hstack([X.toarray(), (y == 1)[:, None]]))
    fitted = MultinomialNB(alpha=0).fit(X, y)
    assert Float32Scores.of(fitted) is None
    assert MultinomialNB.predict_together([fitted], X, np.arange(3)) is None
    expected = fitted.predict(X)
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", 0)
    np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8, bool])
def test_numbers_of_any_kind_are_scored(model, dtype, monkeypatch):
    X, y = documents(3)
    X = sp.csr_matrix(X.toarray().astype(dtype))
    fitted = model().fit(X, y)
    expected = fitted.predict(X.toarray())
    np.testing.assert_array_equal(fitted.predict(X), expected)
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", 0)
    np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("small", [0, 2**20])
def test_counts_whose_score_no_number_holds_are_refused(small, monkeypatch):
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", small)
    X, y = documents(3)
    fitted = MultinomialNB().fit(X, y)
    huge = sp.csr_matrix(np.full((1, X.shape[1]), 1e308))
    with pytest.raises(ValueError, match="too large to be counts; got 1e\\+308"):
        fitted.predict(huge)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_plain_tables_are_still_looked_at(form):
    X, y = documents(2)
    fitted = MultinomialNB().fit(X, y)
    with pytest.raises(ValueError, match="30 features"):
        fitted.predict(form(np.ones((2, 29))))
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(form(np.full((2, 30), np.nan)))
    with pytest.raises(ValueError, match="minimum of 1"):
        fitted.predict(form(np.ones((0, 30))))


@pytest.mark.parametrize("model", MODELS)
def test_rows_with_gaps_are_left_to_all_bits(model, monkeypatch):
    X, y = documents(3)
    X.data[::7] = np.nan
    fitted = model(missing="ignore").fit(X, y)
    assert Float32Scores.of(fitted) is None
    assert model.predict_together([fitted], X, np.arange(3)) is None
    expected = fitted.predict(X.toarray())
    monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", 0)
    np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", ["refuse", "ignore"])
def test_cross_validation_in_passing_scores_as_fits_do(model, missing):
    X, y = documents(3)
    X.data += 0.25  # sums of fractions, which may be rough
    if missing == "ignore":
        X.data[::7] = np.nan
    found = cross_validate(model(missing=missing), X, y, cv=4)["test_score"]
    expected = theirs.cross_validate(model(missing=missing), X, y, cv=4)["test_score"]
    np.testing.assert_array_equal(found, expected)
