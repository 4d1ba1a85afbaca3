"""Trees: the splits are the best, on numbers, categories and missing values."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import export_text

from rosenblatt import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    certify,
)
from rosenblatt.model_selection import GridSearchCV
from rosenblatt.tree import category_growth, growth
from rosenblatt.tree.inputs import CRITERIA, Settings, Targets
from tests.reference import tree as reference

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
KINDS = {"gini": DecisionTreeClassifier, "entropy": DecisionTreeClassifier}
KINDS["squared_error"] = DecisionTreeRegressor


def nodes_of(tree):
    leaf = tree.is_leaf
    return [
        (None if leaf[i] else tree.feature[i], tree.n_node_samples[i])
        for i in range(tree.node_count)
    ]


@pytest.mark.parametrize("criterion", KINDS)
@pytest.mark.parametrize("min_leaf", [1, 4])
def test_it_equals_the_slow_obvious_tree(criterion, min_leaf):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(1)
    y = rng.integers(0, 3, 60) if criterion != "squared_error" else rng.normal(size=60)
    model = KINDS[criterion](criterion=criterion, max_depth=3, min_samples_leaf=min_leaf).fit(X, y)
    slow = reference.grow(X, y, criterion, 3, min_leaf)
    assert nodes_of(model.tree_) == [(j, n) for j, _, n in slow]
    inner = ~model.tree_.is_leaf
    wanted = [t for _, t, _ in slow if t is not None]
    np.testing.assert_allclose(model.tree_.threshold[inner], wanted, rtol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("with_nan", [False, True])
def test_the_best_of_many_rows_is_not_in_a_block_that_was_skipped(criterion, digits, with_nan):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5_000, 3)).round(digits)
    y = (np.sin(3 * X[:, 1]) + rng.normal(size=5_000) > 0).astype(int)
    X[rng.random(5_000) < 0.1, 1] = np.nan if with_nan else 0.0
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
    gained = model.tree_.impurity[0] - np.average(
        model.tree_.impurity[1:], weights=model.tree_.n_node_samples[1:]
    )
    np.testing.assert_allclose(gained, best_gain(X, y, criterion), rtol=1e-9)


def best_gain(X, y, criterion):
    """The largest gain of all thresholds, NaN on either side, by running sums."""

    def impurities(ones, rows):
        share = np.column_stack([ones, rows - ones]) / rows[:, np.newaxis]
        if criterion == "gini":
            return rows * (1 - (share**2).sum(axis=1))
        return -rows * (share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)

    n, best = len(y), np.inf
    for column in X.T:
        known = np.flatnonzero(~np.isnan(column))
        order = known[np.argsort(column[known], kind="stable")]
        ones, rows = np.cumsum(y[order]), np.arange(1, len(order) + 1)
        ends = np.flatnonzero(np.diff(column[order]) > 0)
        if len(order) < n:
            ends = np.append(ends, len(order) - 1)
        absent = np.setdiff1d(np.arange(n), known)
        for extra, extra_ones in ((0, 0), (len(absent), y[absent].sum())):
            left, left_ones = rows[ends] + extra, ones[ends] + extra_ones
            inside = left < n
            left, left_ones = left[inside], left_ones[inside]
            parts = impurities(left_ones, left) + impurities(y.sum() - left_ones, n - left)
            best = min(best, parts.min())
    return float(impurities(np.array([y.sum()]), np.array([n]))[0] - best) / n


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_tree_that_is_grown_out_errs_on_contradictions_alone(data):
    n = data.draw(st.integers(2, 25))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    X = rng.integers(0, data.draw(st.integers(1, 4)), (n, 2)).astype(float)
    y = rng.integers(0, 3, n)
    model = DecisionTreeClassifier().fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    assert certificate["training error"].value == certificate["least error"].value


@pytest.mark.parametrize("data", [IRIS, CANCER])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("depth", [2, 3])
def test_same_splits_as_scikit_learn_where_they_are_unique(data, criterion, depth):
    X, y = data[0].astype(np.float32), data[1]
    ours = DecisionTreeClassifier(criterion=criterion, max_depth=depth).fit(X, y).tree_
    theirs = sklearn.tree.DecisionTreeClassifier(
        criterion=criterion, max_depth=depth, random_state=0
    ).fit(X, y).tree_  # fmt: skip
    assert ours.node_count == theirs.node_count
    np.testing.assert_allclose(ours.impurity, theirs.impurity, atol=1e-12)
    assert np.array_equal(ours.n_node_samples, theirs.n_node_samples)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limit", [{"max_depth": 4}, {"max_leaf_nodes": 12}])
def test_regression_trees_equal_those_of_scikit_learn(criterion, weighted, limit):
    X, y = DIABETES
    X, weight = X.astype(np.float32), np.arange(len(y)) % 3 + 1.0 if weighted else None
    ours = DecisionTreeRegressor(criterion=criterion, **limit).fit(X, y, weight)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **limit)
    theirs.fit(X, y, weight)
    left = [
        (tree.impurity * tree.weighted_n_node_samples)[np.asarray(tree.children_left) < 0].sum()
        for tree in (ours.tree_, theirs.tree_)
    ]
    assert left[0] == pytest.approx(left[1], rel=1e-9)


def test_values_that_differ_beyond_single_precision_are_told_apart():
    X = 1e9 + np.arange(8.0)[:, np.newaxis] / 8
    y = np.arange(8) % 2
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def test_a_stump_is_a_tree_of_depth_one_and_may_be_constant():
    """O13: with weights, and of no test at all."""
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    assert DecisionTreeClassifier(max_depth=1).fit(X, y).get_depth() == 1
    weighted = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=[0, 1, 1])
    assert weighted.get_depth() == 0
    assert weighted.predict([[0.0]]).tolist() == [1]


# Categories.

DAYS = pd.DataFrame(
    {
        "outlook": ["sun", "sun", "cloud", "rain", "rain", "cloud", None, "sun"],
        "wind": [1.0, 2.0, 1.5, 3.0, np.nan, 0.5, 2.5, 0.1],
    }
)
PLAY = np.array(["no", "no", "yes", "no", "yes", "yes", "yes", "no"])


def test_categories_of_a_data_frame_have_a_branch_each():
    """O1, O2: one for each known value."""
    model = DecisionTreeClassifier().fit(DAYS, PLAY)
    assert model.score(DAYS, PLAY) == 1.0
    assert "outlook = cloud: yes" in model.to_text()
    assert "outlook is missing: yes" in model.to_text()
    assert certify(model, DAYS, PLAY).holds
    columns = {name: [None if v != v else v for v in DAYS[name]] for name in DAYS}
    frame = pl.DataFrame(columns)
    assert model.tree_ == DecisionTreeClassifier().fit(frame, PLAY).tree_


@given(
    n_classes=st.integers(1, 4), most=st.sampled_from([2, 5, 300]), seed=st.integers(0, 2**32 - 1),
    limits=st.fixed_dictionaries({
        "kind": st.sampled_from([CRITERIA["gini"], CRITERIA["entropy"]]),
        "max_depth": st.integers(1, 6), "min_split": st.integers(2, 20),
        "min_leaf": st.integers(1, 4), "min_weight": st.sampled_from([0.0, 2.5]),
        "min_decrease": st.sampled_from([0.0, 0.002]),
    }),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_counts_of_categories_grow_the_tree_that_rows_one_by_one_grow(
    n_classes, most, seed, limits
):
    rng = np.random.default_rng(seed)
    n, n_categories = int(rng.integers(1, 400)), rng.integers(1, most + 1, 9)
    X = np.floor(rng.random((n, 9)) * n_categories)
    X[rng.random((n, 9)) < 0.03] = np.nan
    classes = rng.integers(0, n_classes, (n, 1)).astype(np.int32)
    given = X, n_categories, Targets(classes, None, (n_classes,))
    limits = Settings(max_features=9, **limits)
    assert category_growth.can_grow(*given, None, limits)
    slow = growth.Growth(*given, None, limits).run()
    assert category_growth.grow(*given, limits) == slow


def test_a_long_growth_on_categories_is_cut_into_calls_without_a_trace(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (500, 6)), rng.integers(0, 3, 500)
    model = DecisionTreeClassifier(categorical_features=list(range(6)))
    whole = model.fit(X, y).tree_
    monkeypatch.setattr(category_growth, "CELLS_A_CALL", 1)
    assert model.fit(X, y).tree_ == whole


def test_an_unknown_category_is_an_error_or_takes_the_majority():
    row = pd.DataFrame({"outlook": ["hail"], "wind": [1.0]})
    model = DecisionTreeClassifier().fit(DAYS, PLAY)
    with pytest.raises(
        ValueError, match=r"'outlook' has a category that no training row had: 'hail'"
    ):
        model.predict(row)
    taken = model.set_params(unknown="majority").predict(row)
    assert taken.tolist() == [model.classes_[model.tree_.value[0, 0].argmax()]]


def test_columns_are_named_by_place_name_or_mask():
    X = np.array([[0, 5], [1, 6], [2, 7], [0, 8]])
    y = [0, 1, 0, 0]
    trees = [
        DecisionTreeClassifier(categorical_features=which).fit(X, y).tree_
        for which in ([0], [True, False])
    ]
    assert trees[0] == trees[1]
    assert trees[0].is_multiway
    with pytest.raises(ValueError, match="names the column 'z', which X lacks"):
        DecisionTreeClassifier(categorical_features=["z"]).fit(X, y)


def test_too_many_categories_are_refused():
    X = pd.DataFrame({"id": pd.Categorical.from_codes(range(10**6), range(10**6))})
    with pytest.raises(ValueError, match=r"'id' has 1,000,000 categories, .*leave it out"):
        DecisionTreeClassifier().fit(X, np.arange(10**6) % 2)


def test_a_tree_of_thousands_of_levels():
    X, y = np.arange(3_000.0)[:, np.newaxis], np.arange(3_000) % 2
    model = DecisionTreeClassifier(max_depth=10**12).fit(X, y)
    assert model.get_depth() > 1_000  # more than Python may recurse
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == y.tolist()
    assert model.get_n_leaves() == 3_000
    assert model.to_text(max_depth=2).count("\n") < 9


# Missing values.


@pytest.mark.parametrize("missing", ["best", "majority", "branch"])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_missing_values_are_routed_as_they_were_learned(missing, kind):
    X, y = IRIS[0].copy(), IRIS[1]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = kind(missing=missing).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    if missing == "branch":
        assert model.tree_.is_multiway
        assert certificate["training error"].value == 0


def test_missing_values_are_split_as_by_scikit_learn():
    X, y = IRIS[0].copy(), IRIS[1]
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X = X.astype(np.float32)
    ours = DecisionTreeClassifier(max_depth=3).fit(X, y).tree_
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y).tree_
    leaf = theirs.children_left < 0
    ours_left = (ours.impurity * ours.weighted_n_node_samples)[ours.is_leaf].sum()
    theirs_left = (theirs.impurity * theirs.weighted_n_node_samples)[leaf].sum()
    assert abs(ours_left - theirs_left) < 1e-9


def test_values_that_were_never_missing_go_with_most_rows():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 1, 1]
    assert DecisionTreeClassifier().fit(X, y).predict([[np.nan]]).tolist() == [1]


def test_missing_values_can_be_refused():
    X, y = [[0.0], [np.nan]], [0, 1]
    with pytest.raises(ValueError, match="contains NaN"):
        DecisionTreeClassifier(missing="error").fit(X, y)


# Against overfitting.


def test_every_price_of_a_leaf_comes_from_one_tree():
    X, y = CANCER
    path = DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(random_state=0)
    wanted = theirs.cost_complexity_pruning_path(X.astype(np.float32), y)
    np.testing.assert_allclose(path.ccp_alphas[-3:], wanted.ccp_alphas[-3:], rtol=1e-6)
    models = DecisionTreeClassifier().fit_path((X, y), "ccp_alpha", [0.0, 0.003, 0.02])
    for alpha, model in zip([0.0, 0.003, 0.02], models, strict=True):
        assert model.tree_ == DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y).tree_
    assert models.predict(X).shape == (3, len(y))


def test_a_search_over_prices_finds_what_fits_one_by_one_find():
    X, y = CANCER
    grid = {"ccp_alpha": [0.0, 0.005, 0.02]}
    ours = GridSearchCV(DecisionTreeClassifier(), grid, cv=3).fit(X, y)
    for alpha, score in zip(grid["ccp_alpha"], ours.cv_results_["mean_test_score"], strict=True):
        each = cross_val_score(DecisionTreeClassifier(ccp_alpha=alpha), X, y, cv=3)
        assert score == pytest.approx(each.mean())
    assert ours.best_score_ > 0.9


def test_splits_that_chance_explains_are_pruned_from_the_bottom_up():
    """O9, O10: noise goes, and XOR, whose root alone tells nothing, stays."""
    rng = np.random.default_rng(0)
    noise = DecisionTreeClassifier(max_p_chance=1e-6).fit(
        rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    )
    assert noise.get_n_leaves() < 10
    X = np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    y = (X[:, 0] != X[:, 1]).astype(int)
    assert DecisionTreeClassifier(max_p_chance=0.05).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("pruning", ["held-out", "stop-growth"])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_rows_held_out_make_the_tree_smaller_and_not_worse_on_them(pruning, kind):
    """O8, O11: carved from the rows given."""
    X, y = CANCER if kind is DecisionTreeClassifier else DIABETES
    model = kind(pruning=pruning, random_state=0).fit(X, y)
    grown_on = model.growth_rows_
    whole = kind().fit(X[grown_on], y[grown_on])
    assert model.get_n_leaves() < whole.get_n_leaves()
    held = np.setdiff1d(np.arange(len(y)), grown_on)
    assert model.score(X[held], y[held]) >= whole.score(X[held], y[held])
    assert certify(model, X, y).holds


def test_smoothed_leaves_have_no_zero():
    """O15: Laplace."""
    X, y = IRIS
    model = DecisionTreeClassifier(leaf_smoothing=1.0).fit(X, y)
    assert model.predict_proba(X).min() > 0
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.array([51, 1, 1]) / 53)


# Words.


def test_rules_and_text_say_what_the_tree_does():
    X, y = IRIS
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert model.rules(["a", "b", "c", "d"])[0].startswith("if c > 2.45 and d <= 1.75 then 1 (91%)")
    assert len(model.to_text().splitlines()) == 4
    explanation = model.explain(X[0])
    share = model.predict_proba(X[:1])[0]
    assert explanation.log_odds == pytest.approx(share[0] - share[1])


def test_large_thresholds_are_written_without_exponents_and_with_their_half():
    X = [[30_450, 2217], [30_450, 2218], [30_451, 2218], [30_451, 2217]]
    model = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    assert model.to_text().splitlines()[:2] == ["x1 <= 30450.5", "|   x2 <= 2217.5: 0  [1 row]"]
    stump = DecisionTreeRegressor().fit([[10_000], [20_000]], [123_456.5, 123_457.5])
    assert stump.rules()[0] == "if x1 <= 15000 then 123456 (1 row, 50.0%)"


def test_a_boolean_column_is_false_or_true_in_words():
    days = pd.DataFrame({"windy": [True, False, True], "hot": [1, 0, 0]})
    for frame in (days, days.astype({"windy": "boolean"}), days.assign(sky=["a", "b", "a"])):
        model = DecisionTreeClassifier().fit(frame, ["no", "yes", "no"])
        assert model.to_text().splitlines()[0] == "windy is False: yes  [1 row]"
        assert "windy is True" in model.pruned(0.0).rules()[0]
    assert "hot <= 0.5" in DecisionTreeClassifier().fit(days, [1, 0, 0]).to_text()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_scikit_learns_tree_answers_alike(kind):
    X, y = IRIS
    X = X.astype(np.float32)
    X[::7, 2] = np.nan
    model = kind(max_depth=4).fit(X, y)
    theirs = model.to_sklearn()
    assert np.array_equal(theirs.predict(X), model.predict(X))
    assert np.array_equal(theirs.apply(X), model.apply(X))
    assert (theirs.decision_path(X) != model.decision_path(X)).nnz == 0
    assert "feature_" in export_text(theirs)


def test_scikit_learns_tree_still_parts_neighbours_of_float32():
    x = np.array([1.0], np.float32)
    for _ in range(6):
        x = np.append(x, np.nextafter(x[-1], np.float32(2)))
    X, y = x[:, np.newaxis], np.arange(len(x)) % 2
    model = DecisionTreeClassifier().fit(X, y)
    assert np.array_equal(model.to_sklearn().predict(X), y)


def test_branches_for_categories_have_no_form_in_scikit_learn():
    with pytest.raises(ValueError, match="takes trees of thresholds"):
        DecisionTreeClassifier().fit(DAYS, PLAY).to_sklearn()


# Forms of input.


def test_sparse_rows_and_float32_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 5)) < 0.6, 0.0, rng.integers(1, 5, (80, 5)))
    y = rng.integers(0, 3, 80)
    trees = [
        DecisionTreeClassifier().fit(form, y).tree_
        for form in (X, X.astype(np.float32), sp.csr_matrix(X), sp.csc_matrix(X))
    ]
    assert all(tree == trees[0] for tree in trees)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_whole_weights_are_repetitions(kind):
    X, y = IRIS
    weight = np.arange(len(y)) % 3
    weighted = kind().fit(X, y, sample_weight=weight)
    repeated = kind().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_weights_of_zero_are_refused():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 0])


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_categories_have_no_monotone_order(kind):
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 10), "size": np.arange(20.0)})
    with pytest.raises(ValueError, match="column 0, whose categories have none"):
        kind(monotonic_cst=[1, 0]).fit(X, [0, 1] * 10)
    assert kind(monotonic_cst=[0, 1]).fit(X, [0, 1] * 10).score(X, [0, 1] * 10) > 0.5


def test_predictions_keep_to_monotonic_constraints():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    line = np.column_stack([np.linspace(-1, 1, 200), np.zeros(200)])
    rising = DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y)
    assert (np.diff(rising.predict(line)) >= 0).all()
    for criterion in ("squared_error", "poisson", "absolute_error"):
        far = DecisionTreeRegressor(monotonic_cst=[1, 0], criterion=criterion).fit(X, y + 100)
        assert (np.diff(far.predict(line)) >= 0).all()
        assert abs(far.predict(X).mean() - 100) < 0.2  # bounds are in the units of y
    falling = DecisionTreeClassifier(monotonic_cst=[-1, 0], max_depth=5).fit(X, y > 0)
    assert (np.diff(falling.predict_proba(line)[:, 1]) <= 0).all()


def test_several_targets_at_once():
    X, y = IRIS
    Y = np.column_stack([y, X[:, 0] > 5.8])
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    assert np.array_equal(model.predict(X), theirs.predict(X))
    assert certify(model, X, Y.astype(float)).holds


def test_a_pickled_tree_is_the_same():
    model = DecisionTreeClassifier().fit(*IRIS)
    copy = pickle.loads(pickle.dumps(model)).tree_
    assert copy == model.tree_
    assert not any(array.flags.writeable for array in (*copy.arrays.values(), model.tree_.value))


def test_a_branch_for_missing_values_has_no_place_in_a_monotone_order():
    X = np.array([[0.0], [0.0], [np.nan], [np.nan]])
    y = np.array([5.0, 5.0, 1.0, 1.0])
    model = DecisionTreeRegressor(monotonic_cst=[1], missing="branch").fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


def test_random_thresholds_do_not_depend_on_how_columns_are_searched(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 2
    model = DecisionTreeClassifier(splitter="random", max_depth=3, random_state=0)
    together = clone(model).fit(X, y).tree_
    monkeypatch.setattr(growth, "ENTRIES_OF_A_LARGE_NODE", 10)
    assert clone(model).fit(X, y).tree_ == together


@pytest.mark.parametrize("seed", range(5))
def test_draws_do_not_depend_on_whether_rows_are_repeated_or_weighted(seed):
    rng = np.random.default_rng(seed)
    X, y, times = rng.normal(size=(60, 4)), rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    make = partial(DecisionTreeClassifier, splitter="random", max_features=2, random_state=seed)
    weighted = make().fit(X, y, sample_weight=times).tree_
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(y, times)).tree_
    np.testing.assert_array_equal(weighted.feature, repeated.feature)
    np.testing.assert_array_equal(weighted.threshold, repeated.threshold)


def test_nodes_of_medians_are_split_column_by_column_with_the_same_tree(monkeypatch):
    rng = np.random.default_rng(0)
    X, t = rng.integers(0, 50, (400, 6)).astype(float), rng.normal(size=400)
    model = DecisionTreeRegressor(criterion="absolute_error", random_state=0)
    in_pieces = model.fit(X, t).tree_
    monkeypatch.setattr("rosenblatt.tree.growth.ENTRIES_OF_A_LARGE_NODE", 2**40)
    at_once = model.fit(X, t).tree_
    assert np.array_equal(in_pieces.threshold, at_once.threshold)
    assert np.array_equal(in_pieces.feature, at_once.feature)
