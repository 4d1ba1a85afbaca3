"""Certificates of perceptrons: they hold, they fail when tampered with, and they are true."""

import copy
import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, Perceptron, certify
from rosenblatt.certificates.perceptron import most_mistakes

X5 = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
Y5 = np.array([-1, 1, 1, 1, -1])
XOR, XOR_LABELS = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]


def fit(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Perceptron(tol=None, **settings).fit(X, y)


def tampered(model, **attributes):
    changed = copy.deepcopy(model)
    for name, value in attributes.items():
        setattr(changed, name, value)
    return changed


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


class TestClaims:
    def test_a_separating_plane(self):
        model = fit(X5, Y5)
        certificate = certify(model, X5, Y5)
        assert certificate.holds
        names = ["training error", "margin", "mistake bound", "way to the weights"]
        assert [claim.name for claim in certificate] == names
        f = Y5 * model.decision_function(X5)
        margin = f.min() / np.linalg.norm(model.coef_)
        assert certificate["margin"].value == pytest.approx(margin, rel=1e-12)
        assert certificate["margin"].value <= margin
        assert certificate["margin"].grade == "proved"

    def test_errors_on_data_that_no_plane_separates_are_excused_with_proof(self):
        # T2: the perceptron ends exactly when a plane exists
        certificate = certify(fit(XOR, XOR_LABELS, max_iter=20), XOR, XOR_LABELS)
        assert certificate["training error"].value > 0
        claim = certificate["separability"]
        assert claim.holds
        assert claim.grade == "proved"
        assert "no plane can be right on every row: 4 weighted rows cancel" in claim.statement
        assert certificate.holds

    def test_errors_on_data_that_a_plane_separates_are_not(self):
        certificate = certify(fit(X5, Y5, max_iter=2), X5, Y5)
        assert not certificate.holds
        assert not certificate["separability"].holds
        assert "this fit is not finished" in certificate["separability"].statement

    def test_several_classes(self):
        X, y = wine()
        certificate = certify(fit(X, y), X, y)
        assert certificate.holds
        assert certificate["margin"].value > 0
        iris = load_iris(return_X_y=True)
        certificate = certify(fit(*iris, max_iter=50), *iris)
        assert certificate["separability"].grade == "proved"

    def test_one_pass_of_effort_searches_for_nothing(self):
        assert [
            claim.name for claim in certify(fit(XOR, XOR_LABELS), XOR, XOR_LABELS, effort=0)
        ] == ["training error"]

    def test_rows_on_the_plane_are_said_to_be_there(self):
        model = fit(X5, Y5, boundary="positive", shuffle=False)
        certificate = certify(model, X5, Y5)
        assert certificate.holds
        assert certificate["margin"].value == 0
        assert "1 lie on the boundary itself" in certificate["margin"].statement

    def test_without_intercept(self):
        X = np.array([[3.0, 2], [-2, 2], [-2, -3]])
        certificate = certify(fit(X, [1, -1, 1], fit_intercept=False), X, [1, -1, 1])
        assert certificate.holds
        assert certificate["mistake bound"].bound == pytest.approx(26, rel=1e-6)

    def test_a_penalty_voids_the_bound(self):
        names = {claim.name for claim in certify(fit(X5, Y5, penalty="l2"), X5, Y5)}
        assert "mistake bound" not in names

    @pytest.mark.parametrize(
        "storage", [np.asarray, sp.csr_matrix, sp.coo_array, np.ndarray.tolist]
    )
    def test_any_storage_gives_the_same_certificate(self, storage):
        model = fit(X5, Y5)
        assert certify(model, storage(X5), Y5).to_dict() == certify(model, X5, Y5).to_dict()


class TestPeers:
    """scikit-learn's perceptron takes the same path, and its silence is broken."""

    def test_its_perceptron_stops_short_on_separable_data_in_silence(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(StandardScaler(), sklearn.linear_model.Perceptron()).fit(X, y)
        certificate = certify(model, X, y)
        assert not certificate.holds
        assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)
        assert "on the output of StandardScaler" in certificate.data

    def test_nothing_is_claimed_of_its_mistakes(self):
        model = sklearn.linear_model.Perceptron(tol=None, max_iter=2000).fit(X5, Y5)
        names = [claim.name for claim in certify(model, X5, Y5)]
        assert names == ["training error", "margin"]

    def test_a_search_speaks_for_the_model_it_chose(self):
        X, y = wine()
        search = GridSearchCV(Perceptron(tol=None), {"eta0": [1.0, 2.0]}, cv=3).fit(X, y)
        assert certify(search, X, y).holds

    def test_a_subclass_is_found_and_a_namesake_is_not(self):
        class Child(Perceptron):
            pass

        assert certify(Child(tol=None).fit(X5, Y5), X5, Y5).holds
        namesake = type("Perceptron", (), {"__module__": "elsewhere"})()
        with pytest.raises(
            TypeError, match=r"cannot be certified. These can: .*rosenblatt.Perceptron"
        ):
            certify(namesake, X5, Y5)


class TestAveraged:
    def test_the_mean_has_its_own_error_and_the_run_its_own_claims(self):
        """Golden DC09: the run ends without a mistake, its mean with one."""
        X, y = np.array([[3.0, 2], [-2, 2], [-2, -3]]), [1, -1, 1]
        model = AveragedPerceptron(fit_intercept=False, shuffle=False, tol=None).fit(X, y)
        certificate = certify(model, X, y)
        assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y) == 1
        assert certificate["run: training error"].value == 0
        assert certificate["run: mistake bound"].value == model.n_updates_
        assert certificate["run: mistake bound"].bound == pytest.approx(26, rel=1e-6)
        assert certificate.holds
        assert not certify(tampered(model, last_coef_=-model.last_coef_), X, y).holds


class TestTampering:
    """Any claim about numbers other than the published ones is a claim about those numbers."""

    def test_a_flipped_plane(self):
        model = fit(X5, Y5)
        assert not certify(tampered(model, coef_=-model.coef_), X5, Y5).holds
        assert not certify(tampered(model, intercept_=model.intercept_ + 5), X5, Y5).holds
        assert not certify(tampered(model, classes_=model.classes_[::-1]), X5, Y5).holds

    @pytest.mark.parametrize("name", ["coef_", "intercept_"])
    def test_a_nudge_of_a_thousandth_shows(self, name):
        model = fit(X5, Y5)
        before = certify(model, X5, Y5)
        nudged = tampered(model, **{name: getattr(model, name) * (1 + 1e-3)})
        after = certify(nudged, X5, Y5)
        assert after["way to the weights"].bound != before["way to the weights"].bound
        assert after["margin"].value != before["margin"].value or not after["margin"].holds

    def test_a_count_of_mistakes_outside_what_is_possible(self):
        model = fit(X5, Y5)
        claim = certify(model, X5, Y5)["way to the weights"]
        too_many = math.floor(claim.bound) + 1
        assert not certify(tampered(model, n_updates_=too_many), X5, Y5).holds
        assert not certify(tampered(model, n_updates_=0), X5, Y5).holds
        assert not certify(tampered(model, n_updates_=10**9), X5, Y5)["mistake bound"].holds

    def test_a_start_that_was_not(self):
        model = fit(X5, Y5)
        other = tampered(model, coef_init_=model.coef_, intercept_init_=model.intercept_)
        assert not certify(other, X5, Y5).holds

    def test_convergence_that_was_not(self):
        model = fit(XOR, XOR_LABELS, max_iter=20)
        certificate = certify(tampered(model, converged_=True), XOR, XOR_LABELS)
        assert not certificate["training error"].holds

    def test_other_data(self):
        model = fit(X5, Y5)
        assert not certify(model, X5, -Y5).holds

    @given(st.integers(0, 2**32 - 1), st.booleans())
    def test_whatever_stands_in_the_attributes_the_error_is_the_true_one(self, seed, two):
        rng = np.random.RandomState(seed)
        K = 2 if two else 3
        X, y = rng.randint(-2, 3, (12, 2)).astype(float), np.arange(12) % K
        model = Perceptron()
        rows = 1 if two else K
        model.coef_ = rng.randint(-2, 3, (rows, 2)).astype(float)
        model.intercept_ = rng.randint(-2, 3, rows).astype(float)
        model.classes_, model.n_features_in_ = np.arange(K), 2
        certificate = certify(model, X, y, effort=0)
        assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)


class TestTheBound:
    @given(
        st.floats(0.01, 1),
        st.floats(1, 100),
        st.floats(0.1, 3),
        st.floats(-5, 5),
        st.floats(0, 5),
    )
    def test_it_is_the_largest_count_that_the_two_inequalities_allow(
        self, g, R2, step, along, across
    ):
        # T1: a bound on the perceptron's mistakes
        square = along**2 + across**2
        most = most_mistakes(g, R2, step, step, along, square)

        def possible(M, slack=0):
            # In fractions: where the two sides touch, they part with the square of the distance.
            M, left = Fraction(M), Fraction(M) * Fraction(step) * Fraction(g) + Fraction(along)
            right = Fraction(square) + M * Fraction(step) ** 2 * Fraction(R2)
            return left <= 0 or left**2 <= right * (1 + slack)

        assert possible(most * (1 - 1e-6), Fraction(2, 10**12))
        assert not possible(most * (1 + 1e-6) + 1e-6)

    @given(st.integers(0, 2**32 - 1))
    def test_it_holds_with_weights_and_a_start(self, seed):
        rng = np.random.RandomState(seed)
        X = rng.standard_normal((20, 2))
        y = X @ [1.0, 2.0] + 0.3 > 0
        if len(np.unique(y)) < 2:
            return
        weight = rng.uniform(0.5, 2, 20)
        model = Perceptron(tol=None, max_iter=10**6, class_weight={True: 2.0}, eta0=0.3)
        start = {"coef_init": rng.standard_normal((1, 2)), "intercept_init": [0.5]}
        model.fit(X, y, sample_weight=weight, **start)
        certificate = certify(model, X, y, sample_weight=weight)
        assert certificate.holds, str(certificate)


class TestHonestFits:
    """Every honest fit is believed, whatever its numbers."""

    @pytest.mark.parametrize("eta0", [1e-170, 2.6e-162, 0.1, 1e150])
    def test_steps_of_any_length(self, eta0):
        X = [[1.0], [-1.0]]
        model = Perceptron(eta0=eta0, fit_intercept=False, tol=None).fit(X, [1, 0])
        certificate = certify(model, X, [1, 0])
        assert certificate.holds, str(certificate)
        assert certificate["margin"].value == pytest.approx(1, rel=1e-6)
        assert certificate["margin"].value <= 1

    @given(st.integers(0, 2**32 - 1))
    @example(16404)  # a row of class False on the line itself
    def test_models_in_32_bits(self, seed):
        rng = np.random.RandomState(seed)
        X = rng.randint(-4, 5, (12, 2)).astype(np.float32)
        y = X @ [1, 2] > 0.5
        if len(np.unique(y)) < 2:
            return
        model = Perceptron(eta0=0.1, tol=None, max_iter=10_000).fit(X, y)
        # A row that looked right in 32 bits may be wrong in truth: then the claim must fail. These
        # scores are exact; a row on the line itself is predicted False, as `predict` decides.
        scores = X.astype(float) @ model.coef_[0].astype(float) + float(model.intercept_[0])
        right = (scores > 0) == y
        assert certify(model, X, y).holds == right.all()

    def test_balanced_classes_with_rows_of_weight_zero(self):
        X = np.array([[-0.41676], [-0.05627], [-2.1362], [1.64027]] + 50 * [[-0.41676]])
        y = np.array([1, 1, 0, 1] + 50 * [1])
        weight = np.array([1.0] * 4 + 50 * [0.0])
        model = Perceptron(class_weight="balanced", tol=None, max_iter=100_000, shuffle=False)
        model.fit(X, y, sample_weight=weight)
        assert certify(model, X, y, sample_weight=weight).holds

    def test_a_step_size_that_changed_between_batches(self):
        model = Perceptron(shuffle=False)
        for eta0 in (1.0, 0.01):
            for _ in range(300):
                model.set_params(eta0=eta0).partial_fit(X5, Y5, classes=[-1, 1])
        assert certify(model, X5, Y5)["mistake bound"].holds

    def test_held_out_rows_are_not_promised(self):
        rng = np.random.RandomState(3)
        X = rng.standard_normal((60, 2))
        y = X[:, 0] > 0
        y[:3] = ~y[:3]
        for seed in range(20):
            model = Perceptron(early_stopping=True, tol=None, max_iter=50, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y)
            assert certify(model, X, y, effort=0)["training error"].holds

    def test_a_class_of_weight_zero_is_not_asked_for(self):
        X, y = [[1.0], [2.0], [1.5]], [0, 0, 1]
        model = Perceptron(class_weight={0: 1, 1: 0}).fit(X, y)
        assert certify(model, X, y).holds

    def test_rows_of_fewer_classes_than_the_model_knows(self):
        X, y = wine()
        model = fit(X, y)
        assert certify(model, X[y < 2], y[y < 2]).holds
        assert certify(model, X[y == 1], y[y == 1]).holds

    def test_no_plane_is_called_none(self):
        model = fit(X5, Y5)
        flat = tampered(model, coef_=0 * model.coef_, intercept_=np.array([7.0]))
        claim = certify(flat, X5[Y5 > 0], Y5[Y5 > 0])["margin"]
        assert claim.value == 0
        assert "all weights are 0" in claim.statement

    def test_errors_that_rounding_leaves_in_doubt_are_at_most_so_many(self):
        X, y = np.ones((40_000, 30)), np.arange(40_000) % 2
        flat = Perceptron()
        flat.coef_, flat.intercept_ = np.zeros((1, 30)), np.zeros(1)
        flat.classes_, flat.n_features_in_ = np.array([0, 1]), 30
        claim = certify(flat, X, y, effort=0)["training error"]
        assert claim.statement.startswith("at most 40,000 of 40,000 rows")
        assert claim.grade == "checked"

    def test_huge_numbers(self):
        model = fit(X5, Y5)
        huge = tampered(model, coef_=1e200 * model.coef_, intercept_=1e200 * model.intercept_)
        assert certify(huge, 1e120 * X5, Y5, effort=0)["training error"].value >= 0

    def test_a_model_that_is_not_fitted_says_so(self):
        with pytest.raises(ValueError, match="This Perceptron is not fitted yet"):
            certify(Perceptron(), X5, Y5)

    def test_nothing_to_certify_is_refused(self):
        with pytest.raises(ValueError, match="no row has a positive weight"):
            certify(fit(X5, Y5), X5, Y5, sample_weight=np.zeros(5))


class TestForm:
    def test_it_prints_a_table_and_plain_json(self):
        certificate = certify(fit(X5, Y5), X5, Y5)
        words = str(certificate)
        assert words.startswith("Perceptron: 4 of 4 claims hold")
        assert all(claim.statement in words for claim in certificate.claims)
        again = json.loads(json.dumps(certificate.to_dict()))
        assert again["holds"] is True
        assert again["claims"][0]["name"] == "training error"

    def test_a_certificate_without_a_claim_does_not_hold(self):
        certificate = certify(fit(X5, Y5), X5, Y5)
        empty = type(certificate)("Perceptron", "", "", ())
        assert not empty.holds

    def test_an_unknown_claim_is_a_key_error_that_names_those_there_are(self):
        with pytest.raises(KeyError, match="training error"):
            certify(fit(X5, Y5), X5, Y5)["gap"]

    @pytest.mark.parametrize(
        ("X", "y", "weight", "message"),
        [
            (X5[:, :1], Y5, None, "X has 1 columns, but coef_ has 2"),
            (X5, Y5[:3], None, r"y must have one value per row of X, shape \(5,\); got \(3,\)"),
            (X5, [0, 1, 1, 1, 0], None, r"labels \[0\] that the model does not know"),
            (X5 * np.nan, Y5, None, "X must be finite"),
            (X5, Y5, [-1, 1, 1, 1, 1], "sample_weight must not be negative; got -1"),
            (X5[0], Y5, None, "X must be a table"),
        ],
    )
    def test_data_that_do_not_belong_to_the_model_are_refused(self, X, y, weight, message):
        with pytest.raises(ValueError, match=message):
            certify(fit(X5, Y5), X, y, sample_weight=weight)
