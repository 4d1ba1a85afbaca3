"""The pocket: never worse than anything the run has seen."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron, PocketPerceptron, Trace, certify
from tests.contract.estimators import problem
from tests.reference import perceptron as reference

BOUNDARIES = ["mistake", "positive", "negative"]


def error_of(model, X, y, weight, boundary):
    """The weighted share of rows that weights get wrong by the rule of the run."""
    scores = X @ model.coef_.T + model.intercept_
    scores = scores[:, 0] if scores.shape[1] == 1 else scores
    if scores.ndim == 1:
        sides = np.where(y == 1, 1, -1)
        right = [
            reference.is_right(score, side, boundary)
            for score, side in zip(scores, sides, strict=True)
        ]
    else:
        right = [reference.wins(row, k, boundary) for row, k in zip(scores, y, strict=True)]
    wrong = ~np.array(right)
    return weight[wrong].sum() / weight.sum()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 3]),
    st.sampled_from(["cyclic", "random", "first", "worst"]),
    st.sampled_from(BOUNDARIES),
    st.sampled_from([np.asarray, sp.csr_matrix]),
)
def test_the_pocket_holds_the_best_of_all_weights_of_the_run(
    seed, n_classes, pick, boundary, storage
):
    # J6: the pocket: keep the best plane so far
    rng = np.random.RandomState(seed)
    X, y = rng.randint(-3, 4, (14, 3)).astype(float), np.arange(14) % n_classes
    weight = rng.randint(1, 4, 14).astype(float)
    settings = {"max_updates": 30, "random_state": seed, "pick": pick, "boundary": boundary}
    trace = Trace(every="update")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run = Perceptron(tol=None, **settings).set_callbacks(trace)
        run.fit(X, y, sample_weight=weight)
    model = PocketPerceptron(**settings).fit(storage(X), y, sample_weight=weight)
    errors = [error_of(step.estimator, X, y, weight, boundary) for step in trace.steps()]
    assert model.pocket_error_ == pytest.approx(min(errors), abs=1e-12)
    assert error_of(model, X, y, weight, boundary) == pytest.approx(min(errors), abs=1e-12)
    first_best = int(np.argmin(np.round(errors, 12)))
    assert model.pocket_history_[-1][0] == first_best, "of equals the first is kept"
    assert np.array_equal(model.last_coef_, run.coef_)
    assert model.n_updates_ == run.n_updates_


def test_its_history_only_falls():
    X, y = problem(n_rows=300)
    model = PocketPerceptron(max_updates=500).fit(X, y)
    updates, errors = zip(*model.pocket_history_, strict=True)
    assert list(updates) == sorted(updates)
    assert all(later < before for before, later in pairwise(errors))
    assert model.pocket_error_ == errors[-1]


def test_the_horizon_is_kept_and_is_no_reason_to_warn():
    X, y = problem()
    model = PocketPerceptron(max_updates=37).fit(X, y)
    assert model.n_updates_ == 37
    assert model.stop_reason_ == "max_iter"


@pytest.mark.parametrize("bad", [0, -1, 2.5])
def test_a_horizon_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match=f"'max_updates' parameter of PocketPerceptron.*{bad}"):
        PocketPerceptron(max_updates=bad).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_batches_keep_the_better_of_old_and_new(n_classes):
    X, y = problem(n_classes)
    model = PocketPerceptron()
    for start in range(0, len(y), 40):
        batch = slice(start, start + 40)
        model.partial_fit(X[batch], y[batch], classes=list("abc")[:n_classes])
    assert model.score(X, y) > 0.5


def test_it_is_at_least_as_good_on_its_training_rows_as_the_run_on_ionosphere(data_folder):
    table = np.genfromtxt(data_folder / "ionosphere" / "ionosphere.csv", delimiter=",", dtype=str)
    X, y = table[1:, :-1].astype(float), table[1:, -1]
    for seed in range(5):
        model = PocketPerceptron(random_state=seed, max_updates=2000).fit(X[:200], y[:200])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            run = Perceptron(random_state=seed, max_updates=2000, tol=None).fit(X[:200], y[:200])
        assert model.score(X[:200], y[:200]) >= run.score(X[:200], y[:200])


def test_rows_that_no_weights_get_right_are_part_of_the_error():
    X, y = [[1.0, 1], [-1, -1], [0, 0], [0, 0]], [1, 0, 1, 0]
    model = PocketPerceptron(fit_intercept=False).fit(X, y)
    assert model.pocket_error_ == 0.5  # an empty row scores zero, which is a mistake for both
    assert certify(model, X, y).holds


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equal_errors_are_no_improvement_whatever_the_order_of_the_sum(n_classes):
    for seed in range(30):
        rng = np.random.RandomState(seed)
        X, y = rng.standard_normal((40, 3)), np.arange(40) % n_classes
        weight = rng.randint(1, 10, 40) / 10
        model = PocketPerceptron(max_updates=300).fit(X, y, sample_weight=weight)
        errors = [error for _, error in model.pocket_history_]
        assert errors[0] == 1.0
        assert all(later < before - 1e-9 for before, later in pairwise(errors))


def test_certificates_hold_on_decimal_grids():
    for seed in range(30):
        rng = np.random.RandomState(seed)
        X, y = rng.randint(-3, 4, (40, 2)) / 10, rng.randint(2, size=40)
        model = PocketPerceptron(max_updates=200).fit(X, y)
        certificate = certify(model, X, y)
        assert certificate["pocket error"].holds, str(certificate)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1.0, 1e150])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_scale_of_the_rows_does_not_matter_to_the_pocket(scale, fit_intercept):
    X, y = problem(n_rows=300)
    settings = {"max_updates": 300, "fit_intercept": fit_intercept}
    if fit_intercept and scale != 1.0:
        X = np.column_stack([scale * X, np.full(len(X), scale)])
        settings["fit_intercept"] = False
        model = PocketPerceptron(**settings).fit(X, y)
        expected = PocketPerceptron(**settings).fit(X / scale, y)
    else:
        model = PocketPerceptron(**settings).fit(scale * X, y)
        expected = PocketPerceptron(**settings).fit(X, y)
    assert model.pocket_error_ == expected.pocket_error_


def test_certificates_hold_for_weights_that_were_rounded_to_32_bits():
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X = rng.standard_normal((60, 2)).astype(np.float32)
        y = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(int)
        model = PocketPerceptron(max_updates=100, class_weight="balanced").fit(X, y)
        assert certify(model, X, y)["pocket error"].holds


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kind", ["normal", "whole", "wild"])
def test_rows_sorted_by_hardness_miss_no_better_plane(kind, storage):
    """After 32 corrections the rows are sorted: by brute force, on enough rows for it."""
    for seed in range(6):
        rng = np.random.RandomState(seed)
        X = rng.standard_normal((300, 4))
        X = {
            "normal": X,
            "whole": np.round(2 * X),
            "wild": X * 10.0 ** rng.randint(-6, 6, (300, 1)),
        }[kind]
        y = (X @ rng.standard_normal(4) + rng.standard_normal(300) > 0).astype(int)
        trace = Trace(every="update")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            Perceptron(tol=None, max_updates=250).set_callbacks(trace).fit(X, y)
        model = PocketPerceptron(max_updates=250).fit(storage(X), y)
        weight = np.ones(300)
        errors = [error_of(step.estimator, X, y, weight, "mistake") for step in trace.steps()]
        assert model.pocket_error_ == pytest.approx(min(errors), abs=1e-12)
        assert model.pocket_history_[-1][0] == int(np.argmin(np.round(errors, 12)))


def test_weights_that_add_up_to_infinity_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="sum of the weights is too large for 64 bits"):
        PocketPerceptron().fit(X, y, sample_weight=np.full(len(y), 1e308))
