"""Missing values in the Standardizer: left out of scales, left where they are; and CSR in parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from rosenblatt import GaussianNB, Standardizer
from rosenblatt.statistics import Extremes, FeatureCounts, Moments

OF_COLUMNS = ("z-score", "min-max", "sigmoid")


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 4)) * [1, 5, 2, 1] + [0, 10, -3, 100]
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_scikit_learns_standard_scaler(table, weighted):
    weight = np.arange(60) % 4 if weighted else None
    ours = Standardizer(ddof=0, missing="ignore").fit(table, sample_weight=weight)
    theirs = StandardScaler().fit(table, sample_weight=weight)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    Z = theirs.transform(table)
    np.testing.assert_allclose(ours.transform(table), Z, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z), table, rtol=1e-9)
    assert ours.fit(np.nan_to_num(table)).n_samples_seen_ == 60


def test_it_is_scikit_learns_min_max_scaler(table):
    ours = Standardizer("min-max", missing="ignore", feature_range=(-1, 2)).fit(table)
    theirs = MinMaxScaler((-1, 2)).fit(table)
    np.testing.assert_allclose(ours.data_min_, theirs.data_min_)
    np.testing.assert_allclose(ours.data_max_, theirs.data_max_)
    np.testing.assert_allclose(ours.transform(table), theirs.transform(table), atol=1e-12)


def test_sparse_rows_with_stored_gaps(table):
    sparse = sp.csr_matrix(np.where(np.abs(table) < 1, 0, table))
    ours = Standardizer(with_mean=False, ddof=0, missing="ignore").fit(sparse)
    theirs = StandardScaler(with_mean=False).fit(sparse)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-12)
    Z = ours.transform(sparse)
    np.testing.assert_allclose(Z.toarray(), theirs.transform(sparse).toarray(), atol=1e-12)


@pytest.mark.parametrize("method", OF_COLUMNS)
def test_batches_and_merging_equal_one_fit(method, table):
    def model():
        return Standardizer(method, missing="ignore")

    whole = model().fit(table)
    streamed = model().fit(table[:20]).partial_fit(table[20:])
    merged = model().fit(table[:20]).merge(model().fit(table[20:]))
    for other in (streamed, merged):
        np.testing.assert_allclose(other.scale_, whole.scale_, rtol=1e-12)
        np.testing.assert_allclose(other.transform(table), whole.transform(table), rtol=1e-9)


@pytest.mark.parametrize("method", OF_COLUMNS)
def test_a_column_without_a_value_is_left_as_it_is(method):
    X = np.array([[1.0, np.nan], [3.0, np.nan]])
    model = Standardizer(method, missing="ignore").fit(X)
    assert model.scale_[1] == 1
    found = model.transform([[1.0, 0.25], [1.0, np.nan]])
    assert np.isnan(found[1, 1])
    expected = 1 / (1 + np.exp(-0.25)) if method == "sigmoid" else 0.25
    assert found[0, 1] == pytest.approx(expected)
    # Values that come later are learned as if they had come first.
    model.partial_fit([[2.0, 5.0], [2.0, 9.0]])
    later = model.transform([[2.0, 5.0], [2.0, 9.0]])[:, 1]
    assert later[0] < later[1]


@pytest.mark.parametrize("method", ["z-score", "min-max", "sigmoid", "l1", "l2"])
def test_by_default_a_gap_is_refused_and_the_parameter_named(method, table):
    match = "Input X contains NaN; missing='ignore' leaves such values out"
    model = Standardizer(method)
    with pytest.raises(ValueError, match=match):
        model.fit(table)
    model.fit(np.nan_to_num(table))
    with pytest.raises(ValueError, match=match):
        model.transform(table)
    for missing in ("refuse", "ignore"):
        with pytest.raises(ValueError, match="infinity"):
            model.set_params(missing=missing).fit(np.where(np.isnan(table), np.inf, table))


@pytest.mark.parametrize("method", ["l1", "l2"])
def test_the_length_of_a_row_with_a_gap_is_not_known(method, table):
    model = Standardizer(method, missing="ignore")
    with pytest.raises(ValueError, match="the length of such a row is not known"):
        model.fit(table)
    with pytest.raises(ValueError, match="the length of such a row is not known"):
        model.fit(np.nan_to_num(table)).transform(table)


# Numbers that CSR stores in parts: 1 + 2 in the first cell.
PARTS = sp.csr_matrix((np.array([1.0, 2.0, 4.0, 5.0]), [0, 0, 1, 0], [0, 3, 4]), shape=(2, 2))
WHOLE = np.array([[3.0, 4.0], [5.0, 0.0]])


def in_parts():
    """A fresh one: looking may change how it is stored."""
    return sp.csr_matrix((PARTS.data.copy(), PARTS.indices.copy(), PARTS.indptr.copy()), (2, 2))


@pytest.mark.parametrize(
    "measure",
    [
        Moments.of,
        lambda X: Moments.of(X, full=True),
        lambda X: Moments.of(X, missing="ignore"),
        Extremes.of,
        lambda X: Extremes.of(X, missing="ignore"),
        lambda X: FeatureCounts.of(X, binarize=2.5),
        FeatureCounts.of,
    ],
)
def test_numbers_stored_in_parts_are_measured_as_their_sum(measure):
    stored = in_parts()
    assert measure(stored) == measure(WHOLE)
    assert stored.nnz == 4  # and the caller's matrix is left alone


@pytest.mark.parametrize(
    "settings", [{"with_mean": False}, {"method": "l1"}, {"method": "l2"}], ids=str
)
def test_numbers_stored_in_parts_are_scaled_as_their_sum(settings):
    model = Standardizer(**settings).fit(in_parts())
    expected = Standardizer(**settings).fit(WHOLE).transform(WHOLE)
    np.testing.assert_allclose(model.transform(in_parts()).toarray(), expected)


@pytest.mark.parametrize("missing", ["refuse", "ignore"])
def test_numbers_stored_in_parts_are_scored_as_their_sum(missing):
    model = GaussianNB(missing=missing).fit(in_parts(), [0, 1])
    expected = GaussianNB(missing=missing).fit(WHOLE, [0, 1])
    assert model.statistics_ == expected.statistics_
    np.testing.assert_allclose(
        model.predict_joint_log_proba(in_parts()), expected.predict_joint_log_proba(WHOLE)
    )
