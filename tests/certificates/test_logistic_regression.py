"""Certificates of logistic regressions: bounds that are never below the truth, on any numbers."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier

from rosenblatt import LogisticRegression as OurLogisticRegression
from rosenblatt import certify, separability
from rosenblatt.certificates.exact_arithmetic import balanced, flows, transported
from tests.pairwise import pairwise

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def _stopped_on_purpose():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def problem(rng, n=40, d=3, K=2):
    scales = 10.0 ** rng.uniform(-2, 2, d)
    X = rng.standard_normal((n, d)) * scales + rng.choice([0, 1, 1e3], d) * scales
    z = (X - X.mean(axis=0)) / scales @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))
    y = z.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y, rng.choice([0.5, 1.0, 2.0], n)


def objective(W, b, X, y, c, l1, l2):
    """The objective of one plane or several, summed without rounding."""
    z = X @ np.atleast_2d(W).T + b
    if z.shape[1] == 1:
        losses = np.logaddexp(0, -np.where(y == 1, 1, -1) * z[:, 0])
    else:
        losses = logsumexp(z, axis=1) - z[np.arange(len(y)), y]
    return math.fsum(c * losses) + l1 * np.abs(W).sum() + l2 / 2 * (W**2).sum()


def lowest(X, y, c, l2, K, intercept=True):
    """The least objective that a careful search finds, on standardised columns."""
    mean = np.average(X, axis=0, weights=c) if intercept else np.zeros(X.shape[1])
    scale = X.std(axis=0)
    Z, d, rows = (X - mean) / scale, X.shape[1], 1 if K == 2 else K

    def split(v):
        b = v[rows * d :] if intercept else np.zeros(rows)
        return v[: rows * d].reshape(rows, d) / scale, b

    def value(v):
        W, b = split(v)
        return objective(W, b, X - mean, y, c, 0.0, l2)

    def slope(v):
        W, b = split(v)
        z = (X - mean) @ W.T + b
        if rows == 1:
            p = -c * np.where(y == 1, 1, -1) / (1 + np.exp(np.where(y == 1, 1, -1) * z[:, 0]))
            p = p[:, None]
        else:
            p = np.exp(z - logsumexp(z, axis=1, keepdims=True))
            p[np.arange(len(y)), y] -= 1
            p *= c[:, None]
        along = (p.T @ Z + l2 * W / scale).ravel()
        return np.append(along, p.sum(axis=0)) if intercept else along

    v = np.zeros(rows * d + (rows if intercept else 0))
    for _ in range(3):
        v = minimize(value, v, jac=slope, method="BFGS", options={"gtol": 1e-12}).x
    return value(v)


def best_with_absolute_values(X, y, c, ratio, rows):
    """Coefficients and intercepts under an l1 penalty, as differences of numbers not below zero.

    scikit-learn's saga does not get there on small tables with weights.
    """
    d = X.shape[1]

    def split(v):
        up, down = v[: 2 * rows * d].reshape(2, rows, d)
        return up, down, v[2 * rows * d :]

    def value(v):
        up, down, b = split(v)
        W = up - down
        z = X @ W.T + b
        if rows == 1:
            sign = np.where(y == 1, 1, -1)
            loss, p = (
                np.logaddexp(0, -sign * z[:, 0]),
                -(sign / (1 + np.exp(sign * z[:, 0])))[:, None],
            )
        else:
            total = logsumexp(z, axis=1)
            loss, p = total - z[np.arange(len(y)), y], np.exp(z - total[:, None])
            p[np.arange(len(y)), y] -= 1
        p = p * c[:, None]
        along = p.T @ X + (1 - ratio) * W
        slope = np.concatenate([(along + ratio).ravel(), (-along + ratio).ravel(), p.sum(axis=0)])
        return c @ loss + ratio * (up + down).sum() + (1 - ratio) / 2 * (W**2).sum(), slope

    v = np.zeros(2 * rows * d + rows)
    bounds = [(0, None)] * (2 * rows * d) + [(None, None)] * rows
    for _ in range(3):
        options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
        v = minimize(value, v, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    up, down, b = split(v)
    return up - down, b


class TestTheGap:
    @given(seeds, st.sampled_from([2, 3, 4]), st.booleans(), st.sampled_from([1, 2, 5, 20, 1000]))
    def test_it_is_never_below_the_true_excess(self, seed, K, intercept, steps):
        rng = np.random.RandomState(seed)
        X, y, weight = problem(rng, K=K)
        C = 10.0 ** rng.uniform(-4, 3)
        model = LogisticRegression(C=C, max_iter=steps, fit_intercept=intercept, tol=1e-12)
        model.fit(X, y, weight)
        P = objective(model.coef_, model.intercept_, X, y, C * weight, 0.0, 1.0)
        excess = P - lowest(X, y, C * weight, 1.0, K, intercept)
        claim = certify(model, X, y, sample_weight=weight)["gap"]
        assert claim.value >= excess - 1e-12 * P
        assert claim.value <= max(2.2 * excess, 1.1 * claim.bound)

    @given(seeds, st.sampled_from([2, 3]))
    def test_random_numbers(self, seed, K):
        rng = np.random.RandomState(seed)
        X, y, weight = problem(rng, K=K)
        model = LogisticRegression().fit(X, y, weight)
        size = 10.0 ** rng.uniform(-3, 3)
        model.coef_ = rng.standard_normal(model.coef_.shape) * size
        model.intercept_ = rng.standard_normal(len(model.coef_)) * size
        P = objective(model.coef_, model.intercept_, X, y, weight, 0.0, 1.0)
        excess = P - lowest(X, y, weight, 1.0, K)
        certificate = certify(model, X, y, sample_weight=weight)
        assert certificate["gap"].value >= excess - 1e-12 * P
        assert not certificate.holds or excess <= certificate["gap"].bound

    @given(seeds, st.sampled_from([1.0, 0.5]), st.sampled_from([2, 3]))
    def test_absolute_values(self, seed, ratio, K):
        rng = np.random.RandomState(seed)
        X, y, weight = problem(rng, K=K)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        C = 10.0 ** rng.uniform(-2, 1)
        model = LogisticRegression(C=C, l1_ratio=ratio, solver="saga", max_iter=3, random_state=0)
        model.fit(X, y, weight)
        P = objective(model.coef_, model.intercept_, X, y, C * weight, ratio, 1 - ratio)
        W, b = best_with_absolute_values(X, y, C * weight, ratio, len(model.coef_))
        Q = objective(W, b, X, y, C * weight, ratio, 1 - ratio)
        claim = certify(model, X, y, sample_weight=weight)["gap"]
        assert claim.value >= P - Q - 1e-10 * P
        assert claim.value <= max(2.5 * (P - Q), 1.5 * claim.bound)
        model.coef_, model.intercept_ = W, b
        assert certify(model, X, y, sample_weight=weight).holds

    @given(seeds, st.sampled_from([2, 3]), st.booleans())
    def test_without_a_penalty(self, seed, K, intercept):
        rng = np.random.RandomState(seed)
        X, y, weight = problem(rng, n=150, K=K)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y[:60] = rng.randint(K, size=60)  # so that no plane separates
        settings = {"C": np.inf, "fit_intercept": intercept}
        best = LogisticRegression(tol=1e-10, max_iter=10_000, **settings).fit(X, y, weight)
        stopped = LogisticRegression(max_iter=2, **settings).fit(X, y, weight)
        P, Q = (objective(m.coef_, m.intercept_, X, y, weight, 0.0, 0.0) for m in (stopped, best))
        claim = certify(stopped, X, y, sample_weight=weight)["gap"]
        assert claim.value >= P - Q - 1e-9
        assert claim.value <= max(2.2 * (P - Q), 1.1 * claim.bound)
        assert certify(best, X, y, sample_weight=weight).holds


class TestObjectives:
    """A misread objective would show as a gap that does not close."""

    @pairwise(
        solver=["lbfgs", "newton-cg", "newton-cholesky", "liblinear"],
        intercept=[False, True],
        class_weight=[None, "balanced", {0: 0.3, 1: 2.0}],
        weighted=[False, True],
        sparse=[False, True],
        K=[2, 3],
    )
    def test_of_scikit_learn(self, solver, intercept, class_weight, weighted, sparse, K):
        rng = np.random.RandomState(1)
        X, y, weight = problem(rng, n=80, K=2 if solver == "liblinear" else K)
        X = (X - X.mean(axis=0)) / X.std(axis=0) + [0, 1, 2]
        model = LogisticRegression(
            C=0.7, solver=solver, fit_intercept=intercept, class_weight=class_weight, tol=1e-10,
            max_iter=10_000, intercept_scaling=3.0 if solver == "liblinear" else 1,
        )  # fmt: skip
        data, weight = sp.csr_matrix(X) if sparse else X, weight if weighted else None
        model.fit(data, y, weight)
        certificate = certify(model, data, y, sample_weight=weight, tol=1e-8)
        assert certificate.holds, str(certificate)

    @pairwise(
        penalty=["l2", "l1", "elasticnet"],
        class_weight=[None, "balanced", {0: 0.3, 1: 2.0}],
        weighted=[False, True],
        K=[2, 3],
    )
    def test_of_stochastic_descent(self, penalty, class_weight, weighted, K):
        rng = np.random.RandomState(1)
        X, y, weight = problem(rng, n=80, K=K)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = SGDClassifier(
            loss="log_loss", alpha=0.05, penalty=penalty, class_weight=class_weight,
            learning_rate="invscaling", eta0=0.5, power_t=0.75, max_iter=20_000, tol=None,
            random_state=0, average=penalty == "l2",
        ).fit(X, y, sample_weight=weight if weighted else None)  # fmt: skip
        certificate = certify(model, X, y, sample_weight=weight if weighted else None, tol=3e-3)
        assert certificate.holds, str(certificate)

    def test_a_chosen_penalty(self):
        X, y, _ = problem(np.random.RandomState(0))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = LogisticRegressionCV(
            Cs=3, l1_ratios=(0.0,), scoring="accuracy", use_legacy_attributes=False, tol=1e-8
        ).fit(X, y)
        assert certify(model, X, y).holds

    @pytest.mark.parametrize("settings", [{}, {"l1_ratios": None}, {"use_legacy_attributes": True}])
    def test_a_search_with_its_defaults(self, settings):
        X, y, _ = problem(np.random.default_rng(5), n=80)
        model = LogisticRegressionCV(Cs=3, cv=3, tol=1e-8, max_iter=10_000, **settings)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        certificate = certify(model.fit(X, y), X, y)
        assert certificate.holds, certificate
        assert "0.5 |w|^2" in certificate.problem

    def test_the_problem_is_printed(self):
        X, y, weight = problem(np.random.RandomState(0))
        model = LogisticRegression(C=2).fit(X, y, weight)
        certificate = certify(model, X, y, sample_weight=weight)
        assert certificate.problem == (
            "0.5 |w|^2 + sum c_i loss_i, c_i = 1 .. 4, "
            "loss_i = log(1 + exp(-y_i (w.x_i + b))), b free"
        )

    def test_another_loss_is_refused(self):
        X, y, _ = problem(np.random.RandomState(0))
        with pytest.raises(TypeError, match="loss='hinge'"):
            certify(SGDClassifier().fit(X, y), X, y)


class TestBalance:
    @given(seeds, st.integers(2, 40))
    def test_two_classes_cancel_exactly(self, seed, n):
        rng = np.random.RandomState(seed)
        a, y = rng.uniform(0, 1, n) ** 5, np.where(np.arange(n) % 2, 1.0, -1.0)
        exact = balanced(a, y)
        assert math.fsum(exact * y) == 0
        assert (exact <= a).all()
        assert (exact >= 0).all()

    @given(seeds, st.integers(2, 5))
    def test_several_classes_cancel_exactly(self, seed, K):
        rng = np.random.RandomState(seed)
        codes = np.concatenate([np.arange(K), rng.randint(K, size=30)])
        p = rng.dirichlet(np.full(K, 0.5), len(codes))
        c = rng.uniform(0.1, 2, len(codes))
        whole = transported(p, codes, c)
        assert np.allclose(whole.sum(axis=1), 1)
        assert np.allclose(c @ whole, np.bincount(codes, c, K))
        wrong = flows(whole, codes, c)
        for k in range(K):
            leaving = math.fsum(wrong[codes == k].ravel())
            assert leaving == math.fsum(wrong[:, k])

    @given(seeds, st.integers(3, 6))
    def test_classes_without_mass_between_them_cancel_over_others(self, seed, K):
        rng = np.random.RandomState(seed)
        codes, c = np.arange(5 * K) % K, np.ones(5 * K)
        p = np.zeros((5 * K, K))  # each class gives to the next one alone
        p[np.arange(5 * K), (codes + 1) % K] = rng.uniform(0, 1, 5 * K)
        wrong = flows(p, codes, c)
        assert (wrong <= p).all()
        given = [math.fsum(wrong[codes == k].ravel()) for k in range(K)]
        assert given == [given[0]] * K
        assert given[0] > min(p[codes == k].sum() for k in range(K)) - 1e-6


def test_a_single_class_of_weight_is_refused():
    X, y, _ = problem(np.random.RandomState(0))
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="of one class"):
        certify(model, X, y, sample_weight=(y == 0).astype(float))


class TestSeparableClasses:
    """Without a penalty there is no best: the certificate says so, and has the proof."""

    @staticmethod
    def rows(K):
        rng = np.random.default_rng(K)
        corners = 3.0 * np.array([[1, 0], [0, 1], [-1, -1]])
        y = np.arange(60) % K
        X = corners[y] + rng.uniform(-1, 1, (60, 2))
        return X, y

    @pytest.mark.parametrize("K", [2, 3])
    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("sparse", [True, False])
    def test_it_says_separable(self, K, intercept, sparse):
        X, y = self.rows(K)
        rows = sp.csr_matrix(X) if sparse else X
        for kind in (LogisticRegression, OurLogisticRegression):
            model = kind(C=np.inf, fit_intercept=intercept).fit(rows, y)
            certificate = certify(model, rows, y)
            claim = certificate["separability"]
            proof = separability(X, y, fit_intercept=intercept, joint=K > 2)
            assert certificate.holds == certificate["gap"].holds
            assert claim.grade == "proved"
            assert claim.value == pytest.approx(proof.margin, rel=1e-6)
            assert "no finite best exists" in claim.statement
            W, b = np.asarray(model.coef_), model.intercept_
            excess = objective(W, b, X, y, np.ones(60), 0, 0)  # the best possible is nearly 0
            assert excess <= certificate["gap"].value <= 1.001 * excess + 1e-9

    @pytest.mark.parametrize("K", [2, 3])
    def test_very_many_columns_are_separated_by_the_fit_itself(self, K):
        rng = np.random.default_rng(0)
        X, y = sp.random(60, 1600, 0.05, format="csr", rng=rng), np.arange(60) % K
        model = LogisticRegression(C=np.inf).fit(X, y)
        claim = certify(model, X, y)["separability"]
        assert claim.grade == "checked"
        assert "the published coefficients separate all rows" in claim.statement
        scores = model.decision_function(X).reshape(60, -1)
        scores = np.hstack([0 * scores, scores]) if K == 2 else scores
        own = scores[np.arange(60), y].copy()
        scores[np.arange(60), y] = -np.inf
        assert 0 < claim.value <= (own - scores.max(axis=1)).min()

    def test_labels_may_be_words_and_some_rows_weightless(self):
        X, y = self.rows(3)
        names = np.array(["ham", "eggs", "spam"])[y]
        names[0] = names[1]  # in the way, but for its weight
        weight = np.r_[0.0, np.ones(59)]
        model = LogisticRegression(C=np.inf).fit(X, names, weight)
        assert "separability" in [c.name for c in certify(model, X, names, sample_weight=weight)]

    @pytest.mark.parametrize("K", [2, 3])
    def test_classes_that_overlap_are_not_called_separable(self, K):
        X, y, _ = problem(np.random.default_rng(1), K=K)
        for model in (LogisticRegression(C=np.inf, max_iter=2), OurLogisticRegression(C=np.inf)):
            assert "separability" not in [c.name for c in certify(model.fit(X, y), X, y)]


class TestWhy:
    """A claim that fails says why, where that is known."""

    @pytest.mark.parametrize("K", [2, 3])
    @pytest.mark.parametrize("settings", [{}, {"l1_ratio": 1.0}])
    def test_a_column_too_wide_for_its_rounding(self, K, settings):
        rng = np.random.default_rng(2)
        X = pd.DataFrame(rng.standard_normal((90, 3)), columns=["near", "wide", "too"])
        y = (X["near"] + rng.standard_normal(90)).rank().to_numpy().astype(int) * K // 91
        X["wide"] *= 1e15
        model = OurLogisticRegression(**settings).fit(X, y)
        gap = certify(model, X, y)["gap"]
        assert not gap.holds
        assert "rounding alone may hide" in gap.statement
        assert "in column wide" in gap.statement
        assert gap.value <= model.objective_ * (1 + 1e-3), "no objective is below 0"

    def test_a_fit_that_is_short_of_its_best_blames_no_rounding(self):
        X, y, _ = problem(np.random.default_rng(0))
        gap = certify(LogisticRegression(max_iter=1).fit(X, y), X, y)["gap"]
        assert not gap.holds
        assert "rounding" not in gap.statement

    def test_weights_that_were_not_given(self):
        X, y, weight = problem(np.random.default_rng(4))
        model = OurLogisticRegression(tol=1e-8).fit(X / X.std(axis=0), y, 10 * weight)
        rows = X / X.std(axis=0)
        without = certify(model, rows, y)
        assert not without.holds
        assert "a fit with sample_weight asks for it" in without.data
        given = certify(model, rows, y, sample_weight=10 * weight)
        assert given.holds
        assert "asks for it" not in given.data

    def test_the_class_without_weights_is_named(self):
        X, y, _ = problem(np.random.default_rng(4), K=3)
        model = OurLogisticRegression(softmax="reference").fit(X, y)
        assert "w = 0 and b = 0 for the last class, 2" in certify(model, X, y).problem


@pytest.mark.parametrize("seed", [7, 12, 19])
def test_rows_so_far_out_that_their_probability_is_nothing_are_no_obstacle(seed):
    """Their masses, of no size at all, came out of rounding below zero, and no bound was given."""
    rng = np.random.RandomState(seed)
    X = np.exp(3 * rng.standard_normal((20, 1 + seed % 3)))
    y = (np.log(X[:, 0]) / 3 + rng.standard_normal(20) > 0).astype(int)
    model = OurLogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate["gap"].value < 1e-6
    assert certificate.holds, str(certificate)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("large", [1e5, 1e8])
def test_a_large_column_leaves_absolute_values_their_bracket(large, n_classes, storage):
    rng = np.random.default_rng(0)
    X = storage(rng.standard_normal((200, 2)) * [large, 1e-4])
    y = rng.integers(0, n_classes, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scales far apart
        model = OurLogisticRegression(l1_ratio=1, C=10).fit(X, y)
    gap = certify(model, X, y)["gap"]
    assert gap.holds, gap
    assert gap.value >= model.dual_gap_ - 1e-6 * model.objective_
    model.intercept_ = model.intercept_ + np.arange(len(model.intercept_)) + 0.1
    moved = certify(model, X, y)["gap"]  # by what it costs, and no less
    P = objective(model.coef_, model.intercept_, X, y, np.full(200, 10.0), 1.0, 0.0)
    true = P - model.objective_
    assert true <= moved.value <= true + gap.value + 1e-6 * model.objective_
