"""Trees and forests on the raw categorical files: no column is encoded by hand."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import DecisionTreeClassifier, RandomForestClassifier, certify

TABLES = {
    "mushroom": ("mushroom/mushroom.csv.gz", "class"),
    "tic-tac-toe": ("tic_tac_toe/tic_tac_toe.csv", "class"),
    "car": ("car/car.csv", "class"),
    "votes": ("votes/house_votes_84.csv", "class"),
    "zoo": ("zoo/zoo.csv", "type"),
}
each = pytest.mark.parametrize("name", TABLES)


def raw(folder, name):
    """The columns and the classes of a table; of the zoo without the names of the animals."""
    path, target = TABLES[name]
    table = pd.read_csv(folder / path, dtype=str, na_values=["?"], keep_default_na=False)
    y = table.pop(target).to_numpy(str)
    return table.drop(columns="animal", errors="ignore"), y


@pytest.mark.parametrize(
    ("name", "criterion"), list(zip(TABLES, ["gini", "entropy"] * 3, strict=False))
)
def test_a_tree_that_is_grown_out_errs_on_equal_rows_of_other_classes_alone(
    data_folder, name, criterion
):
    """O2: training error 0 unless identical inputs have different labels."""
    X, y = raw(data_folder, name)
    model = DecisionTreeClassifier(criterion=criterion, missing="branch").fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    assert model.tree_.is_multiway
    equals = pd.DataFrame({"row": X.fillna("?").astype(str).agg("|".join, axis=1), "class": y})
    most = equals.groupby("row")["class"].agg(lambda some: some.value_counts().iloc[0])
    assert np.count_nonzero(model.predict(X) != y) == len(y) - most.sum()


@each
def test_each_attribute_is_asked_once_on_a_path(data_folder, name):
    """O2: a category that was asked for is not asked for again below."""
    X, y = raw(data_folder, name)
    tree = DecisionTreeClassifier(missing="branch").fit(X, y).tree_
    for leaf in np.flatnonzero(tree.is_leaf):
        asked, node = [], tree.parents[leaf]
        while node >= 0:
            asked.append(tree.feature[node])
            node = tree.parents[node]
        words = [j for j in asked if tree.n_categories[j]]
        assert len(words) == len(set(words))


@each
def test_a_forest_learns_what_holds_for_rows_held_out(data_folder, name):
    X, y = raw(data_folder, name)
    kept = np.random.default_rng(0).random(len(y)) < 0.7
    forest = RandomForestClassifier(50, random_state=0, unknown="majority").fit(X[kept], y[kept])
    certificate = certify(forest, X[kept], y[kept])
    assert certificate.holds, str(certificate)
    majority = np.mean(y[~kept] == pd.Series(y[kept]).mode()[0])
    right = forest.score(X[~kept], y[~kept])
    assert 1 - right < 0.5 * (1 - majority)
