import itertools
import warnings

import numpy as np
import pytest
from scipy.special import entr

from rosenblatt import LogisticRegression
from rosenblatt.solvers.logistic import balancing_move, choose_newton, duality_gap
from rosenblatt.solvers.newton import newton_cg
from rosenblatt.solvers.sampled_newton import hessian_sizes, sample_sizes, sampled_newton
from rosenblatt.solvers.softmax import SoftmaxProblem


def with_rare_columns(n=20_000, d=30, K=6, l2=1e-3, seed=0):
    """Numbers, and columns of few ones: in a sample some of these have none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 10:] = rng.random((n, d - 10)) < np.geomspace(10 / n, 0.1, d - 10)
    X[:, 10:] = (X[:, 10:] - X[:, 10:].mean(axis=0)) / X[:, 10:].std(axis=0)
    y = (X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return SoftmaxProblem(X, y, K, np.ones(n), 0.0, l2, fit_intercept=True, reference=False)


@pytest.mark.parametrize("l2", [1e-2, 1.0, 100.0])
def test_columns_of_few_ones_do_not_hold_it_up(l2):
    problem = with_rare_columns(l2=l2)
    assert choose_newton(problem) == "newton-sampled"
    steps = sampled_newton(problem, problem.at(np.zeros(problem.shape)))
    places = itertools.islice(steps, 50)
    short, small = 1e-4 * problem.n, 1e-4 * problem.zero()
    near = (place for place in places if place.gradient_norm < short)
    assert any(duality_gap(problem, place) < small for place in near)


def test_samples_grow_and_end_with_a_quarter_of_the_rows():
    problem = with_rare_columns()
    assert sample_sizes(problem) == [1860]  # ten for each parameter
    rows = hessian_sizes(problem)
    assert [next(rows) for _ in range(3)] == [5000, 20_000, 20_000]


def test_each_class_by_itself_is_a_block_of_the_whole():
    problem = with_rare_columns(n=500, d=12, K=4)
    place = problem.at(np.random.default_rng(0).normal(size=problem.shape))
    H = problem.hessian(place).reshape(*problem.shape, *problem.shape)
    for k, block in enumerate(problem.class_hessians(place)):
        np.testing.assert_allclose(block, H[:, k, :, k], rtol=1e-10, atol=1e-12)


def test_samples_are_of_rows_that_count():
    """Weights of a mask may have the period of a sample."""
    problem = with_rare_columns(n=2_000, d=12)
    problem.c = np.tile([0.0, 0.0, 1.0, 1.0], 500)
    for n_rows in (500, 250, 30):
        part = problem.sample(n_rows)
        assert n_rows <= part.n
        assert np.all(part.c > 0)
        np.testing.assert_allclose(part.c.sum(), problem.c.sum())


@pytest.mark.parametrize(("n", "name"), [(16_160, "newton-sampled"), (7_400, "newton-cg")])
def test_few_rows_beside_the_columns_are_no_sample(n, name):
    """There, what ties the classes together decides how far a step may go."""
    assert choose_newton(with_rare_columns(n=n, d=100, K=30)) == name


def test_columns_of_far_larger_scale_do_not_hold_it_up():
    problem = with_rare_columns(n=8_000, K=12)
    y = problem.code
    problem.X[:, 0] *= 1e3
    assert LogisticRegression(C=100).fit(problem.X, y).stop_reason_ == "converged"


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("most_copied", [0, 2**26])
def test_the_float32_twin_is_near_and_says_that_it_is_float32(reference, most_copied, monkeypatch):
    monkeypatch.setattr("rosenblatt.solvers.softmax.MAX_COPIED_BYTES", most_copied)
    given = with_rare_columns(n=3_000)
    problem = SoftmaxProblem(
        given.X, given.code, 6, np.linspace(0, 2, 3_000), 0.0, 1.0, True, reference
    )
    place = problem.at(0.3 * np.random.default_rng(1).normal(size=problem.shape))
    twin = problem.as_float32().at(place.point)
    assert twin.is_float32
    assert not place.is_float32
    assert twin.objective == pytest.approx(place.objective, rel=1e-6)
    np.testing.assert_allclose(twin.gradient, place.gradient, atol=1e-6 * problem.n)
    exact = problem.in_float64(twin)
    assert exact.objective == place.objective
    assert duality_gap(problem, twin) == duality_gap(problem, place)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
def test_single_precision_is_no_limit_to_how_near_a_fit_comes(C):
    problem = with_rare_columns(n=8_000, K=12)
    model = LogisticRegression(C=C, tol=1e-10, max_iter=300).fit(problem.X, problem.code)
    assert model.stop_reason_ == "converged"
    assert model.dual_gap_ <= 1e-10 * C * problem.zero()


@pytest.mark.parametrize("scale", [1e-60, 1e30, 1e60])
def test_numbers_beyond_single_precision_are_left_to_double(scale):
    problem = with_rare_columns(n=8_000, K=12)
    X, y = problem.X, problem.code
    near = LogisticRegression(C=100).fit(X, y)
    heavy = LogisticRegression(C=100 / scale).fit(X, y, np.full(len(y), scale))
    assert heavy.objective_ == pytest.approx(near.objective_, rel=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of slopes, which have another scale as well
        far = LogisticRegression(C=100 / scale**2).fit(X * scale, y)
    assert far.objective_ * scale**2 == pytest.approx(near.objective_, rel=1e-3)


def test_what_the_gap_of_many_classes_is_made_of():
    """In one pass by blocks; the same by the definitions, all rows at once."""
    for reference in (False, True):
        given = with_rare_columns(n=3_000)
        problem = SoftmaxProblem(given.X, given.code, 6, np.ones(3_000), 0.0, 1.0, True, reference)
        place = problem.at(0.1 * np.random.default_rng(1).normal(size=problem.shape))
        for move in (balancing_move(problem, place), np.full(problem.shape, 1e-3)):
            P = problem.probabilities(place)
            scores = problem.X @ move[:-1] + move[-1]
            P = P * (1 - scores + (P * scores).sum(axis=1, keepdims=True))
            Y = np.eye(6)[problem.code][:, : problem.K]
            expected = np.vstack([problem.X.T @ (Y - P), (Y - P).sum(axis=0)])
            for kept in (1.0, 0.7):
                pull, entropy = problem.dual_at(place, move, kept)
                np.testing.assert_allclose(pull, expected, atol=1e-9)
                Q = kept * P + (1 - kept) * Y
                Q = np.hstack([Q, 1 - Q.sum(axis=1, keepdims=True)]) if reference else Q
                assert entropy == pytest.approx(entr(Q).sum(), rel=1e-12)
        assert problem.dual_at(place, np.full(problem.shape, 1e3) * np.arange(problem.K)) is None
        assert problem.dual_at(place, np.full(problem.shape, np.nan)) is None


def test_curvatures_of_classes_make_conjugate_gradients_few(monkeypatch):
    problem = with_rare_columns(n=4_000, K=8, l2=1e-2)
    product, counts, ends = problem.product, [], []
    for most in (0, 300):  # by the diagonal, then by class
        monkeypatch.setattr("rosenblatt.solvers.newton.MAX_OF_A_CLASS", most)
        products = []
        problem.product = lambda at, v, seen=products: seen.append(1) or product(at, v)
        steps = newton_cg(problem, problem.at(np.zeros(problem.shape)))
        ends.append(list(itertools.islice(steps, 15))[-1].objective)
        counts.append(len(products))
    assert counts[1] < counts[0] / 5
    assert ends[1] == pytest.approx(ends[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # of scales, rightly
@pytest.mark.parametrize("n", [2_000, 20_000])
@pytest.mark.parametrize("scale", [1e5, 1e8, 1e10])
def test_a_column_of_large_scale_ruins_no_fit(n, scale):
    """What rounding leaves in the sum of slopes over classes must not be taken for a slope."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, 20)), rng.normal(size=(20, 20))
    y = (X @ W + rng.gumbel(size=(n, 20))).argmax(axis=1)
    X[:, 0] *= scale
    model = LogisticRegression().fit(X, y)
    X[:, 0] /= scale
    near = LogisticRegression().fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.objective_ <= near.objective_ + model.dual_gap_
    assert np.abs(model.coef_.mean(axis=0)).max() < 1e-12
    assert abs(model.intercept_.mean()) < 1e-12
