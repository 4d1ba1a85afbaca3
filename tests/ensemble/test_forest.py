"""Forests: the same bits on any number of threads, honest out-of-bag estimates."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

from rosenblatt import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    LogisticRegression,
    RandomForestClassifier,
    RandomForestRegressor,
    certify,
    threads,
)
from rosenblatt.certificates import tree_routing
from rosenblatt.tree import routing

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
each_kind = pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)


def data_of(kind):
    return CANCER if "Classifier" in kind.__name__ else DIABETES


def bits(forest):
    return [tree.tree_ for tree in forest.estimators_]


@each_kind
def test_the_same_trees_on_any_number_of_threads(kind):
    X, y = data_of(kind)
    with threads.limit(1):
        alone = kind(9, random_state=0).fit(X, y)
    several = kind(9, random_state=0).fit(X, y)
    assert bits(alone) == bits(several)
    assert np.array_equal(alone.predict(X), several.predict(X))


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_samples_are_those_of_scikit_learn_and_miss_a_third(kind):
    """P2: each bootstrap sample misses about 36.8% of the rows."""
    X, y = data_of(kind)
    ours = kind(20, random_state=0).fit(X, y)
    theirs = getattr(sklearn.ensemble, kind.__name__)(20, random_state=0, max_depth=1).fit(X, y)
    for a, b in zip(ours.estimators_samples_, theirs.estimators_samples_, strict=True):
        assert np.array_equal(a, b)
    missed = np.mean([1 - len(np.unique(s)) / len(y) for s in ours.estimators_samples_])
    assert abs(missed - np.exp(-1)) < 0.01


@each_kind
def test_it_is_as_good_as_scikit_learns(kind):
    X, y = data_of(kind)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    theirs = getattr(sklearn.ensemble, kind.__name__)
    ours = np.mean([kind(40, random_state=s).fit(X[train], y[train]).score(X[test], y[test])
                    for s in range(3)])  # fmt: skip
    peer = np.mean([theirs(40, random_state=s).fit(X[train], y[train]).score(X[test], y[test])
                    for s in range(3)])  # fmt: skip
    assert ours > peer - 0.03


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_rows_are_scored_by_trees_that_have_not_seen_them(kind):
    X, y = data_of(kind)
    forest = kind(60, oob_score=True, random_state=0).fit(X, y)
    certificate = certify(forest, X, y)
    assert certificate.holds, str(certificate)
    assert certificate["published estimate"].holds
    assert forest.oob_score_ < forest.score(X, y)
    forest.oob_score_ += 0.01
    assert not certify(forest, X, y).holds


@each_kind
def test_few_rows_and_many_are_predicted_alike(kind):
    X, y = data_of(kind)
    forest = kind(60, random_state=0).fit(X, y)
    alone = np.concatenate([forest.predict(X[i : i + 1]) for i in range(20)])
    assert np.array_equal(alone, forest.predict(np.tile(X, (3, 1)))[:20])


@each_kind
def test_scikit_learns_forest_answers_alike(kind):
    X, y = data_of(kind)
    X = X.astype(np.float32)
    forest = kind(10, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.to_sklearn().predict(X), forest.predict(X), rtol=1e-12)


@each_kind
def test_scikit_learns_forest_answers_alike_where_decimals_lie_on_thresholds(kind):
    # 40.6 lies half-way between 40.5 and 40.7, and as float32 it may be on the other side.
    rng = np.random.default_rng(0)
    X = rng.integers(320, 600, (300, 3)) / 10
    y = X[:, 0] + X[:, 1] > 92 + rng.normal(0, 4, 300)
    forest = kind(20, random_state=0).fit(X[::2], y[::2])
    theirs = forest.to_sklearn()
    answer = "predict_proba" if hasattr(forest, "predict_proba") else "predict"
    ours = getattr(forest, answer)(X)
    np.testing.assert_allclose(getattr(theirs, answer)(X), ours, rtol=1e-12)
    assert np.array_equal(theirs.apply(X), forest.apply(X))


@each_kind
def test_warm_start_adds_the_trees_that_a_larger_forest_has(kind):
    X, y = data_of(kind)
    grown = kind(4, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    assert bits(grown) == bits(kind(9, random_state=0).fit(X, y))
    with pytest.raises(ValueError, match="must be larger or equal"):
        grown.set_params(n_estimators=3).fit(X, y)


@pytest.mark.filterwarnings("ignore:class_weight presets")
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_warm_start_without_new_trees_warns_and_changes_nothing(kind):
    """Whatever the classes are; scikit-learn warns as well."""
    X, y = CANCER
    forest = kind(4, random_state=0, warm_start=True, class_weight="balanced").fit(X, y)
    before = forest.predict_proba(X)
    for other in (y, y + 2, np.column_stack([y, 2 * y])):
        with pytest.warns(UserWarning, match="does not fit new trees"):
            forest.fit(X, other)
        assert forest.classes_.tolist() == [0, 1]
        assert forest.n_outputs_ == 1
        np.testing.assert_array_equal(forest.predict_proba(X), before)
    with pytest.raises(ValueError, match="continues the previous fit with classes"):
        forest.set_params(n_estimators=5).fit(X, y + 2)
    assert forest.classes_.tolist() == [0, 1]


def test_vote_shares_are_shares_of_trees():
    X, y = CANCER
    forest = RandomForestClassifier(15, random_state=0).fit(X, y)
    votes = np.mean([tree.predict(X) == 1 for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.vote_shares(X)[:, 1], votes)


def test_votes_smooth_the_staircase_towards_a_circle():
    """V9: the votes of bagged trees follow a circle that one tree approximates by steps."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = (X**2).sum(axis=1) < 0.5
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(0.5)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    unsure = np.abs(forest.vote_shares(circle)[:, 1] - 0.5)
    inside = forest.vote_shares(0.6 * circle)[:, 1]
    outside = forest.vote_shares(1.3 * circle)[:, 1]
    assert np.mean((unsure > 0) & (unsure < 0.5)) > 0.9
    assert inside.mean() > 0.95
    assert outside.mean() < 0.05
    assert inside.min() > 0.5 > outside.max()


def test_columns_that_matter_are_found_with_their_spread():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 1] + X[:, 2] > 0).astype(int)
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    mean, spread = forest.permutation_importances(X, y, random_state=0)
    assert set(np.argsort(mean)[-2:]) == {1, 2} == set(np.argsort(forest.feature_importances_)[-2:])
    assert (spread >= 0).all()
    assert spread.max() > 0


@each_kind
def test_categories_and_missing_values_need_no_preparation(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"city": rng.choice(["Rome", "Oslo", "Bonn"], 200), "x": rng.normal(size=200)}
    )
    y = (table["city"] == "Oslo").to_numpy() ^ (table["x"] > 0).to_numpy()
    table.loc[::9, "x"] = np.nan
    forest = kind(20, random_state=0).fit(table, y.astype(float if kind in REGRESSORS else int))
    assert forest.score(table, y) > 0.8
    assert any(tree.tree_.is_multiway for tree in forest.estimators_)


@pytest.mark.parametrize(
    "settings",
    [
        {"criterion": "absolute_error"},
        {"monotonic_cst": [1] + [0] * 9},
        {"max_leaf_nodes": 8},
        {"criterion": "poisson"},
    ],
)
def test_what_codes_cannot_grow_is_grown_on_sorted_columns(settings):
    X, y = DIABETES
    forest = RandomForestRegressor(5, random_state=0, max_depth=5, **settings).fit(X, y)
    assert forest.score(X, y) > 0.3


def test_class_weights_move_the_forest():
    X, y = load_iris(return_X_y=True)
    plain = RandomForestClassifier(20, max_depth=1, random_state=0).fit(X, y)
    heavy = RandomForestClassifier(20, max_depth=1, random_state=0, class_weight={2: 50.0})
    heavy.fit(X, y)
    assert np.mean(heavy.predict(X) == 2) > np.mean(plain.predict(X) == 2)


def test_a_saved_forest_is_no_larger_than_scikit_learns():
    X, y = CANCER
    ours = RandomForestClassifier(20, random_state=0).fit(X, y)
    theirs = sklearn.ensemble.RandomForestClassifier(20, random_state=0).fit(X, y)
    assert len(pickle.dumps(ours)) < len(pickle.dumps(theirs))


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_bagging_is_scikit_learns_with_our_trees(kind):
    X, y = data_of(kind)
    bag = kind(n_estimators=12, oob_score=True, random_state=0, max_features=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bag.fit(X, y)
    assert type(bag.estimators_[0]).__module__.startswith("rosenblatt.tree")
    assert certify(bag, X, y).holds


def mixed_frame(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "size": rng.normal(size=n), "colour": rng.choice(["red", "green", "blue"], n),
        "place": pd.Categorical(rng.integers(3, 6, n)),
    })  # fmt: skip
    y = (frame["size"] > 0.3) ^ (frame["colour"] == "red") ^ (frame["place"] == 4)
    frame.loc[::9, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame, y.astype(int)


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_bagged_trees_read_frames_with_categories_and_gaps(kind):
    X, y = mixed_frame()
    bag = kind(n_estimators=10, random_state=0).fit(X, y)
    assert [len(known) for known in bag.estimators_[0].categories_[1:]] == [3, 3]
    assert bag.score(X, y) > 0.7
    assert certify(bag, X, y).holds
    drawn = bag.estimators_samples_[0]
    tree = bag.estimators_[0]
    alone = type(tree)(random_state=tree.random_state).fit(
        X, y, np.bincount(drawn, minlength=len(y))
    )
    assert np.array_equal(alone.predict(X), tree.predict(X.to_numpy()))


def test_bagging_that_draws_columns_names_the_one_with_categories():
    X, y = mixed_frame()
    with pytest.raises(ValueError, match="Column 'colour' holds categories"):
        BaggingClassifier(max_features=2).fit(X, y)


def test_any_model_can_be_bagged():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(LogisticRegression(), 3, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.9
    assert certify(bag, X, y).holds


@each_kind
def test_a_table_of_one_column_and_one_value_is_fitted(kind):
    y = np.arange(20) % 2
    assert kind(5, random_state=0).fit(np.arange(20.0)[:, None] % 2, y).score(y[:, None], y) == 1
    constant = kind(5, random_state=0).fit(np.ones((20, 1)), y)
    assert len(set(constant.predict([[0.0], [2.0]]))) == 1


@each_kind
def test_sparse_targets_are_refused(kind):
    with pytest.raises(ValueError, match=r"sparse .* y is not supported. Pass y.toarray\(\)"):
        kind(2).fit([[0.0], [1.0]], sp.csr_matrix([[0, 1], [1, 0]]))
    with pytest.raises(TypeError, match=r"sparse .* y is not supported. Pass y.toarray\(\)"):
        kind(2).estimator.fit([[0.0], [1.0]], sp.csr_matrix([[0, 1], [1, 0]]))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("max_samples", [3.0, 400_000])
def test_samples_larger_than_the_table(criterion, max_samples):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    model = RandomForestClassifier(
        5, criterion=criterion, max_samples=max_samples, random_state=0
    ).fit(X, y)
    drawn = len(model.estimators_samples_[0])
    assert {tree.tree_.weighted_n_node_samples[0] for tree in model.estimators_} == {drawn}
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("make", [DecisionTreeClassifier, RandomForestClassifier])
def test_what_was_not_missing_at_a_node_goes_with_most_of_its_rows(make):
    X = [[0, np.nan], [0, 0], [1, 1], [1, 2], [1, 3], [1, 9]]
    settings = {"n_estimators": 1, "bootstrap": False, "max_features": None}
    settings = settings if make is RandomForestClassifier else {}
    model = make(random_state=0, **settings).fit(X, [0, 0, 1, 1, 1, 0])
    assert model.predict([[1, np.nan]]).tolist() == [1]


def test_missing_values_of_a_forest_go_to_the_larger_side_if_asked():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    y = [0, 0, 0, 1, 1, 1, 1]
    settings = {"n_estimators": 1, "bootstrap": False, "random_state": 0}
    best, majority = (
        RandomForestClassifier(missing=missing, max_depth=1, **settings).fit(X, y)[0].tree_
        for missing in ("best", "majority")
    )
    assert best.missing_go_to_left[0] == 0
    assert majority.n_node_samples[1:].tolist() != best.n_node_samples[1:].tolist()


def test_one_class_under_monotonic_constraints():
    model = DecisionTreeClassifier(monotonic_cst=[1]).fit([[0], [1]], [0, 0])
    assert model.predict([[5]]).tolist() == [0]


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_that_is_not_fitted_explains_nothing(make):
    with pytest.raises(NotFittedError):
        make().explain([0.0])


def test_a_forest_that_is_not_fitted_has_no_votes():
    with pytest.raises(NotFittedError):
        RandomForestClassifier().vote_shares([[0.0]])


def test_sparse_rows_are_answered_in_blocks(monkeypatch):
    X, y = CANCER
    make = partial(RandomForestClassifier, 20, max_depth=3, oob_score=True, random_state=0)
    sparse = sp.csr_matrix(X)
    forest, same = make().fit(X, y), make().fit(sparse, y)
    for module in (routing, tree_routing):
        monkeypatch.setattr(module, "CELLS_AT_ONCE", 100 * X.shape[1])
    sizes, toarray = [], sp.csr_matrix.toarray

    def counted(rows, out=None):
        sizes.append(rows.shape[0])
        return toarray(rows, out=out)

    monkeypatch.setattr(sp.csr_matrix, "toarray", counted)
    for answer in ("predict_proba", "apply", "vote_shares"):
        np.testing.assert_array_equal(getattr(forest, answer)(sparse), getattr(forest, answer)(X))
    assert (forest.decision_path(sparse)[0] != forest.decision_path(X)[0]).nnz == 0
    assert same.oob_score_ == forest.oob_score_
    certificate = certify(forest, sparse, y)
    assert [claim.to_dict() for claim in certificate] == [
        claim.to_dict() for claim in certify(forest, X, y)
    ]
    assert max(sizes) == 100


@each_kind
@pytest.mark.parametrize("sign", [1, -1])
def test_columns_that_are_mostly_zero_grow_the_trees_of_dense_rows(kind, sign):
    """Only their stored numbers are counted in large nodes; zero is the least or largest value."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 30)) * (rng.random((1000, 30)) < 0.05)
    X[:, :25] = sign * np.abs(X[:, :25])
    y = (X @ rng.standard_normal(30) + 0.1 * rng.standard_normal(1000) > 0).astype(int)
    make = partial(kind, 5, max_features="sqrt", random_state=0)
    forest, same = make().fit(X, y), make().fit(sp.csr_matrix(X), y)
    assert bits(forest) == bits(same)
    np.testing.assert_array_equal(same.predict(sp.csc_array(X)), forest.predict(X))
    np.testing.assert_array_equal(same.apply(sp.coo_matrix(X)), forest.apply(X))


def test_branches_for_categories_are_compiled_for_many_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (3000, 3)).astype(float)
    X[:, 2] = rng.normal(size=3000)
    X[::7, :] = np.nan
    y = (X[:, 0] == 2) ^ (X[:, 2] > 0)
    forest = RandomForestClassifier(8, categorical_features=[0, 1], random_state=0).fit(X, y)
    X[1, 2] = 1e30  # no category, and too large for an integer
    many = forest.predict_proba(X)
    few = np.concatenate([forest.predict_proba(X[i : i + 500]) for i in range(0, 3000, 500)])
    np.testing.assert_array_equal(many, few)


@pytest.mark.parametrize("make", [RandomForestClassifier, sklearn.ensemble.RandomForestClassifier])
def test_a_column_that_allows_no_split_counts_as_tried(make):
    X, y = np.zeros((40, 10)), np.arange(40) % 2
    X[0] = 1.0
    X[:, 3] = y
    stumps = {"max_depth": 1, "min_samples_leaf": 5, "max_features": 1, "bootstrap": False}
    forest = make(200, random_state=0, **stumps).fit(X, y)
    split = np.mean([tree.tree_.node_count > 1 for tree in forest.estimators_])
    assert 0.03 < split < 0.2  # a tenth of the columns
