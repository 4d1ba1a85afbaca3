"""The algebra: adding and taking out rows is as if they had, or had not, been read with the rest.

Counts are compared to the last bit. Moments are compared to 1e-9 of their size, and the size of a
scatter is its own: nothing is excused by a large mean or a large row that has gone.
"""

import functools
import operator

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt import statistics
from rosenblatt.runtime import threads
from rosenblatt.statistics import (
    CategoryCounts,
    ClassCounts,
    Extremes,
    FeatureCounts,
    Gram,
    Moments,
    PairCounts,
    ProductStatistic,
    RowCounts,
    Statistic,
    TermCounts,
)
from tests.reference import statistics as reference

D = 3


class Kind:
    """One way of making a statistic, and whether it must be exact."""

    def __init__(self, make, zero, exact, storages=(np.asarray,)):
        self.make, self.zero, self.exact, self.storages = make, zero, exact, storages


def with_gaps(X):
    """The rows with NaN where they were 4."""
    X = X.astype(X.dtype if X.dtype.kind == "f" else float)
    numbers = X.data if sp.issparse(X) else X
    numbers[numbers == 4] = np.nan
    return X


KINDS = {
    "class counts": Kind(lambda X, y, w: ClassCounts.of(y, w), ClassCounts.zero, True),
    "feature counts": Kind(
        lambda X, y, w: FeatureCounts.of(X, y, w),
        lambda: FeatureCounts.zero(D),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "presence": Kind(
        lambda X, y, w: FeatureCounts.of(X, y, w, binarize=1),
        lambda: FeatureCounts.zero(D, binarize=1.0),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "feature counts with gaps": Kind(
        lambda X, y, w: FeatureCounts.of(with_gaps(X), y, w, missing="ignore"),
        lambda: FeatureCounts.zero(D, missing="ignore"),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "presence with gaps": Kind(
        lambda X, y, w: FeatureCounts.of(with_gaps(X), y, w, binarize=1, missing="ignore"),
        lambda: FeatureCounts.zero(D, binarize=1.0, missing="ignore"),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "category counts": Kind(
        lambda X, y, w: CategoryCounts.of(X.astype(int), y, w),
        lambda: CategoryCounts.zero(D),
        True,
    ),
    "pair counts": Kind(
        lambda X, y, w: PairCounts.of(X.astype(int), y, w),
        lambda: PairCounts.zero(D),
        True,
    ),
    "row counts": Kind(
        lambda X, y, w: RowCounts.of(X, y, w),
        lambda: RowCounts.zero(D),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "extremes": Kind(
        lambda X, y, w: Extremes.of(X, y, w),
        lambda: Extremes.zero(D),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "extremes with gaps": Kind(
        lambda X, y, w: Extremes.of(with_gaps(X), y, w, missing="ignore"),
        lambda: Extremes.zero(D, missing="ignore"),
        True,
        (np.asarray, sp.csr_matrix),
    ),
    "moments": Kind(
        lambda X, y, w: Moments.of(X, y, w),
        lambda: Moments.zero(D),
        False,
        (np.asarray, sp.csr_matrix),
    ),
    "known moments": Kind(
        lambda X, y, w: Moments.of(X, y, w, missing="ignore"),
        lambda: Moments.zero(D, missing="ignore"),
        False,
        (np.asarray, sp.csr_matrix),
    ),
    "full moments": Kind(
        lambda X, y, w: Moments.of(X, y, w, full=True),
        lambda: Moments.zero(D, full=True),
        False,
        (np.asarray, sp.csr_matrix),
    ),
    "gram": Kind(
        lambda X, y, w: Gram.of(X, np.arange(len(y)) % 5 + 0.5, w),
        lambda: Gram.zero(D),
        False,
        (np.asarray, sp.csr_matrix),
    ),
}
# A product of other statistics, and one of texts instead of rows, have tests of their own.
ELSEWHERE = {Statistic, ProductStatistic, TermCounts}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
subtractable = {name: kind for name, kind in KINDS.items() if "extremes" not in name}
two_way_kinds = pytest.mark.parametrize("kind", subtractable.values(), ids=subtractable.keys())
one_batch = {name: kind for name, kind in KINDS.items() if name != "gram"}
row_kinds = pytest.mark.parametrize("kind", one_batch.values(), ids=one_batch.keys())


def test_every_statistic_is_here():
    public = {getattr(statistics, name) for name in statistics.__all__}
    public = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Statistic)}
    assert public - ELSEWHERE == {type(kind.zero()) for kind in KINDS.values()}


@st.composite
def batches(draw, least=0):
    """A few rows of small whole numbers, with labels and whole weights."""
    n = draw(st.integers(least, 6))
    X = draw(nps.arrays(np.float64, (n, D), elements=st.integers(0, 4).map(float)))
    y = np.array(draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)), dtype="<U1")
    w = draw(nps.arrays(np.int64, n, elements=st.integers(1, 3)))
    return X, y, w


def together(*parts):
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def same(kind, a, b):
    """Whether two statistics are equal, to the last bit or as far as moments go."""
    if kind.exact:
        return a == b
    return close(a, b)


def close(a, b, tolerance=1e-9):
    """Whether two moment statistics agree relative to their means and to their own scatters."""
    if isinstance(a, Gram):
        a, b = a.moments, b.moments
    if not (np.array_equal(a.classes, b.classes) and np.array_equal(a.rows, b.rows)):
        return False
    diagonal_a, diagonal_b = a.diagonal().scatter, b.diagonal().scatter
    size = np.sqrt(diagonal_b[:, :, None] * diagonal_b[:, None, :]) if a.full else diagonal_b
    # A mean is known to a part of the spread about it, or of itself.
    spread = np.abs(b.mean) + np.sqrt(diagonal_b)
    # Numbers in these tests are at least 1e-3 apart, or equal.
    return bool(
        np.allclose(a.feature_weight, b.feature_weight, rtol=tolerance, atol=0)
        and np.all(np.abs(a.mean - b.mean) <= tolerance * spread + 1e-15)
        and np.all(np.abs(a.scatter - b.scatter) <= tolerance * size + 1e-15)
        and np.all((diagonal_a == 0) == (diagonal_b == 0))
    )


@kinds
def test_nothing_and_nothing_is_nothing(kind):
    zero = kind.zero()
    assert zero + zero == zero
    assert zero - zero == zero
    assert len(zero) == 0
    assert sum([zero]) == zero


@kinds
@given(batch=batches())
def test_nothing_added_changes_nothing(kind, batch):
    a = kind.make(*batch)
    assert a + kind.zero() == a
    assert kind.zero() + a == a
    assert a - kind.zero() == a


@kinds
@given(first=batches(), second=batches())
def test_order_does_not_matter_to_the_last_bit(kind, first, second):
    a, b = kind.make(*first), kind.make(*second)
    assert a + b == b + a


@kinds
@given(batch=st.tuples(batches(), batches(), batches()))
def test_brackets_do_not_matter(kind, batch):
    a, b, c = (kind.make(*part) for part in batch)
    assert same(kind, (a + b) + c, a + (b + c))


@two_way_kinds
@given(first=batches(), second=batches())
def test_what_is_added_can_be_taken_out(kind, first, second):
    a, b = kind.make(*first), kind.make(*second)
    assert same(kind, a + b - b, a)
    assert same(kind, a + b - a, b)


@row_kinds
@given(first=batches(), second=batches())
def test_a_sum_is_the_statistic_of_all_rows_and_a_difference_of_the_rest(kind, first, second):
    whole = kind.make(*together(first, second))
    assert same(kind, kind.make(*first) + kind.make(*second), whole)
    if kind in subtractable.values():
        assert same(kind, whole - kind.make(*second), kind.make(*first))


@row_kinds
@given(batch=batches(1), data=st.data())
def test_any_batching_and_any_order(kind, batch, data):
    X, y, w = batch
    order = np.array(data.draw(st.permutations(range(len(y)))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(y)), max_size=3)))
    parts = [kind.make(X[rows], y[rows], w[rows]) for rows in np.split(order, cuts)]
    total = functools.reduce(operator.add, parts)
    assert same(kind, total, kind.make(*batch))


@row_kinds
@given(batch=batches())
def test_whole_weights_are_repetition(kind, batch):
    # F7: weighted counts
    X, y, w = batch
    again = np.repeat(np.arange(len(y)), w)
    weighted, repeated = kind.make(X, y, w), kind.make(X[again], y[again], None)
    assert np.array_equal(weighted.classes, repeated.classes)
    assert np.array_equal(weighted.weight, repeated.weight)
    for name, table in weighted._tables().items():
        if name not in ("rows", "noise"):
            assert (
                np.allclose(table, repeated._tables()[name], rtol=1e-12)
                if table.dtype.kind in ("f")
                else np.array_equal(table, repeated._tables()[name])
            )


@row_kinds
@given(batch=batches())
def test_rows_of_weight_zero_are_absent(kind, batch):
    X, y, w = batch
    w = np.where(np.arange(len(w)) % 2, 0, w)
    left = w > 0
    assert kind.make(X, y, w) == kind.make(X[left], y[left], w[left])


@kinds
@given(batch=batches())
def test_storage_and_precision_do_not_matter(kind, batch):
    X, y, w = batch
    expected = kind.make(X, y, w)
    for storage in kind.storages:
        for dtype in (np.float64, np.float32, np.int64, np.int32):
            other = kind.make(storage(X.astype(dtype)), y, w)
            assert same(kind, expected, other) or dtype == np.float32
            if hasattr(other, "dtype"):
                assert other.dtype == (np.float32 if dtype == np.float32 else np.float64) or (
                    isinstance(other, CategoryCounts)
                )
            mine, others = expected._tables(), other._tables()
            assert all(np.allclose(mine[t], others[t]) for t in mine if mine[t].dtype.kind != "U")


@kinds
@given(batch=batches())
def test_columns_first_in_memory_are_the_same(kind, batch):
    X, y, w = batch
    assert kind.make(np.asfortranarray(X), y, w) == kind.make(X, y, w)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_on_any_number_of_threads(n_threads, sparse, weighted, monkeypatch):
    monkeypatch.setattr("rosenblatt.statistics.batch.CELLS_PER_CHUNK", 3000)
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((5000, 7)) ** 3, rng.randint(0, 3, 5000)
    if sparse:
        X = sp.csr_matrix(np.where(X > 0.5, X, 0))
    w = rng.uniform(size=5000) if weighted else None

    def everything():
        yield Moments.of(X, y, w)
        yield Moments.of(X, y, w, full=True)
        yield Gram.of(X, y, w)
        yield Extremes.of(X, y, w)
        yield RowCounts.of(X, y, w)
        yield FeatureCounts.of(abs(X), y, w)
        yield FeatureCounts.of(X, y, w, binarize=0.1)
        yield CategoryCounts.of(rng.randint(0, 5, (5000, 7)) * 0 + y[:, None], y, w)

    with threads.limit(1):
        alone = list(everything())
    with threads.limit(n_threads):
        assert list(everything()) == alone


@row_kinds
@given(batch=batches(), data=st.data())
def test_groups_are_the_statistics_of_their_rows(kind, batch, data):
    X, y, w = batch
    groups = data.draw(nps.arrays(np.int64, len(y), elements=st.integers(0, 2)))
    expected = [kind.make(X[groups == g], y[groups == g], w[groups == g]) for g in range(3)]
    made = kind.make(X, y, w)
    if isinstance(made, ClassCounts):
        found = ClassCounts.by_group(y, groups, 3, w)
    else:
        options = {
            FeatureCounts: lambda: {"binarize": made.binarize, "missing": made.missing},
            CategoryCounts: dict,
            PairCounts: dict,
            Extremes: lambda: {"missing": made.missing},
            RowCounts: dict,
            Moments: lambda: {"full": made.full, "missing": made.missing},
        }[type(made)]()
        found = type(made).by_group(_input(made, X), y, groups, 3, w, **options)
    assert len(found) == 3
    assert all(same(kind, a, b) for a, b in zip(found, expected, strict=True))


def _input(made, X):
    if isinstance(made, FeatureCounts | Extremes) and made.missing == "ignore":
        return with_gaps(X)
    return X.astype(int) if isinstance(made, CategoryCounts) else X


# Moments where plain sums of squares fail: means 1e8 times the spread, and rows far out.


def hard_rows(seed, n, d, centre, spread):
    rng = np.random.RandomState(seed)
    return centre + spread * rng.standard_normal((n, d)), rng.randint(0, 2, n)


def expected_moments(X, y, full):
    """The exact moments, as doubles."""
    exact = reference.moments(X, y, np.ones(len(y)))
    mean = np.array([reference.floats(exact[k][1]) for k in sorted(exact)])
    scatter = np.array([reference.floats(exact[k][2]) for k in sorted(exact)])
    return mean, scatter if full else np.diagonal(scatter, axis1=1, axis2=2)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("n", [5, 300])
@pytest.mark.parametrize("centre", [0.0, 1e6, -1e8])
@pytest.mark.parametrize("out", [0.0, 100, 1e4, 1e8, -1e8])
@pytest.mark.parametrize("n_out", [1, 7])
def test_taking_out_rows_far_away_agrees_with_the_exact_moments_of_the_rest(
    full, n, centre, out, n_out
):
    X, y = hard_rows(0, n, 4, centre, 1.0)
    rng = np.random.RandomState(1)
    removed = centre + out + rng.standard_normal((n_out, 4)) * (1 + abs(out) / 7)
    classes = rng.randint(0, 2, n_out)
    mixed = rng.permutation(n + n_out)
    whole = Moments.of(np.vstack([X, removed])[mixed], np.append(y, classes)[mixed], full=full)
    left = whole - Moments.of(removed, classes, full=full)
    mean, scatter = expected_moments(X, y, full)
    sizes = (
        np.abs(scatter)
        if not full
        else np.sqrt(
            np.diagonal(scatter, axis1=1, axis2=2)[:, :, None]
            * np.diagonal(scatter, axis1=1, axis2=2)[:, None, :]
        )
    )
    bound = whole.subtraction_bound(Moments.of(removed, classes, full=full))
    if np.isfinite(bound):
        assert np.all(np.abs(left.scatter - scatter) <= bound * sizes)
    if abs(out) <= 100:
        assert bound < 1e-9
        assert np.all(np.abs(left.mean - mean) <= 1e-9 * np.abs(mean))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("n", [3000, 40_000])
def test_many_rows_mixed_with_far_ones(full, n):
    """A second mode as large as the first must not hide it."""
    X, y = hard_rows(2, n, 3, 1e6, 1.0)
    rng = np.random.RandomState(3)
    far = rng.uniform(size=n) < 0.3
    X[far] += 100 * rng.standard_normal((far.sum(), 1))
    left = Moments.of(X, y, full=full) - Moments.of(X[far], y[far], full=full)
    refit = Moments.of(X[~far], y[~far], full=full)
    assert close(left, refit)
    shifted = X[~far] - 1e6  # exact: neighbours of 1e6
    for k in (0, 1):
        rows = shifted[y[~far] == k]
        exact = ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
        assert np.allclose(left.diagonal().scatter[k], exact, rtol=1e-9, atol=0)


@pytest.mark.parametrize("full", [False, True])
def test_ten_thousand_rows_in_and_out_one_by_one(full):
    X, y = hard_rows(4, 200, 3, 1e6, 1.0)
    start = Moments.of(X, y, full=full)
    now = start
    for i in range(0, 200, 2):
        now = now + Moments.of(X[i : i + 1] + 100, y[i : i + 1], full=full)
    for i in range(0, 200, 2):
        now = now - Moments.of(X[i : i + 1] + 100, y[i : i + 1], full=full)
    assert close(now, start)


@given(
    X=nps.arrays(
        np.float64,
        st.tuples(st.integers(2, 12), st.just(2)),
        elements=st.floats(-1e8, 1e8).map(lambda x: round(x, 3)),
    ),
    cut=st.integers(1, 11),
    weights=st.booleans(),
)
def test_any_numbers_within_a_hundred_million(X, cut, weights):
    """Values three decimals apart, of any size up to 1e8: 11 digits between spread and mean."""
    cut = min(cut, len(X) - 1)
    w = np.arange(len(X)) % 3 + 0.25 if weights else None
    part = None if w is None else w[cut:]
    first = Moments.of(X[:cut], None, None if w is None else w[:cut])
    whole, rest = Moments.of(X, None, w), Moments.of(X[cut:], None, part)
    left, bound = whole - rest, whole.subtraction_bound(rest)
    if bound < 1e-9:
        scale = np.sqrt(first.scatter) + np.abs(first.mean)
        assert np.allclose(left.mean, first.mean, rtol=0, atol=1e-9 * scale.max() + 1e-300)
    if np.isfinite(bound):
        assert np.all(np.abs(left.scatter - first.scatter) <= bound * first.scatter)


def test_a_constant_column_has_no_scatter_whatever_the_constant():
    X = np.full((3000, 4), [0.1, 1e6 + 0.1, -(1e300**0.5), 0.0])
    y = np.arange(3000) % 3
    for full in (False, True):
        a = Moments.of(X, y, full=full)
        assert not a.scatter.any()
        assert np.array_equal(a.mean, X[:3])
        b = a + a + a
        assert not b.scatter.any()
        assert np.array_equal(b.mean, X[:3])
        assert not (b - a).scatter.any()
