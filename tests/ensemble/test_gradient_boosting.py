"""Gradient boosting on histograms, beside scikit-learn's and a slow obvious tree."""

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rosenblatt
from rosenblatt import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    certify,
    threads,
)
from rosenblatt.ensemble import boosted_growth, boosted_trees
from tests.reference.boosting import stumps_by_hand

FEW = {"max_iter": 8, "max_leaf_nodes": 6, "min_samples_leaf": 5}
LOSSES = ("squared_error", "absolute_error", "poisson", "gamma", "quantile")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    t = np.nan_to_num(X[:, 0]) * 2 + np.sin(np.nan_to_num(X[:, 1])) + rng.normal(size=600) / 2
    return X, t


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_predicted_as_scikit_learn_does(table, loss, weighted):
    X, t = table
    t = np.exp(t / 3) if loss in ("poisson", "gamma") else t
    quantile = {"quantile": 0.5} if loss == "quantile" else {}
    weight = np.random.default_rng(1).integers(1, 4, len(t)) * 1.0 if weighted else None
    settings = {**FEW, **quantile, "loss": loss, "max_bins": 16, "l2_regularization": 0.5}
    ours = HistGradientBoostingRegressor(**settings).fit(X, t, weight)
    peer = theirs.HistGradientBoostingRegressor(**settings).fit(X, t, weight)
    gap = np.abs(ours.predict(X) - peer.predict(X))
    # Quantiles of weighted values have several definitions, and a cut moves a row or two.
    assert np.median(gap) < (0.05 if weighted else 1e-6) * np.std(t)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_predicted_as_scikit_learn_does(n_classes):
    X, y = make_classification(500, 6, n_informative=4, n_classes=n_classes, random_state=0)
    ours = HistGradientBoostingClassifier(**FEW).fit(X, y)
    peer = theirs.HistGradientBoostingClassifier(**FEW).fit(X, y)
    assert np.allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert np.allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)
    staged = list(ours.staged_predict_proba(X))
    assert len(staged) == ours.n_iter_ == 8
    assert np.array_equal(staged[-1], ours.predict_proba(X))
    assert np.array_equal(list(ours.staged_predict(X))[-1], ours.predict(X))
    assert np.array_equal(list(ours.staged_decision_function(X))[-1], ours.decision_function(X))


def test_a_round_of_one_split_is_the_one_that_the_definition_gives():
    """P7: descent on the log loss, each step the tree that takes most off it."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (80, 3)).astype(float), rng.integers(0, 2, 80)
    model = HistGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=2, min_samples_leaf=1, l2_regularization=1.0
    ).fit(X, y)
    expected = stumps_by_hand(X, y, rounds=4, rate=0.1, l2=1.0)
    assert np.allclose(model.decision_function(X), expected, atol=1e-9)


def test_categories_are_split_by_their_gradients_and_unknown_ones_are_missing():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, 800)]
    y = np.isin(words, ["red", "grey"]).astype(int)
    frame = pd.DataFrame({"colour": pd.Categorical(words), "noise": rng.normal(size=800)})
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=2).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.is_categorical_.tolist() == [True, False]
    assert (model.trees_.column[model.trees_.left >= 0] == 0).all()
    peer = theirs.HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=2).fit(frame, y)
    assert np.allclose(model.predict_proba(frame), peer.predict_proba(frame))
    new = pd.DataFrame({"colour": ["pink", None], "noise": [0.0, 0.0]})
    unknown, missing = model.predict_proba(new)
    assert np.array_equal(unknown, missing)


def test_monotonic_columns_and_groups_hold():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 3))
    t = 5 * X[:, 0] + np.sin(10 * X[:, 0]) - 3 * X[:, 1] + rng.normal(size=2000) / 3
    model = HistGradientBoostingRegressor(monotonic_cst=[1, -1, 0], max_iter=30).fit(X, t)
    grid = np.linspace(0, 1, 200)
    for column, sign in ((0, 1), (1, -1)):
        rows = np.tile(rng.random(3), (200, 1))
        rows[:, column] = grid
        assert (sign * np.diff(model.predict(rows)) >= 0).all()
    model.set_params(monotonic_cst=None, interaction_cst=[{0}, {1, 2}]).fit(X, t)
    assert columns_that_meet(model.trees_) <= {(1, 2)}
    model.set_params(interaction_cst="no_interactions").fit(X, t)
    assert not columns_that_meet(model.trees_)


@pytest.mark.parametrize(
    "loss", [{"loss": "absolute_error"}, {"loss": "quantile", "quantile": 0.8}]
)
def test_leaves_that_are_quantiles_keep_the_order_of_monotonic_columns(loss):
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    t = 100 * (X[:, 0] + np.sin(10 * X[:, 0]) + X[:, 1]) + rng.normal(size=600)
    model = HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0], max_iter=40, **loss)
    model.fit(X, t, sample_weight=rng.integers(1, 4, 600))
    for rest in rng.random((5, 3)):
        rows = np.tile(rest, (200, 1))
        rows[:, 0] = np.linspace(0, 1, 200)
        assert (np.diff(model.predict(rows)) >= 0).all()
    assert np.ptp(model.predict(X)) > 100  # steps of the targets' size, not of their signs'


def columns_that_meet(trees):
    """Pairs of different columns on one path."""
    found, above = set(), {int(start): frozenset() for start in trees.starts[:-1]}
    for v in range(len(trees.left)):
        if trees.left[v] >= 0:
            path = above[v] | {int(trees.column[v])}
            found |= {(a, b) for a in path for b in path if a < b}
            above[trees.left[v]] = above[trees.left[v] + 1] = path
    return found


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9])
def test_the_trees_do_not_depend_on_threads_or_on_who_builds_a_histogram(monkeypatch, n_classes):
    X, y = make_classification(
        3000, 20, n_informative=5, n_classes=max(n_classes, 2), random_state=0
    )
    X[:, 3:6] = X[:, 3:6].round()
    kind = HistGradientBoostingClassifier if n_classes > 1 else HistGradientBoostingRegressor
    alone = kind(**FEW, early_stopping=True, random_state=0)
    monkeypatch.setattr(boosted_growth, "FEWEST_SUMMED", 1000)
    with threads.limit(1):
        alone.fit(X, y)
    monkeypatch.setattr(boosted_growth, "HELPED_CELLS", 1000)
    monkeypatch.setattr(boosted_growth, "SHARED_CELLS", 200)
    monkeypatch.setattr("rosenblatt.runtime.threads._cores", lambda: 3)
    shared = clone(alone).fit(X, y)
    assert np.array_equal(alone._raw_predict(X), shared._raw_predict(X))
    assert np.array_equal(alone.train_score_, shared.train_score_)


def test_boosting_that_diverges_warns():
    """Large steps on rare classes made the training loss hundreds of times what it was at first."""
    rare = {"n_classes": 4, "n_informative": 6, "weights": [0.9, 0.05, 0.03, 0.02]}
    X, y = make_classification(300, 8, **rare, flip_y=0.3, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=5, early_stopping=False)
    with pytest.warns(ConvergenceWarning, match=r"the training loss rose from 0\.916 to"):
        clone(model).set_params(learning_rate=1.0).fit(X, y)
    model.fit(X, y)


def test_columns_of_few_levels_grow_the_same_trees():
    """All columns of few levels have smaller histograms than beside one of many."""
    X, y = make_classification(2000, 9, n_informative=5, random_state=0)
    X = X.round()
    X[:100, 2] = np.nan
    beside = np.column_stack([X, np.zeros(len(X))])
    beside[:60, -1] = np.arange(60) * 1e-3  # no leaf is as small
    few = HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=100).fit(X, y)
    many = clone(few).fit(beside, y)
    assert not (many.trees_.column == 9).any()
    assert np.array_equal(few.decision_function(X), many.decision_function(beside))


def test_nodes_without_a_histogram_of_their_own_grow_the_same_tree(monkeypatch):
    X, y = make_classification(2000, 6, n_informative=4, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=None)
    many = clone(model).fit(X, y)
    monkeypatch.setattr(boosted_growth, "HISTOGRAM_BYTES", 1)
    few = clone(model).fit(X, y)
    assert len(many.trees_.left) == len(few.trees_.left) > 60
    assert np.array_equal(many.predict_proba(X), few.predict_proba(X))


def test_rounding_at_random_and_estimated_counts_cost_little(monkeypatch):
    X, y = make_classification(3000, 8, n_informative=5, random_state=0)
    exact = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    monkeypatch.setattr(boosted_growth, "MOST_NEAREST", 0)
    monkeypatch.setattr(boosted_growth, "MOST_COUNTED", 0)
    rounded = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    assert abs(exact.objective(X, y) / rounded.objective(X, y) - 1) < 0.03


def test_every_leaf_has_rows_enough_and_trees_keep_to_their_limits(table):
    X, t = table
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=17, max_depth=3).fit(X, t)
    trees = model.trees_
    assert trees.count[trees.left < 0].min() >= 17
    assert trees.depths.max() <= 3
    inner = np.flatnonzero(trees.left >= 0)
    children = trees.count[trees.left[inner]] + trees.count[trees.left[inner] + 1]
    assert np.array_equal(trees.count[inner], children)


def test_early_stopping_keeps_scores_and_says_which_rows_were_held_out(table):
    X, t = table
    model = HistGradientBoostingRegressor(
        max_iter=200, early_stopping=True, n_iter_no_change=3, random_state=0
    ).fit(X, t)
    assert model.stop_reason_ == "early_stopping"
    assert len(model.train_score_) == len(model.validation_score_) == model.n_iter_ + 1 < 201
    held = model.validation_rows_
    assert np.isclose(-model.validation_score_[-1], model.objective(X[held], t[held]))
    kept = np.setdiff1d(np.arange(len(t)), held)
    assert np.isclose(-model.train_score_[-1], model.objective(X[kept], t[kept]))


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", None, lambda m, X, y: m.score(X, y)])
def test_early_stopping_by_a_score(table, scoring):
    X, t = table
    model = HistGradientBoostingRegressor(
        max_iter=10, early_stopping=True, scoring=scoring, random_state=0
    ).fit(X, t)
    held = model.validation_rows_
    known = "neg_mean_squared_error" if isinstance(scoring, str) else "r2"
    from sklearn.metrics import get_scorer

    assert np.isclose(model.validation_score_[-1], get_scorer(known)(model, X[held], t[held]))


def test_a_warm_start_ends_where_one_fit_does(table):
    X, t = table
    whole = HistGradientBoostingRegressor(**FEW, early_stopping=True, random_state=0).fit(X, t)
    parts = clone(whole).set_params(max_iter=3, warm_start=True).fit(X, t)
    parts.set_params(max_iter=8).fit(X, t)
    assert np.array_equal(whole.predict(X), parts.predict(X))
    assert np.array_equal(whole.validation_score_, parts.validation_score_)


@pytest.mark.parametrize("weights", [[0, 0, 2, 3], [1, 0, 1, 0]])
def test_rows_of_weight_two_count_twice_and_of_weight_zero_not_at_all(weights):
    X, y = make_classification(200, 5, random_state=0)
    weight = np.tile(weights, 50)
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=1, max_leaf_nodes=5)
    heavy = clone(model).fit(X, y, weight)
    many = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.allclose(heavy.predict_proba(X), many.predict_proba(X), atol=1e-7)


def test_compare_finds_rounds_and_a_rate(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    y = np.where((X["a"] > 0) ^ (X["b"] > 0), "yes", "no")
    found = rosenblatt.compare(
        X, y, families=["lightgbm", "logistic regression"], ledger=tmp_path / "x"
    )
    best = found.findings.contestants[0]
    assert best.family == "gradient boosting"
    chosen = best.candidates[0].parameters
    assert chosen["max_iter"] > 1
    assert 0.02 <= chosen["learning_rate"] <= 0.4


def test_cuts_lie_between_values_and_at_quantiles():
    assert boosted_trees.cuts_of_column(np.array([3.0, 1, 1, np.nan]), 255, np.empty(0)) == [2.0]
    assert not len(boosted_trees.cuts_of_column(np.full(3, np.nan), 255, np.empty(0)))
    infinite = np.array([-np.inf, 0, 1, np.inf])
    assert boosted_trees.cuts_of_column(infinite, 255, np.empty(0)).tolist() == [
        -np.inf,
        0.5,
        1e300,
    ]
    values = np.arange(1000.0)
    quarters = boosted_trees.cuts_of_column(values, 4, np.empty(0))
    assert (
        quarters.tolist()
        == np.quantile(values, [0.25, 0.5, 0.75], method="averaged_inverted_cdf").tolist()
    )
    assert boosted_trees.cuts_of_column(values, 4, np.ones(1000)).tolist() == quarters.tolist()


@pytest.mark.parametrize(
    ("settings", "target", "message"),
    [
        ({"loss": "quantile"}, [1.0] * 40, "quantile must be a number from 0 to 1"),
        ({"loss": "gamma"}, [0.0] * 40, "requires strictly positive y"),
        ({"loss": "poisson"}, [-1.0] * 40, "requires non-negative y"),
        ({"monotonic_cst": [1], "categorical_features": [0]}, [1.0] * 40, "cannot have monotonic"),
        ({"interaction_cst": [[7]]}, [1.0] * 40, "integer indices"),
        ({"categorical_features": [0], "max_bins": 5}, [1.0] * 40, "cardinality of 40"),
    ],
)
def test_what_cannot_be_is_refused(settings, target, message):
    X = np.arange(40.0)[:, np.newaxis]
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(**settings).fit(X, target)


@pytest.mark.parametrize("K", [2, 3])
def test_parts_of_an_explanation_add_up_to_the_log_odds(K):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"word": rng.choice(list("abcde"), 200), "number": rng.normal(size=200)})
    frame.loc[::9, "number"] = np.nan
    y = (frame["word"].isin(["a", "d"]).astype(int) + (frame["number"] > 0.5)) % K
    model = HistGradientBoostingClassifier(max_iter=5, early_stopping=False).fit(frame, y)
    scores = model.decision_function(frame)
    for i in (0, 1, 5):
        found = model.explain(frame.iloc[[i]])
        lead = np.sort(scores[i])[-1] - np.sort(scores[i])[-2] if K > 2 else abs(scores[i])
        assert found.log_odds == pytest.approx(lead)
        assert found.winner == model.predict(frame.iloc[[i]])[0]
        assert found.names == ("word", "number")


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_what_a_column_adds_is_what_its_tests_change(loss):
    X = np.array([[0.0, 1], [0, 2], [1, 1], [1, 2], [1, 3]] * 8)
    y = 1.0 + 3 * X[:, 0]
    model = HistGradientBoostingRegressor(
        loss, max_iter=30, learning_rate=1.0, max_leaf_nodes=2, early_stopping=False,
        min_samples_leaf=1,
    ).fit(X, y)  # fmt: skip
    found = model.explain([1.0, 3.0])
    link = np.log if loss == "poisson" else float
    if loss == "squared_error":  # whose trees add nothing on average
        assert found.start == pytest.approx(y.mean())
    assert found.contributions[1] == pytest.approx(0, abs=1e-9)  # no test asks for it
    assert found.log_odds == pytest.approx(link(model.predict([[1.0, 3.0]])[0]))
    with pytest.raises(NotFittedError):
        HistGradientBoostingRegressor().explain([0.0])


def test_the_largest_quantile_is_the_largest_target():
    X, t = np.repeat([0.0, 1.0], 5)[:, np.newaxis], np.arange(10.0)
    for weight in (None, np.ones(10)):
        model = HistGradientBoostingRegressor(loss="quantile", quantile=1.0, max_iter=2)
        assert model.fit(X, t, sample_weight=weight).baseline_.tolist() == [9.0]
        assert model.set_params(quantile=0.0).fit(X, t, sample_weight=weight).baseline_[0] == 0.0


def test_a_class_without_weight_is_certified():
    X, y = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 2])
    weight = np.array([1.0, 1, 1, 1, 1, 0])
    model = HistGradientBoostingClassifier(min_samples_leaf=1, max_iter=3)
    assert certify(model.fit(X, y, sample_weight=weight), X, y, sample_weight=weight).holds
