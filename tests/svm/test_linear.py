"""L3, L4, L5, L6, L7, L8, T10: linear machines beside a slow reference and scikit-learn."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import (
    load_iris,
    make_blobs,
    make_classification,
    make_moons,
    make_regression,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as TheirLinearSVC
from sklearn.svm import LinearSVR as TheirLinearSVR

from rosenblatt import SVC, SVR, LinearSVC, LinearSVR, LogisticRegression, certify

CLASSIFIERS = [
    {},
    {"penalize_intercept": False},
    {"fit_intercept": False},
    {"loss": "hinge"},
    {"loss": "hinge", "penalize_intercept": False},
    {"dual": True, "C": 0.05},
    {"loss": "hinge", "dual": True, "C": 0.05},
    {"loss": "hinge", "dual": True, "C": 0.05, "penalize_intercept": False},
    {"penalty": "l1", "C": 0.1},
    {"penalty": "l1", "C": 0.1, "penalize_intercept": False},
]
REGRESSORS = [
    {},
    {"epsilon": 0.5, "penalize_intercept": False},
    {"epsilon": 0.5, "dual": True, "C": 0.05},
    {"loss": "squared_epsilon_insensitive", "epsilon": 0.2},
    {"loss": "squared_epsilon_insensitive", "dual": True, "C": 0.05, "penalize_intercept": False},
]


def objective(model, X, y, weight, w, b):
    """The printed objective, as its formula stands."""
    f = X @ w + b
    if isinstance(model, LinearSVC):
        excess = np.maximum(0, 1 - np.where(y == 1, 1, -1) * f)
    else:
        excess = np.maximum(0, np.abs(y - f) - model.epsilon)
    loss = excess**2 if "squared" in model.loss else excess
    level = b / model.intercept_scaling if model.penalize_intercept else 0.0
    l1 = getattr(model, "penalty", "l2") == "l1"
    penalty = np.abs(w).sum() + abs(level) if l1 else (w @ w + level**2) / 2
    return penalty + model.C * weight @ loss


def table(model, seed=0):
    if isinstance(model, LinearSVC):
        return make_classification(60, 4, n_redundant=0, flip_y=0.2, random_state=seed)
    return make_regression(60, 4, noise=5, bias=3.0, random_state=seed)


def lowest(model, X, y, weight):
    """The least objective, by a method that asks for values alone, from several starts."""
    d, bias = X.shape[1], model.fit_intercept
    best = np.inf
    for start in (
        np.zeros(d + bias),
        np.append(np.ravel(model.coef_), model.intercept_)[: d + bias],
    ):
        for _ in range(3):
            found = minimize(
                lambda p: objective(model, X, y, weight, p[:d], p[d] if bias else 0.0),
                start, method="Powell", options={"xtol": 1e-10, "ftol": 1e-14, "maxiter": 20_000},
            )  # fmt: skip
            start = found.x
        best = min(best, found.fun)
    return best


MODELS = [LinearSVC(**s, random_state=0) for s in CLASSIFIERS]
MODELS += [LinearSVR(**s, random_state=0) for s in REGRESSORS]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_plane_is_better_by_more_than_the_gap(model, sparse):
    X, y = table(model)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    model.set_params(tol=1e-6, max_iter=20_000)
    model.fit(sp.csr_matrix(X) if sparse else X, y, sample_weight=weight)
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    value = objective(model, X, y, weight, w, b)
    np.testing.assert_allclose(model.objective_, [value], rtol=1e-10)
    best = lowest(model, X, y, weight)
    assert value - best <= model.dual_gap_[0] + 1e-12 * value
    assert model.dual_gap_[0] <= 2e-5 * model.C * weight.sum() * np.abs(y).max() ** 2
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "hinge", "C": 0.1},
        {"penalty": "l1", "dual": False},
        {"dual": True, "C": 0.01},
        {"class_weight": {0: 2.0, 1: 0.5}},
        {"class_weight": "balanced", "intercept_scaling": 3.0},
        {"multi_class": "crammer_singer", "C": 0.01},
    ],
)
def test_three_classes_give_scikit_learns_planes(settings):
    X, y = load_iris(return_X_y=True)
    ours = LinearSVC(**settings, tol=1e-5, max_iter=100_000, random_state=0).fit(X, y)
    theirs = TheirLinearSVC(**settings, tol=1e-6, max_iter=500_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)


def test_regression_gives_scikit_learns_line():
    X, y = make_regression(100, 5, noise=3, random_state=0)
    ours = LinearSVR(epsilon=0.1).fit(X, y)
    theirs = TheirLinearSVR(epsilon=0.1, tol=1e-8, max_iter=500_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)


def test_a_class_between_two_others_needs_the_joint_problem():
    # Columns -, +, o: no plane parts the middle one from the rest, yet one score a class does.
    X, y = np.repeat([[-1.0], [0.0], [1.0]], 4, axis=0), np.repeat([0, 1, 2], 4)
    joint = LinearSVC(C=np.inf, multi_class="joint", random_state=0).fit(X, y)
    assert joint.score(X, y) == 1.0
    scores = joint.decision_function(X)
    own = scores[np.arange(12), y]
    scores[np.arange(12), y] = -np.inf
    np.testing.assert_allclose((own - scores.max(axis=1)).min(), 1.0)
    with pytest.raises(ValueError, match=r"C=inf allows no row .* separates the two sides: "):
        LinearSVC(C=np.inf).fit(X, y)


def test_rows_that_are_no_supports_may_go():
    X, y = make_classification(80, 3, n_redundant=0, random_state=2)
    whole = LinearSVC(loss="hinge", penalize_intercept=False).fit(X, y)
    kept = LinearSVC(loss="hinge", penalize_intercept=False).fit(
        X[whole.support_], y[whole.support_]
    )
    assert 0 < len(whole.support_) < len(X)
    np.testing.assert_allclose(kept.coef_, whole.coef_, rtol=1e-5, atol=1e-6)


def test_a_path_is_the_fits_at_each_penalty():
    X, y = load_iris(return_X_y=True)
    values = [1.0, 0.01, 0.1]
    for settings in ({"loss": "hinge"}, {}, {"dual": True, "tol": 1e-7, "max_iter": 50_000}):
        model = LinearSVC(random_state=0, **settings)
        path = model.fit_path((X, y), "C", values)
        for C, fitted in zip(values, path, strict=True):
            alone = LinearSVC(random_state=0, **settings).set_params(C=C).fit(X, y)
            np.testing.assert_allclose(fitted.coef_, alone.coef_, rtol=1e-3, atol=1e-3)


def test_a_fit_that_stops_short_says_what_it_reached_and_what_was_wanted():
    X, y = make_classification(200, 20, random_state=0)
    model = LinearSVC(loss="hinge", dual=True, max_iter=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"duality gap is .* wanted were .* and 0\.0001"):
        model.fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.n_iter_ == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "The 'C' parameter of LinearSVC must be"),
        ({"C": -1.0}, "The 'C' parameter of LinearSVC must be"),
        ({"penalty": "l1", "loss": "hinge"}, "penalty='l1' and loss='hinge' is not supported"),
        ({"loss": "hinge", "dual": False}, "not supported when dual=False"),
        ({"penalty": "l1", "dual": True}, "not supported when dual=True"),
        ({"penalty": "l1", "C": np.inf}, "C=inf is the hard margin"),
    ],
)
def test_settings_without_a_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LinearSVC(**settings).fit([[0.0], [1.0]], [0, 1])


def test_data_without_a_fit_are_refused():
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        LinearSVC().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        LinearSVC().fit([[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        LinearSVR().fit([[0.0], [np.inf]], [0, 1])


def test_hinge_and_logistic_loss_under_one_penalty_give_nearly_the_same_plane():
    X, y = make_classification(200, 4, n_redundant=0, class_sep=2.0, flip_y=0.02, random_state=0)
    planes = [
        np.ravel(model.fit(X, y).coef_)
        for model in (LinearSVC(loss="hinge", C=0.1), LogisticRegression(C=0.1))
    ]
    a, b = (w / np.linalg.norm(w) for w in planes)
    assert a @ b > 0.9


def test_a_small_price_makes_a_wide_street_and_one_row_moves_a_hard_margin():
    X, y = make_classification(100, 2, n_redundant=0, class_sep=1.5, random_state=4)
    widths = [
        1 / np.linalg.norm(LinearSVC(loss="hinge", C=C).fit(X, y).coef_) for C in (0.001, 0.1, 10)
    ]
    assert widths[0] > widths[1] > widths[2]
    A, b = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]]), np.array([0, 0, 1, 1])
    wide = LinearSVC(C=np.inf, penalize_intercept=False).fit(A, b)
    A, b = np.vstack([A, [3.9, -1.0]]), np.append(b, 0)
    narrow = LinearSVC(C=np.inf, penalize_intercept=False).fit(A, b)
    assert 1 / np.linalg.norm(narrow.coef_) < 0.5 / np.linalg.norm(wide.coef_)


def test_all_classes_at_once_stop_at_the_best_point_that_rounding_allows():
    rng = np.random.default_rng(0)
    rng.normal(size=(30, 3))
    X, y = rng.normal(size=(200, 20)), rng.integers(5, size=200)
    model = LinearSVC(multi_class="joint", tol=1e-16, max_iter=10**5)
    with pytest.warns(ConvergenceWarning, match="Rounding keeps the duality gap"):
        model.fit(X, y)
    assert model.stop_reason_ == "no_progress"
    assert model.dual_gap_[0] < 1e-8 * model.objective_[0]


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LinearSVC(loss="hinge"),
        LinearSVC(multi_class="joint"),
        LinearSVR(),
        SVC(),
        SVR(),
    ],
    ids=repr,
)
def test_numbers_out_of_range_are_refused(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    for C, weight, message in (
        (1.0, 1e308, r"C=1 times the weight 1e\+308 of row 3"),
        (1e308, 1.0, r"C=1e\+308 times the weight 1 of row 0"),
        (1.0, np.nan, "sample_weight contains NaN"),
        (1.0, np.inf, "sample_weight contains infinity"),
    ):
        weights = np.ones(30)
        weights[3] = weight
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(C=C).fit(X, y, weights)
    weights[3] = 1e-308
    if isinstance(model, SVC | SVR):
        assert clone(model).fit(X, y, weights).dual_coef_.any()
        return
    with pytest.raises(ValueError, match=r"weight of row 3 times C is 1e-308.*0 to leave it out"):
        clone(model).fit(X, y, weights)
    for rows in (X * 1e200, sp.csr_matrix(X * 1e307)):
        with pytest.raises(ValueError, match=r"X holds .*e\+\d+.*StandardScaler"):
            clone(model).fit(rows, y)


@pytest.mark.parametrize("multi_class", ["ovr", "joint", "crammer_singer"])
def test_rows_and_classes_that_do_not_count_have_no_part_in_a_hard_margin(multi_class):
    X = np.array([[0.0, 0], [0, 1], [3, 0], [3, 1], [0, 9], [1, 9], [3, 0.5]])
    y = np.array([0, 0, 1, 1, 2, 2, 0])
    weight = np.array([1.0, 1, 1, 1, 1, 1, 0])
    model = LinearSVC(C=np.inf, loss="hinge", multi_class=multi_class, max_iter=100_000)
    left_out = clone(model).fit(X[:-1], y[:-1])
    np.testing.assert_allclose(
        model.fit(X, y, sample_weight=weight).coef_, left_out.coef_, atol=1e-4
    )


@pytest.mark.parametrize("std", [3.0, 8.0], ids=["few passes", "many"])
def test_small_tables_reach_the_gap_by_passes_or_by_interior_points(std):
    X, y = make_blobs(1000, 20, centers=2, cluster_std=std, random_state=0)
    model = LinearSVC(loss="hinge", random_state=0).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.dual_gap_[0] <= 1e-4 * len(X)  # tol times the objective without weights
    assert (model.n_iter_ > 50) == (std == 3.0)  # passes, or some steps
    assert certify(model, X, y, tol=1e-4, effort=1).holds


def test_a_fit_cut_short_prints_no_infinite_number():
    """The violation of the optimality conditions is not measured in the first pass."""
    X, y = make_moons(80, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="After 1 passes the duality gap is") as said:
        LinearSVC(loss="hinge", max_iter=1).fit(X, y)
    assert not re.search(r"\b(inf|nan)\b", str(said[0].message))


def test_a_joint_hard_margin_that_does_not_exist_is_refused():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    with pytest.raises(ValueError, match="no scores put each row's own class first"):
        LinearSVC(C=np.inf, loss="hinge", multi_class="joint").fit(X, y)
