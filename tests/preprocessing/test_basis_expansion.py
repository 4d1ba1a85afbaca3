"""Functions of columns: their values, their names, and their number before any is made."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import BasisExpansion
from rosenblatt.preprocessing.basis_functions import NAMES

X = np.random.RandomState(0).uniform(-2, 3, (30, 3))


@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("degree", [None, 1, 3, (2, 3)])
@pytest.mark.parametrize("basis", NAMES)
def test_the_number_is_known_before(basis, degree, include_bias):
    expansion = BasisExpansion(basis, degree=degree, n_functions=5, include_bias=include_bias)
    expected = expansion.count(3)
    made = expansion.fit_transform(X)
    assert made.shape == (30, expected)
    assert expansion.n_output_features_ == expected
    names = expansion.get_feature_names_out()
    assert len(names) == len(set(names)) == expected


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_polynomials_count_as_scikit_learn_makes_them(m, degree, more, different):
    theirs = PolynomialFeatures(
        (degree, degree + more), interaction_only=different, include_bias=False
    )
    if different and degree > m:
        return
    ours = BasisExpansion(
        "interactions" if different else "polynomial", degree=(degree, degree + more)
    )
    rows = np.ones((1, m))
    assert ours.count(m) == theirs.fit(rows).n_output_features_


class TestValues:
    # C8: basis functions: curved in x, linear in w
    def test_powers(self):
        made = BasisExpansion("powers", degree=3).fit_transform([[2.0, 5.0]])
        assert made.tolist() == [[2, 5, 4, 25, 8, 125]]

    def test_interactions(self):
        expansion = BasisExpansion("interactions", degree=3).fit([[2.0, 3.0, 5.0]])
        assert expansion.transform([[2.0, 3.0, 5.0]]).tolist() == [[2, 3, 5, 6, 10, 15, 30]]
        assert expansion.get_feature_names_out(["a", "b", "c"])[-1] == "a b c"

    def test_bumps_are_one_at_their_centres(self):
        x = np.linspace(0, 10, 11)[:, None]
        expansion = BasisExpansion("gaussian", n_functions=3, width=2.0).fit(x)
        made = expansion.transform([[0.0], [5.0], [7.0]])
        assert made[0, 0] == made[1, 1] == 1
        assert made[2] == pytest.approx(np.exp(-np.array([49, 4, 9]) / 8))
        assert expansion.get_feature_names_out(["t"])[1] == "bump(t at 5)"

    def test_waves(self):
        made = BasisExpansion("fourier", degree=2, period=4.0).fit_transform([[1.0], [2.0]])
        assert made == pytest.approx(np.array([[1, 0, 0, -1], [0, -1, 0, 1]]), abs=1e-12)

    def test_splines_follow_a_curve(self):
        x = np.linspace(0, 1, 200)[:, None]
        t = np.sin(6 * x[:, 0])
        model = make_pipeline(BasisExpansion("spline", n_functions=10), LinearRegression())
        assert np.abs(model.fit(x, t).predict(x) - t).max() < 2e-3

    def test_functions(self):
        expansion = BasisExpansion(["identity", np.abs, lambda rows: rows.sum(axis=1)])
        made = expansion.fit_transform([[-1.0, 2.0], [3.0, -4.0]])
        assert made.tolist() == [[-1, 2, 1, 2, 1], [3, -4, 3, 4, -1]]
        assert expansion.get_feature_names_out().tolist() == [
            "x0", "x1", "absolute(x0)", "absolute(x1)", "f1(x0, x1)0"
        ]  # fmt: skip

    def test_a_constant_column(self):
        made = BasisExpansion(["gaussian", "fourier"], n_functions=2).fit_transform(np.ones((5, 1)))
        assert np.isfinite(made).all()


class TestColumns:
    def test_each_its_own_family(self):
        frame = pd.DataFrame(
            {"age": [20.0, 30, 40, 50, 60], "pay": [1.0, 10, 100, 10, 1], "k": 2.0}
        )
        expansion = BasisExpansion(
            {"age": BasisExpansion("powers", degree=2), ("pay",): np.log10}
        ).set_output(transform="pandas")
        made = expansion.fit_transform(frame)
        assert list(made.columns) == ["age", "age^2", "log10(pay)", "k"]
        assert made["log10(pay)"].tolist() == [0, 1, 2, 1, 0]

    def test_by_number(self):
        made = BasisExpansion({0: "powers", -1: np.abs}).fit_transform([[3.0, 4.0, -5.0]])
        assert made.tolist() == [[3, 9, 5, 4]]

    def test_a_list_of_families_for_one_column(self):
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        expansion = BasisExpansion({"b": ["powers", "fourier"], 0: [np.abs]}, degree=2).fit(frame)
        beside = BasisExpansion(["powers", "fourier"], degree=2).fit_transform(frame[["b"]])
        made = expansion.transform(frame)
        assert np.array_equal(made, np.hstack([beside, np.abs(X[:, :1]), X[:, 2:]]))
        names = expansion.get_feature_names_out().tolist()
        assert names[:2] == ["b", "b^2"]
        assert names[-2:] == ["absolute(a)", "c"]

    def test_an_expansion_within_finds_columns_by_name(self):
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        within = BasisExpansion({"c": "powers"}, degree=2)
        expansion = BasisExpansion({("b", "c"): within, "a": np.abs}).fit(frame)
        names = expansion.get_feature_names_out().tolist()
        assert names == ["c", "c^2", "b", "absolute(a)"]

    @pytest.mark.parametrize("basis", [{"b": ["powers", "fourier"]}, {1: "spline"}, "polynomial"])
    @pytest.mark.parametrize("table", [X, pd.DataFrame(X, columns=["a", "b", "c"])])
    def test_the_columns_of_a_table_are_counted(self, basis, table):
        if isinstance(basis, dict) and "b" in basis and table is X:
            with pytest.raises(ValueError, match="none; use numbers"):
                BasisExpansion(basis).count(table)
            return
        expansion = BasisExpansion(basis)
        assert expansion.count(table) == expansion.fit_transform(table).shape[1]
        assert expansion.count(3) == expansion.n_output_features_

    def test_functions_without_a_name_are_told_apart(self):
        expansion = BasisExpansion({0: lambda x: x + 1, 1: [lambda x: x - 1, np.abs]})
        names = expansion.fit(X).get_feature_names_out().tolist()
        assert names == ["f1(x0)", "f2(x1)", "absolute(x1)", "x2"]

    @pytest.mark.parametrize("key", ["height", 3])
    def test_a_column_that_is_not_there(self, key):
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        with pytest.raises(ValueError, match=f"basis names column {key!r}"):
            BasisExpansion({key: "powers"}).fit(frame)


class TestSparse:
    @pytest.mark.parametrize("basis", ["polynomial", "interactions", "powers", "identity"])
    def test_powers_stay_sparse(self, basis):
        rows = sp.random(20, 4, density=0.3, format="csr", random_state=0)
        expansion = BasisExpansion(basis, degree=2)
        made = expansion.fit_transform(rows)
        assert sp.issparse(made)
        assert made.toarray() == pytest.approx(expansion.fit_transform(rows.toarray()))

    @pytest.mark.parametrize("basis", ["gaussian", "fourier", "spline", np.cos])
    def test_others_are_refused(self, basis):
        with pytest.raises(ValueError, match="X is sparse"):
            BasisExpansion(basis).fit(sp.eye(5, format="csr"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"degree": (3, 2)}, "lowest, highest"),
        ({"basis": ["wavelet"]}, "got 'wavelet'"),
        ({"basis": {0: {1, 2}}}, "got {1, 2}"),
        ({"basis": "spline", "n_functions": 2}, "n_functions of 3 or more"),
        ({"degree": 40}, "would become .* features"),
    ],
)
def test_what_cannot_be_made(setting, message):
    with pytest.raises(ValueError, match=message):
        BasisExpansion(**setting).fit(np.ones((2, 20)))


def test_a_function_that_changes_its_mind():
    expansion = BasisExpansion(lambda rows: rows[:, : 1 + (len(rows) > 1)]).fit(X)
    with pytest.raises(ValueError, match="as many columns for any rows"):
        expansion.transform(X)


def test_the_degree_is_chosen_by_a_search():
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, (80, 1))
    t = x[:, 0] ** 3 - x[:, 0] + 0.01 * rng.standard_normal(80)
    pipeline = make_pipeline(BasisExpansion(), LinearRegression())
    search = GridSearchCV(pipeline, {"basisexpansion__degree": [1, 2, 3]}).fit(x, t)
    assert search.best_params_ == {"basisexpansion__degree": 3}


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_power_too_large_for_its_precision_is_refused_by_name(storage):
    X = np.array([[1.0, 2.0], [3.0, 1e120]])
    with pytest.raises(ValueError, match=r"Feature 'x1\^3' is not finite in row 1.* Rescale X"):
        BasisExpansion("powers", degree=3).fit_transform(storage(X))
    assert np.isfinite(np.sum(BasisExpansion("powers", degree=2).fit_transform(storage(X))))
    with pytest.raises(ValueError, match=r"leaves the range of float32"):
        BasisExpansion("powers", degree=3).fit_transform(storage((X / 1e100).astype(np.float32)))


def test_waves_that_meet_only_zeros_are_zero():
    found = BasisExpansion("fourier", degree=3).fit_transform(np.array([[0.0], [1.0], [2.0]]))
    assert not found[:, ::2].any()  # sines of multiples of pi


@pytest.mark.parametrize("basis", ["powers", "gaussian", "fourier", "spline", "identity"])
def test_the_column_of_each_function_is_the_one_that_changes_it(basis):
    X = np.random.default_rng(0).normal(size=(40, 3))
    expansion = BasisExpansion({(2, 1): basis}).fit(X)
    sources = expansion.source_columns()
    assert len(sources) == expansion.n_output_features_
    for j in range(3):
        other = X.copy()
        other[:, j] = X[::-1, j]
        changes = (expansion.transform(other) != expansion.transform(X)).any(axis=0)
        assert (changes == (sources == j)).all()


def test_functions_of_several_columns_have_no_one_column():
    X = np.random.default_rng(0).normal(size=(10, 2))
    assert BasisExpansion("interactions").fit(X).source_columns().tolist() == [0, 1, -1]
    biased = BasisExpansion({1: np.sin, (0, 1): np.cos}, include_bias=True).fit(X)
    assert biased.source_columns().tolist() == [-1, 1, -1, -1]
