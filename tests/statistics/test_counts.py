"""Counts: exact beyond 2**53, refused below zero, whatever the labels are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.statistics import CategoryCounts, ClassCounts, FeatureCounts, Labels
from rosenblatt.statistics.categories import coded


def test_whole_numbers_beyond_the_range_of_doubles_stay_exact():
    large = FeatureCounts.of(np.array([[2**52 + 1]]), [0])
    assert large.sums.dtype == np.int64
    total = sum([large] * 100)
    assert total.sums.dtype == np.int64
    assert int(total.sums[0, 0]) == 100 * (2**52 + 1)
    assert sum([large] * 99) + large - large == sum([large] * 99)


def test_whole_numbers_beyond_64_bits_go_on_as_doubles():
    total = FeatureCounts.of(np.array([[2**52 + 1]]), [0])
    for _ in range(20):
        total = total + total
    assert total.sums[0, 0] == 2**20 * (2**52 + 1)
    assert total.sums.dtype == np.float64


@given(st.integers(0, 2**20), st.integers(0, 2**31 - 1))
def test_a_number_times_a_weight_is_exact(x, w):
    assert FeatureCounts.of(np.array([[x]]), [0], [w + 1]).sums.tolist() == [[x * (w + 1)]]


def test_fractions_that_are_taken_out_leave_nothing_behind():
    a = FeatureCounts.of([[0.1, 0.3]], [0], [0.7])
    b = FeatureCounts.of([[0.7, 0.0]], [0], [0.1])
    np.testing.assert_allclose((a + b - b).sums, a.sums, rtol=1e-15)
    assert (a + b - a).sums[0, 1] == 0
    assert (a + b - a).weight[0] == pytest.approx(0.1, rel=1e-12)


def test_data_of_both_kinds_add_up():
    whole, real = FeatureCounts.of([[3, 0]], ["a"]), FeatureCounts.of([[0.5, 0.0]], ["b"])
    both = whole + real
    assert np.array_equal(both.sums, [[3.0, 0.0], [0.5, 0.0]])
    assert both - real == whole
    assert whole == both - real


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_what_cannot_be_counted_is_refused(storage):
    with pytest.raises(ValueError, match=r"Negative values in data cannot be counted; got -2\.0"):
        FeatureCounts.of(storage(np.array([[1.0, -2.0]])), [0])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        FeatureCounts.of(storage(np.array([[1.0, np.nan]])), [0])


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: ClassCounts.of(y),
        lambda X, y: FeatureCounts.of(X, y),
        lambda X, y: CategoryCounts.of(X, y),
    ],
)
def test_rows_that_were_never_added_are_refused(make):
    a = make(np.array([[1, 0], [2, 3]]), ["ham", "spam"])
    before = a.arrays()
    with pytest.raises(ValueError, match="rows of class eggs: none were added"):
        a - make(np.array([[1, 0]]), ["eggs"])
    with pytest.raises(ValueError, match=r"Cannot remove 2 rows of class ham: it has 1"):
        a - make(np.array([[0, 0], [1, 0]]), ["ham", "ham"])
    assert all(np.array_equal(table, before[name]) for name, table in a.arrays().items())


def test_values_that_were_never_added_are_refused():
    X, y = np.array([[1, 0], [2, 3]]), ["ham", "ham"]
    with pytest.raises(ValueError, match="class ham feature 0 would be left with -1"):
        FeatureCounts.of(X, y) - FeatureCounts.of(np.array([[4, 0]]), ["ham"])
    with pytest.raises(ValueError, match="category 7 of feature 1 would be left with -1"):
        CategoryCounts.of(X, y) - CategoryCounts.of(np.array([[1, 7]]), ["ham"])


def test_more_weight_than_there_is_is_refused():
    a = ClassCounts.of(["ham", "ham"], [1.5, 1.0])
    with pytest.raises(ValueError, match=r"Cannot remove 2\.75 weight of class ham: it has 2\.5"):
        a - ClassCounts.of(["ham"], [2.75])


def test_a_class_without_rows_is_gone_and_a_new_one_takes_its_place():
    a = FeatureCounts.of([[1], [2]], ["ham", "spam"])
    left = a - FeatureCounts.of([[2]], ["spam"])
    assert left.classes.tolist() == ["ham"]
    more = left + FeatureCounts.of([[5]], ["eggs"])
    assert more.classes.tolist() == ["eggs", "ham"]
    assert more.sums.tolist() == [[5], [1]]


@pytest.mark.parametrize(
    "labels",
    [[1, 2, 1], ["a", "bb", "a"], [True, False, True], [0.5, 1.5, 0.5], [b"x", b"y", b"x"]],
)
def test_any_kind_of_label(labels):
    a = ClassCounts.of(labels)
    assert a.classes.tolist() == sorted(set(labels))
    assert sorted(a.rows.tolist()) == [1, 2]
    objects = ClassCounts.of(np.array(labels, dtype=object))
    assert (objects + a).rows.tolist() == (2 * a.rows).tolist()


def test_words_and_numbers_do_not_mix():
    with pytest.raises(TypeError, match="Classes must be of one type"):
        ClassCounts.of(["1"]) + ClassCounts.of([1])


def test_encoded_labels_may_name_classes_without_rows():
    labels = Labels(np.array(["a", "b", "c"]), np.array([2, 0]))
    assert ClassCounts.of(labels).classes.tolist() == ["a", "c"]
    with pytest.raises(ValueError, match="codes must be from 0 to 1"):
        Labels(np.array(["a", "b"]), np.array([2]))


def test_categories_of_a_data_frame_keep_their_own_types():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sky": ["sun", None, "rain"], "wind": [1, 2, 2]})
    with pytest.raises(ValueError, match="Feature sky is missing in row 1"):
        CategoryCounts.of(frame, [0, 0, 1])
    a = CategoryCounts.of(frame, [0, 0, 1], missing="ignore")
    assert a.feature_names == ("sky", "wind")
    assert [c.tolist() for c in a.categories] == [["rain", "sun"], [1, 2]]
    assert a.counts_of(0).tolist() == [[0, 1], [1, 0]]
    assert a.counts_of(1).tolist() == [[1, 1], [0, 1]]


def test_category_numbers_too_large_for_a_table_are_sorted():
    X = np.array([[10**12, -5], [7, -5], [10**12, 3]])
    a = CategoryCounts.of(X, [0, 0, 1], [0.5, 1.0, 2.0])
    assert [c.tolist() for c in a.categories] == [[7, 10**12], [-5, 3]]
    assert a.counts_of(0).tolist() == [[1.0, 0.5], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], r"weights must be finite and >= 0; got -1\.0 in row 1"),
        ([np.nan, 1.0], r"weights must be finite and >= 0; got nan in row 0"),
        ([1.0], r"weights must have shape \(2,\)"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        FeatureCounts.of([[1], [2]], [0, 1], weights)


def test_bad_shapes_and_options():
    with pytest.raises(ValueError, match=r"y must have shape \(2,\)"):
        FeatureCounts.of([[1], [2]], [0])
    with pytest.raises(ValueError, match="X must have rows and columns"):
        FeatureCounts.of([1, 2], [0, 1])
    with pytest.raises(ValueError, match=r"binarize must be a number >= 0 or None; got -1"):
        FeatureCounts.of([[1]], [0], binarize=-1)
    with pytest.raises(ValueError, match=r"different binarize: None and 0\.0"):
        FeatureCounts.of([[1]], [0]) + FeatureCounts.of([[1]], [0], binarize=0)
    with pytest.raises(ValueError, match="different n_features: 1 and 2"):
        FeatureCounts.of([[1]], [0]) + FeatureCounts.of([[1, 2]], [0])
    with pytest.raises(TypeError, match="Cannot add ClassCounts and FeatureCounts"):
        FeatureCounts.of([[1]], [0]) + ClassCounts.of([0])
    with pytest.raises(ValueError, match="groups must be from 0 to n_groups - 1; got 0 to 2"):
        ClassCounts.by_group([0, 1], [0, 2], 2)


def test_sums_too_large_for_doubles_are_refused():
    with pytest.raises(ValueError, match="too large for 64 bits; rescale the weights"):
        FeatureCounts.of([[9.5], [9.5]], None, [1e307, 1e307])
    large = FeatureCounts.of([[0.5]], None, [1.7e308])
    with pytest.raises(ValueError, match="too large for 64 bits; rescale the weights"):
        large + large


def test_numbers_that_only_begin_whole_are_summed():
    X = np.ones((300, 2))
    X[-1] = 0.5
    assert FeatureCounts.of(X, np.zeros(300)).sums.tolist() == [[299.5, 299.5]]


def test_a_word_that_is_missing_among_codes_is_refused_unless_it_may_be():
    codes = coded([(np.array([0, 1, 2]), ["u", "v"])])
    with pytest.raises(ValueError, match="Feature 0 is missing in row 2"):
        CategoryCounts.of(codes)
    assert CategoryCounts.of(codes, missing="ignore").counts_of(0).tolist() == [[1, 1]]
