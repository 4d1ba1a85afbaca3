"""P4, P5, P6, P7: the rule itself, its bounds, its learners, and the number of rounds."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from rosenblatt import AdaBoostClassifier, DecisionTreeClassifier, GridSearchCV, certify
from tests.reference.adaboost import boosted

CANCER, IRIS = load_breast_cancer(return_X_y=True), load_iris(return_X_y=True)
TWO = make_classification(200, 6, flip_y=0.2, random_state=0)


class Stump(DecisionTreeClassifier):
    """A stump that is fitted as any other learner: no columns are sorted in advance."""

    def __init__(self, *, max_depth=1):
        super().__init__(max_depth=max_depth)


@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["two classes", "three"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_it_is_scikit_learns_fit(data, learning_rate):
    X, y = np.float32(data[0]).astype(float), data[1]  # scikit-learn's trees read float32
    settings = {"n_estimators": 20, "learning_rate": learning_rate, "random_state": 0}
    ours = AdaBoostClassifier(**settings).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(**settings).fit(X, y)
    for name in ("estimator_weights_", "estimator_errors_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9), name
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-12)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    assert [m.random_state for m in ours] == [m.random_state for m in theirs]


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("alpha_cap", [None, 0.3])
def test_it_is_the_rule_of_the_textbook(alpha_cap, flip):
    X, y = TWO
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    rounds = boosted(X, np.where(y, 1, -1), weight, 8, alpha_cap)
    model = AdaBoostClassifier(n_estimators=8, alpha_cap=alpha_cap, flip=flip)
    model.fit(X, y, sample_weight=weight)
    for t, (e, alpha, _, train_error) in enumerate(rounds):
        assert model.estimator_errors_[t] == pytest.approx(e, rel=1e-9)
        assert model.alphas_[t] == pytest.approx(alpha, rel=1e-9)
        assert model.train_errors_[t] == pytest.approx(train_error, abs=1e-12)
        product = np.prod([z for _, _, z, _ in rounds[: t + 1]])
        assert model.error_bounds_[t] == pytest.approx(product, rel=1e-9)


@pytest.mark.parametrize("data", [TWO, IRIS], ids=["two classes", "three"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_sorted_columns_give_the_stumps_that_fits_of_their_own_give(data, kind):
    X, y = (data[0] * 10).astype(kind), data[1]
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    fast = AdaBoostClassifier(n_estimators=12).fit(X, y, weight)
    slow = AdaBoostClassifier(Stump(), n_estimators=12).fit(X, y, weight)
    assert np.allclose(fast.estimator_errors_, slow.estimator_errors_, rtol=1e-9)
    for one, other in zip(fast, slow, strict=True):
        for name, array in one.tree_.arrays.items():
            assert np.allclose(array, other.tree_.arrays[name], rtol=1e-9, atol=1e-12), name


def test_staged_answers_end_with_the_final_ones_and_bounds_fall():
    X, y = TWO
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    *_, scores = model.staged_decision_function(X)
    assert np.allclose(scores, model.decision_function(X), atol=1e-14)
    errors = [np.mean(labels != y) for labels in model.staged_predict(X)]
    assert np.allclose(errors, model.train_errors_)
    assert (np.diff(model.error_bounds_) < 0).all()
    assert (model.train_errors_ <= model.error_bounds_).all()
    assert (model.error_bounds_ <= model.edge_bounds_).all()


def test_under_the_weights_of_the_next_round_a_learner_is_at_chance():
    X, y = TWO
    first, second = AdaBoostClassifier(n_estimators=2).fit(X, y)
    wrong = first.predict(X) != y
    D = np.where(wrong, 0.5 / wrong.sum(), 0.5 / (~wrong).sum())
    alone = DecisionTreeClassifier(max_depth=1).fit(X, y, D)
    assert second.tree_.threshold[0] == alone.tree_.threshold[0]
    assert np.allclose(second.tree_.value, alone.tree_.value)


class Opposite(ClassifierMixin, BaseEstimator):
    """A stump that says the other class."""

    def fit(self, X, y, sample_weight=None):
        self.stump_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        return self

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, self.stump_.predict(X))]


def test_a_learner_worse_than_chance_is_flipped():
    X, y = TWO
    right = AdaBoostClassifier(n_estimators=10).fit(X, y)
    wrong = AdaBoostClassifier(Opposite(), n_estimators=10, flip=True).fit(X, y)
    assert np.allclose(wrong.estimator_weights_, -right.estimator_weights_)
    assert np.array_equal(wrong.predict(X), right.predict(X))
    assert np.allclose(wrong.error_bounds_, right.error_bounds_)
    with pytest.raises(ValueError, match=r"worse than random: its error is 0\.\d+.*flip=True"):
        AdaBoostClassifier(Opposite()).fit(X, y)


class Constant(ClassifierMixin, BaseEstimator):
    """Always the same class."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("flip", [False, True])
def test_a_useless_learner_is_refused_in_round_one_and_discarded_later(flip):
    X = np.arange(8.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="no better than chance, or worse than random") as refused:
        AdaBoostClassifier(Constant(), flip=flip).fit(X, [0, 1] * 4)
    assert "flip" not in str(refused.value)  # the opposite of chance is chance
    with pytest.raises(ValueError, match=r"its error is 0\.6667"):
        AdaBoostClassifier(Constant(), flip=flip).fit(np.zeros((300, 1)), [0, 1, 2] * 100)
    model = AdaBoostClassifier(Constant(), flip=flip).fit(X, [0, 0, 0, 0, 0, 1, 1, 1])
    assert len(model) == 1
    assert model.stop_reason_ == "no_progress"
    assert model.estimator_weights_[1:].sum() == 0
    assert (model.estimator_errors_[1:] == 1).all()


@pytest.mark.parametrize(("cap", "alpha"), [(None, 0.5), (3.0, 3.0)])
def test_a_perfect_learner_ends_the_fit(cap, alpha):
    model = AdaBoostClassifier(alpha_cap=cap).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert len(model) == 1
    assert model.stop_reason_ == "converged"
    assert model.alphas_.tolist() == [alpha]
    opposite = AdaBoostClassifier(Opposite(), alpha_cap=cap, flip=True)
    assert opposite.fit([[0], [1], [2], [3]], [0, 0, 1, 1]).alphas_.tolist() == [-alpha]


@pytest.mark.parametrize("learner", [GaussianNB(), KNeighborsClassifier(3)], ids=repr)
def test_any_classifier_is_boosted_with_weights_or_by_draws(learner):
    X, y = TWO
    words = np.array(["no", "yes"])[y]
    model = AdaBoostClassifier(learner, n_estimators=5, random_state=0).fit(X, words)
    again = AdaBoostClassifier(learner, n_estimators=5, random_state=0).fit(X, words)
    assert np.array_equal(model.decision_function(X), again.decision_function(X))
    assert model.train_errors_[-1] <= model.error_bounds_[-1]
    assert model.score(X, words) > 0.75
    with pytest.raises(AttributeError, match="has no feature_importances_"):
        model.feature_importances_  # noqa: B018


def test_frames_give_no_warnings_of_names_round_by_round():
    frame, y = pd.DataFrame(TWO[0]).add_prefix("column "), TWO[1]
    for learner in (None, GaussianNB()):
        model = AdaBoostClassifier(learner, n_estimators=3).fit(frame, y)
        assert list(model.staged_score(frame, y))[-1] == model.score(frame, y)
        assert np.array_equal(list(model.staged_predict(frame))[-1], model.predict(frame))


def test_missing_values_are_named_by_their_column():
    frame = pd.DataFrame({"size": [1.0, np.nan, 3.0]})
    with pytest.raises(ValueError, match="Column 'size' has 1 missing value"):
        AdaBoostClassifier().fit(frame, [0, 1, 1])


def test_a_regressor_is_refused():
    with pytest.raises(ValueError, match="must be a classifier; LinearRegression is a regressor"):
        AdaBoostClassifier(LinearRegression()).fit(*TWO)


def test_rounds_are_a_path_that_a_search_chooses_on():
    X, y = TWO
    path = AdaBoostClassifier().fit_path((X, y), "n_estimators", [7, 1, 20])
    for model, k, labels in zip(path, [7, 1, 20], path.predict(X), strict=True):
        alone = AdaBoostClassifier(n_estimators=k).fit(X, y)
        assert np.array_equal(model.estimator_weights_, alone.estimator_weights_)
        assert np.array_equal(model.decision_function(X), alone.decision_function(X))
        assert np.array_equal(labels, alone.predict(X))
        assert model.n_iter_ == alone.n_iter_
        assert model.stop_reason_ == alone.stop_reason_
    search = GridSearchCV(AdaBoostClassifier(), {"n_estimators": [1, 5, 40]}, cv=3).fit(X, y)
    reference = sklearn.model_selection.GridSearchCV(
        AdaBoostClassifier(), {"n_estimators": [1, 5, 40]}, cv=3
    ).fit(X, y)
    scores = "mean_test_score"
    assert np.allclose(search.cv_results_[scores], reference.cv_results_[scores])


def test_a_vote_of_stumps_is_a_sum_over_columns():
    X, y = IRIS
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    told = model.explain(X[70])
    scores = model.decision_function(X[70:71])[0]
    by_share = (np.sort(scores)[-1] - np.sort(scores)[-2]) * 2 / 3  # K / (K - 1) = 3 / 2
    assert told.winner == model.predict(X[70:71])[0]
    assert told.log_odds == pytest.approx(by_share)
    unused = np.setdiff1d(range(4), [stump.tree_.feature[0] for stump in model])
    assert not told.contributions[unused].any()
    naive = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="GaussianNB cannot say what each column adds"):
        naive.explain(X[0])


def test_scores_are_the_votes_of_the_learners_one_by_one():
    X, y = make_classification(2_000, 5, n_classes=3, n_informative=4, n_redundant=0)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    votes = np.zeros((2_000, 3))
    for learner, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
        votes[np.arange(2_000), learner.predict(X)] += weight / model.estimator_weights_.sum()
    expected = votes - (1.0 - votes) / 2
    assert np.allclose(model.decision_function(X), expected, atol=1e-12)
    assert np.allclose(model.decision_function(X[:7]), expected[:7], atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha_cap": 0.0}, "'alpha_cap' parameter"),
        ({"flip": "yes"}, "'flip' parameter"),
        ({"n_estimators": 0}, "'n_estimators' parameter"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        AdaBoostClassifier(**settings).fit(*TWO)


def test_bounds_are_those_of_weights_without_a_floor():
    X = np.array([[2., 3, 3], [2, 0, 1], [2, 2, 0], [0, 3, 2], [3, 0, 1], [3, 1, 1], [1, 1, 1],
                  [0, 3, 0], [1, 0, 3]])  # fmt: skip
    y = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0])
    model = AdaBoostClassifier(n_estimators=9, learning_rate=2.0).fit(X, y)
    votes = np.array([member.predict(X) for member in model.estimators_])
    margin = np.cumsum(np.where(votes == y, 1, -1) * model.alphas_[:, np.newaxis], axis=0)
    assert np.allclose(model.error_bounds_, np.exp(-margin).mean(axis=1), rtol=1e-9, atol=0)
    assert model.error_bounds_[-1] < 1e-8
    assert certify(model, X, y).holds


def test_sparse_rows_of_any_format_get_the_scores_of_dense_ones():
    X = np.round(np.clip(TWO[0], 0, None), 2)
    rows = sp.csr_matrix(X)
    parts = sp.csr_matrix(  # each number is stored in two parts
        (np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr), X.shape
    )
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, TWO[1])
    scores = model.decision_function(X)
    for form in (rows, rows.tocsc(), rows.tocoo(), parts, parts.tocsc()):
        assert np.array_equal(model.decision_function(form), scores)
    assert np.array_equal(model.estimators_[0].tree_.apply(rows.tocsc()), model[0].apply(X))
