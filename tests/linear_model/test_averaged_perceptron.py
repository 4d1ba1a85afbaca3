"""The averaged perceptron: the mean of a perceptron's run, by brute force."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from rosenblatt import AveragedPerceptron, Perceptron, Trace
from tests.contract.estimators import problem


def fit(model, X, y, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **arguments)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 3]),
    st.sampled_from([np.asarray, sp.csr_matrix]),
    st.booleans(),
)
def test_it_is_the_mean_of_the_weights_after_every_visit(seed, n_classes, storage, shuffle):
    # J7: the average of all planes
    rng = np.random.RandomState(seed)
    X, y = rng.randint(-3, 4, (12, 3)).astype(float), np.arange(12) % n_classes
    settings = {"max_iter": 4, "tol": None, "shuffle": shuffle, "random_state": seed}
    trace = Trace(every="visit")
    run = fit(Perceptron(**settings).set_callbacks(trace), X, y)
    model = fit(AveragedPerceptron(**settings), storage(X), y)
    visits = [step.estimator for step in trace.steps()[1:]]
    np.testing.assert_allclose(
        model.coef_, np.mean([visit.coef_ for visit in visits], axis=0), atol=1e-12
    )
    np.testing.assert_allclose(
        model.intercept_, np.mean([visit.intercept_ for visit in visits], axis=0), atol=1e-12
    )
    assert np.array_equal(model.last_coef_, run.coef_)
    assert model.n_updates_ == run.n_updates_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_agrees_with_scikit_learn_in_the_order_of_the_data(dtype):
    X, y = problem()
    X = X.astype(dtype)
    ours = fit(AveragedPerceptron(max_iter=5, tol=None, shuffle=False), X, y)
    theirs = SGDClassifier(
        loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0,
        average=True, max_iter=5, tol=None, shuffle=False,
    ).fit(X, y)  # fmt: skip
    tolerance = 1e-9 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_batches_make_one_pass(n_classes):
    X, y = problem(n_classes)
    X = np.round(2 * X)
    whole = fit(AveragedPerceptron(max_iter=1, tol=None, shuffle=False), X, y)
    parts = AveragedPerceptron(shuffle=False)
    for start in range(0, len(y), 17):
        batch = slice(start, start + 17)
        parts.partial_fit(X[batch], y[batch], classes=list("abc")[:n_classes])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-9)
    assert np.array_equal(parts.last_coef_, whole.last_coef_)
    assert parts.t_ == whole.t_


def test_it_is_calmer_than_the_last_weights_on_noisy_data(data_folder):
    """On ionosphere, by the published split of 200 and 151 rows, over ten orders."""
    table = np.genfromtxt(data_folder / "ionosphere" / "ionosphere.csv", delimiter=",", dtype=str)
    X, y = table[1:, :-1].astype(float), table[1:, -1]
    plain, mean = (
        [
            fit(model(random_state=seed), X[:200], y[:200]).score(X[200:], y[200:])
            for seed in range(10)
        ]
        for model in (Perceptron, AveragedPerceptron)
    )
    assert np.mean(mean) >= np.mean(plain)
    assert np.std(mean) <= np.std(plain)


def test_a_warm_start_goes_on_with_the_run_and_begins_a_new_mean():
    X, y = problem()
    settings = {"tol": None, "shuffle": False}
    model = fit(AveragedPerceptron(max_iter=2, warm_start=True, **settings), X, y)
    again = fit(model.set_params(max_iter=3), X, y)
    run = fit(Perceptron(max_iter=5, **settings), X, y)
    assert np.array_equal(again.last_coef_, run.coef_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_batches_go_on_from_the_mean_that_held_out_rows_chose(n_classes):
    """The visits after the chosen pass are no part of its mean, but were counted."""
    X, y = problem(n_classes)
    settings = {"shuffle": False, "max_iter": 30, "early_stopping": True}
    for seed in range(20):
        model = fit(AveragedPerceptron(random_state=seed, **settings), X, y)
        best = model.n_iter_ - int(np.argmax(model.validation_scores_[::-1]))
        rows_a_pass = len(y) - round(0.1 * len(y))
        assert model.t_ == 1 + best * rows_a_pass
