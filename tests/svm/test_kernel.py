"""Kernel machines: LIBSVM's answers, the theory of margins, and what bad input gets."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

import rosenblatt.svm.smo as smo
from rosenblatt import (
    SVC,
    SVR,
    KernelLogisticRegression,
    LinearSVC,
    LinearSVR,
    Trace,
    certify,
)
from rosenblatt.kernels import Gaussian, KernelRidge, Linear
from rosenblatt.kernels.kernel_matrix import KernelMatrix
from rosenblatt.model_selection import GridSearchCV
from rosenblatt.svm import smo_loops

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "coef0": 1.0, "degree": 2, "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "sigmoid", "gamma": 0.01},
]
each_kernel = pytest.mark.parametrize("setting", KERNELS, ids=lambda s: s["kernel"])


def clouds(n=150, n_classes=2, seed=0):
    return make_classification(
        n, 4, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed
    )


@pytest.mark.parametrize("setting", KERNELS[:3], ids=lambda s: s["kernel"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_scores_are_those_of_libsvm(setting, n_classes, sparse):
    # M8: the dual with a kernel
    X, y = clouds(n_classes=n_classes)
    X = sp.csr_matrix(np.where(np.abs(X) < 0.3, 0, X)) if sparse else X
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    common = {**setting, "C": 2.0, "tol": 1e-8, "class_weight": {1: 3.0}}
    ours = SVC(**common).fit(X, y, weight)
    theirs = sklearn.svm.SVC(**common).fit(X, y, weight)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-4, atol=1e-4
    )
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    near = {"rtol": 1e-2, "atol": 1e-3}
    for a, b in ((ours.dual_coef_, theirs.dual_coef_), (ours.intercept_, theirs.intercept_)):
        a, b = (v.toarray() if sp.issparse(v) else v for v in (a, b))
        np.testing.assert_allclose(a, b, **near)


@each_kernel
def test_regression_is_that_of_libsvm(setting):
    X, _ = clouds()
    t = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    common = {**setting, "C": 2.0, "epsilon": 0.05, "tol": 1e-8}
    ours, theirs = SVR(**common).fit(X, t), sklearn.svm.SVR(**common).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-3)
    assert certify(ours, X, t).holds or setting["kernel"] == "sigmoid"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_working_sets_and_blocks_in_32_bits_reach_the_same_optimum(monkeypatch, dtype):
    monkeypatch.setattr(smo, "WHOLE", 10)
    monkeypatch.setattr(smo, "WORKING_SET", 32)
    monkeypatch.setattr("rosenblatt.kernels.kernel_matrix.FEW", 10 if dtype == np.float32 else 1000)
    X, y = clouds(n=300)
    blocks = KernelMatrix(Gaussian(0.3), X, 0.05)
    assert blocks.kept.dtype == dtype
    model = SVC(gamma=0.3, C=5, tol=1e-6, cache_size=0.1).fit(X, y)
    theirs = sklearn.svm.SVC(gamma=0.3, C=5, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("model", [SVC(kernel="linear", C=10), SVR(kernel="linear", C=10)])
def test_shrinking_leaves_rows_at_rest_out_and_the_answer_as_it_is(monkeypatch, model):
    X, y = clouds(n=300)
    sizes = []
    steps = smo_loops.smo_steps
    monkeypatch.setattr(
        smo_loops, "smo_steps", lambda K, *rest: (sizes.append(len(K)), steps(K, *rest))[1]
    )
    shrunk = clone(model).fit(X, y)
    assert min(sizes) < 150
    sizes.clear()
    whole = clone(model).set_params(shrinking=False).fit(X, y)
    assert set(sizes) == {300}
    np.testing.assert_allclose(shrunk.objective_, whole.objective_, rtol=1e-5)
    np.testing.assert_allclose(
        shrunk.decision_function(X) if hasattr(shrunk, "classes_") else shrunk.predict(X),
        whole.decision_function(X) if hasattr(shrunk, "classes_") else whole.predict(X),
        atol=2e-3,
    )
    assert certify(shrunk, X, y).holds


def test_equal_rows_are_one_support_and_weights_are_repetitions():
    # M5: merge identical points
    X, y = clouds(n=60)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    twice = np.repeat(np.arange(60), weight)[::-1]
    a, b = SVC().fit(X, y, weight), SVC().fit(X[twice], y[twice])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-10)
    assert len(b.support_vectors_) == len(np.unique(b.support_vectors_, axis=0))
    assert certify(b, X[twice], y[twice]).holds
    assert certify(a, X, y, sample_weight=weight).holds


def test_one_against_the_rest_is_k_machines():
    # L5: one class against the rest
    X, y = clouds(n_classes=3)
    model = SVC(multi_class="ovr", tol=1e-6).fit(X, y)
    for k in range(3):
        alone = SVC(tol=1e-6).fit(X, y == k)
        np.testing.assert_allclose(
            model.decision_function(X)[:, k], alone.decision_function(X), atol=1e-9
        )
    assert certify(model, X, y).holds


def test_a_class_between_two_others_cannot_be_told_from_the_rest_by_a_line():
    # L5: columns -, +, o in a row
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    assert SVC(kernel="linear", C=100, multi_class="ovr").fit(X, y).score(X, y) < 1
    assert SVC(kernel="linear", C=100, multi_class="ovo").fit(X, y).score(X, y) == 1


def test_weights_of_a_linear_kernel_are_a_row_for_each_class():
    X, y = clouds(n_classes=3)
    model = SVC(kernel="linear", multi_class="ovr").fit(X, y)
    np.testing.assert_allclose(
        X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_path_over_C_is_its_fits(multi_class):
    X, y = clouds(n_classes=3)
    values = [3.0, 0.3, 1.0]
    path = SVC(multi_class=multi_class).fit_path((X, y), "C", values)
    alone = [SVC(C=C, multi_class=multi_class).fit(X, y) for C in values]
    for along, model in zip(path.models, alone, strict=True):
        np.testing.assert_allclose(
            along.decision_function(X), model.decision_function(X), atol=1e-5
        )
        assert certify(along, X, y).holds


def test_a_path_begins_where_the_last_fit_ended():
    X, y = clouds()
    # Above some C no row is at its limit, and the next fit has nothing left to do.
    path = SVC(gamma=5).fit_path((X, y), "C", [1e4, 1e3])
    assert path.models[1].n_iter_ > 0 == path.models[0].n_iter_
    # Below some C all rows are: their coefficients grow with it.
    t = X[:, 0]
    path = SVR(gamma=1e-3).fit_path((X, t), "C", [1e-3, 1e-2])
    assert path.models[1].n_iter_ < SVR(gamma=1e-3, C=1e-2).fit(X, t).n_iter_


def test_a_path_computes_each_kernel_row_once(monkeypatch):
    computed = []
    among = Gaussian.against
    monkeypatch.setattr(
        Gaussian, "against", lambda self, V: (computed.append(len(V)), among(self, V))[1]
    )
    X, y = clouds()
    SVC().fit_path((X, y), "C", [0.1, 1.0, 10.0])
    SVR().fit_path((X, y), "C", [0.1, 1.0, 10.0])
    assert 0 < sum(computed) <= 2 * len(X)


@pytest.mark.parametrize("machine", [SVC(), LinearSVC(), LinearSVC(loss="hinge")])
@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_parts_of_meta_estimators_of_scikit_learn_are_traced_and_certified(machine, wrapper):
    # L5: one against the rest and one against one, for any learner
    X, y = clouds(n_classes=3)
    trace = Trace()
    model = wrapper(clone(machine).set_callbacks(trace)).fit(X, y)
    assert model.score(X, y) > 0.6
    pairs = [(k, None) for k in range(3)]
    if wrapper is OneVsOneClassifier:
        pairs = [(1, 0), (2, 0), (2, 1)]
    for (positive, other), part in zip(pairs, model.estimators_, strict=True):
        rows = slice(None) if other is None else (y == positive) | (y == other)
        certificate = certify(part, X[rows], (y[rows] == positive).astype(int))
        assert certificate.holds, str(certificate)
    assert len(trace.to_frame()) > 3


# Golden numbers.


def test_gc06_and_gc22_hard_margins():
    X = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]]
    y = np.array([-1, 1, 1, 1, -1])
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[4, 2]], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [-15], atol=1e-6)
    assert model.margin_[0] == pytest.approx(1 / np.sqrt(20))
    np.testing.assert_allclose(y * model.decision_function(X), [9, 1, 1, 5, 1], atol=1e-6)
    assert certify(model, X, y).holds
    X, y = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.4, -0.4]], atol=1e-8)
    np.testing.assert_allclose(model.intercept_, [0.6], atol=1e-8)
    # By row 0.08, 0.16, 0.08: the square of the weights is their sum, 0.32.
    np.testing.assert_allclose(np.abs(model.dual_coef_), [[0.16, 0.08, 0.08]], atol=1e-8)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(model.margin_[0] ** -2)


DC08 = [(0.1, 0.2, 0.18), (0.25, 0.5, 0.375), (0.5, 1, 0.5), (9, 1, 0.5)]


@pytest.mark.parametrize(("C", "w", "objective"), DC08)
def test_dc08_two_points(C, w, objective):
    model = SVC(kernel="linear", C=C, tol=1e-9).fit([[-1], [1]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(w)
    assert model.objective_[0] == pytest.approx(objective)
    assert model.dual_gap_[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(model.slack_, [1 - w, 1 - w], atol=1e-9)


def test_other_rows_than_supports_may_vanish():
    # T10: supports determine the solution
    X, y = clouds(n=80)
    model = SVC(kernel="linear", tol=1e-10).fit(X, y)
    rest = SVC(kernel="linear", tol=1e-10).fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(rest.coef_, model.coef_, rtol=1e-5)


# Bad input.


def test_hard_margins_of_classes_that_touch_are_refused_with_a_proof():
    with pytest.raises(ValueError, match=r"3 rows \(0, 1, 2\) cannot be separated"):
        SVC(kernel="linear", C=np.inf).fit([[0], [1], [2]], [0, 1, 0])
    with pytest.raises(ValueError, match="rows 0 and 2 of X are equal but have different labels"):
        SVC(C=np.inf).fit([[0], [1], [0]], [0, 1, 1])
    X, y = make_circles(60, noise=0.05, factor=0.4, random_state=0)
    with pytest.raises(ValueError, match="cannot be separated"):
        SVC(kernel="poly", degree=1, C=np.inf, gamma=1.0).fit(X, y)
    assert SVC(kernel="poly", degree=2, C=np.inf, gamma=1.0).fit(X, y).score(X, y) == 1


def test_matrices_and_kernels_that_are_none_are_named():
    X, y = clouds(n=20)
    K = Gaussian(0.3)(X)
    K[2, 7] += 1
    with pytest.raises(ValueError, match=r"A kernel must be symmetric; got X\[2, 7\]"):
        SVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="The kernel of row 0 of X and training row 0 is nan"):
        SVC(kernel=lambda U, V: np.full((len(U), len(V)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match=r"The kernel of row \d+ of X and training row \d+ is inf"):
        SVC(kernel="poly", degree=200, gamma=1e9).fit(X, y)
    K = Gaussian(0.3)(X) - 2 * np.eye(20)
    with pytest.warns(UserWarning, match="least eigenvalue is -1"):
        SVC(kernel="precomputed", max_iter=100).fit(K, y)
    with pytest.raises(ValueError, match="The 'C' parameter"):
        SVC(C=0).fit(X, y)
    with pytest.raises(ValueError, match="y has 1 class"):
        SVC().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match=r"cannot hold 2 row\(s\) of the kernel matrix"):
        SVC(cache_size=1e-4).fit(X, y)


@pytest.mark.parametrize(("scale", "word"), [(1e4, "rows is about 0"), (1e-5, "rows is about 1")])
def test_kernels_that_see_no_difference_are_warned_of(scale, word):
    X, y = clouds(n=60)
    with pytest.warns(UserWarning, match=f"{word}.*try gamma="):
        SVC(gamma=1.0).fit(scale * X, y)


def test_a_fit_that_stops_short_says_by_how_much():
    X, y = clouds()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=5.*slopes are off by"):
        model = SVC(max_iter=5).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.fit_status_ == 1
    assert not certify(model, X, y).holds


def test_probabilities_come_with_scikit_learns_warning():
    X, y = clouds()
    with pytest.warns(FutureWarning, match="`probability` parameter was deprecated"):
        model = SVC(probability=True, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert ((p[:, 1] > 0.5) == (model.predict(X) == 1)).mean() > 0.95


def test_traces_show_sweeps():
    X, y = clouds()
    trace = Trace()
    SVC(C=10).set_callbacks(trace).fit(X, y)
    frame = trace.to_frame()
    assert len(frame) == len(trace) > 3
    gaps = [step.estimator.dual_gap_[0] for step in list(trace)[1:]]
    assert gaps[-1] < gaps[0]


def test_searches_over_kernels_c_and_gamma_agree_with_scikit_learns():
    # M4: try a few kernels, and let held-out rows decide
    X, y = load_iris(return_X_y=True)
    grid = {"kernel": ["linear", "rbf"], "C": [0.1, 10.0], "gamma": [0.1, 1.0]}
    ours = GridSearchCV(SVC(tol=1e-6), grid, cv=3).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


def test_ridge_and_tubes_take_the_same_kernels():
    X, _ = clouds()
    t = X[:, 0]
    assert SVR(kernel=Gaussian(0.3)).fit(X, t).score(X, t) > 0.8
    assert KernelRidge(kernel=Gaussian(0.3)).fit(X, t).score(X, t) > 0.8


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.3)])
def test_a_sparse_table_larger_than_a_block_is_never_made_dense(kernel, monkeypatch):
    X, y = clouds(40)
    X = sp.csr_matrix(np.hstack([X, np.zeros((40, 200))]))  # zeros that a dense copy would hold
    dense = SVC(kernel=kernel).fit(X.toarray(), y).decision_function(X)
    made, toarray = [], sp.csr_matrix.toarray
    monkeypatch.setattr("rosenblatt.svm.training_rows.CELLS", 10 * X.shape[1])
    monkeypatch.setattr(
        sp.csr_matrix,
        "toarray",
        lambda rows, *a, **k: made.append(rows.shape) or toarray(rows, *a, **k),
    )
    monkeypatch.setattr("rosenblatt.kernels.kernel_matrix.SAMPLE", 10)
    scores = SVC(kernel=kernel).fit(X, y).decision_function(X)
    assert not [shape for shape in made if shape[0] > 10 and shape[1] == X.shape[1]]
    np.testing.assert_allclose(scores, dense, atol=1e-6)


def test_many_sparse_rows_have_the_model_of_dense_ones():
    rng = np.random.default_rng(0)
    X = sp.random(1600, 30, 0.2, format="csr", random_state=0)  # in float32, as dense ones
    y = (X @ rng.normal(size=30) > 0).astype(int)
    models = [SVC(tol=1e-4).fit(rows, y) for rows in (X, X.toarray())]
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(*scores, atol=1e-3)
    assert certify(models[0], X, y).holds


def noise(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.arange(n) % 3, X[:, 0] + rng.normal(size=n)


def test_a_tube_without_slack_is_refused_where_no_function_fits_into_it():
    X, _, t = noise()
    twice, targets = np.r_[X, X], np.r_[X[:, 0], X[:, 0] + 1]
    with pytest.raises(ValueError, match=r"rows \d+ and \d+ of X are equal but have targets"):
        SVR(C=np.inf, epsilon=0.01).fit(twice, targets)
    with pytest.raises(ValueError, match=r"the best function is off by 1\.6"):
        SVR(C=np.inf, kernel="linear").fit(X, t)
    with pytest.raises(ValueError, match=r"finite C; got inf.*SVR\(kernel="):
        LinearSVR(C=np.inf).fit(X, t)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_tube_without_slack_has_an_objective_and_a_proof(kernel):
    X = noise()[0]
    weight = np.r_[np.zeros(3), np.ones(len(X) - 3)]
    model = SVR(C=np.inf, kernel=kernel, tol=1e-6).fit(X, X[:, 0], weight)
    assert 0 < model.objective_ < np.inf
    assert model.dual_gap_ <= 1e-4 * model.objective_
    assert model.slack_.max() < 1e-5
    assert certify(model, X, X[:, 0], sample_weight=weight).holds
    model.intercept_ = model.intercept_ + 0.1
    assert not certify(model, X, X[:, 0], sample_weight=weight).holds


@pytest.mark.parametrize(
    ("model", "move"),
    [
        (SVC(kernel="linear"), lambda X: X * 1e19),
        (SVR(kernel="linear"), lambda X: X * 1e19),
    ],
    ids=["SVC", "SVR"],
)
def test_a_fit_that_gets_nowhere_ends_with_a_warning(model, move, monkeypatch):
    monkeypatch.setattr(smo, "STALLED", 20_000)
    X, y, t = noise()
    with pytest.warns(ConvergenceWarning, match="no progress.*StandardScaler.*lower C"):
        model = clone(model).fit(move(X), t if isinstance(model, SVR) else y)
    assert model.stop_reason_ == "no_progress"


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_class_without_weight_is_left_out(multi_class):
    X, y, _ = noise()
    weight = (y != 1) * 1.0
    model = SVC(multi_class=multi_class, class_weight="balanced").fit(X, y, weight)
    alone = SVC(multi_class=multi_class, class_weight="balanced").fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-9)
    assert certify(model, X, y, sample_weight=weight).holds
    with pytest.raises(ValueError, match="belong to the same class"):
        SVC(multi_class=multi_class).fit(X, y, (y == 1) * 1.0)


def test_a_function_that_returns_no_matrix_of_all_rows_is_named():
    X, y, _ = noise()
    with pytest.raises(ValueError, match=r"kernel, <lambda>, .* return .*\(30, 30\).*\(2, 2\)"):
        SVC(kernel=lambda a, b: np.ones((2, 2))).fit(X, y)


def test_ridge_warns_of_a_width_and_names_the_eigenvalue_of_a_matrix_that_is_none():
    X, _, t = noise()
    with pytest.warns(UserWarning, match="of all different rows is about 0 .*try gamma="):
        KernelRidge(kernel="rbf", gamma=1.0).fit(X * 1e4, t)
    K = -X @ X.T
    least = np.linalg.eigvalsh(K)[0] + 1
    with pytest.warns(UserWarning, match=rf"Singular matrix.*least eigenvalue is {least:.3g}"):
        KernelRidge(kernel="precomputed").fit(K, t)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_of_a_class_are_merged_and_zero_has_no_sign(dtype):
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(dtype)
    y = np.arange(50) % 2
    assert len(SVC(C=1e-3).fit(X, y).support_) == 50  # at so small a C all rows are supports
    X[8] = X[40]
    X[3] = X[1]
    X[[1, 3], 0] = 0.0, -0.0
    X[5] = X[6]  # of the other class
    assert len(SVC(C=1e-3).fit(X, y).support_) == 48


@pytest.mark.parametrize("Machine", [SVC, SVR, KernelLogisticRegression])
@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (lambda a, b: np.full((len(a), len(b)), np.nan), "finite"),
        (lambda a, b: np.zeros(len(a)), "returned shape"),
        (lambda a, b: np.full((len(a), len(b)), "x"), "must return numbers"),
        (lambda a, b: None, "must return numbers|returned shape"),
        (lambda a, b: np.triu(a @ b.T + 1), "symmetric"),
    ],
    ids=["nan", "vector", "words", "nothing", "one way"],
)
def test_functions_that_are_no_kernels_are_refused(Machine, kernel, match):
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=match):
        Machine(kernel=kernel).fit(X, y)


def test_a_function_with_negative_eigenvalues_is_reported_as_a_matrix_is():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.warns(UserWarning, match="least eigenvalue"), suppress(ValueError):
        SVC(kernel=lambda a, b: -(a @ b.T)).fit(X, X[:, 0] > 0)


def test_a_constant_is_certified():
    X = np.random.default_rng(0).standard_normal((40, 3))
    for model, t in ((SVR(), np.full(40, 3.3)), (SVR(epsilon=5), X[:, 0])):
        assert certify(model.fit(X, t), X, t).holds


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_fit_that_stops_early_names_the_columns_to_scale(storage):
    X, y = clouds(60)
    X = X * np.where(np.arange(X.shape[1]) == 1, 1e6, 1.0)
    with pytest.warns(
        ConvergenceWarning, match=r"Scale column 1: the spread is up to \de\+06 times"
    ):
        SVC(kernel="linear", max_iter=5).fit(storage(X), y)
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(kernel="linear", max_iter=5).fit(storage(X / X.std(axis=0)), y)
    assert "Scale column" not in str(caught[0].message)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_machine_of_columns_far_from_zero_reaches_its_tolerance(multi_class, n_classes):
    """At offsets of 1e5 rounding of the products stopped it at 1e-5, and hid the gap."""
    X, y = clouds(60, n_classes)
    settings = {"kernel": "linear", "tol": 1e-8, "multi_class": multi_class}
    near, far = SVC(**settings).fit(X, y), SVC(**settings).fit(X + 1e5, y)
    assert far.stop_reason_ == "converged"
    np.testing.assert_allclose(far.objective_, near.objective_, rtol=1e-7)
    np.testing.assert_allclose(far.decision_function(X + 1e5), near.decision_function(X), atol=1e-4)
    certificate = certify(far, X + 1e5, y, tol=1e-5)
    assert certificate.holds, str(certificate)


def test_a_linear_regression_of_columns_far_from_zero_reaches_its_tolerance():
    X, t = clouds(60)[0], np.arange(60.0) % 7
    near = SVR(kernel="linear", tol=1e-8).fit(X, t)
    far = SVR(kernel="linear", tol=1e-8).fit(X + 1e5, t)
    assert far.stop_reason_ == "converged"
    np.testing.assert_allclose(far.predict(X + 1e5), near.predict(X), atol=1e-6)
    assert certify(far, X + 1e5, t, tol=1e-5).holds
    theirs = sklearn.svm.SVR(kernel="linear", tol=1e-8).fit(X + 10, t)
    assert certify(theirs, X + 10, t, tol=1e-5).holds
    far.intercept_ += 0.1
    assert not certify(far, X + 1e5, t, tol=1e-5).holds


def test_kernel_functions_that_cannot_serve_are_refused_with_the_cure():
    X, y = clouds(20)
    with pytest.raises(ValueError, match="its values are complex numbers, but must be real; got "):
        SVC(kernel=lambda U, V: 1j * (U @ V.T)).fit(X, y)
    with pytest.raises(ValueError, match=r"two tables .* single rows becomes one of tables"):
        SVC(kernel=lambda u, v: float(np.dot(u, v))).fit(X, y)
