"""L2, T10: certificates of linear machines are never below the true excess, and close to it.

The truth of small problems is worked out in fractions; of larger ones both ends of a bracket must
agree with a fit to the last digits.
"""

import copy
from fractions import Fraction

import numpy as np
import pytest
import sklearn.svm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from rosenblatt import LinearSVC, LinearSVR, certify
from tests.reference.svm import best_value, dot, sides_of, value

THEIRS, THEIR_SVR = sklearn.svm.LinearSVC, sklearn.svm.LinearSVR
PRICES = [0.0625, 1.0, 16.0]

rows = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 1), st.integers(1, 3)),
    min_size=3, max_size=5,
).map(np.array).filter(lambda table: len(set(table[:, 2])) == 2)  # fmt: skip
numbers = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0])


def exact(model, X, t, weight):
    """The value of a model's plane and the least possible, in fractions."""
    column = model.intercept_scaling if model.penalize_intercept and model.fit_intercept else None
    free = model.fit_intercept and column is None
    w = [Fraction(float(v)) for v in np.ravel(model.coef_)]
    b = Fraction(float(np.ravel(model.intercept_)[0]))
    table = [[*map(int, x), int(column)] if column else [*map(int, x)] for x in X]
    if column:
        w, b = [*w, b / int(column)], Fraction(0)
    epsilon = getattr(model, "epsilon", None)
    sides = sides_of(table, t, [Fraction(model.C) * int(s) for s in weight], epsilon)
    power = 2 if "squared" in model.loss else 1
    return value(sides, w, b, power), best_value(sides, free, power)


def check(model, X, y, t, weight):
    claim = certify(model, X, y, sample_weight=weight)["gap"]
    reached, best = exact(model, X, t, weight)
    excess = reached - best
    assert Fraction(claim.value) >= excess  # never false
    if claim.holds:
        assert excess <= Fraction(claim.bound)
    return float(excess), claim.value


@given(rows, st.sampled_from(PRICES), st.sampled_from(["hinge", "squared_hinge"]),
       st.sampled_from([{}, {"penalize_intercept": False}, {"fit_intercept": False}]),
       st.one_of(st.none(), st.tuples(numbers, numbers, numbers)))  # fmt: skip
def test_a_gap_is_never_below_the_true_excess(table, C, loss, intercept, numbers):
    X, y, weight = table[:, :2].astype(float), table[:, 2], table[:, 3]
    model = LinearSVC(loss=loss, C=C, **intercept).fit(X, y, sample_weight=weight)
    if numbers is not None:  # in place of what was learned
        model.coef_ = np.array([numbers[:2]])
        model.intercept_ = np.array([numbers[2] if model.fit_intercept else 0.0])
    excess, gap = check(model, X, y, np.where(y == 1, 1, -1), weight)
    assert gap <= 2.5 * excess + 1e-7 * C * weight.sum() or gap <= 1e-4 * C * weight.sum()


@given(rows, st.sampled_from(PRICES), st.sampled_from([0.0, 0.5]),
       st.sampled_from(["epsilon_insensitive", "squared_epsilon_insensitive"]),
       st.sampled_from([{}, {"penalize_intercept": False}]),
       st.one_of(st.none(), st.tuples(numbers, numbers)))  # fmt: skip
def test_the_gap_of_a_regression_is_never_below_the_true_excess(
    table, C, epsilon, loss, intercept, numbers
):
    X, t, weight = table[:3, :1].astype(float), table[:3, 1].astype(float), table[:3, 3]
    model = LinearSVR(loss=loss, C=C, epsilon=epsilon, **intercept)
    model.fit(X, t, sample_weight=weight)
    if numbers is not None:
        model.coef_, model.intercept_ = np.array(numbers[:1]), np.array(numbers[1:])
    check(model, X, t, [int(v) for v in t], weight)


@given(rows, st.sampled_from([{}, {"intercept_scaling": 2}, {"penalize_intercept": False}]))
def test_a_hard_margin_is_certified_or_refused(table, intercept):
    X, y = table[:, :2].astype(float), table[:, 2]
    try:
        model = LinearSVC(C=np.inf, **intercept).fit(X, y)
    except ValueError as refusal:
        assert "C=inf" in str(refusal)  # noqa: PT017
        return
    certificate = certify(model, X, y)
    assert certificate["functional margins"].holds
    assert certificate["gap"].holds
    w = [Fraction(float(v)) for v in model.coef_[0]]
    b = Fraction(float(model.intercept_[0]))
    margins = [(1 if k else -1) * (dot(w, map(Fraction, x)) + b) for x, k in zip(X, y, strict=True)]
    assert min(margins) >= 1 - Fraction(1, 10**8)


TIGHT = {"tol": 1e-8, "max_iter": 500_000, "random_state": 0}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "hinge", "C": 0.5},
        {"dual": True},
        {"penalty": "l1", "dual": False},
        {"fit_intercept": False},
        {"intercept_scaling": 5.0, "class_weight": "balanced"},
        {"class_weight": {0: 3.0, 1: 0.5}, "loss": "hinge", "C": 0.1},
        {"multi_class": "crammer_singer", "C": 0.1},
    ],
    ids=repr,
)
def test_the_objective_of_scikit_learns_class_is_read_right(settings, n_classes):
    # A wrong reading shows as a gap that does not close.
    X, y = make_classification(
        80, 4, n_redundant=0, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = THEIRS(**settings, **TIGHT).fit(X, y, sample_weight=weight)
    certificate = certify(model, X, y, sample_weight=weight, tol=1e-6)
    gaps = [claim for claim in certificate if claim.name.startswith("gap")]
    assert gaps
    assert certificate.holds, str(certificate)


@pytest.mark.parametrize(
    "settings",
    [{}, {"epsilon": 2.0}, {"loss": "squared_epsilon_insensitive"}, {"fit_intercept": False}],
    ids=repr,
)
def test_the_objective_of_scikit_learns_regression_is_read_right(settings):
    X, t = make_regression(80, 4, noise=5, random_state=0)
    model = THEIR_SVR(**settings, **TIGHT).fit(X, t)
    assert certify(model, X, t, tol=1e-6).holds


@pytest.mark.parametrize("multi_class", ["crammer_singer", "joint"])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_all_classes_in_one_holds_beside_a_finer_fit(multi_class, seed):
    rng = np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    kept = rng.choice(150, 60, replace=False)
    X, y = X[kept], y[kept]
    settings = {"multi_class": multi_class, "C": [0.01, 0.5, 10][seed]}
    fine = LinearSVC(**settings, tol=1e-8).fit(X, y)
    rough = LinearSVC(**settings, dual=True, max_iter=5 + 20 * seed, random_state=0)
    with pytest.warns(Warning, match="failed to converge"):
        rough.fit(X, y)
    assert certify(fine, X, y).holds
    claim = certify(rough, X, y)["gap"]
    excess = rough.objective_[0] - fine.objective_[0]
    assert excess - fine.dual_gap_[0] <= claim.value <= 2.1 * excess + 1e-4 * claim.bound / 1e-4
    nudged = copy.deepcopy(fine)
    nudged.coef_ = nudged.coef_ + rng.normal(scale=0.3, size=nudged.coef_.shape)
    assert not certify(nudged, X, y).holds


MODELS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1", C=0.3),
    LinearSVC(loss="hinge", penalize_intercept=False),
    LinearSVC(multi_class="joint"),
    LinearSVR(epsilon=0.1),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_gross_change_of_any_published_number_is_found_out(model):
    X, y = load_iris(return_X_y=True)
    X, y = (X, y) if isinstance(model, LinearSVC) else (X[:, :3], X[:, 3])
    model = model.fit(X, y)
    assert certify(model, X, y).holds
    changes = {
        "coef_": model.coef_ + 1.0,
        "intercept_": model.intercept_ + 1.0 + np.arange(len(model.intercept_)),
        "objective_": model.objective_ * 1.1,
        "dual_gap_": np.full_like(model.dual_gap_, -1.0),
        "support_": model.support_[:1],
    }
    for name, wrong in changes.items():
        tampered = copy.deepcopy(model)
        setattr(tampered, name, wrong)
        assert not certify(tampered, X, y).holds, name


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVC(loss="hinge"), LinearSVR(epsilon=0.1)])
def test_one_support_in_place_of_another_is_found_out(model):
    X, y = load_iris(return_X_y=True)
    X, y = (X, y > 1) if isinstance(model, LinearSVC) else (X[:, :3], X[:, 3])
    model = model.fit(X, y)
    assert certify(model, X, y).holds
    others = np.setdiff1d(np.arange(len(y)), model.support_)
    excess = (
        1 - np.where(y, 1, -1) * model.decision_function(X)
        if isinstance(model, LinearSVC)
        else np.abs(y - model.predict(X)) - 0.1
    )
    for wrong in (model.support_[1], others[np.argmin(excess[others])]):
        tampered = copy.deepcopy(model)
        tampered.support_ = np.append(wrong, model.support_[1:])
        assert not certify(tampered, X, y)["supports"].holds


def test_the_counts_of_conditions_add_up_and_supports_bound_leaving_one_out():
    X, y = make_classification(60, 3, n_redundant=0, flip_y=0.1, random_state=1)
    model = LinearSVC(loss="hinge", C=0.5).fit(X, y)
    certificate = certify(model, X, y)
    words = certificate["optimality conditions"].statement.replace(",", "").split()
    assert sum(int(word) for word in words if word.isdigit()) == 60
    assert certificate["optimality conditions"].value < 1e-4
    assert certificate["slack"].holds
    assert certificate["margin"].value == pytest.approx(1 / np.linalg.norm(model.coef_))
    wrong = 0
    for i in range(60):
        kept = np.arange(60) != i
        left = LinearSVC(loss="hinge", C=0.5).fit(X[kept], y[kept])
        wrong += left.predict(X[[i]])[0] != y[i]
    assert wrong / 60 <= certificate["leave one out"].value


@pytest.mark.parametrize("Meta", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVC(loss="hinge")], ids=repr)
def test_the_parts_of_scikit_learns_meta_estimators_are_certified(Meta, machine):
    X, y = load_iris(return_X_y=True)
    meta = Meta(machine).fit(X, y)
    for k, part in enumerate(meta.estimators_):
        if Meta is OneVsRestClassifier:
            assert certify(part, X, (y == k).astype(int)).holds
        else:
            low, high = [(0, 1), (0, 2), (1, 2)][k]
            mine = np.isin(y, (low, high))
            assert certify(part, X[mine], (y[mine] == high).astype(int)).holds
    if Meta is OneVsRestClassifier:
        alone = copy.deepcopy(machine).fit(X, y)
        np.testing.assert_allclose(meta.decision_function(X), alone.decision_function(X), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e14, 1e-10])
def test_a_badly_scaled_hinge_fit_is_read_to_the_end(scale):
    """Steps that overflowed ended in an error of SciPy's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    X *= [1.0, scale, 1 / scale]
    found = certify(LinearSVC(loss="hinge").fit(X, y), X, y)
    assert [claim for claim in found.claims if claim.name == "gap"]
