"""T15: the tree with the fewest mistakes of its depth; every tree is tried beside it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from rosenblatt import DecisionTreeClassifier, DecisionTreeRegressor, Trace
from tests.reference.tree import fewest_mistakes

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def optimal(depth=2, **settings):
    return DecisionTreeClassifier(search="optimal", max_depth=depth, **settings)


def mistakes(model, X, y, weight=None):
    return np.sum((model.predict(X) != y) * (1 if weight is None else weight))


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 2)), min_size=1, max_size=11),
    st.integers(1, 3),
    st.sampled_from([1, 2, 0.1]),
    st.integers(0, 100),
)
def test_no_other_tree_makes_fewer_mistakes(rows, depth, step, seed):
    table = np.array(rows)
    X, y = table[:, :3].astype(float), table[:, 3]
    weight = step * np.random.default_rng(seed).integers(1, 4, len(y))
    model = optimal(depth).fit(X, y, sample_weight=weight)
    least = fewest_mistakes(X, y, weight, depth)
    assert mistakes(model, X, y, weight) == pytest.approx(least, abs=1e-9)
    assert model.lower_bound_ == pytest.approx(least, abs=1e-9)
    if step != 0.1:
        assert model.lower_bound_ == least
    assert model.get_depth() <= depth


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_is_never_worse_than_the_greedy_tree_on_columns_of_many_values(depth):
    X, y = CANCER
    X = X[:, ::4]
    greedy = DecisionTreeClassifier(max_depth=depth).fit(X, y)
    model = optimal(depth).fit(X, y)
    assert model.lower_bound_ == mistakes(model, X, y) <= mistakes(greedy, X, y)


def test_of_equal_trees_it_takes_the_smallest():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    assert optimal(3).fit(X, y).get_n_leaves() == 2
    assert optimal(3).fit(X, [1, 1, 1]).get_n_leaves() == 1


def test_three_questions_learn_what_greedy_growth_does_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6)).astype(float)
    y = (X[:, 1] + X[:, 3] + X[:, 5]) % 2
    assert mistakes(optimal(3).fit(X, y), X, y) == 0
    assert mistakes(DecisionTreeClassifier(max_depth=3).fit(X, y), X, y) > 20


def test_sparse_rows_give_the_same_tree():
    X, y = IRIS
    assert optimal().fit(sp.csr_matrix(X), y).tree_ == optimal().fit(X, y).tree_


def test_a_search_that_runs_out_of_time_states_the_bound_reached():
    X, y = CANCER
    model = optimal(3, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="nothing is proved of others yet. A larger"):
        model.fit(X, y)
    assert model.stop_reason_ == "time_limit"
    assert 0 <= model.lower_bound_ < mistakes(model, X, y)


def test_missing_values_are_refused_in_the_name_of_the_search():
    frame = pd.DataFrame({"size": [1.0, np.nan, 3.0], "colour": ["red", "red", "blue"]})
    for some in (frame, frame[["size"]]):
        words = "Column 'size' has 1 missing value, and search='optimal' takes none: fill .*'.$"
        with pytest.raises(ValueError, match=words):
            optimal().fit(some, [0, 1, 1])


def test_a_greedy_fit_leaves_no_bound_behind():
    model = optimal().fit(*IRIS)
    assert not hasattr(model.set_params(search="greedy").fit(*IRIS), "lower_bound_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_depth": None}, "takes a max_depth of 1, 2 or 3; got None"),
        ({"max_depth": 4}, "takes a max_depth of 1, 2 or 3; got 4"),
        ({"min_samples_leaf": 5}, "takes no min_samples_leaf; got 5. Leave it at 1"),
        ({"monotonic_cst": [0, 0, 0, 1]}, "takes no monotonic_cst"),
        ({"categorical_features": [2]}, "column 2 holds categories"),
    ],
)
def test_what_the_search_does_not_take_is_refused(settings, message):
    X, y = IRIS[0][:100], IRIS[1][:100]
    with pytest.raises(ValueError, match=message):
        optimal().set_params(**settings).fit(X, y)


def test_missing_values_categories_and_outputs_are_refused():
    X, y = IRIS[0].copy(), IRIS[1]
    with pytest.raises(ValueError, match="one output"):
        optimal().fit(X, np.column_stack([y, y]))
    frame = pd.DataFrame({"length": X[:, 0], "kind": np.where(y == 0, "small", "large")})
    with pytest.raises(ValueError, match="column 'kind' holds categories"):
        optimal().fit(frame, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        optimal().fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        optimal().fit(IRIS[0], IRIS[0][:, 0] + 0.5)
    with pytest.raises(TypeError, match="search"):
        DecisionTreeRegressor(search="optimal")


def test_its_path_over_prices_is_refused():
    with pytest.raises(ValueError, match="ccp_alpha"):
        optimal().fit_path(IRIS, "ccp_alpha", [0.0, 0.1])


def test_callbacks_see_it_split_by_split():
    trace = Trace()
    model = optimal(3).set_callbacks(trace).fit(*IRIS)
    assert len(trace) - 1 == model.n_iter_ == model.get_n_leaves() - 1
    assert trace[-1].estimator.tree_ == model.tree_


def test_it_passes_the_checks_of_scikit_learn():
    refused = "sets min_weight_fraction_leaf, which the search does not take"
    check_estimator(
        optimal(), expected_failed_checks={"check_class_weight_classifiers": refused}, on_skip=None
    )
