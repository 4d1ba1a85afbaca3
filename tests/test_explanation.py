"""What explanations say, of models and of pipelines."""

import re
import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt as ours
from rosenblatt import (
    SVC,
    BernoulliNB,
    FisherDiscriminant,
    GaussianNB,
    GridSearchCV,
    KNeighborsClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    Perceptron,
    Ridge,
    TfidfVectorizer,
    explain,
)

X, y = load_iris(return_X_y=True)
TEXTS = ["win cash now", "cash prize win", "meeting at noon", "see you at the meeting"]
LABELS = ["spam", "spam", "ham", "ham"]


@pytest.mark.parametrize("n_features", [12, 13, 14])
def test_only_features_with_a_part_are_shown(n_features):
    rows = np.eye(n_features, dtype=int)
    model = BernoulliNB().fit(rows, np.arange(n_features) % 2)
    told = str(model.explain(rows[0]))
    assert ("1 other " in told) == (n_features == 13)
    assert ("2 others" in told) == (n_features == 14)
    model = MultinomialNB().fit(rows, np.arange(n_features) % 2)
    lines = str(model.explain(rows[2])).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["prior", "x3", "log-odds"]


def test_features_are_called_as_told():
    names = ["a", "b", "c", "d"]
    for model in (GaussianNB(), LinearDiscriminantAnalysis(), LeastSquaresClassifier()):
        told = model.fit(X, y).explain(X[0], feature_names=names)
        assert told.names == tuple(names)
        with pytest.raises(ValueError, match=r"feature_names must be 4 names, .*; got 2"):
            model.explain(X[0], feature_names=["a", "b"])


@pytest.mark.parametrize("model", [GaussianNB(), LeastSquaresClassifier(), MixedNB()])
def test_a_row_of_a_frame_is_an_example(model):
    frame, labels = load_wine(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = model.fit(frame, labels).explain(frame.iloc[3])
        assert told.names == tuple(frame.columns)
        again = model.explain(frame.iloc[[3]])
        np.testing.assert_array_equal(told.contributions, again.contributions)
        plain = model.fit(frame.to_numpy(), labels).explain(frame.iloc[3])
        np.testing.assert_array_equal(told.contributions, plain.contributions)


@pytest.mark.parametrize("threshold", ["midpoint", "prior", "scan"])
def test_the_lead_of_fishers_direction_is_explained(threshold):
    few = y < 2
    model = FisherDiscriminant(threshold=threshold).fit(X[few][:70], y[few][:70])
    for x, score, label in zip(X, model.decision_function(X), model.predict(X), strict=True):
        told = model.explain(x)
        assert told.winner == label
        assert told.log_odds == pytest.approx(abs(score), rel=1e-9, abs=1e-9)
        assert told.start + told.contributions.sum() == pytest.approx(told.log_odds)
    assert [line.split("  ")[1] for line in str(told).splitlines()[1::5]] == [
        "at the middle",
        "lead",
    ]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_lead_of_least_squares_is_explained(classes, fit_intercept):
    few = y < classes
    model = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(X[few], y[few])
    for x, scores, label in zip(X, model.decision_function(X), model.predict(X), strict=True):
        told = model.explain(x)
        assert told.winner == label
        lead = abs(scores) if classes == 2 else np.diff(np.sort(scores))[-1]
        assert told.log_odds == pytest.approx(lead, rel=1e-9, abs=1e-9)


def test_a_pipeline_is_explained_in_the_words_of_its_transformers():
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, LABELS)
    told = explain(pipeline, "cash at noon")
    shown = [line.split()[0] for line in str(told).splitlines()[2:-1]]
    assert sorted(shown) == ["at", "cash", "noon"]
    assert told.winner == pipeline.predict(["cash at noon"])[0]
    search = GridSearchCV(pipeline, {"multinomialnb__alpha": [1.0]}, cv=2).fit(TEXTS, LABELS)
    assert explain(search, "cash at noon").names == told.names
    renamed = explain(pipeline, "cash", feature_names=[n.upper() for n in told.names])
    assert "CASH" in str(renamed)


def test_transformers_without_names_number_what_they_give_out():
    steps = HashingVectorizer(n_features=8, alternate_sign=False, norm=None), MultinomialNB()
    told = explain(make_pipeline(*steps).fit(TEXTS, LABELS), "cash at noon")
    assert told.names == tuple(f"x{j}" for j in range(1, 9))


def test_a_pipeline_of_frames_takes_a_row_of_one():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "red"]}
    )
    columns = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["colour"])
    )
    pipeline = make_pipeline(columns, GaussianNB(var_smoothing=0.1)).fit(frame, [0, 0, 1, 1])
    told = explain(pipeline, frame.iloc[2])
    assert told.winner == 1
    assert told.names == tuple(columns.fit(frame).get_feature_names_out())


def test_a_model_alone_is_explained_as_by_itself_and_others_are_refused():
    model = GaussianNB().fit(X, y)
    assert str(explain(model, X[0], rival=2)) == str(model.explain(X[0], rival=2))
    with pytest.raises(TypeError, match=r"a Pipeline that ends in one; got KNeighborsClassifier"):
        explain(make_pipeline(StandardScaler(), KNeighborsClassifier()), X[0])


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LinearSVC(), Perceptron(), sklearn.linear_model.LogisticRegression()],
    ids=lambda model: type(model).__module__ + type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_model_is_a_sum_over_words(model, n_classes):
    texts, labels = [*TEXTS, "pay the bill"], [*LABELS, "bill" if n_classes == 3 else "ham"]
    pipeline = make_pipeline(TfidfVectorizer(), clone(model)).fit(texts, labels)
    told = explain(pipeline, "Cash for the meeting, cash!")
    scores = np.ravel(pipeline.decision_function(["cash for the meeting, cash"]))
    lead = abs(scores[0]) if n_classes == 2 else np.diff(np.sort(scores))[-1]
    assert told.winner == pipeline.predict(["cash for the meeting, cash"])[0]
    assert told.log_odds == pytest.approx(lead, rel=1e-12)
    assert told.start + told.contributions.sum() == pytest.approx(lead, rel=1e-12)
    assert told.start + sum(part for _, _, part in told.marks) == pytest.approx(lead, rel=1e-12)
    if "Logistic" in type(model).__name__:
        logs = np.sort(pipeline.predict_log_proba(["cash for the meeting, cash"])[0])
        assert told.log_odds == pytest.approx(logs[-1] - logs[-2], rel=1e-9)
        assert told.words == ("intercept", "log-odds")


def test_linear_models_of_tables_are_explained_and_scores_that_are_no_sum_are_refused():
    told = explain(Ridge().fit(X, y), X[0], feature_names=list("abcd"))
    assert told.log_odds == pytest.approx(Ridge().fit(X, y).predict(X[:1])[0])
    assert (told.winner, told.rival, told.names) == ("prediction", None, tuple("abcd"))
    with pytest.raises(ValueError, match="one example; got 2 rows"):
        explain(Ridge().fit(X, y), X[:2])
    with pytest.raises(TypeError, match="not a sum over features"):
        explain(SVC(kernel="linear").fit(X, y), X[0])  # pairs of classes vote


def test_marks_name_the_classes_and_terms_of_several_words():
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    told = explain(model.fit(TEXTS, LABELS), "Win cash")
    first, text = told.marked().split("\n")
    assert first == "spam rather than ham"
    assert re.fullmatch(r"Win \[\S+\] cash \[\S+\] \[Win cash \S+\]", text)


def test_words_are_marked_where_columns_are_hashes():
    model = make_pipeline(ours.HashingVectorizer(n_features=2**10), LogisticRegression())
    told = explain(model.fit(TEXTS, LABELS), "Win cash at NOON")
    assert re.fullmatch(
        r"spam.*\nWin \[\+.*\] cash \[\+.*\] at \[-.*\] NOON \[-.*\]", told.marked()
    )
    parts = sum(part for _, _, part in told.marks)
    assert told.start + parts == pytest.approx(told.log_odds, rel=1e-12)
    assert told.rest == 0
