"""Moments: what is refused, what is missing, how far off they may be, and what they cost."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.statistics import Gram, Moments


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_numbers_without_a_square_are_refused(full, bad):
    X = np.ones((50, 3))
    X[7, 1] = bad
    for rows in (X, X[7:8]):
        with pytest.raises(ValueError, match="Feature 1 holds NaN, infinity, or numbers whose"):
            Moments.of(rows, np.zeros(len(rows)), full=full)


def test_infinities_of_both_signs_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="Feature 0 holds NaN, infinity"):
        Moments.of(np.array([[np.inf, -np.inf], [1.0, 1.0]]))


@pytest.mark.parametrize("full", [False, True])
def test_rows_that_were_never_added_are_refused(full):
    a = Moments.of([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0]], ["ham"] * 3, full=full)
    with pytest.raises(ValueError, match=r"class ham feature 1 has a scatter of 0\.666667, less"):
        a - Moments.of([[2.0, 90.0]], ["ham"], full=full)
    with pytest.raises(ValueError, match="Cannot remove rows of class spam: none were added"):
        a - Moments.of([[2.0, 90.0]], ["spam"], full=full)


def test_missing_values_give_each_feature_its_own_weight():
    X = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0], [np.nan, np.nan]])
    a = Moments.of(X, ["a", "a", "a", "b"], missing="ignore")
    assert a.rows.tolist() == [3, 1]
    assert a.feature_weight.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    assert a.mean.tolist() == [[2.0, 5.0], [0.0, 0.0]]
    assert a.scatter.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    parts = [Moments.of(X[i : i + 1], [y], missing="ignore") for i, y in enumerate("aaab")]
    assert sum(parts) == a
    assert a - parts[3] == sum(parts[:3])
    assert Moments.of(sp.csr_matrix(X), ["a", "a", "a", "b"], missing="ignore") == a


def test_missing_is_one_of_two_and_not_for_full_scatters():
    with pytest.raises(ValueError, match="missing must be 'refuse' or 'ignore'; got 'drop'"):
        Moments.of([[1.0]], missing="drop")
    with pytest.raises(ValueError, match="'refuse' for a full scatter"):
        Moments.of([[1.0]], full=True, missing="ignore")


def test_the_bound_of_a_subtraction_is_rounding_times_scatter_before_over_after():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1000, 2))
    for full in (False, True):
        whole = Moments.of(X, full=full)
        assert 0 < whole.subtraction_bound(Moments.of(X[:10], full=full)) < 1e-13
        far = Moments.of([[1e4, 1e4]], full=full)
        assert 1e-12 < (whole + far).subtraction_bound(far) < 1e-8
        farther = Moments.of([[1e9, 1e9]], full=full)
        assert (whole + farther).subtraction_bound(farther) > 1


def test_total_is_the_moments_without_classes():
    rng = np.random.RandomState(1)
    X, y = rng.standard_normal((200, 3)) + 1e3, rng.randint(0, 4, 200)
    for full in (False, True):
        total, refit = Moments.of(X, y, full=full).total(), Moments.of(X, full=full)
        assert np.allclose(total.mean, refit.mean, rtol=1e-14)
        assert np.allclose(total.scatter, refit.scatter, rtol=1e-12, atol=1e-9)
        assert len(total) == 200
    weights = rng.uniform(size=200)
    assert np.allclose(
        Moments.of(X, y, weights).total().mean[0], np.average(X, axis=0, weights=weights)
    )


@pytest.mark.parametrize("full", [False, True])
def test_rescaled_is_the_moments_of_rescaled_rows(full):
    rng = np.random.RandomState(3)
    X, y = rng.standard_normal((100, 3)) + 50, rng.randint(0, 2, 100)
    shift, scale = X.mean(axis=0), X.std(axis=0)
    found = Moments.of(X, y, full=full).rescaled(shift, scale)
    expected = Moments.of((X - shift) / scale, y, full=full)
    assert np.allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-12)
    assert np.allclose(found.scatter, expected.scatter, rtol=1e-12, atol=1e-9)
    with pytest.raises(ValueError, match="scale not zero"):
        found.rescaled(0.0, 0.0)


def test_gram_gives_the_least_squares_fit():
    rng = np.random.RandomState(2)
    X, w = rng.standard_normal((500, 4)) + 1e4, rng.uniform(size=500)
    Y = X @ rng.standard_normal((4, 2)) + rng.standard_normal((500, 2))
    root = np.sqrt(w)[:, None]
    expected = np.linalg.lstsq(root * np.column_stack([X - 1e4, np.ones(500)]), root * Y)[0]
    for storage in (np.asarray, sp.csr_matrix):
        gram = Gram.of(storage(X), Y, w)
        coef = np.linalg.solve(gram.xx, gram.xy)
        assert np.allclose(coef, expected[:4], rtol=1e-9)
        assert np.allclose(gram.mean_y - (gram.mean_x - 1e4) @ coef, expected[4], rtol=1e-9)
        assert gram.yy.shape == (2, 2)
        assert gram.rows == 500
        assert np.isclose(gram.weight, w.sum())
    parts = Gram.by_group(X, Y, np.arange(500) % 3, 3, w)
    assert np.allclose(sum(parts).xx, gram.xx)
    assert Gram.zero(4, 2) + gram == gram
    assert Gram.zero(4, 2).xx.shape == (4, 4)


def test_gram_refuses_targets_of_another_length_or_kind():
    with pytest.raises(ValueError, match=r"y must have shape \(2,\)"):
        Gram.of([[1.0], [2.0]], [1.0])
    with pytest.raises(ValueError, match="y must be numbers"):
        Gram.of([[1.0]], ["a"])


@pytest.mark.needs_compiler
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("full", [False, True])
def test_no_temporary_of_the_size_of_the_data(order, dtype, full):
    X = np.ones((2_000_000, 10), dtype=dtype, order=order)
    X[::2] += 1
    Moments.of(X[:1000].copy(order), full=full)
    tracemalloc.start()
    Moments.of(X, full=full)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    labels = X.shape[0] * 8
    # A chunk of another kind is copied, for each thread one; 10 columns make labels a large share.
    assert peak <= labels + 0.4 * X.nbytes


def test_numbers_that_csr_stores_in_parts_are_numbers():
    """Squares of the parts were summed, so that variances came out as half of what they are."""
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    whole = sp.csr_matrix(X)
    parts = sp.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), X.shape
    )
    for options in ({}, {"missing": "ignore"}, {"full": True}):
        moments, expected = Moments.of(parts, y, **options), Moments.of(X, y, **options)
        np.testing.assert_allclose(moments.scatter, expected.scatter, rtol=1e-12)
    assert parts.nnz == 2 * whole.nnz  # what was given is left as it was


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("weight", [1e160, 1e300])
def test_weights_whose_products_leave_the_range_of_doubles_merge(weight, full):
    X = np.random.default_rng(0).standard_normal((40, 3))
    a, b = (Moments.of(part, None, np.full(20, weight), full=full) for part in (X[:20], X[20:]))
    whole = Moments.of(X, full=full)
    for moments in (a + b, a + b - a + a):
        np.testing.assert_allclose(moments.mean, whole.mean, rtol=1e-9)
        np.testing.assert_allclose(moments.scatter / weight, whole.scatter, rtol=1e-9)


def test_what_is_too_large_for_doubles_is_refused():
    far = Moments.of([[9.3e153], [9.2e153]]), Moments.of([[-9.3e153], [-9.2e153]])
    with pytest.raises(ValueError, match="rescale the features, or the weights"):
        far[0] + far[1]
    with pytest.raises(ValueError, match="weights must add up to less than"):
        Moments.of([[1.0], [2.0]], None, [1e308, 1e308])


def test_one_row_is_checked_as_two_are():
    with pytest.raises(ValueError, match=r"y must have shape \(1,\)"):
        Moments.of(np.ones((1, 2)), [0, 1, 2])
    with pytest.raises(ValueError, match=r"X must hold numbers"):
        Moments.of(np.array([["1", "2"]]))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e120])
def test_digits_where_rows_lie_far_from_the_origin(full, sparse, weighted, scale):
    """A class of one row in a thousand, and a column of rare values, have the digits of all."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal((4000, 5))
    near[:, 4] = rng.random(4000) < 0.002
    y = (np.arange(4000) % 1000 == 7).astype(int)
    offset = np.array([1e8, -1e8, 3e7, 0, 0]) + np.outer(y, [1e9, 0, 0, 0, 0])
    X = scale * np.round(near + offset, 4)
    w = rng.uniform(0.5, 2, 4000) if weighted else None
    found = Moments.of(sp.csr_matrix(X) if sparse else X, y, w, full=full)
    for k in (0, 1):
        rows = X[y == k] / scale
        weight = np.ones(len(rows)) if w is None else w[y == k]
        start = np.round(rows.mean(axis=0))
        away = rows - start
        mean = np.average(away, axis=0, weights=weight)
        away -= mean
        expected = (away * weight[:, None]).T @ away
        size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        got = found.scatter[k] / scale / scale
        if not full:
            expected, size = np.diag(expected), np.diag(size)
        # Rows are rounded at 1e-16 of themselves: 1e-7 of the spread if scale is no power of two.
        tolerance = 1e-9 if scale == 1 else 1e-6
        assert np.all(np.abs(got - expected) <= tolerance * size)
        high = (found.mean[k] - scale * start) / scale
        np.testing.assert_allclose(high + found.mean_low[k] / scale, mean, atol=1e-7)


def test_a_center_far_from_its_bucket_costs_no_digits(monkeypatch):
    """The rows that centers are chosen from do not show a class that comes once in a while."""
    monkeypatch.setattr("rosenblatt.statistics.moments.LOOKED_AT", 1)
    monkeypatch.setattr("rosenblatt.statistics.moments.LOOKED_AT_PER_BUCKET", 1)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 4)) + 1e8, np.arange(3000) % 500 == 3
    X[y] += 1e10
    for full in (False, True):
        found = Moments.of(X, y, full=full).diagonal()
        np.testing.assert_allclose(found.scatter[1], X[y].var(axis=0) * y.sum(), rtol=1e-9)


def test_the_bound_of_a_subtraction_covers_the_values_of_a_single_row_left():
    whole, rest = Moments.of([[0.0], [0.0], [1.0]]), Moments.of([[0.0], [1.0]])
    assert (whole - rest).mean[0, 0] != 0  # only rounding
    assert whole.subtraction_bound(rest) > 1
