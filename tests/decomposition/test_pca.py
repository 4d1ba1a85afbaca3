"""C12: principal components from the scatter, beside scikit-learn's and beside exact numbers."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition as theirs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris

from rosenblatt import PCA, LinearDiscriminantAnalysis, certify
from rosenblatt.statistics import Moments

IRIS, SPECIES = load_iris(return_X_y=True)
PUBLISHED = (
    *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
    *("mean_", "noise_variance_", "n_components_", "n_samples_", "n_features_in_"),
)
TABLES = st.tuples(st.integers(3, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(-9, 9))
)


def equal_attributes(a, b, rtol=1e-9):
    for name in PUBLISHED:
        np.testing.assert_allclose(
            getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("n_components", [None, 0, 2, 0.9, "mle"])
@pytest.mark.parametrize("whiten", [False, True])
def test_it_is_scikit_learns(n_components, whiten):
    ours, other = (kind(n_components, whiten=whiten).fit(IRIS) for kind in (PCA, theirs.PCA))
    equal_attributes(ours, other)
    np.testing.assert_allclose(ours.transform(IRIS), other.transform(IRIS), atol=1e-10)
    if n_components != 0:
        back = ours.inverse_transform(ours.transform(IRIS))
        np.testing.assert_allclose(back, other.inverse_transform(other.transform(IRIS)), atol=1e-10)
        np.testing.assert_allclose(ours.score_samples(IRIS), other.score_samples(IRIS), rtol=1e-8)


@pytest.mark.parametrize("solver", ["full", "arpack", "randomized"])
def test_solvers_that_read_the_rows_are_scikit_learns(solver):
    arguments = {"n_components": 2, "svd_solver": solver, "random_state": 0}
    ours, other = PCA(**arguments).fit(IRIS), theirs.PCA(**arguments).fit(IRIS)
    equal_attributes(ours, other)
    assert not hasattr(ours, "statistics_")
    projected = PCA(copy=False, **arguments).fit_transform(IRIS.copy())
    np.testing.assert_allclose(projected, other.transform(IRIS), atol=1e-10)


def test_wide_tables_are_left_to_scikit_learn():
    wide = np.random.default_rng(0).normal(size=(20, 150))
    model = PCA(3, random_state=0).fit(wide)
    equal_attributes(model, theirs.PCA(3, random_state=0).fit(wide))
    with pytest.raises(ValueError, match=r"took the axes of this wide table from its rows"):
        model.forget(wide[:2])
    kept = PCA(3, svd_solver="covariance_eigh").fit(wide)
    np.testing.assert_allclose(kept.explained_variance_, model.explained_variance_)
    kept.forget(wide[:2])
    assert model.fit(IRIS).forget(IRIS[:2]).n_samples_ == 148  # a fit to other rows starts anew


def test_rows_far_from_the_origin_keep_their_digits():
    far = IRIS + 1e7
    near, moved = PCA().fit(IRIS), PCA().fit(far)
    np.testing.assert_allclose(moved.explained_variance_, near.explained_variance_, rtol=1e-7)


def test_sparse_rows_and_float32_give_the_same_axes():
    dense = np.where(IRIS > 1.5, IRIS, 0.0)
    model = PCA().fit(dense)
    equal_attributes(PCA().fit(sp.csr_matrix(dense)), model)
    single = PCA().fit(dense.astype(np.float32))
    assert {getattr(single, name).dtype for name in PUBLISHED[:5]} == {np.dtype(np.float32)}
    np.testing.assert_allclose(single.explained_variance_, model.explained_variance_, rtol=1e-5)


def test_streams_merges_and_forgetting_give_what_one_fit_gives():
    whole = PCA(3).fit(IRIS)
    stream = PCA(3)
    for start in range(0, 150, 11):
        stream.partial_fit(IRIS[start : start + 11])
    equal_attributes(stream, whole)
    merged = PCA(3).fit(IRIS[:40]).merge(PCA(3).fit(IRIS[40:]))
    equal_attributes(merged, whole)
    equal_attributes(merged.forget(IRIS[:40]), PCA(3).fit(IRIS[40:]), rtol=1e-8)
    equal_attributes(PCA.from_statistics(whole.statistics_, n_components=3), whole)


def test_a_stream_has_as_many_axes_as_rows_at_first():
    model = PCA(3)
    for n in range(1, 6):
        model.partial_fit(IRIS[n - 1 : n])
        assert len(model.components_) == min(n, 3)
        assert np.isfinite(model.explained_variance_ratio_).all()


def test_the_statistic_of_classes_is_added_up():
    model = PCA.from_statistics(LinearDiscriminantAnalysis().fit(IRIS, SPECIES).statistics_)
    equal_attributes(model, PCA().fit(IRIS))
    with pytest.raises(ValueError, match=r"full=True"):
        PCA.from_statistics(Moments.of(IRIS))


def test_a_weight_of_two_is_a_row_twice():
    weight = np.arange(150) % 3
    repeated = PCA().fit(np.repeat(IRIS, weight, axis=0))
    equal_attributes(PCA().fit(IRIS, sample_weight=weight), repeated)


def test_models_are_copied_and_pickled():
    model = PCA(2).fit(IRIS)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        equal_attributes(other.partial_fit(IRIS[:5]), copy.copy(model).partial_fit(IRIS[:5]))


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (PCA(5), IRIS, r"n_components=5 must be between 0 and min\(n_samples, n_features\)=4"),
        (PCA(), IRIS[:1], "weigh more than one in all"),
        (PCA("mle"), IRIS[:3], "n_components='mle' is only supported if n_samples >= n_features"),
        (PCA(), np.where(IRIS > 5, np.nan, IRIS), "Input X contains NaN"),
        (PCA(), np.where(IRIS > 5, np.inf, IRIS), "Input X contains infinity"),
        (PCA(-1), IRIS, "n_components"),
    ],
)
def test_bad_input_is_refused(model, X, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X)
    assert not hasattr(model, "components_")


def test_solvers_that_read_the_rows_refuse_what_needs_a_statistic():
    model = PCA(svd_solver="full").fit(IRIS)
    scatter = PCA().fit(IRIS).statistics_
    for refused in (
        lambda: model.partial_fit(IRIS),
        lambda: model.forget(IRIS[:3]),
        lambda: model.merge(copy.deepcopy(model)),
        lambda: PCA.from_statistics(scatter, svd_solver="full"),
    ):
        with pytest.raises(ValueError, match="svd_solver='full' must read the rows themselves"):
            refused()
    with pytest.raises(ValueError, match="use svd_solver='covariance_eigh'"):
        model.fit(IRIS, sample_weight=np.ones(150))


def exact_covariance(X):
    """The covariance in fractions."""
    rows = [[Fraction(int(x)) for x in row] for row in X]
    n, d = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(d)]
    return [
        [sum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) / (n - 1) for j in range(d)]
        for i in range(d)
    ]


@given(TABLES, st.sampled_from([PCA, theirs.PCA]), st.floats(-1, 1), st.data())
def test_no_certificate_is_false(X, kind, push, data):
    """The excess and each residual, in fractions, are never above what the certificate states."""
    k = data.draw(st.integers(1, min(X.shape)))
    if len(np.unique(X, axis=0)) == 1:
        return
    model = kind(k, svd_solver="covariance_eigh").fit(X.astype(float))
    if data.draw(st.booleans()):  # axes that are not the best
        spoiled, _ = np.linalg.qr(model.components_.T + push * np.eye(X.shape[1], k))
        model.components_ = spoiled.T
    certificate = certify(model, X)
    S = exact_covariance(X)
    axes = [[Fraction(float(v)) for v in axis] for axis in model.components_]
    images = [[sum(a * b for a, b in zip(row, axis, strict=True)) for row in S] for axis in axes]
    along = [
        sum(a * b for a, b in zip(v, w, strict=True)) for v, w in zip(axes, images, strict=True)
    ]
    best = float(np.sort(np.linalg.eigvalsh(np.array(S, float)))[::-1][:k].sum())
    total = float(sum(S[j][j] for j in range(len(S))))
    assert best - float(sum(along)) <= certificate["captured"].value + 1e-13 * total
    for image, axis, variance in zip(images, axes, model.explained_variance_, strict=True):
        rest = [a - Fraction(float(variance)) * b for a, b in zip(image, axis, strict=True)]
        assert float(sum(r * r for r in rest)) ** 0.5 <= certificate["eigenpairs"].value


def test_a_certificate_fails_when_an_attribute_is_wrong():
    model = PCA(3).fit(IRIS)
    assert certify(model, IRIS).holds
    for name in (*PUBLISHED, "statistics_"):
        wrong = copy.copy(model)
        value = getattr(model, name)
        changed = PCA().fit(IRIS[:50]).statistics_ if name == "statistics_" else value * 3 + 1
        setattr(wrong, name, changed)
        try:
            assert not certify(wrong, IRIS).holds, name
        except ValueError:
            assert name == "n_features_in_"


def test_axes_that_are_not_the_first_are_found_out():
    model = theirs.PCA().fit(IRIS)
    assert certify(model, IRIS).holds
    last = copy.copy(model)
    for name in PUBLISHED[:4]:
        setattr(last, name, getattr(model, name)[2:])
    certificate = certify(last, IRIS)
    assert certificate["eigenpairs"].holds
    assert not certificate["captured"].holds


@pytest.mark.parametrize("solver", ["full", "randomized"])
@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e200])
def test_solvers_that_read_the_rows_publish_no_nan(solver, scale):
    X, _ = load_iris(return_X_y=True)
    for method in ("fit", "fit_transform"):
        model = PCA(1, svd_solver=solver, random_state=0)
        with pytest.raises(ValueError, match="finds no axes"):
            getattr(model, method)(X * scale)
        assert not hasattr(model, "components_")


def test_a_fit_to_very_large_numbers_is_certified():
    X, _ = load_iris(return_X_y=True)
    assert certify(PCA().fit(X * 1e150), X * 1e150).holds


def test_more_rows_than_there_are_cannot_be_forgotten():
    X, _ = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Cannot remove 100 rows: it has 50"):
        PCA(2).fit(X[:50]).forget(X[:100])


@pytest.mark.parametrize("share", [0.9, 1 - 2.0**-53])
def test_a_share_of_the_variance_never_keeps_more_axes_than_columns(share):
    for X in (np.ones((50, 3)), np.random.default_rng(1).standard_normal((30, 5))):
        model = PCA(n_components=share).fit(X)
        assert model.n_components_ == len(model.components_) <= X.shape[1]
