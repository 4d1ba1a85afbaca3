"""The passes equal the slow, obvious ones, whatever the storage, precision and tie rule."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, PocketPerceptron
from tests.reference import perceptron as reference

N_PASSES = 3
boundaries = st.sampled_from(["mistake", "positive", "negative"])
storages = st.sampled_from([np.asarray, sp.csr_matrix])
dtypes = st.sampled_from([np.float64, np.float32])


@st.composite
def problems(draw, n_classes):
    """Rows, labels of all classes, weights. Small integers: sums are exact."""
    n, d = draw(st.integers(n_classes, 9)), draw(st.integers(1, 5))
    X = draw(nps.arrays(np.float64, (n, d), elements=st.integers(-3, 3).map(float)))
    X[~X.any(axis=1), 0] = 1.0  # empty rows are not visited without an intercept
    y = draw(nps.arrays(np.int32, n, elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    weight = draw(nps.arrays(np.float64, n, elements=st.sampled_from([1.0, 2.0, 0.5])))
    return X, y, weight


def fit(model, X, y, weight, **parameters):
    """Fit in the order of the data, for some passes."""
    model.set_params(shuffle=False, max_iter=N_PASSES, tol=None, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weight)


def run_of(model):
    """The last weights, biases and number of corrections."""
    if isinstance(model, AveragedPerceptron | PocketPerceptron):
        return model.last_coef_, model.last_intercept_, model.n_updates_
    return model.coef_, model.intercept_, model.n_updates_


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, PocketPerceptron])
@given(problems(2), boundaries, st.booleans(), storages, dtypes)
def test_two_classes(kind, problem, boundary, fit_intercept, storage, dtype):
    X, y, weight = problem
    model = fit(
        kind(), storage(X.astype(dtype)), y, weight, boundary=boundary, fit_intercept=fit_intercept
    )
    sign, orders = np.where(y == 1, 1.0, -1.0), [range(len(y))] * model.n_iter_
    w, b, mistakes = reference.perceptron(
        X, sign, orders, step=weight, boundary=boundary, bias=float(fit_intercept)
    )
    coef, intercept, n_updates = run_of(model)
    assert coef.dtype == dtype
    assert np.array_equal(coef[0], w)
    assert intercept[0] == b
    assert n_updates == sum(mistakes)


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, PocketPerceptron])
@given(problems(4), boundaries, st.booleans(), storages, dtypes)
def test_several_classes(kind, problem, boundary, fit_intercept, storage, dtype):
    X, y, weight = problem
    model = fit(
        kind(), storage(X.astype(dtype)), y, weight, boundary=boundary, fit_intercept=fit_intercept
    )
    W, b, mistakes = reference.multiclass(
        X, y, 4, [range(len(y))] * model.n_iter_, step=weight, boundary=boundary,
        bias=float(fit_intercept),
    )  # fmt: skip
    coef, intercept, n_updates = run_of(model)
    assert np.array_equal(coef, W)
    assert np.array_equal(intercept, b)
    assert n_updates == sum(mistakes)
    assert not coef.sum(axis=0).any(), "what one class gains another loses"


@given(problems(2) | problems(3), boundaries, st.booleans())
def test_coefficients_of_a_kernel_give_the_weights(problem, boundary, fit_intercept):
    X, y, weight = problem
    settings = {"boundary": boundary, "fit_intercept": fit_intercept}
    linear = fit(Perceptron(), X, y, weight, **settings)
    model = fit(KernelPerceptron("linear"), X, y, weight, **settings)
    assert np.array_equal(model.dual_coef_ @ model.support_vectors_, linear.coef_)
    assert np.array_equal(model.intercept_, linear.intercept_)
    assert model.n_updates_ == linear.n_updates_


@given(problems(2) | problems(3), boundaries, storages, st.sampled_from(["l1", "l2"]))
def test_a_penalty_of_zero_changes_nothing(problem, boundary, storage, penalty):
    X, y, weight = problem
    plain = fit(Perceptron(), storage(X), y, weight, boundary=boundary)
    shrinking = fit(
        Perceptron(penalty=penalty, alpha=0.0), storage(X), y, weight, boundary=boundary
    )
    assert np.array_equal(plain.coef_, shrinking.coef_)
    assert np.array_equal(plain.intercept_, shrinking.intercept_)


@given(problems(2) | problems(3), storages, st.integers(1, 6))
def test_a_limit_on_updates_ends_the_run_before_the_next_one(problem, storage, most):
    X, y, weight = problem
    model = fit(Perceptron(max_updates=most), storage(X), y, weight)
    free = fit(Perceptron(), storage(X), y, weight)
    assert model.n_updates_ == min(most, free.n_updates_)
    pocket = fit(PocketPerceptron(max_updates=most), storage(X), y, weight)
    assert pocket.n_updates_ == model.n_updates_
    assert pocket.t_ == model.t_, "rows without a mistake are visited up to the next mistake"
    assert np.array_equal(pocket.last_coef_, model.coef_)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_that_is_not_finite_is_refused_and_the_model_stays(bad, storage, n_classes):
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-3.0, 1.0]]), np.arange(3) % n_classes
    for kind in (Perceptron, AveragedPerceptron, PocketPerceptron):
        model = fit(kind(), X, y, None)
        before = model.coef_.copy()
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            model.fit(storage(np.where(X == 2.0, bad, X)), y)
        assert np.array_equal(model.coef_, before)
