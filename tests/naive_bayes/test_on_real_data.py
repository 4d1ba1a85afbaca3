"""Discrete naive Bayes on real tables and texts, beside scikit-learn's."""

import gzip
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OrdinalEncoder

from rosenblatt import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB

PAIRS = [
    (MultinomialNB, theirs.MultinomialNB),
    (ComplementNB, theirs.ComplementNB),
    (BernoulliNB, theirs.BernoulliNB),
]


@pytest.mark.parametrize(("Mine", "Theirs"), PAIRS)
def test_short_messages(Mine, Theirs, data_folder):
    file = data_folder / "sms_spam" / "SMSSpamCollection.tsv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        labels, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in lines), strict=True)
    X, y = CountVectorizer().fit_transform(texts), np.array(labels)
    train, test = slice(0, 4000), slice(4000, None)
    mine, other = Mine().fit(X[train], y[train]), Theirs().fit(X[train], y[train])
    assert np.array_equal(mine.predict(X[test]), other.predict(X[test]))
    np.testing.assert_allclose(
        mine.predict_proba(X[test]), other.predict_proba(X[test]), rtol=1e-6, atol=1e-12
    )
    assert mine.score(X[test], y[test]) > 0.95


def test_word_presence_in_spam(data_folder):
    table = pd.read_csv(data_folder / "spambase" / "spambase.csv.gz").to_numpy(np.float64)
    X, y = table[:, :48], table[:, -1].astype(int)
    mine, other = BernoulliNB().fit(X, y), theirs.BernoulliNB().fit(X, y)
    np.testing.assert_allclose(mine.feature_log_prob_, other.feature_log_prob_, rtol=1e-12)
    assert np.array_equal(mine.predict(X), other.predict(X))
    assert mine.score(X, y) > 0.85


@pytest.mark.parametrize("name", ["votes/house_votes_84.csv", "mushroom/mushroom.csv.gz"])
def test_words_as_they_are_equal_words_encoded(name, data_folder):
    table = pd.read_csv(data_folder / name)
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy(str)
    codes = OrdinalEncoder(dtype=np.int64).fit_transform(X)
    mine, other = CategoricalNB().fit(X, y), theirs.CategoricalNB().fit(codes, y)
    assert list(mine.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(
        mine.predict_proba(X), other.predict_proba(codes), rtol=1e-8, atol=1e-200
    )
    assert mine.score(X, y) > 0.89


def test_votes_not_cast_can_be_left_out(data_folder):
    table = pd.read_csv(data_folder / "votes" / "house_votes_84.csv", na_values="?")
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy(str)
    model = CategoricalNB(missing="ignore").fit(X, y)
    assert (model.n_categories_ == 2).all()
    assert model.score(X, y) > 0.89


def test_digits_of_on_and_off_pixels_with_a_beta_prior():
    """W2: any batching gives the same bits, and the prior keeps every pixel possible."""
    X, y = load_digits(return_X_y=True)
    whole = BernoulliNB(binarize=7, beta_prior=(2, 2)).fit(X, y)
    parts = BernoulliNB(binarize=7, beta_prior=(2, 2))
    for start, stop in pairwise([0, 400, 401, 1000, len(y)]):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert np.array_equal(parts.feature_log_prob_, whole.feature_log_prob_)
    assert np.isfinite(whole.feature_log_prob_).all()
    assert np.array_equal(whole.predict(X), theirs.BernoulliNB(binarize=7).fit(X, y).predict(X))
    assert whole.score(X, y) > 0.85
