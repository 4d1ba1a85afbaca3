"""The perceptron: against scikit-learn, against the textbook, and at its edges."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from rosenblatt import Perceptron, PocketPerceptron
from tests.contract.estimators import problem
from tests.reference import perceptron as reference

FIVE_POINTS = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
FIVE_LABELS = np.array([-1, 1, 1, 1, -1])
XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
XOR_LABELS = [0, 1, 1, 0]


def breast_cancer(dtype=np.float64):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X).astype(dtype), y


@pytest.mark.usefixtures("unconverged")
class TestAgainstScikitLearn:
    """Two classes in the order of the data: the same updates, so the same weights."""

    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"penalty": "l2", "alpha": 1e-3},
            {"penalty": "l1", "alpha": 1e-3},
            {"penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.3},
            {"penalty": "l2", "alpha": 0.9},
            {"fit_intercept": False},
            {"class_weight": {0: 2.0, 1: 0.5}},
            {"class_weight": "balanced"},
            {"eta0": 0.1},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_weights_agree(self, parameters, dtype):
        X, y = breast_cancer(dtype)
        settings = {"max_iter": 7, "tol": None, "shuffle": False, **parameters}
        weight = np.random.RandomState(0).uniform(0.5, 2, len(y))
        ours = Perceptron(**settings).fit(X, y, sample_weight=weight)
        theirs = sklearn.linear_model.Perceptron(**settings).fit(X, y, sample_weight=weight)
        tolerance = 1e-10 if dtype is np.float64 else 1e-3
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=tolerance)
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.t_ == theirs.t_

    def test_partial_fit_agrees(self):
        X, y = breast_cancer()
        ours = Perceptron(shuffle=False)
        theirs = sklearn.linear_model.Perceptron(shuffle=False)
        for start in range(0, len(y), 100):
            batch = slice(start, start + 100)
            ours.partial_fit(X[batch], y[batch], classes=[0, 1])
            theirs.partial_fit(X[batch], y[batch], classes=[0, 1])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
        assert ours.t_ == theirs.t_

    def test_the_patience_rule_agrees(self):
        X, y = breast_cancer()
        settings = {"shuffle": False, "tol": 0.01, "n_iter_no_change": 3}
        ours = Perceptron(**settings).fit(X, y)
        theirs = sklearn.linear_model.Perceptron(**settings).fit(X, y)
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.stop_reason_ == "no_progress"

    @pytest.mark.parametrize("load", [load_iris, load_digits])
    def test_several_classes_are_learned_at_least_as_well_on_average(self, load):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        ours, theirs = (
            np.mean([model(random_state=seed).fit(X, y).score(X, y) for seed in range(8)])
            for model in (Perceptron, sklearn.linear_model.Perceptron)
        )
        assert ours >= theirs


class TestPasses:
    @given(
        st.integers(0, 2**32 - 1),
        st.sampled_from(["mistake", "positive", "negative"]),
        st.booleans(),
    )
    def test_in_data_order_it_is_the_textbook_rule(self, seed, boundary, fit_intercept):
        # C2: with the constant feature and without
        rng = np.random.RandomState(seed)
        X, y = rng.randint(-3, 4, (10, 3)).astype(float), rng.choice([-1, 1], 10)
        y[:2] = [-1, 1]
        if not fit_intercept:
            X[~X.any(axis=1)] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = Perceptron(
                shuffle=False, max_iter=4, tol=None, boundary=boundary, fit_intercept=fit_intercept
            ).fit(X, y)
        orders = [range(10)] * model.n_iter_
        w, b, mistakes = reference.perceptron(
            X, y, orders, boundary=boundary, bias=float(fit_intercept)
        )
        assert np.array_equal(model.coef_[0], w)
        assert model.intercept_[0] == b
        assert model.n_updates_ == sum(mistakes)
        assert model.converged_ == (mistakes[-1] == 0)

    def test_a_clean_pass_ends_the_fit(self):
        # A14: start, measure, correct, until nothing is wrong
        model = Perceptron(tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        assert model.converged_
        assert model.stop_reason_ == "converged"
        assert model.n_iter_ < 1000
        assert model.score(FIVE_POINTS, FIVE_LABELS) == 1
        assert model.objective(FIVE_POINTS, FIVE_LABELS) == 0

    @given(st.integers(0, 2**32 - 1))
    def test_mistakes_stay_below_novikoffs_bound(self, seed):
        rng = np.random.RandomState(seed)
        u = rng.standard_normal(4)
        u /= np.linalg.norm(u)
        Z = np.c_[rng.standard_normal((30, 3)), np.ones(30)]
        Z = Z[np.abs(Z @ u) > 0.05]
        y = Z @ u > 0
        if len(np.unique(y)) < 2:
            return
        model = Perceptron(tol=None, max_iter=100_000, random_state=seed).fit(Z[:, :3], y)
        margin, radius = np.abs(Z @ u).min(), np.linalg.norm(Z, axis=1).max()
        assert model.n_updates_ * margin**2 <= radius**2

    def test_max_iter_warns_with_the_number_reached_and_what_to_change(self):
        with pytest.warns(
            ConvergenceWarning,
            match=r"2 mistakes in its last pass: max_iter=3.*separability",
        ):
            model = Perceptron(max_iter=3, shuffle=False, tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        assert model.stop_reason_ == "max_iter"
        assert not model.converged_

    def test_patience_warns_and_names_tol(self):
        with pytest.warns(ConvergenceWarning, match=r"has not fallen by tol=0.001 for 5 passes"):
            model = Perceptron().fit(XOR, XOR_LABELS)
        assert model.stop_reason_ == "no_progress"

    def test_the_warning_points_at_the_line_that_called_fit(self):
        with pytest.warns(ConvergenceWarning) as caught:
            Perceptron(max_iter=1).fit(XOR, XOR_LABELS)
        assert caught[0].filename == __file__

    def test_eta0_only_scales_the_weights_from_a_zero_start(self):
        # J4: step size and features; when the step matters
        one = Perceptron(tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        half = Perceptron(tol=None, eta0=0.5).fit(FIVE_POINTS, FIVE_LABELS)
        assert np.array_equal(half.coef_, one.coef_ / 2)
        assert half.n_updates_ == one.n_updates_

    def test_the_sign_of_zero_follows_the_boundary(self):
        model = Perceptron(boundary="positive", tol=None, shuffle=False)
        model.fit(FIVE_POINTS, FIVE_LABELS)
        on_the_plane = model.decision_function(FIVE_POINTS) == 0
        assert on_the_plane.any()
        assert np.array_equal(model.predict(FIVE_POINTS), FIVE_LABELS)

    def test_verbose_prints_a_line_per_pass(self, capsys):
        model = Perceptron(verbose=1, tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == model.n_iter_
        assert lines[-1].startswith(f"pass {model.n_iter_}: 0 mistakes")

    def test_random_state_none_draws_another_order_each_time(self):
        X, y = problem(n_rows=400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = [Perceptron(random_state=None, max_iter=2).fit(X, y).coef_ for _ in range(3)]
        assert not all(np.array_equal(fits[0], other) for other in fits[1:])


class TestPicks:
    @pytest.mark.parametrize("pick", ["random", "first", "worst"])
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    def test_one_mistake_at_a_time_separates(self, pick, storage):
        model = Perceptron(pick=pick, max_updates=10_000)
        model.fit(storage(FIVE_POINTS), FIVE_LABELS)
        assert model.converged_
        assert model.n_iter_ == model.n_updates_ + 1, "a look for each correction, and a clean one"
        assert np.array_equal(model.predict(FIVE_POINTS), FIVE_LABELS)

    @pytest.mark.parametrize("pick", ["first", "worst"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.usefixtures("unconverged")
    def test_the_rule_is_the_textbooks(self, pick, n_classes):
        # J2: one misclassified point at a time, chosen by a rule
        X, y = problem(n_classes, n_rows=30)
        X, codes = np.round(X), np.searchsorted(["a", "b", "c"], y)
        model = Perceptron(pick=pick, max_updates=25).fit(X, y)
        W, b = np.zeros((n_classes, X.shape[1])), np.zeros(n_classes)
        if n_classes == 2:
            scale = 0.5  # two rows of weights, each half of the plane
        else:
            scale = 1.0
        for _ in range(model.n_updates_):
            scores = X @ W.T + b
            own = scores[np.arange(30), codes]
            scores[np.arange(30), codes] = -np.inf
            rival, lead = scores.argmax(axis=1), own - scores.max(axis=1)
            i = np.argmax(lead <= 0) if pick == "first" else np.argmin(lead)
            W[codes[i]] += scale * X[i]
            W[rival[i]] -= scale * X[i]
            b[codes[i]] += scale
            b[rival[i]] -= scale
        if n_classes == 2:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        assert np.array_equal(model.coef_, W)
        assert np.array_equal(model.intercept_, b)

    def test_max_updates_is_kept_exactly_and_named(self):
        with pytest.warns(ConvergenceWarning, match="max_updates=7 is reached"):
            model = Perceptron(max_updates=7, tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        assert model.n_updates_ == 7
        assert model.stop_reason_ == "max_iter"

    @pytest.mark.parametrize("Estimator", [Perceptron, PocketPerceptron])
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.usefixtures("unconverged")
    def test_max_updates_ends_the_fit_within_an_epoch(self, Estimator, storage, n_classes):
        """The rows up to the next mistake are visited and counted, and no row after them."""
        rng = np.random.RandomState(0)
        X, codes = rng.randint(-3, 4, (30, 3)).astype(float), rng.randint(n_classes, size=30)

        def mistakes_of(*epochs):
            if n_classes == 2:
                return reference.perceptron(X, 2 * codes - 1, epochs)
            return reference.multiclass(X, codes, n_classes, epochs)

        n_partial = 0
        for most in (1, 2, 7, 12, 20):
            model = Estimator(tol=None, shuffle=False, max_updates=most).fit(storage(X), codes)
            n_epochs, n_rows = divmod(int(model.t_) - 1, 30)
            epochs = [range(30)] * n_epochs
            w, b, mistakes = mistakes_of(*epochs, range(n_rows))
            assert sum(mistakes) == model.n_updates_ == most
            assert sum(mistakes_of(*epochs, range(n_rows + 1))[2]) == most + 1
            assert np.array_equal(getattr(model, "last_coef_", model.coef_), np.atleast_2d(w))
            assert np.array_equal(
                getattr(model, "last_intercept_", model.intercept_), np.atleast_1d(b)
            )
            assert model.n_iter_ == n_epochs + 1
            assert (model.stop_reason_, model.converged_) == ("max_iter", False)
            n_partial += 0 < n_rows < 29
        assert n_partial >= 3

    def test_a_fit_that_needs_just_max_updates_converges(self):
        needed = Perceptron(tol=None, shuffle=False).fit(FIVE_POINTS, FIVE_LABELS).n_updates_
        model = Perceptron(tol=None, shuffle=False, max_updates=needed)
        assert model.fit(FIVE_POINTS, FIVE_LABELS).converged_

    @pytest.mark.parametrize("pick", ["cyclic", "first", "worst"])
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    def test_a_repeated_state_is_reported_as_a_cycle(self, pick, storage):
        """J5: four corrections on XOR, one for each corner, add up to nothing."""
        model = Perceptron(pick=pick, shuffle=False, tol=None)
        with pytest.warns(ConvergenceWarning, match="goes round for ever"):
            model.fit(storage(XOR), XOR_LABELS)
        assert model.stop_reason_ == "no_progress"
        assert model.cycle_ > 0
        assert model.n_iter_ < 100

    def test_no_cycle_is_reported_on_separable_data_or_a_shuffled_order(self, unconverged):
        assert Perceptron(shuffle=False, tol=None).fit(FIVE_POINTS, FIVE_LABELS).cycle_ == 0
        assert Perceptron(tol=None, max_iter=50).fit(XOR, XOR_LABELS).cycle_ == 0

    def test_a_penalty_with_another_pick_is_refused(self):
        with pytest.raises(ValueError, match=r"pick='worst'.*penalty='l1'"):
            Perceptron(pick="worst", penalty="l1").fit(XOR, XOR_LABELS)


class TestStart:
    def test_coef_init_is_published_and_used(self):
        model = Perceptron(tol=None, shuffle=False)
        model.fit(FIVE_POINTS, FIVE_LABELS, coef_init=[[1, 2]], intercept_init=[-3])
        w, b, _ = reference.perceptron(
            FIVE_POINTS, FIVE_LABELS, [range(5)] * model.n_iter_, start=([1, 2], -3)
        )
        assert np.array_equal(model.coef_[0], w)
        assert model.intercept_[0] == b
        assert np.array_equal(model.coef_init_, [[1, 2]])
        assert np.array_equal(model.intercept_init_, [-3])
        assert Perceptron().fit([[0], [1]], [0, 1]).coef_init_ is None

    @pytest.mark.parametrize(
        ("name", "value"), [("coef_init", [[1, 2, 3]]), ("intercept_init", [1, 2])]
    )
    def test_a_start_of_the_wrong_shape_is_refused(self, name, value):
        with pytest.raises(ValueError, match=rf"{name} must have shape \(1,.*; got"):
            Perceptron().fit(FIVE_POINTS, FIVE_LABELS, **{name: value})

    def test_a_start_that_is_not_finite_is_refused(self):
        with pytest.raises(ValueError, match="coef_init contains NaN"):
            Perceptron().fit(FIVE_POINTS, FIVE_LABELS, coef_init=[[np.nan, 0]])

    def test_the_start_given_is_not_changed(self):
        start = np.zeros((1, 2))
        Perceptron(tol=None).fit(FIVE_POINTS, FIVE_LABELS, coef_init=start)
        assert not start.any()

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_warm_start_goes_on_where_the_last_fit_ended(self, n_classes, unconverged):
        X, y = problem(n_classes)
        settings = {"tol": None, "shuffle": False}
        whole = Perceptron(max_iter=5, **settings).fit(X, y)
        parts = Perceptron(max_iter=2, warm_start=True, **settings).fit(X, y)
        assert np.array_equal(parts.set_params(max_iter=3).fit(X, y).coef_, whole.coef_)

    def test_a_warm_start_takes_weights_and_bias_apart(self):
        model = Perceptron(tol=None, warm_start=True, shuffle=False).fit(FIVE_POINTS, FIVE_LABELS)
        coef = model.coef_.copy()
        model.fit(FIVE_POINTS, FIVE_LABELS, intercept_init=[100.0])
        assert np.array_equal(model.coef_init_, coef)
        assert np.array_equal(model.intercept_init_, [100])

    def test_warm_start_with_other_classes_is_refused(self):
        model = Perceptron(warm_start=True, tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        with pytest.raises(ValueError, match="coef_init must have shape"):
            model.fit(FIVE_POINTS, [0, 1, 2, 1, 0])


class TestWeights:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize(
        "setting", [{}, {"penalty": "l2"}, {"pick": "worst", "max_updates": 30}], ids=str
    )
    def test_a_row_of_weight_zero_is_as_good_as_absent(self, n_classes, setting, unconverged):
        X, y = problem(n_classes)
        weight = np.random.RandomState(1).randint(0, 3, len(y)).astype(float)
        kept = weight > 0
        model = Perceptron(**setting).fit(X, y, sample_weight=weight)
        without = Perceptron(**setting).fit(X[kept], y[kept], sample_weight=weight[kept])
        assert np.array_equal(model.coef_, without.coef_)
        assert model.n_updates_ == without.n_updates_

    def test_a_weight_multiplies_the_step(self):
        X, y = np.round(problem()[0]), problem()[1]
        weight = np.random.RandomState(1).randint(1, 4, len(y)).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = Perceptron(max_iter=3, tol=None, shuffle=False).fit(X, y, sample_weight=weight)
        sign = np.where(y == "b", 1, -1)
        w, b, mistakes = reference.perceptron(X, sign, [range(len(y))] * 3, step=weight)
        assert np.array_equal(model.coef_[0], w)
        assert model.intercept_[0] == b
        assert model.n_updates_ == sum(mistakes)

    def test_equal_weights_change_nothing_but_the_scale(self, unconverged):
        X, y = problem(3)
        plain = Perceptron(tol=None, max_iter=3).fit(X, y)
        doubled = Perceptron(tol=None, max_iter=3).fit(X, y, sample_weight=np.full(len(y), 2.0))
        np.testing.assert_allclose(doubled.coef_, 2 * plain.coef_)

    def test_balanced_classes_do_not_count_rows_of_weight_zero(self):
        X, y = [[1.0, 2], [2, 1], [-1, -2], [-2, 0]], [1, 1, 0, 0]
        plain = Perceptron(class_weight="balanced").fit(X, y)
        with_ghosts = Perceptron(class_weight="balanced").fit(
            X + [X[0], X[0]], y + [1, 1], sample_weight=[1, 1, 1, 1, 0, 0]
        )
        assert np.array_equal(plain.coef_, with_ghosts.coef_)

    def test_class_weight_is_a_sample_weight(self, unconverged):
        X, y = problem(3)
        by_class = {"a": 1.0, "b": 2.0, "c": 4.0}
        weight = np.array([by_class[label] for label in y])
        one = Perceptron(class_weight=by_class).fit(X, y)
        other = Perceptron().fit(X, y, sample_weight=weight)
        assert np.array_equal(one.coef_, other.coef_)


class TestHeldOut:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_it_returns_the_weights_of_the_peak(self, n_classes):
        # J8: stop where held-out accuracy peaks
        X, y = problem(n_classes, n_rows=600, n_features=12, seed=3)
        model = Perceptron(early_stopping=True, validation_fraction=0.3).fit(X, y)
        scores = model.validation_scores_
        assert len(scores) == model.n_iter_
        peak = len(scores) - 1 - int(np.argmax(scores[::-1]))
        assert peak < len(scores) - 1, "a case in which the peak is not the last pass"
        assert model.stop_reason_ == "early_stopping"
        shorter = Perceptron(early_stopping=True, validation_fraction=0.3, max_iter=peak + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            shorter.fit(X, y)
        assert np.array_equal(model.coef_, shorter.coef_)
        assert model.n_updates_ == shorter.n_updates_

    def test_held_out_rows_are_not_learned_from(self):
        X, y = problem(n_rows=200)
        model = Perceptron(early_stopping=True, validation_fraction=0.5).fit(X, y)
        assert model.t_ == 1 + 100 * model.n_iter_

    def test_held_out_rows_must_be_finite(self):
        X, y = problem(n_rows=200)
        X[:, 0] = np.inf
        with pytest.raises(ValueError, match="Input X contains infinity"):
            Perceptron(early_stopping=True).fit(X, y)

    def test_weights_count_in_the_held_out_score(self):
        X, y = problem(n_rows=300)
        weight = np.where(y == "a", 1.0, 1e-6)
        model = Perceptron(early_stopping=True).fit(X, y, sample_weight=weight)
        assert max(model.validation_scores_) <= 1


class TestPartialFit:
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_batches_make_one_pass(self, storage, n_classes, unconverged):
        X, y = problem(n_classes)
        X = storage(np.round(2 * X))
        whole = Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, y)
        parts = Perceptron(shuffle=False)
        for start in range(0, len(y), 17):
            parts.partial_fit(
                X[start : start + 17], y[start : start + 17], classes=list("abc")[:n_classes]
            )
        assert np.array_equal(parts.coef_, whole.coef_)
        assert parts.n_updates_ == whole.n_updates_
        assert parts.t_ == whole.t_

    def test_it_never_warns_of_convergence(self):
        Perceptron().partial_fit(XOR, XOR_LABELS, classes=[0, 1])

    def test_it_claims_no_convergence(self):
        model = Perceptron(tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        model.partial_fit(FIVE_POINTS, FIVE_LABELS)
        assert not model.converged_
        assert model.stop_reason_ == "max_iter"

    def test_visits_are_counted_one_by_one(self, unconverged):
        X, y = problem(n_rows=100)
        model = Perceptron(max_updates=1, shuffle=False).fit(X, y)
        assert model.t_ < 101

    def test_it_goes_on_after_a_fit(self):
        model = Perceptron(tol=None).fit(FIVE_POINTS, FIVE_LABELS)
        coef = model.coef_.copy()
        assert np.array_equal(model.partial_fit(FIVE_POINTS, FIVE_LABELS).coef_, coef)

    @pytest.mark.parametrize(
        ("setting", "arguments", "message"),
        [
            ({}, {}, "classes must be passed on the first call"),
            ({"early_stopping": True}, {"classes": [0, 1]}, "early_stopping should not be True"),
            ({"class_weight": "balanced"}, {"classes": [0, 1]}, "class_weight should not be"),
            ({"pick": "first"}, {"classes": [0, 1]}, "pick should not be 'first'"),
            ({}, {"classes": [0]}, "greater than one"),
            ({}, {"classes": [0, 2]}, r"label\(s\) \[1\] in y do not exist in the initial classes"),
        ],
    )
    def test_what_it_cannot_do_is_refused(self, setting, arguments, message):
        with pytest.raises(ValueError, match=message):
            Perceptron(**setting).partial_fit(XOR, XOR_LABELS, **arguments)

    def test_other_classes_later_are_refused(self):
        model = Perceptron().partial_fit(XOR, XOR_LABELS, classes=[0, 1])
        with pytest.raises(ValueError, match="not the same as on last call"):
            model.partial_fit(XOR, XOR_LABELS, classes=[0, 1, 2])


class TestPenalty:
    @pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
    def test_a_pass_without_mistakes_is_no_proof_and_no_end(self, penalty, recwarn):
        X, y = load_iris(return_X_y=True)
        model = Perceptron(penalty=penalty, alpha=1e-2).fit(X, y == 0)
        assert model.stop_reason_ == "no_progress"
        assert not model.converged_
        assert not recwarn.list, "the loss stopped falling, which is all that was asked"


class TestSparsify:
    def test_predictions_stay_the_same(self, unconverged):
        X, y = problem(3)
        model = Perceptron().fit(X, y)
        scores = model.decision_function(X)
        np.testing.assert_allclose(model.sparsify().decision_function(X), scores)
        assert sp.issparse(model.coef_)
        np.testing.assert_allclose(model.decision_function(sp.csr_matrix(X)), scores)
        assert isinstance(model.densify().coef_, np.ndarray)


class TestBadInput:
    @pytest.mark.parametrize(
        ("X", "y", "error", "message"),
        [
            (XOR, [1, 1, 1, 1], ValueError, r"greater than one; y has 1 class: \[1\]"),
            (XOR, [0, 1, 1], ValueError, "X has 4 rows and y has 3"),
            (np.empty((0, 2)), [], ValueError, r"0 sample\(s\)"),
            (np.empty((4, 0)), XOR_LABELS, ValueError, r"0 feature\(s\)"),
            (XOR, [0, 1, "a", "b"], TypeError, "one type; got both 'a' and 0"),
            (XOR, np.array([0, 1, "a", None], object), TypeError, "one type; got both 'a' and 0"),
            (XOR, [0.1, 0.2, 0.3, 0.4], ValueError, "Unknown label type: continuous"),
            (XOR, [0, 1, np.nan, 0], ValueError, "Input y contains NaN"),
            (XOR, None, ValueError, "the target y is None"),
            (XOR[0], XOR_LABELS, ValueError, "Expected 2D array"),
        ],
    )
    def test_it_is_refused_with_the_value(self, X, y, error, message):
        with pytest.raises(error, match=message):
            Perceptron().fit(X, y)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, 1, 1, -1], "Negative values in data passed to `sample_weight`"),
            ([0, 0, 0, 0], "Sample weights must contain at least one non-zero number"),
            ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
            ([1, 1, np.nan, 1], "Input sample_weight contains NaN"),
        ],
    )
    def test_bad_weights_are_refused(self, weight, message):
        with pytest.raises(ValueError, match=message):
            Perceptron().fit(XOR, XOR_LABELS, sample_weight=weight)

    @pytest.mark.parametrize(
        ("class_weight", "message"),
        [
            ({0: 0, 1: 0}, "No row has a positive step"),
            ({0: -1}, r"finite weights >= 0; got \{0: -1\}"),
            ({0: np.inf}, "finite weights >= 0"),
        ],
    )
    def test_bad_class_weights_are_refused(self, class_weight, message):
        with pytest.raises(ValueError, match=message):
            Perceptron(class_weight=class_weight).fit(XOR, XOR_LABELS)

    def test_a_table_of_zeros_without_intercept_is_said(self):
        with pytest.warns(ConvergenceWarning, match="4 rows of X are all zero"):
            Perceptron(fit_intercept=False).fit(0 * XOR, XOR_LABELS)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("labels", [[0, 1, 1, 0], [0, 1, 2, 0]])
    @pytest.mark.parametrize("setting", [{}, {"penalty": "l2"}, {"pick": "first"}], ids=str)
    @pytest.mark.parametrize("weight", [None, [1.0, 1, 1, 0]])
    def test_numbers_that_are_not_finite_are_refused_wherever_they_are(
        self, bad, storage, labels, setting, weight
    ):
        X = XOR.copy()
        X[3, 1] = bad
        with pytest.raises(ValueError, match="Input X contains"):
            Perceptron(**setting).fit(storage(X), labels, sample_weight=weight)

    def test_weights_that_overflow_are_refused(self):
        X = np.array([[1e200, 1.0], [1e200, -1.0], [-1e200, 1.0]])
        with pytest.raises(ValueError, match=r"score of row \d of X overflowed.*Standardise"):
            Perceptron(tol=None).fit(X, [0, 1, 0])

    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("pick", ["cyclic", "first"])
    def test_rows_of_zeros_without_intercept_are_said_and_not_looped_on(self, storage, pick):
        X = storage(np.array([[0.0, 0], [1, 2], [-1, -2]]))
        with pytest.warns(ConvergenceWarning, match=r"1 row.* all zero and fit_intercept=False"):
            model = Perceptron(fit_intercept=False, pick=pick).fit(X, [0, 1, 0])
        assert model.stop_reason_ == "no_progress"
        assert not model.converged_
        assert model.n_iter_ <= 3

    def test_zeros_that_are_stored_are_zeros_all_the_same(self):
        X = sp.csr_matrix(np.array([[1.0, 1], [1, 2], [-1, -2]]))
        X.data[:2] = 0
        with pytest.warns(ConvergenceWarning, match="1 row of X is all zero"):
            model = Perceptron(fit_intercept=False, tol=None).fit(X, [0, 1, 0])
        assert model.n_iter_ <= 3

    def test_rows_behind_the_last_update_must_be_finite_too(self):
        X = np.array([[1.0, 0], [2, 0], [-1, 0], [np.nan, 1]])
        with pytest.raises(ValueError, match="Input X contains NaN"):
            Perceptron(shuffle=False, max_updates=1, tol=None).fit(X, [1, 0, 0, 1])

    def test_weights_that_overflow_are_never_published(self):
        with pytest.raises(ValueError, match="weights overflowed"):
            Perceptron(eta0=10).partial_fit([[1e308]], [1], classes=[0, 1])

    def test_steps_that_vanish_in_the_precision_of_x_are_said_to(self):
        with pytest.raises(ValueError, match=r"eta0=1e-50.*multiply to 0 in float32"):
            Perceptron(eta0=1e-50).fit(XOR.astype(np.float32), XOR_LABELS)

    def test_rows_of_zeros_are_right_for_the_class_that_zero_belongs_to(self):
        X = [[0.0, 0], [1, 2], [-1, -2]]
        model = Perceptron(fit_intercept=False, boundary="negative").fit(X, [0, 1, 0])
        assert model.converged_

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("max_iter", 0),
            ("tol", -1.0),
            ("eta0", 0.0),
            ("boundary", "left"),
            ("pick", "best"),
            ("max_updates", 0),
            ("penalty", "l3"),
            ("validation_fraction", 1.0),
        ],
    )
    def test_bad_parameters_are_named_with_their_value(self, name, value):
        with pytest.raises(ValueError, match=f"'{name}' parameter of Perceptron.*{value}"):
            Perceptron(**{name: value}).fit(XOR, XOR_LABELS)


class TestRealData:
    def test_sonar_is_separated_in_the_end(self, data_folder):
        """All 208 rows lie on their side of some plane, but barely: it takes a long time."""
        table = np.genfromtxt(data_folder / "sonar" / "sonar.csv", delimiter=",", dtype=str)
        X, y = table[1:, :-1].astype(float), table[1:, -1]
        model = Perceptron(tol=None, max_iter=1_000_000).fit(X, y)
        assert model.converged_
        assert model.score(X, y) == 1
