"""Certificates of trees and forests against the same facts in fractions and whole numbers.

A tree whose splits were drawn is published as if each were the best: its certificate must hold
just if that is true. Scores are compared exactly; those with logarithms as products of powers.
"""

from fractions import Fraction
from math import prod

import numpy as np
import sklearn.ensemble
import sklearn.tree
from hypothesis import assume, given
from hypothesis import strategies as st

import rosenblatt
from rosenblatt import certify

OURS = (rosenblatt.DecisionTreeClassifier, rosenblatt.DecisionTreeRegressor)
THEIRS = (sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor)
CRITERIA = ["gini", "entropy", "squared_error", "poisson"]
NEVER = Fraction(-1)  # the score of a split that is not allowed

tables = st.lists(
    st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 3), st.integers(1, 3)),
    min_size=4, max_size=16,
).map(np.array)  # fmt: skip


def branch_score(y, w, criterion):
    """What a branch adds to (gini, squared error) or multiplies a score by; exact."""
    W = int(w.sum())
    if criterion == "squared_error":
        return Fraction(int((w * y).sum()) ** 2, W)
    if criterion == "poisson":
        S = int((w * y).sum())
        return Fraction(S, W) ** S if S else NEVER
    held = [int(w[y == k].sum()) for k in np.unique(y)]
    if criterion == "gini":
        return Fraction(sum(n * n for n in held), W)
    return Fraction(prod(n**n for n in held), W**W)


def split_score(parts, y, w, criterion):
    scores = [branch_score(y[part], w[part], criterion) for part in parts]
    if NEVER in scores:
        return NEVER
    return sum(scores) if criterion in ("gini", "squared_error") else prod(scores)


def all_splits(X):
    """The two sides of every threshold of every column, rows without a number on either."""
    for column in X.T:
        gone = np.isnan(column)
        for low in np.unique(column[~gone]):
            for left in {False, bool(gone.any())}:
                yield (column <= low) | (gone & left), (column > low) | (gone & (not left))


def best_score(X, y, w, criterion, min_rows):
    allowed = [s for s in all_splits(X) if min(side.sum() for side in s) >= min_rows]
    return max(split_score(sides, y, w, criterion) for sides in allowed)


def rows_of_nodes(tree, X):
    """The rows (n,) of bool that pass each node, one row and one test at a time."""
    found = np.zeros((tree.node_count, len(X)), bool)
    for i, row in enumerate(X):
        node = 0
        while node >= 0:
            found[node, i] = True
            x = row[tree.feature[node]]
            left = tree.missing_go_to_left[node] if np.isnan(x) else x <= tree.threshold[node]
            node = (tree.children_left if left else tree.children_right)[node]
    return found


@given(
    tables, st.sampled_from(CRITERIA), st.booleans(), st.integers(1, 2), st.integers(0, 99),
    st.booleans(), st.sampled_from(["best", "random"]),
)  # fmt: skip
def test_splits_pass_just_if_each_is_the_best_in_fractions(
    table, criterion, ours, min_rows, seed, holes, splitter
):
    X, y, w = table[:, :3].astype(float), table[:, 3], table[:, 4]
    if holes:
        X[X == 0] = np.nan
    regression = criterion in ("squared_error", "poisson")
    y = y if regression else y // 2
    assume(y.sum() > 0 and len(np.unique(y)) > 1)
    Tree = (OURS if ours else THEIRS)[regression]
    model = Tree(
        criterion=criterion, max_depth=3, min_samples_leaf=min_rows, splitter=splitter,
        random_state=seed,
    ).fit(X, y, sample_weight=w)  # fmt: skip
    model.set_params(splitter="best")  # so that each split claims to be the best
    tree, rows = model.tree_, rows_of_nodes(model.tree_, X)
    inner = np.flatnonzero(tree.children_left >= 0)
    certificate = certify(model, X, y, sample_weight=w)
    true = [
        split_score(
            (rows[tree.children_left[v]][rows[v]], rows[tree.children_right[v]][rows[v]]),
            y[rows[v]], w[rows[v]], criterion,
        ) == best_score(X[rows[v]], y[rows[v]], w[rows[v]], criterion, min_rows)
        for v in inner
    ]  # fmt: skip
    failing = [claim.name for claim in certificate if not claim.holds]
    assert failing == ([] if all(true) else ["best splits"]), str(certificate)
    assert splitter == "random" or all(true)


@given(tables, st.booleans(), st.integers(0, 99), st.sampled_from(["value", "n_node_samples"]))
def test_counts_pass_just_if_they_are_those_of_the_rows(table, ours, seed, name):
    X, y, w = table[:, :3].astype(float), table[:, 3] // 2, table[:, 4]
    assume(len(np.unique(y)) > 1)
    model = (OURS if ours else THEIRS)[0](max_depth=3, random_state=seed)
    model.fit(X, y, sample_weight=w)
    other = np.random.default_rng(seed).permutation(y)
    rows = rows_of_nodes(model.tree_, X)
    shares = [[Fraction(int(w[r & (other == k)].sum()), int(w[r].sum())) for k in model.classes_]
              for r in rows]  # fmt: skip
    same = np.allclose(model.tree_.value[:, 0], np.array(shares, float), rtol=1e-12)
    claims = {claim.name: claim for claim in certify(model, X, other, sample_weight=w)}
    assert claims["counts"].holds
    assert claims["values"].holds == same
    groups = {}
    for row, k, weight in zip(X.tolist(), other.tolist(), w.tolist(), strict=True):
        held = groups.setdefault(tuple(row), {})
        held[k] = held.get(k, 0) + weight
    least = sum(sum(held.values()) - max(held.values()) for held in groups.values())
    assert claims["least error"].value == least
    said = model.classes_[[model.tree_.value[np.flatnonzero(r)[-1], 0].argmax() for r in rows.T]]
    assert claims["training error"].value == np.count_nonzero(said != other)


def exact_shares(forest, X, y):
    """The class shares of every tree for every row (t, n, K) from its own sample, in fractions."""
    found = []
    for member, sample in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        drawn = np.bincount(sample, minlength=len(y))
        rows = rows_of_nodes(member.tree_, X)
        ends = [np.flatnonzero(r & (member.tree_.children_left < 0))[0] for r in rows.T]
        found.append([
            [Fraction(int(drawn[rows[v] & (y == k)].sum()), int(drawn[rows[v]].sum()))
             for k in range(len(forest.classes_))]
            for v in ends
        ])  # fmt: skip
    return np.array(found, object)


@given(tables, st.booleans(), st.booleans(), st.integers(1, 12), st.integers(0, 99))
def test_forests_are_the_means_of_their_samples_in_fractions(table, ours, random, n_trees, seed):
    X, y = table[:, :3].astype(float), np.unique(table[:, 3], return_inverse=True)[1]
    assume(len(np.unique(y)) > 1)
    package = rosenblatt if ours else sklearn.ensemble
    Forest = package.RandomForestClassifier if random else package.ExtraTreesClassifier
    model = Forest(n_trees, max_depth=3, bootstrap=True, random_state=seed).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    shares = exact_shares(model, X, y)
    assert np.allclose(model.predict_proba(X), shares.mean(axis=0).astype(float), atol=1e-12)
    out = np.ones((n_trees, len(y)), bool)
    for t, sample in enumerate(model.estimators_samples_):
        out[t, sample] = False
    scored = np.flatnonzero(out.any(axis=0))
    names = [claim.name for claim in certificate]
    assert ("out of bag" in names) == (len(scored) > 0)
    if len(scored):
        sums = [shares[out[:, i], i].sum(axis=0) for i in scored]
        best = [sum_[y[i]] == max(sum_) for i, sum_ in zip(scored, sums, strict=True)]
        alone = [b and list(sum_).count(max(sum_)) == 1 for b, sum_ in zip(best, sums, strict=True)]
        # Where classes tie, rounding decides.
        least, most = np.mean(alone), np.mean(best)
        assert least - 1e-12 <= certificate["out of bag"].value <= most + 1e-12


@given(tables, st.booleans(), st.integers(0, 99), st.sampled_from([0.0, 1e-13, 1e-4, 0.3]))
def test_a_forest_with_a_nudged_leaf_passes_just_if_the_nudge_is_rounding(table, ours, seed, nudge):
    X, y = table[:, :3].astype(float), table[:, 3].astype(float)
    assume(len(np.unique(y)) > 1)
    Forest = (rosenblatt if ours else sklearn.ensemble).RandomForestRegressor
    model = Forest(3, max_depth=2, random_state=seed).fit(X, y)
    values = model.estimators_[1].tree_.value
    if not values.flags.writeable:
        model.estimators_[1].tree_.value = values = values.copy()
    values[-1] += nudge
    # Means of zeros are zeros: beside them nothing is rounding.
    drawn = y[model.estimators_samples_[1]]
    rounding = nudge <= 1e-9 * np.abs(drawn).max()
    assert certify(model, X, y)["counts"].holds == rounding
