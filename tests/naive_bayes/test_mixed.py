"""Mixed naive Bayes: each column by its kind, gaps left out, frames and arrays alike."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, poisson
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB as TheirBernoulliNB
from sklearn.naive_bayes import CategoricalNB as TheirCategoricalNB

from rosenblatt import GaussianNB, MixedNB

KINDS = {"calls": "count"}


def problem(n=80, seed=0, gaps=0.15):
    """A table of all four kinds, with missing cells."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=n - 2)])
    frame = pd.DataFrame(
        {
            "age": rng.normal(30 + 10 * y, 5),
            "colour": rng.choice(["red", "green", "blue"], n),
            "calls": rng.poisson(1 + 2.0 * y).astype(float),
            "member": (rng.random(n) < 0.3 + 0.4 * y).astype(object),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < gaps, name] = None
    frame.loc[:1, :] = [[30.0, "red", 1.0, True], [40.0, "blue", 3.0, False]]
    return frame, np.array(["no", "yes"])[y]


def assert_same(a, b, rtol=1e-9):
    assert a.kinds_ == b.kinds_
    for name in ("theta_", "var_", "rate_", "true_prob_", "class_prior_", "n_parameters_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)
    for mine, other in zip(a.category_log_prob_, b.category_log_prob_, strict=True):
        assert np.array_equal(mine, other)


def test_each_column_has_the_model_of_its_kind():
    # F6: mixed kinds of column; densities per feature
    X, y = problem()
    model = MixedNB(kinds=KINDS, var_smoothing=0).fit(X, y)
    assert model.kinds_ == ["numeric", "categorical", "count", "boolean"]
    row = pd.DataFrame([[33.0, "green", 2.0, True]], columns=X.columns)
    expected = []
    for k, label in enumerate(model.classes_):
        rows = X[y == label]
        age, calls = rows["age"].dropna().astype(float), rows["calls"].dropna().astype(float)
        colour, member = rows["colour"].dropna(), rows["member"].dropna()
        expected.append(
            np.log(np.mean(y == label))
            + norm.logpdf(33, age.mean(), age.std(ddof=0))
            + np.log(((colour == "green").sum() + 1) / (len(colour) + 3))
            + poisson.logpmf(2, (calls.sum() + 1) / (len(calls) + 1))
            + np.log((member.sum() + 1) / (len(member) + 2))
        )
        assert model.theta_[k, 0] == pytest.approx(age.mean())
    np.testing.assert_allclose(model.predict_joint_log_proba(row)[0], expected, rtol=1e-12)
    # 1 prior; in each class 2 of age, 2 of colour, 1 of calls, 1 of member
    assert model.n_parameters_ == 1 + 2 * (2 + 2 + 1 + 1)


def test_a_missing_value_adds_nothing():
    X, y = problem()
    model = MixedNB(kinds=KINDS).fit(X, y)
    nothing = pd.DataFrame([[None] * 4], columns=X.columns)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_)
    for j in range(4):
        row = X.iloc[[0]].astype(object)
        row.iloc[0, j] = None
        contributions = model.explain(row).contributions
        assert contributions[j] == 0
        assert np.count_nonzero(contributions) == 3


def test_alone_each_kind_is_the_model_of_that_name():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    numbers, codes = rng.standard_normal((60, 3)), rng.integers(3, size=(60, 2))
    mixed, plain = MixedNB().fit(numbers, y), GaussianNB().fit(numbers, y)
    np.testing.assert_allclose(mixed.predict_proba(numbers), plain.predict_proba(numbers))
    mixed = MixedNB(kinds=["categorical"] * 2).fit(codes, y)
    theirs = TheirCategoricalNB().fit(codes, y)
    np.testing.assert_allclose(mixed.predict_proba(codes), theirs.predict_proba(codes))
    mixed, theirs = MixedNB().fit(codes > 1, y), TheirBernoulliNB().fit(codes > 1, y)
    assert mixed.kinds_ == ["boolean", "boolean"]
    np.testing.assert_allclose(mixed.predict_proba(codes > 1), theirs.predict_proba(codes > 1))


@given(seed=st.integers(0, 10**6), cut=st.integers(10, 60))
def test_batches_merging_and_forgetting_equal_a_refit(seed, cut):
    X, y = problem(seed=seed)
    make = lambda: MixedNB(kinds=KINDS)  # noqa: E731
    first, second = make().fit(X[:cut], y[:cut]), make().fit(X[cut:], y[cut:])
    whole = make().fit(X, y)
    assert_same(make().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:]), whole)
    assert_same(make().fit(X[:cut], y[:cut]).merge(second), whole)
    assert_same(MixedNB.from_statistics(whole.statistics_, kinds=KINDS), whole, rtol=0)
    assert_same(whole.forget(X[cut:], y[cut:]), first)


@given(seed=st.integers(0, 10**6))
def test_whole_weights_are_repetition(seed):
    X, y = problem(seed=seed)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:2] = 1
    repeated = X.iloc[np.repeat(np.arange(len(X)), times)]
    again = MixedNB(kinds=KINDS).fit(repeated, np.repeat(y, times))
    assert_same(MixedNB(kinds=KINDS).fit(X, y, times), again)


def test_pandas_polars_and_arrays_of_objects_agree():
    X, y = problem()
    expected = MixedNB(kinds=KINDS).fit(X, y)
    polars = pl.DataFrame(
        {
            "age": X["age"].tolist(),
            "colour": [None if v is None or v != v else v for v in X["colour"]],
            "calls": X["calls"].tolist(),
            "member": [None if v is None or v != v else bool(v) for v in X["member"]],
        },
    )
    model = MixedNB(kinds=KINDS).fit(polars, y)
    assert model.kinds_ == expected.kinds_
    np.testing.assert_array_equal(model.predict_proba(polars), expected.predict_proba(X))
    values = X.to_numpy(dtype=object)
    model = MixedNB(kinds={2: "count"}).fit(values, y)
    np.testing.assert_array_equal(model.predict_proba(values), expected.predict_proba(X))
    typed = X.astype({"colour": "category", "member": "boolean", "calls": "Int64"})
    model = MixedNB(kinds=KINDS).fit(typed, y)
    np.testing.assert_array_equal(model.predict_proba(typed), expected.predict_proba(X))


def test_a_category_seen_later_joins_the_others():
    X, y = problem()
    model = MixedNB(kinds=KINDS).fit(X, y)
    more = X.iloc[:4].assign(colour="violet")
    model.partial_fit(more, y[:4])
    assert model.categories_[0].tolist() == ["blue", "green", "red", "violet"]
    assert_same(model, MixedNB(kinds=KINDS).fit(pd.concat([X, more]), np.r_[y, y[:4]]))


def test_an_unseen_category_is_smoothed_or_refused():
    X, y = problem()
    row = X.iloc[[0]].assign(colour="violet")
    smooth = MixedNB(kinds=KINDS).fit(X, y)
    counts = smooth.statistics_.parts["categorical"].counts_of(0).sum(axis=1)
    contribution = smooth.explain(row).contributions[1]
    odds = np.log((counts + 3)[::-1] / (counts + 3))
    assert contribution == pytest.approx(odds[list(smooth.classes_).index(smooth.predict(row)[0])])
    strict = MixedNB(kinds=KINDS, unknown="error").fit(X, y)
    for kind in (ValueError, IndexError):  # scikit-learn's CategoricalNB raises the second
        with pytest.raises(kind, match=r"Feature colour has a value that no row had.*'violet'"):
            strict.predict(row)


@pytest.mark.parametrize("objects", [False, True])
def test_dates_are_refused_unless_their_kind_is_said(objects):
    X, y = problem()
    days = pd.Series(pd.date_range("2020-01-01", periods=len(X)), index=X.index)
    for column in (days, days - days[0]):
        frame = X.assign(day=column.astype(object) if objects else column)
        with pytest.raises(ValueError, match=r"Column 'day' holds dates or times"):
            MixedNB(kinds=KINDS).fit(frame, y)
        assert MixedNB(kinds={**KINDS, "day": "categorical"}).fit(frame, y).kinds_[-1]
        with pytest.raises(ValueError, match=r"Column 'day' holds what is not a number"):
            MixedNB(kinds={**KINDS, "day": "numeric"}).fit(frame, y)


def test_without_smoothing_an_impossible_row_gets_the_prior_with_a_word():
    model = MixedNB(alpha=0).fit([["a", True], ["b", False]], [0, 1])
    assert model.predict_proba([["a", True]]).tolist() == [[1, 0]]
    with pytest.warns(UserWarning, match="probability zero in every class"):
        assert model.predict_proba([["a", False]]).tolist() == [[0.5, 0.5]]


@pytest.mark.needs_compiler  # large
def test_a_sample_has_the_parameters_of_the_model():
    X, y = problem(n=300)
    model = MixedNB(kinds=KINDS).fit(X, y)
    rows, labels = model.sample(20_000, random_state=0)
    again = MixedNB(kinds={2: "count"}).fit(rows, labels)
    assert again.kinds_ == model.kinds_
    for name in ("theta_", "true_prob_", "rate_", "class_prior_"):
        np.testing.assert_allclose(getattr(again, name), getattr(model, name), rtol=0.06)
    for mine, other in zip(again.category_log_prob_, model.category_log_prob_, strict=True):
        np.testing.assert_allclose(np.exp(mine), np.exp(other), atol=0.03)


@pytest.mark.parametrize(
    ("settings", "value", "message"),
    [
        ({"kinds": {"agee": "numeric"}}, 1.0, "kinds must be of columns of X; got 'agee'"),
        ({"kinds": ["numeric"]}, 1.0, "kinds must name 4 kinds, one a column; got 1"),
        ({"kinds": {"age": "number"}}, 1.0, "kinds must be of numeric, categorical, .*'number'"),
        ({"kinds": {"colour": "numeric"}}, 1.0, "Column 'colour' holds what is not a number"),
        ({"kinds": {"age": "boolean"}}, 1.0, "column 'age' is boolean and must hold True"),
        ({"kinds": {"calls": "count"}}, -1.0, "column 'calls' is count .* >= 0; got -1.0 in row 0"),
        ({"kinds": {"calls": "count"}}, 1.5, "column 'calls' is count"),
        ({}, np.inf, "column 'calls' is numeric and must hold finite numbers; got inf in row 0"),
    ],
)
def test_what_a_column_cannot_hold_is_refused(settings, value, message):
    X, y = problem()
    X.loc[0, "calls"] = value
    with pytest.raises(ValueError, match=message):
        MixedNB(**settings).fit(X, y)


def test_a_refit_forgets_the_attributes_of_other_kinds():
    X, y = problem()
    model = MixedNB(kinds=KINDS).fit(X, y).set_params(kinds=None).fit(X[["age"]], y)
    for name in ("rate_", "true_prob_", "categories_", "category_log_prob_"):
        assert not hasattr(model, name)


def test_a_sparse_matrix_is_refused():
    with pytest.raises(TypeError, match="got a sparse matrix"):
        MixedNB().fit(sp.csr_matrix(np.eye(3)), [0, 1, 1])


def test_penguins_with_missing_cells(data_folder):
    X = pd.read_csv(data_folder / "penguins" / "penguins.csv")
    y = X.pop("species")
    assert X.isna().sum().sum() == 19
    assert cross_val_score(MixedNB(), X, y, cv=10).mean() > 0.96  # GaussianNB, numbers only: 0.837


def test_heart_disease(data_folder):
    X = pd.read_csv(data_folder / "heart_cleveland" / "heart_cleveland.csv")
    y = X.pop("num")
    assert cross_val_score(MixedNB(kinds={"ca": "count"}), X, y, cv=10).mean() > 0.82


@pytest.mark.needs_compiler  # large
def test_adult_streamed_equals_adult_at_once(data_folder):
    X = pd.read_csv(data_folder / "adult" / "adult_train.csv.gz", na_values="?")
    test = pd.read_csv(data_folder / "adult" / "adult_test.csv.gz", na_values="?")
    y, y_test = X.pop("income"), test.pop("income")
    whole, stream = MixedNB().fit(X, y), MixedNB()
    for start in range(0, len(X), 8000):
        stream.partial_fit(X[start : start + 8000], y[start : start + 8000])
    np.testing.assert_allclose(stream.predict_proba(test), whole.predict_proba(test), atol=1e-9)
    assert whole.score(test, y_test) > 0.82  # GaussianNB on codes: 0.796


@pytest.mark.parametrize("n", [90, 1200])  # few rows are encoded in another way
def test_codes_of_words_are_counted_and_scored_as_the_words_themselves(n):
    rng = np.random.default_rng(0)
    words = [[None if w == "gap" else w for w in rng.choice(["b", "a", "c", "gap"], n)]
             for _ in range(3)]  # fmt: skip
    y = rng.integers(0, 2, n)
    plain = pl.DataFrame({f"w{j}": column for j, column in enumerate(words)})
    coded = plain.with_columns(pl.all().cast(pl.Categorical))
    one, two = MixedNB().fit(plain, y), MixedNB().fit(coded, y)
    assert one.statistics_ == two.statistics_
    new = plain.with_columns(pl.Series("w0", ["never seen", None, "b"] * (n // 3)))
    np.testing.assert_array_equal(
        one.predict_proba(new), two.predict_proba(new.with_columns(pl.all().cast(pl.Categorical)))
    )
    refusing = two.set_params(unknown="error")
    with pytest.raises(ValueError, match="'never seen'"):
        refusing.predict(new.with_columns(pl.all().cast(pl.Categorical)))


def test_names_of_columns_are_asked_for_a_few_times_whatever_the_width(monkeypatch):
    """polars makes the list anew each time: once a column took minutes of thousands of them."""
    asked = []
    columns = pl.DataFrame.columns
    monkeypatch.setattr(
        pl.DataFrame, "columns", property(lambda frame: asked.append(1) or columns.fget(frame))
    )
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=30)
    times = []
    for width in (5, 200):
        X = pl.DataFrame(rng.normal(size=(30, width)), schema=[f"x{j}" for j in range(width)])
        asked.clear()
        MixedNB().fit(X, y).predict(X)
        times.append(len(asked))
    assert times[0] == times[1]
