"""F10, W11: naive Bayes with one parent for each feature."""

import itertools

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from rosenblatt import CategoricalNB, TreeAugmentedNB, certify
from rosenblatt.naive_bayes.tree_augmented import widest_tree
from rosenblatt.statistics import PairCounts, load, save

rng = np.random.default_rng(0)
Y = rng.integers(0, 3, 200)
X = np.column_stack([rng.integers(0, 3, 200), Y, rng.integers(0, 2, 200)])
X = np.column_stack([X, (X[:, 0] + (rng.random(200) < 0.2)) % 3, X[:, 1] ^ X[:, 2]])


def information(a, b, y):
    """I(a; b | y) in bits, from its definition."""
    total = 0.0
    for i, j, k in itertools.product(set(a), set(b), set(y)):
        both = np.mean((a == i) & (b == j) & (y == k))
        if both:
            one, other = np.mean((a == i) & (y == k)), np.mean((b == j) & (y == k))
            total += both * np.log2(both * np.mean(y == k) / (one * other))
    return total


def joint(model, row, alpha):
    """log P(row, y) of each class, from the rows themselves."""
    scores = np.log(np.bincount(Y) / len(Y))
    for k, (j, i) in itertools.product(range(3), enumerate(model.parents_)):
        above = np.ones(len(X), bool) if i < 0 else X[:, i] == row[i]
        context = X[above & (k == Y), j]
        share = (np.sum(context == row[j]) + alpha) / (len(context) + alpha * len(set(X[:, j])))
        scores[k] += np.log(share)
    return scores


def test_probabilities_and_information_are_those_of_the_definition():
    model = TreeAugmentedNB(alpha=0.5).fit(X, Y)
    for i, j in itertools.combinations(range(X.shape[1]), 2):
        assert model.information_[i, j] == pytest.approx(information(X[:, i], X[:, j], Y), abs=1e-9)
    for row in X[:10]:
        assert model.predict_joint_log_proba([row])[0] == pytest.approx(joint(model, row, 0.5))
        told = model.explain(row)
        scores = np.sort(joint(model, row, 0.5))
        assert told.start + told.contributions.sum() == pytest.approx(scores[-1] - scores[-2])


def test_no_tree_has_more_information():
    weights = rng.random((5, 5))
    weights += weights.T
    found = sum(weights[j, i] for j, i in enumerate(widest_tree(weights)) if i >= 0)
    edges = list(itertools.combinations(range(5), 2))
    best = 0.0
    for tree in itertools.combinations(edges, 4):
        reached = {0}
        for _ in range(4):
            reached |= {v for edge in tree for v in edge if reached & set(edge)}
        if len(reached) == 5:
            best = max(best, sum(weights[edge] for edge in tree))
    assert found == pytest.approx(best)


def test_features_that_are_independent_within_classes_give_naive_bayes():
    grid = np.array(list(itertools.product(range(2), range(3))) * 4)
    y = np.repeat([0, 1], 12)
    tree = TreeAugmentedNB(alpha=0).fit(grid, y)
    naive = CategoricalNB(alpha=0).fit(grid, y)
    assert np.allclose(tree.predict_proba(grid), naive.predict_proba(grid))


def test_rain_and_thunder_hang_on_lightning():
    """W11: thunder is independent of rain given lightning, and only then."""
    storms = [[r, t, f] for f in (0, 1) for r in (0, 1) for t in (0, 1)]
    rows = []
    for r, t, f in storms:
        share = [0.7, 0.3][f] * [[0.8, 0.2], [0.1, 0.9]][f][r] * [[0.9, 0.1], [0.2, 0.8]][f][t]
        rows += [[r, t, f]] * round(10_000 * share)
    rows = np.array(rows)
    model = TreeAugmentedNB().fit(rows, np.zeros(len(rows), int))
    rain, thunder, lightning = 0, 1, 2
    assert model.information_[rain, thunder] > 0.05
    edges = {frozenset((j, int(i))) for j, i in enumerate(model.parents_) if i >= 0}
    assert edges == {frozenset((rain, lightning)), frozenset((thunder, lightning))}
    given = PairCounts.of(rows[:, :2], rows[:, 2])
    within = TreeAugmentedNB.from_statistics(given)
    assert within.information_[rain, thunder] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("words", [False, True])
def test_streams_merges_and_forgetting_are_a_fit_of_all(words):
    rows = X.astype(str).astype(object) if words else X
    whole = TreeAugmentedNB().fit(rows, Y)
    parts = [slice(0, 5), slice(5, 120), slice(120, 200)]
    streamed = TreeAugmentedNB()
    for part in parts:
        streamed.partial_fit(rows[part], Y[part])
    merged = TreeAugmentedNB().fit(rows[parts[0]], Y[parts[0]])
    merged.merge(TreeAugmentedNB().fit(rows[5:], Y[5:]))
    extra = rows[:7].copy()
    extra[:, 0] = "new" if words else 9
    revised = TreeAugmentedNB().fit(np.vstack([rows, extra]), [*Y, *Y[:7]]).forget(extra, Y[:7])
    for model in (streamed, merged, revised):
        assert model.statistics_ == whole.statistics_
        assert np.array_equal(model.predict_proba(rows), whole.predict_proba(rows))


def test_weights_are_repetitions_and_fractions_are_forgotten():
    twice = TreeAugmentedNB().fit(X, Y, np.full(200, 2))
    assert twice.statistics_.pairs.sum() == 2 * TreeAugmentedNB().fit(X, Y).statistics_.pairs.sum()
    weights = rng.random(200) + 0.1
    model = TreeAugmentedNB().fit(X, Y, weights).forget(X[:50], Y[:50], weights[:50])
    again = TreeAugmentedNB().fit(X[50:], Y[50:], weights[50:])
    assert np.allclose(model.predict_proba(X[50:]), again.predict_proba(X[50:]))


def test_unknown_and_missing_values_fall_back_on_the_class():
    rows = X.astype(float)
    rows[3, 0] = np.nan
    model = TreeAugmentedNB(unknown="smooth", missing="ignore").fit(rows, Y)
    strange = rows[:1].copy()
    strange[0, 0] = 77
    assert np.isfinite(model.predict_log_proba(strange)).all()
    assert np.isfinite(model.predict_log_proba(np.full((1, 5), np.nan))).all()
    assert model.predict_proba(np.full((1, 5), np.nan))[0] == pytest.approx(
        np.exp(model.class_log_prior_)
    )
    with pytest.raises(ValueError, match="no row had in training"):
        TreeAugmentedNB().fit(X, Y).predict([[9, 0, 0, 0, 0]])


def test_the_statistic_is_read_from_a_file(tmp_path):
    counts = PairCounts.of(X.astype(str).astype(object), Y)
    save(counts, tmp_path / "pairs.npz")
    assert load(tmp_path / "pairs.npz") == counts


def test_the_certificate_holds_and_finds_another_tree():
    for rows in (X, X.astype(str).astype(object)):
        model = TreeAugmentedNB().fit(rows, Y)
        certificate = certify(model, rows, Y)
        assert certificate.holds, certificate
    model.parents_ = np.array([-1, 0, 1, 2, 3])
    with pytest.raises(ValueError, match="must have shape"):
        certify(model, rows, Y)
    coins = rng.integers(0, 2, (60, 3))
    coins[:, 2] = coins[:, 0]
    model = TreeAugmentedNB().fit(coins, Y[:60])
    model.parents_ = np.array([-1, 0, 1])  # and not the copy's own
    assert not certify(model, coins, Y[:60]).holds


@pytest.mark.parametrize(("name", "gain"), [("car/car.csv", 0.05), ("votes/house_votes_84.csv", 0)])
def test_edges_help_where_features_depend_on_each_other(name, gain, data_folder):
    table = pl.read_csv(data_folder / name, infer_schema_length=0)
    y, rows = table["class"].to_numpy(), table.drop("class").to_numpy().astype(object)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    naive, tree = (
        cross_val_score(model, rows, y, cv=folds).mean()
        for model in (CategoricalNB(unknown="smooth"), TreeAugmentedNB(unknown="smooth"))
    )
    assert tree > naive + gain


def test_measurements_are_warned_of_for_they_are_cut_off():
    rows = np.column_stack([Y, rng.random(200)])
    with pytest.warns(UserWarning, match=r"cuts fractions off: column 1 holds 0\.\d+.*Discretizer"):
        TreeAugmentedNB().fit(rows, Y)
