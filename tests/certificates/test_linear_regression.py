"""Certificates of linear regressions: bounds that are never below the truth, on any numbers."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn import linear_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import ElasticNet, Lasso, LinearRegression, Ridge, certify

seeds = st.integers(0, 2**32 - 1)


def exact(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def solve(A, b):
    """The solution of a regular system in rationals, by elimination."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [a - rows[k][i] * c for a, c in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


class Exact:
    """A weighted regression in rationals: ``half sum s r^2 + l1 |w|_1 + l2 |w|^2``."""

    def __init__(self, X, t, s, l1=0, l2=0, intercept=True):
        self.X = [[*exact(x), Fraction(1)] if intercept else exact(x) for x in X]
        self.t, self.s = exact(t), exact(s)
        self.l1, self.l2, self.intercept = Fraction(l1), Fraction(l2), intercept

    def value(self, w, b, loss=1):
        beta = [*exact(w), *([Fraction(float(b))] if self.intercept else [])]
        return self.at(beta, loss)

    def at(self, beta, loss=1):
        residuals = [
            t - sum(a * c for a, c in zip(x, beta, strict=True))
            for x, t in zip(self.X, self.t, strict=True)
        ]
        w = beta[:-1] if self.intercept else beta
        squares = sum(s * r * r for s, r in zip(self.s, residuals, strict=True))
        return loss * squares + self.l1 * sum(map(abs, w)) + self.l2 * sum(v * v for v in w)

    def best(self, signs=None, loss=1):
        """The stationary point with given signs of w; zeros stay zero."""
        d = len(self.X[0]) - self.intercept
        signs = [1] * d if signs is None else [int(v) for v in signs]
        used = [j for j in range(d) if signs[j]] + ([d] if self.intercept else [])
        A = [[sum(2 * loss * s * x[i] * x[j] for s, x in zip(self.s, self.X, strict=True))
              + (2 * self.l2 if i == j and i < d else 0) for j in used] for i in used]  # fmt: skip
        b = [
            sum(2 * loss * s * x[i] * t for s, x, t in zip(self.s, self.X, self.t, strict=True))
            - (self.l1 * signs[i] if i < d else 0)
            for i in used
        ]
        beta = [Fraction(0)] * len(self.X[0])
        for i, value in zip(used, solve(A, b), strict=True):
            beta[i] = value
        return beta


def problem(rng, n=12, d=3):
    scales = 10.0 ** rng.uniform(-2, 2, d)
    X = rng.standard_normal((n, d)) * scales + rng.choice([0, 1, 1e6], d) * scales
    t = X @ rng.standard_normal(d) / scales.max() + rng.standard_normal(n)
    weight = rng.choice([0.5, 1.0, 2.0], n)
    return X, t, weight


def put(model, w, b):
    model.coef_, model.intercept_ = np.array(w), float(b)
    return model


class TestRidgeAndLeastSquares:
    @given(seeds, st.sampled_from([0.0, 1e-3, 1.0, 100.0]), st.booleans())
    def test_the_gap_is_the_true_excess(self, seed, alpha, intercept):
        rng = np.random.RandomState(seed)
        X, t, weight = problem(rng)
        kind = linear_model.Ridge(alpha, fit_intercept=intercept) if alpha else (
            linear_model.LinearRegression(fit_intercept=intercept)
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns far from the origin
            model = kind.fit(X, t, weight)
        truth = Exact(X, t, weight, l2=alpha, intercept=intercept)
        least = truth.at(truth.best())
        nudge = rng.standard_normal(3) * 10.0 ** rng.uniform(-12, 2)
        put(model, model.coef_ + nudge, model.intercept_ + (nudge[0] if intercept else 0))
        excess = float(truth.value(model.coef_, model.intercept_) - least)
        gap = certify(model, X, t, sample_weight=weight)["gap"].value
        assert gap >= excess
        # Beyond the allowance for rounding there is nothing in the bound.
        far = float(truth.value(0 * model.coef_, 0.0)) + excess
        assert gap <= excess * (1 + 1e-6) + 1e-10 * far

    @given(seeds)
    def test_the_distance_is_not_less_than_the_true_one(self, seed):
        rng = np.random.RandomState(seed)
        X, t, weight = problem(rng)
        model = linear_model.Ridge(1.0).fit(X, t, weight)
        truth = Exact(X, t, weight, l2=1)
        nudge = rng.standard_normal(3) * 10.0 ** rng.uniform(-8, 1)
        put(model, model.coef_ + nudge, model.intercept_)
        best = np.array([float(value) for value in truth.best()[:-1]])
        claim = certify(model, X, t, sample_weight=weight)["distance"]
        assert claim.value >= np.linalg.norm(model.coef_ - best) * (1 - 1e-9)

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("solver", ["svd", "cholesky", "lsqr", "sparse_cg", "sag", "lbfgs"])
    def test_every_solver_of_scikit_learn(self, solver, intercept, weighted, sparse):
        rng = np.random.RandomState(3)
        X = rng.standard_normal((60, 5)) + [0, 0, 2, 0, 0]
        t = X @ [1, 0, -1, 0, 2] + 3 + rng.standard_normal(60)
        weight = rng.uniform(0.5, 2, 60) if weighted else None
        if sparse and (solver == "svd" or (intercept and solver in ("cholesky", "lsqr", "lbfgs"))):
            pytest.skip("scikit-learn offers no such combination")
        positive = solver == "lbfgs"
        model = linear_model.Ridge(
            0.5, solver=solver, fit_intercept=intercept, tol=1e-12, max_iter=100_000,
            positive=positive,
        ).fit(sp.csr_matrix(X) if sparse else X, t, weight)  # fmt: skip
        certificate = certify(model, sp.csr_matrix(X) if sparse else X, t, sample_weight=weight)
        assert certificate["gap"].value < 1e-6 * np.sum(t**2)

    def test_several_targets_with_a_penalty_each(self):
        rng = np.random.RandomState(0)
        X, Y = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
        model = linear_model.Ridge([1.0, 10.0]).fit(X, Y)
        certificate = certify(model, X, Y)
        assert certificate.holds
        assert certificate["gap, target 1"].value < 1e-20
        model.coef_[1, 2] += 1
        broken = certify(model, X, Y)
        assert broken["gap, target 0"].holds
        assert not broken["gap, target 1"].holds

    def test_collinear_columns(self):
        rng = np.random.RandomState(0)
        X = np.round(rng.standard_normal((40, 3)), 0) + rng.randint(0, 64, (40, 3)) / 64
        X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(40, 7.0)])  # without rounding
        t = X[:, 2] + rng.standard_normal(40)
        model = linear_model.LinearRegression().fit(X, t)
        certificate = certify(model, X, t)
        assert certificate.holds
        assert "of 5 columns 3 are independent" in certificate["minimum norm"].statement
        model.coef_ += np.array([1, 1, 0, -1, 0])  # the same predictions, but longer
        longer = certify(model, X, t)
        assert longer["gap"].holds
        assert not longer["minimum norm"].holds

    @pytest.mark.parametrize("alpha", [0.0, 0.1])
    def test_fewer_rows_than_columns(self, alpha):
        rng = np.random.RandomState(0)
        X, t = rng.standard_normal((20, 3000)), rng.standard_normal(20)
        kind = linear_model.Ridge(alpha) if alpha else linear_model.LinearRegression()
        model = kind.fit(X, t)
        assert certify(model, X, t).holds
        model.coef_ = model.coef_ + 1e-2 * rng.standard_normal(3000)
        r = t - model.predict(X)
        kept = certify(model, X, t)["gap"].value
        better = kind.fit(X, t)
        gained = r @ r + alpha * model.coef_ @ model.coef_ if alpha == 0 else None
        if gained is not None:
            r = t - better.predict(X)
            assert kept >= gained - r @ r - 1e-9

    @given(seeds, st.sampled_from([0.0, 0.5]))
    def test_coefficients_that_must_not_be_negative(self, seed, alpha):
        rng = np.random.RandomState(seed)
        X, t = rng.standard_normal((15, 3)), rng.standard_normal(15)
        kind = (
            linear_model.Ridge(alpha, positive=True, tol=1e-14)
            if alpha
            else linear_model.LinearRegression(positive=True)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some stop short of that tolerance
            model = kind.fit(X, t)
        best = min(
            (
                truth.at(beta)
                for signs in np.ndindex(2, 2, 2)
                for truth in [Exact(X, t, np.ones(15), l2=alpha)]
                for beta in [truth.best(signs)]
                if min(beta[:-1]) >= 0
            ),
        )
        nudge = np.abs(rng.standard_normal(3)) * 10.0 ** rng.uniform(-9, 1)
        put(model, model.coef_ + nudge, model.intercept_)
        excess = Exact(X, t, np.ones(15), l2=alpha).value(model.coef_, model.intercept_) - best
        claim = certify(model, X, t)["gap"]
        assert claim.value >= float(excess)
        assert claim.value <= 1.01 * float(excess) + 1e-8
        put(model, [-1.0, 0, 0], 0)
        assert not certify(model, X, t).holds

    def test_collinear_columns_that_must_not_be_negative(self):
        rng = np.random.RandomState(0)
        X = rng.randint(1, 200, (30, 2)) / 64
        X = np.column_stack([X, X.sum(axis=1)])  # without rounding
        t = X @ [1, 2, 0] + 0.1 * rng.standard_normal(30)
        model = linear_model.LinearRegression(positive=True).fit(X, t)
        assert certify(model, X, t).holds
        put(model, model.coef_ + [0.1, 0, 0], model.intercept_)
        assert not certify(model, X, t).holds

    def test_a_table_too_large_to_factor(self):
        rng = np.random.RandomState(0)
        X = sp.random(100, 12_000, density=1e-3, format="csr", random_state=0)
        t = rng.standard_normal(100)
        model = linear_model.Ridge(1.0, solver="sparse_cg", tol=1e-1).fit(X, t)
        stopped = certify(model, X, t)["gap"].value

        def objective(m):
            r = t - m.predict(X)
            return r @ r + m.coef_ @ m.coef_

        best = linear_model.Ridge(1.0, solver="sparse_cg", tol=1e-12).fit(X, t)
        true = objective(model) - objective(best)
        assert true <= stopped <= 1.5 * true + 1e-6
        assert certify(best, X, t).holds


class TestLassoAndElasticNet:
    @given(
        seeds, st.sampled_from([1.0, 0.5, 0.01]), st.booleans(), st.sampled_from([1, 2, 5, 1000])
    )
    def test_the_gap_is_never_below_the_true_excess(self, seed, ratio, intercept, steps):
        rng = np.random.RandomState(seed)
        X, t, weight = problem(rng)
        alpha = 10.0 ** rng.uniform(-4, 1) * np.std(t)
        settings = {"alpha": alpha, "fit_intercept": intercept, "tol": 1e-14}
        make = (
            linear_model.Lasso
            if ratio == 1
            else lambda **k: linear_model.ElasticNet(l1_ratio=ratio, **k)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = make(max_iter=100_000, **settings).fit(X, t, weight)
            model = make(max_iter=steps, **settings).fit(X, t, weight)
        share = exact(weight / weight.sum())
        truth = Exact(X, t, [float(s) for s in share], alpha * ratio, alpha * (1 - ratio) / 2,
                      intercept)  # fmt: skip
        half = Fraction(1, 2)
        beta = truth.best(np.sign(best.coef_), half)
        least = min(truth.at(beta, half), truth.value(best.coef_, best.intercept_, half))
        excess = float(truth.value(model.coef_, model.intercept_, half) - least)
        claim = certify(model, X, t, sample_weight=weight)["gap"]
        assert claim.value >= excess
        assert claim.value <= max(2.1 * excess, 1.1 * claim.bound)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("ratio", [1.0, 0.3])
    @pytest.mark.parametrize("positive", [False, True])
    def test_the_objective_is_that_of_scikit_learn(
        self, positive, ratio, intercept, sparse, weighted
    ):
        rng = np.random.RandomState(3)
        X = rng.standard_normal((60, 5)) + [0, 0, 2, 0, 0]
        t = X @ [1, 0, -1, 0, 2] + 3 + rng.standard_normal(60)
        weight = rng.uniform(0.5, 2, 60) if weighted else None
        model = linear_model.ElasticNet(
            0.1, l1_ratio=ratio, fit_intercept=intercept, positive=positive, tol=1e-14,
            max_iter=100_000,
        )  # fmt: skip
        data = sp.csr_matrix(X) if sparse else X
        certificate = certify(model.fit(data, t, weight), data, t, sample_weight=weight, tol=1e-10)
        assert certificate.holds, str(certificate)

    def test_random_numbers_are_found_out(self):
        rng = np.random.RandomState(0)
        X, t = rng.standard_normal((30, 4)), rng.standard_normal(30)
        model = linear_model.Lasso(0.1).fit(X, t)
        for w in (rng.standard_normal(4), -model.coef_, 1e6 * np.ones(4)):
            certificate = certify(put(linear_model.Lasso(0.1).fit(X, t), w, 0.0), X, t)
            assert not certificate.holds

    def test_columns_that_no_solution_uses(self):
        rng = np.random.RandomState(0)
        X = rng.standard_normal((50, 400))
        t = X[:, 0] - X[:, 1]
        model = linear_model.Lasso(0.3, tol=1e-10).fit(X, t)
        claim = certify(model, X, t)["zeros"]
        assert 350 < claim.value <= np.count_nonzero(model.coef_ == 0)

    def test_more_columns_than_rows(self):
        rng = np.random.RandomState(0)
        X = rng.standard_normal((40, 2000))
        t = X[:, :5].sum(axis=1) + rng.standard_normal(40)
        with pytest.warns(ConvergenceWarning):
            model = linear_model.Lasso(0.05, max_iter=2).fit(X, t)
        stopped = certify(model, X, t)["gap"]
        best = linear_model.Lasso(0.05, tol=1e-12, max_iter=100_000).fit(X, t)

        def objective(m):
            return 0.5 * np.mean((t - m.predict(X)) ** 2) + 0.05 * np.abs(m.coef_).sum()

        true = objective(model) - objective(best)
        assert true <= stopped.value <= 2 * true
        assert "not nearer than" in stopped.statement

    def test_without_a_penalty_it_is_least_squares(self):
        rng = np.random.RandomState(0)
        X, t = rng.standard_normal((30, 3)), rng.standard_normal(30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn advises against it
            model = linear_model.Lasso(0.0, tol=1e-12).fit(X, t)
        certificate = certify(model, X, t)
        assert certificate["condition"].holds
        assert certificate.holds

    def test_chosen_penalties(self):
        rng = np.random.RandomState(0)
        X = rng.standard_normal((60, 4))
        t = X[:, 0] + 0.1 * rng.standard_normal(60)
        for model in (
            linear_model.LassoCV(cv=3),
            linear_model.ElasticNetCV(cv=3, l1_ratio=[0.2, 0.9]),
            linear_model.RidgeCV(),
            GridSearchCV(linear_model.Lasso(), {"alpha": [0.01, 0.1]}),
        ):
            assert certify(model.fit(X, t), X, t).holds
        scaled = make_pipeline(StandardScaler(), linear_model.Lasso(0.01)).fit(X, t)
        assert "on the output of StandardScaler" in certify(scaled, X, t).data


def test_a_constant_target():
    X = np.arange(10.0)[:, None]
    for model in (
        linear_model.LinearRegression(),
        linear_model.Ridge(),
        linear_model.Lasso(),
        linear_model.ElasticNet(),
    ):
        assert certify(model.fit(X, np.full(10, 5.0)), X, np.full(10, 5.0)).holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, X, t: (m, X[:, :2], t), "X has 2 columns, but the model has 3"),
        (lambda m, X, t: (m, X, np.full(20, np.nan)), "y must be finite"),
        (lambda m, X, t: (m, X, np.c_[t, t]), "y has 2 targets, but the model has 1"),
        (lambda m, X, t: (linear_model.Ridge(), X, t), "not fitted yet"),
    ],
)
def test_what_cannot_be_judged_is_refused(change, message):
    rng = np.random.RandomState(0)
    X, t = rng.standard_normal((20, 3)), rng.standard_normal(20)
    model, X, t = change(linear_model.Ridge().fit(X, t), X, t)
    with pytest.raises(ValueError, match=message):
        certify(model, X, t)


@pytest.mark.parametrize("far", [1e8, 1e12])
@pytest.mark.parametrize("model", [Lasso(0.1), ElasticNet(0.1), LinearRegression(), Ridge()])
def test_honest_fits_far_from_the_origin_hold(model, far):
    """The intercept and the mean's part are as large as the distance, and cancel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + far
    y = (X - far) @ [1.0, 2, 0, -1, 0] + 0.1 * rng.normal(size=60)
    assert certify(clone(model).fit(X, y), X, y).holds


def test_columns_too_small_to_square_are_no_obstacle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * 1e-170
    y = X @ [1e170, -2e170, 0] + 0.1 * rng.normal(size=60)
    certificate = certify(LinearRegression().fit(X, y), X, y)
    assert certificate.holds
    assert all(np.isfinite(claim.value) for claim in certificate.claims)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_bound_is_above_what_the_objective_itself_says():
    """With a square in the penalty the dual at zero is zero, however steep the columns are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * 1e150
    y = rng.normal(size=60)
    model = ElasticNet(0.1, max_iter=5).fit(X, y)
    gap = certify(model, X, y).claims[0].value
    assert gap <= 1.001 * model.objective_


@pytest.mark.filterwarnings("ignore:Columns vary:scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore:Objective did not:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("Model", [Lasso, ElasticNet])
def test_a_proof_that_rounding_spoils_says_which_column_is_to_blame(Model):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((80, 3)) * [1, 1e18, 1]
    y = X @ [1, 1e-18, 0.5] + rng.standard_normal(80)
    claim = certify(Model(0.1).fit(X, y), X, y)["gap"]
    assert not claim.holds
    assert "column 1 varies by" in claim.statement
    assert "standardise" in claim.statement


@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("effort", [0, 1])
def test_few_rows_with_many_columns_are_certified_by_their_own_products(storage, effort):
    rng = np.random.RandomState(1)
    X, t = rng.standard_normal((30, 4000)) * (rng.random_sample((30, 4000)) < 0.2), rng.randn(30)
    plain = certify(LinearRegression().fit(storage(X), t), storage(X), t, effort=effort)
    assert plain.holds
    assert "none is below zero" in plain["gap"].statement
    assert "no more than rounding" in plain["normal equations"].statement
    ridge = certify(Ridge().fit(storage(X), t), storage(X), t, effort=effort)
    assert ridge.holds
    assert "minimum norm" not in [claim.name for claim in ridge]
    assert "left out" not in str(ridge)
    if effort:
        assert "of 4000 columns 29 are independent" in plain["minimum norm"].statement


@given(seed=seeds, alpha=st.sampled_from([1e-3, 1.0, 100.0]), off=st.sampled_from([0, 1e-9, 1e-2]))
def test_what_one_pass_proves_of_wide_rows_is_never_below_the_truth(seed, alpha, off):
    rng = np.random.RandomState(seed % 1000)
    X, t = rng.standard_normal((5, 9)), rng.standard_normal(5)
    model = Ridge(alpha).fit(X, t)
    model.coef_ = model.coef_ + off * rng.standard_normal(9)
    s = np.ones(5)
    A = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(9)])
    w = np.linalg.lstsq(A, np.append(t - t.mean(), np.zeros(9)), rcond=None)[0]
    problem = Exact(X, t, s, l2=alpha)
    excess = problem.value(model.coef_, model.intercept_) - problem.value(
        w, t.mean() - X.mean(axis=0) @ w
    )
    for effort in (0, 1):
        claim = certify(model, X, t, effort=effort)["gap"]
        assert claim.value >= float(excess) * (1 - 1e-9)
        assert claim.holds or off


def test_what_only_measures_is_marked_apart_from_what_was_held_against_a_bound():
    rng = np.random.RandomState(0)
    X, t = rng.standard_normal((30, 3)), rng.standard_normal(30)
    certificate = certify(Lasso(0.1).fit(X, t), X, t)
    for line, claim in zip(str(certificate).splitlines()[3:], certificate, strict=True):
        assert line.split()[0] == ("-" if claim.bound is None else "yes")


@pytest.mark.parametrize("n_alike", [1, 2])
def test_a_gap_that_tol_leaves_says_so(n_alike):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((100, 3))
    shades = 1e-7 * rng.standard_normal((100, n_alike))
    X = np.hstack([X, X[:, :n_alike] + shades])
    t = X[:, :3] @ [1.0, 2.0, 3.0] + 1e6 * shades.sum(axis=1) + 0.1 * rng.standard_normal(100)
    with pytest.warns(LinAlgWarning, match="to within tol=1e-06"):
        model = LinearRegression().fit(X, t)
    gap = certify(model, X, t)["gap"]
    assert not gap.holds
    directions = "a direction" if n_alike == 1 else "2 directions"
    assert f"lies in {directions} of less than tol=1e-06" in gap.statement
    assert "a smaller tol keeps them" in gap.statement
    model.coef_ = model.coef_ + 1  # and now most of the gap has another reason
    assert "tol" not in certify(model, X, t)["gap"].statement
    assert certify(LinearRegression(tol=0).fit(X, t), X, t)["gap"].holds


def test_a_gap_from_products_allows_for_the_digits_they_lose():
    """The square of the condition: one part in ten million was missing from a gap."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, level = int(rng.integers(4, 20)), 10.0 ** rng.uniform(3, 4.5, 2)
        X = rng.normal(size=(n, 2)) + level
        y = X @ rng.normal(size=2)
        model = linear_model.LinearRegression(fit_intercept=False).fit(X, y)
        model.coef_ = model.coef_ + 1e-3 * np.linalg.svd(X)[2][1]  # where the columns vary least
        rows = [[Fraction(v) for v in row] for row in X.tolist()]
        targets = [Fraction(v) for v in y.tolist()]
        (a, b), (_, d) = H = [[sum(r[i] * r[j] for r in rows) for j in (0, 1)] for i in (0, 1)]
        g = [sum(r[i] * t for r, t in zip(rows, targets, strict=True)) for i in (0, 1)]
        det = a * d - b * b
        best = [(d * g[0] - b * g[1]) / det, (a * g[1] - b * g[0]) / det]
        off = [Fraction(w) - v for w, v in zip(model.coef_.tolist(), best, strict=True)]
        excess = sum(off[i] * off[j] * H[i][j] for i in (0, 1) for j in (0, 1))
        assert certify(model, X, y)["gap"].value >= excess


def test_a_gap_is_never_above_the_objective_itself():
    """Nearly dependent columns with a bound could gain 1e19, said the gap of a sum of squares."""
    rng = np.random.default_rng(0)
    for apart in 10.0 ** -rng.uniform(7, 14, 40):
        x, y = rng.normal(size=5), 1e6 + rng.normal(size=5)
        X = np.c_[x, x * (1 + apart * rng.normal(size=5))]
        model = linear_model.LinearRegression(positive=True).fit(X, y)
        squares = float(np.sum((y - X @ model.coef_ - model.intercept_) ** 2))
        assert certify(model, X, y)["gap"].value <= squares * (1 + 1e-6)


def test_a_distance_says_that_directions_were_left_out():
    X = np.c_[np.arange(6.0), np.arange(6.0) * 2, np.ones(6)]
    y = np.arange(6.0) % 4
    claim = certify(linear_model.LinearRegression().fit(X, y), X, y)["distance"]
    assert "of the best ones in directions in which columns vary" in claim.statement


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1.0), Lasso(0.01)])
def test_numbers_in_32_bits_are_as_good_as_32_bits_allow(model):
    """The intercept, near a million, is off by a sixteenth: no fit in 32 bits has less."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(20, 3)).astype(np.float32)
        y = (X @ [1, 2, 3] + 1e6 + rng.normal(size=20)).astype(np.float32)
        found = certify(model.fit(X, y), X, y)
        assert found.holds, str(found)
        model.intercept_ = np.float32(model.intercept_ + 1)
        assert not certify(model, X, y)["gap"].holds


@pytest.mark.parametrize("n", [1000, 20_000])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_columns_that_add_up_to_one_are_dependent_however_many_rows_there_are(n, storage):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = storage(np.eye(3)[rng.integers(0, 3, n)])
        y = rng.standard_normal(n)
        for model in (LinearRegression(), linear_model.LinearRegression()):
            certificate = certify(model.fit(X, y), X, y)
            assert certificate.holds, certificate
            assert "of 3 columns 2 are independent" in certificate["minimum norm"].statement
            assert certificate["condition"].value < 10


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_a_constant_is_one_in_any_storage():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(200, 5.3), rng.standard_normal((200, 2))])
    y = rng.standard_normal(200)
    model = LinearRegression().fit(X, y)
    twice = sp.csr_array(X)  # the same table with its first place stored in two parts
    twice = sp.csr_array(
        (np.r_[2.0, 3.3, twice.data[1:]], np.r_[0, twice.indices], np.r_[0, twice.indptr[1:] + 1]),
        shape=X.shape,
    )
    for table in (X, sp.csr_array(X), twice):
        certificate = certify(model, table, y)
        assert certificate.holds, certificate
        assert "of 3 columns 2 are independent" in certificate["minimum norm"].statement
        assert certificate["condition"].value < 2


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_constants_alone_have_no_singular_values_but_rounding():
    X = np.full((2805, 2), [-0.0022113554408507807, -0.008845421763403123])
    y = np.random.default_rng(29).standard_normal(len(X))
    for table in (X, sp.csr_array(X)):
        certificate = certify(LinearRegression().fit(table, y), table, y)
        assert certificate.holds, certificate


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_few_sparse_rows_beside_a_large_constant_are_as_independent_as_dense_ones():
    rng = np.random.default_rng(10)
    X = np.column_stack(
        [np.full(6, 1e4 / 3), sp.random_array((6, 7), density=0.3, rng=rng).toarray()]
    )
    y = rng.standard_normal(6)
    dense = certify(LinearRegression().fit(X, y), X, y)["minimum norm"]
    sparse = certify(LinearRegression().fit(sp.csr_array(X), y), sp.csr_array(X), y)["minimum norm"]
    assert dense.statement.split(";")[0] == sparse.statement.split(";")[0]


@pytest.mark.parametrize("tiny", [1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.0)])
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_the_shortest_coefficients_are_so_beside_a_tiny_column(model, tiny):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2)) * [2, 12]
    X = np.column_stack([X, 2 * X[:, 0] + X[:, 1], rng.standard_normal(500) * tiny])
    y = X[:, 0] + rng.standard_normal(500)
    idle = np.array([2, 1, -1, 0]) / np.sqrt(6)  # changes no prediction
    model = clone(model).fit(X, y)
    assert abs(idle @ model.coef_) < 1e-12
    certificate = certify(model, X, y)
    assert certificate["minimum norm"].holds, certificate
    model.coef_ = model.coef_ + idle
    assert not certify(model, X, y)["minimum norm"].holds
