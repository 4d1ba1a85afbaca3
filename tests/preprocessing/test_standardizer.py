"""The Standardizer: scikit-learn's numbers, any batching, and its edges."""

import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from scipy.special import expit
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from rosenblatt import Perceptron, Standardizer
from rosenblatt.runtime import threads
from rosenblatt.statistics import Extremes, Moments

METHODS = ["z-score", "min-max", "sigmoid", "l1", "l2"]
OF_COLUMNS = METHODS[:3]
each_method = pytest.mark.parametrize("method", METHODS)


def rows(n=200, d=6, seed=0, dtype=np.float64):
    rng = np.random.RandomState(seed)
    return (rng.standard_normal((n, d)) * np.arange(1, d + 1) + 10).astype(dtype)


def same_model(a, b, rtol=1e-9):
    for name in ("mean_", "var_", "scale_", "data_min_", "data_max_"):
        mine, others = getattr(a, name, None), getattr(b, name, None)
        assert (mine is None) == (others is None), name
        if mine is not None:
            np.testing.assert_allclose(mine, others, rtol=rtol, atol=1e-12)
    assert a.n_samples_seen_ == pytest.approx(b.n_samples_seen_)


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
@pytest.mark.parametrize("d", [1, 3, 40, 700])
def test_with_divisor_n_it_is_scikit_learns_standard_scaler(with_mean, with_std, d):
    X = rows(300, d)
    options = {"with_mean": with_mean, "with_std": with_std}
    ours = Standardizer(ddof=0, **options).fit(X)
    theirs = StandardScaler(**options).fit(X)
    same_model(ours, theirs)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-12)
    Z = theirs.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), rtol=1e-9)


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), [0.25, 7.5]])
def test_min_max_is_scikit_learns(bounds):
    X = rows()
    ours = Standardizer("min-max", feature_range=bounds).fit(X)
    theirs = MinMaxScaler(tuple(bounds)).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-12)
    np.testing.assert_allclose(ours.scale_, 1 / theirs.scale_)
    assert np.array_equal(ours.data_min_, theirs.data_min_)
    assert np.array_equal(ours.data_max_, theirs.data_max_)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("d", [2, 6, 90])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_unit_length_are_scikit_learns(norm, storage, d, dtype):
    # C6: min-max, sigmoid, and rows of unit length
    X = np.maximum(rows(100, d, dtype=dtype) - 9, 0)
    X[3] = 0
    found = Standardizer(norm).fit_transform(storage(X))
    assert sp.issparse(found) == (storage not in (np.asarray, np.asfortranarray))
    assert found.dtype == dtype
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_allclose(found, Normalizer(norm).fit_transform(X), rtol=1e-6)
    assert not found[3].any()


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("d", [2, 90])
@pytest.mark.parametrize("large", [0, 10**6])
def test_rows_of_any_size_get_length_one_and_rows_of_zeros_stay(norm, d, large, monkeypatch):
    monkeypatch.setattr("rosenblatt.preprocessing.scaling_steps.LARGE", large)
    X = np.zeros((6, d))
    X[:, :2] = [[3, 4], [3e200, 4e200], [-3e-200, 4e-200], [0, 0], [1.7e308, 1.7e308], [5e-324, 0]]
    model = Standardizer(norm).fit(np.ones((1, d)))
    for table in (X, sp.csr_matrix(X)):
        found = model.transform(table)
        found = found.toarray() if sp.issparse(found) else found
        lengths = np.linalg.norm(found, ord=1 if norm == "l1" else 2, axis=1)
        np.testing.assert_allclose(lengths, [1, 1, 1, 0, 1, 1])


def test_sigmoid_is_the_logistic_function_of_the_z_score():
    X = rows()
    z = Standardizer().fit_transform(X)
    found = Standardizer("sigmoid").fit_transform(X)
    np.testing.assert_allclose(found, expit(z))
    np.testing.assert_allclose(Standardizer("sigmoid").fit(X).inverse_transform(found), X)


def test_the_columns_have_mean_zero_and_sample_deviation_one():
    # C5: standardising columns, with the choice of divisor
    Z = Standardizer().fit_transform(rows())
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0, ddof=1), 1)


@pytest.mark.parametrize("method", OF_COLUMNS)
@pytest.mark.parametrize("n", [1, 5])
def test_a_constant_column_is_centred_and_its_scale_is_one(method, n):
    X = np.full((n, 2), [0.1, 1e9 + 0.1])
    model = Standardizer(method).fit(X)
    assert np.array_equal(model.scale_, [1, 1])
    expected = {"z-score": 0, "min-max": 0, "sigmoid": 0.5}[method]
    assert np.array_equal(model.transform(X), np.full((n, 2), expected))
    assert np.array_equal(model.inverse_transform(model.transform(X)), X)


small = nps.arrays(
    np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=st.integers(-50, 50).map(float)
)


@each_method
@given(X=small, cut=st.integers(1, 8))
def test_batches_and_merging_equal_a_refit(method, X, cut):
    cut = min(cut, len(X) - 1)
    whole = Standardizer(method).fit(X)
    streamed = Standardizer(method).partial_fit(X[:cut]).partial_fit(X[cut:])
    merged = Standardizer(method).fit(X[cut:]).merge(Standardizer(method).fit(X[:cut]))
    same_model(streamed, whole)
    same_model(merged, whole)
    again = Standardizer.from_statistics(merged.statistics_, method=method)
    assert np.array_equal(again.transform(X), merged.transform(X))


@pytest.mark.filterwarnings("ignore:What is left")  # as of columns that are constant then
@pytest.mark.parametrize("method", ["z-score", "sigmoid", "l1", "l2"])
@given(X=small, cut=st.integers(1, 8))
@example(X=np.array([[0.0, 0], [0, 0], [0, 1]]), cut=2)
def test_forgetting_equals_a_refit(method, X, cut):
    cut = min(cut, len(X) - 1)
    left = Standardizer(method).fit(X).forget(X[cut:])
    same_model(left, Standardizer(method).fit(X[:cut]))


@each_method
@given(X=small, data=st.data())
def test_whole_weights_are_repetition(method, X, data):
    w = data.draw(nps.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    w[0] = 2
    weighted = Standardizer(method).fit(X, sample_weight=w)
    same_model(weighted, Standardizer(method).fit(np.repeat(X, w, axis=0)))


def test_min_max_cannot_forget_and_is_left_as_it_was():
    X = rows()
    model = Standardizer("min-max").fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"^Minima and maxima merge but cannot be taken back"):
        model.forget(X[:3])
    assert vars(model) == before


def test_what_cannot_be_is_refused_and_the_model_left_as_it_was():
    X = rows()
    model = Standardizer().fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="they were never added"):
        model.forget(X[:5] + 1e5)
    with pytest.raises(ValueError, match="nothing would be left"):
        model.forget(X)
    with pytest.raises(ValueError, match="ddof is 1 here and 0 there"):
        model.merge(Standardizer(ddof=0).fit(X))
    with pytest.raises(TypeError, match="can merge with another Standardizer only"):
        model.merge(StandardScaler().fit(X))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.partial_fit(np.where(np.arange(6) == 2, np.nan, X))
    with pytest.raises(ValueError, match="6 features"):
        model.partial_fit(X[:, :2])
    assert vars(model) == before


def test_errors_say_what_to_do():
    X, sparse = rows(), sp.csr_matrix(rows())
    with pytest.raises(ValueError, match="Cannot center sparse matrices: pass `with_mean=False`"):
        Standardizer().fit(sparse)
    with pytest.raises(ValueError, match="Cannot center sparse"):
        Standardizer().fit(X).transform(sparse)
    for method in ("min-max", "sigmoid"):
        with pytest.raises(ValueError, match="makes numbers of zeros, so that sparse rows would"):
            Standardizer(method, with_mean=False).fit(sparse)
    with pytest.raises(ValueError, match="feature_range must be two finite numbers, the least fir"):
        Standardizer("min-max", feature_range=(1, 0)).fit(X)
    with pytest.raises(ValueError, match="The 'method' parameter of Standardizer must be"):
        Standardizer("zscore").fit(X)
    with pytest.raises(ValueError, match="weigh 1 in all, so that ddof=1 leaves nothing"):
        Standardizer().fit(X, sample_weight=np.full(200, 1 / 200))
    with pytest.raises(ValueError, match="this is the statistic of no rows"):
        Standardizer.from_statistics(Moments.zero(6))
    with pytest.raises(ValueError, match="a range too large for 64 bits"):
        Standardizer("min-max").fit([[-1.5e308], [1.5e308]])
    with pytest.raises(TypeError, match=r"'min-max'\) stands on Extremes; got Moments"):
        Standardizer.from_statistics(Moments.of(X), method="min-max")
    with pytest.raises(ValueError, match="X must have 6 columns, as in fit; got 2"):
        Standardizer().fit(X).inverse_transform(X[:, :2])


def test_lengths_that_are_gone_cannot_be_brought_back():
    for method in ("l1", "l2"):
        model = Standardizer(method).fit(rows())
        assert not hasattr(model, "inverse_transform")
    assert hasattr(Standardizer().fit(rows()), "inverse_transform")


def test_sparse_columns_are_scaled_and_stay_sparse():
    X = sp.random(300, 20, density=0.2, format="csr", random_state=0)
    model = Standardizer(with_mean=False).fit(X)
    found = model.transform(X)
    assert sp.issparse(found)
    assert found.nnz == X.nnz
    dense = Standardizer(with_mean=False).fit(X.toarray())
    np.testing.assert_allclose(found.toarray(), dense.transform(X.toarray()))
    np.testing.assert_allclose(model.inverse_transform(found).toarray(), X.toarray())
    assert found.data is not X.data


@each_method
def test_single_precision_stays_and_is_rounded_once(method):
    X = 1e6 + rows(dtype=np.float32)
    model = Standardizer(method).fit(X)
    found = model.transform(X)
    assert found.dtype == np.float32
    exact = model.transform(X.astype(np.float64))
    assert np.array_equal(found, exact.astype(np.float32))


@each_method
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_copy_decides_whether_the_input_is_changed(method, dtype, order):
    X = np.array(rows(dtype=dtype), order=order)
    model = Standardizer(method).fit(X)
    before = X.copy()
    expected = model.transform(X)
    assert np.array_equal(X, before)
    assert model.transform(X, copy=False) is X
    assert np.array_equal(X, expected)
    frozen = before.copy(order="K")
    frozen.flags.writeable = False
    assert np.array_equal(clone(model).set_params(copy=False).fit(frozen).transform(frozen), X)
    assert np.array_equal(frozen, before)


@each_method
def test_integers_and_lists_are_accepted_and_left_alone(method):
    X = np.arange(12).reshape(4, 3)
    before = X.copy()
    found = Standardizer(method).fit_transform(X)
    assert np.array_equal(X, before)
    assert np.array_equal(found, Standardizer(method).fit_transform(X.tolist()))


def test_frames_names_and_set_output():
    X = rows(20, 2)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    model = Standardizer().set_output(transform="pandas").fit(frame)
    found = model.transform(frame)
    assert list(found.columns) == list(model.get_feature_names_out()) == ["height", "weight"]
    np.testing.assert_allclose(found, Standardizer().fit_transform(X))
    polar = pl.DataFrame(X, schema=["height", "weight"])
    wide = Standardizer().set_output(transform="polars").fit_transform(polar)
    assert wide.columns == ["height", "weight"]
    again = Standardizer.from_statistics(model.statistics_)
    assert list(again.feature_names_in_) == ["height", "weight"]
    with pytest.raises(ValueError, match="feature names should match"):
        again.transform(frame[["weight", "height"]])


def test_the_statistic_of_a_model_of_classes_will_do():
    X, y = rows(), np.arange(200) % 3
    model = Standardizer.from_statistics(Moments.of(X, y, full=True))
    same_model(model, Standardizer().fit(X))
    model.partial_fit(X).forget(X)
    extremes = Standardizer.from_statistics(Extremes.of(X, y), method="min-max")
    same_model(extremes, Standardizer("min-max").fit(X))


def test_it_stands_before_a_model_in_a_pipeline_and_in_a_file():
    X, y = rows(), (rows()[:, 0] > 10).astype(int)
    pipeline = make_pipeline(Standardizer(), Perceptron(random_state=0, tol=None)).fit(X, y)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.array_equal(again.predict(X), pipeline.predict(X))


@each_method
def test_the_same_bits_on_any_number_of_threads(method):
    X = rows(30_000, 11)
    results = []
    for n in (1, 2, 4):
        with threads.limit(n):
            results.append(Standardizer(method).fit_transform(X))
    assert all(np.array_equal(results[0], other) for other in results[1:])


@each_method
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_temporary_of_the_size_of_the_data(method, dtype):
    X = rows(100_000, 20, dtype=dtype)
    model = Standardizer(method, copy=False)
    with threads.limit(1):
        Standardizer(method).fit_transform(X)  # loads the loops, which is no matter of the data
        tracemalloc.start()
        model.fit(X)
        model.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Row numbers and buckets, eight bytes a row each, and blocks; the data has 80 or 160 a row.
    assert peak < 100_000 * 8 * 3 + 2_000_000


@each_method
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_tables_are_as_small_ones(method, dtype, order, monkeypatch):
    X = np.array(rows(500, 40, dtype=dtype), order=order)
    X[3] = 0
    model = Standardizer(method, feature_range=(-1, 3)).fit(X)
    expected = model.transform(X)
    monkeypatch.setattr("rosenblatt.preprocessing.scaling_steps.LARGE", 0)
    if method in ("l1", "l2"):
        np.testing.assert_allclose(model.transform(X), expected, rtol=1e-6)
        sparse = model.transform(sp.csr_matrix(X))
        np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-6)
    else:
        assert np.array_equal(model.transform(X), expected)
    assert model.transform(X, copy=False) is X
    np.testing.assert_allclose(X, expected, rtol=1e-6)


def test_far_from_the_origin_it_is_still_right():
    X = 1e9 + np.random.RandomState(0).standard_normal((1000, 1))
    Z = Standardizer().fit_transform(X)
    assert Z.std(ddof=1) == pytest.approx(1, rel=1e-9)
    assert abs(Z.mean()) < 1e-6


def test_on_real_data_it_is_scikit_learns(data_folder):
    X = pl.read_parquet(data_folder / "california_housing/california_housing.parquet").to_numpy()
    X = X.astype(float)
    X = X[np.isfinite(X).all(axis=1)]
    np.testing.assert_allclose(
        Standardizer(ddof=0).fit_transform(X), StandardScaler().fit_transform(X), atol=1e-9
    )


def test_transforming_does_not_import_numba():
    script = (
        "import sys, numpy as np\n"
        "from rosenblatt import Standardizer\n"
        "model = Standardizer()\n"
        "model.mean_, model.scale_, model.n_features_in_ = np.zeros(2), np.ones(2), 2\n"
        "model.transform(np.ones((3, 2)))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("options", [{"method": "l2"}, {"method": "l1"}, {"with_mean": False}])
@pytest.mark.parametrize("copy", [True, False])
def test_numbers_that_csr_stores_in_parts_are_numbers(options, copy):
    X = np.random.default_rng(0).standard_normal((20, 3))
    whole = sp.csr_matrix(X)
    parts = sp.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), X.shape
    )
    expected = Standardizer(**options).fit_transform(X)
    scaled = Standardizer(**options, copy=copy).fit(parts).transform(parts)
    np.testing.assert_allclose(scaled.toarray(), expected, rtol=1e-12)
