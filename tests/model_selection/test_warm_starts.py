"""Searches over C of logistic regressions: scikit-learn's results, along one path a split."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, LogisticRegression, Perceptron, Ridge, Standardizer
from rosenblatt.capabilities import path_parameters
from rosenblatt.model_selection import GridSearchCV, cross_validate, evaluation
from rosenblatt.workbench.pipelines import fit_from, may_begin_at

CS = [1.0, 0.01, 100.0, 0.1, 10.0]
EXACT = {"tol": 1e-9}
THEIRS = {"solver": "newton-cholesky", "tol": 1e-10}


def problem(n_classes=2, n=150, d=6):
    X, y = make_classification(
        n, d, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    weights = np.random.RandomState(0).randint(1, 4, n) * 1.0
    return X, np.array(["no", "perhaps", "yes"])[y], weights


def same_results(ours, other, tol=1e-5):
    assert list(ours.cv_results_) == list(other.cv_results_)
    for key, value in other.cv_results_.items():
        if "score" in key and "time" not in key and "rank" not in key:
            np.testing.assert_allclose(ours.cv_results_[key], value, rtol=tol, atol=tol)
    assert ours.best_params_ == other.best_params_


@pytest.fixture
def no_fits(monkeypatch):
    """Fail if a candidate is fitted by itself."""

    def refuse(*args, **kwargs):
        raise AssertionError("a candidate was fitted by itself")

    monkeypatch.setattr(evaluation, "_fit_in_full", refuse)


@pytest.fixture
def starts(monkeypatch):
    """The points at which fits began, as they come."""
    seen, start = [], LogisticRegression._start

    def noted(self, *args):
        point = start(self, *args)
        seen.append((self.C, bool(point.any())))
        return point

    monkeypatch.setattr(LogisticRegression, "_start", noted)
    return seen


@pytest.mark.usefixtures("no_fits")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "cv", [4, StratifiedKFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=1)]
)
def test_the_results_are_those_of_scikit_learn(storage, n_classes, cv):
    X, y, _ = problem(n_classes)
    how = {"cv": cv, "return_train_score": True, "scoring": "neg_log_loss"}
    ours = GridSearchCV(LogisticRegression(**EXACT), {"C": CS}, **how).fit(storage(X), y)
    other = theirs.GridSearchCV(
        sklearn.linear_model.LogisticRegression(**THEIRS), {"C": CS}, **how
    ).fit(X, y)
    same_results(ours, other)
    np.testing.assert_allclose(ours.best_estimator_.coef_, other.best_estimator_.coef_, atol=1e-4)


def test_each_fit_begins_where_the_last_ended(starts):
    X, y, _ = problem()
    GridSearchCV(LogisticRegression(), {"C": CS}, cv=3, refit=False).fit(X, y)
    assert starts == [(C, k > 0) for _ in range(3) for k, C in enumerate(sorted(CS))]


@pytest.mark.usefixtures("no_fits")
@pytest.mark.parametrize("scaler", [StandardScaler, Standardizer])
def test_what_stands_before_the_model_is_fitted_once(scaler, starts, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    fits, fit = [], scaler.fit
    monkeypatch.setattr(scaler, "fit", lambda self, *data: fits.append(1) or fit(self, *data))
    ours = GridSearchCV(
        make_pipeline(scaler(), LogisticRegression(**EXACT)),
        {"logisticregression__C": CS},
        cv=3,
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
    ).fit(X, y)
    assert sum(warm for _, warm in starts) == 3 * (len(CS) - 1)
    assert len(fits) <= 2 * (3 + 1)  # for scikit-learn's, fit_transform calls fit
    other = theirs.GridSearchCV(
        make_pipeline(scaler(), LogisticRegression(**EXACT)),
        {"logisticregression__C": CS},
        cv=3,
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
    ).fit(X, y)
    same_results(ours, other)
    assert np.array_equal(ours.predict(X), other.predict(X))


@pytest.mark.usefixtures("no_fits")
def test_other_parameters_make_other_paths():
    X, y, weights = problem(3)
    grid = {"C": [0.5, 0.05], "l1_ratio": [0.0, 0.6], "class_weight": [None, "balanced"]}
    how = {"scoring": "neg_log_loss", "cv": 3}
    ours = GridSearchCV(LogisticRegression(**EXACT), grid, **how).fit(X, y, sample_weight=weights)
    other = theirs.GridSearchCV(LogisticRegression(**EXACT), grid, **how).fit(
        X, y, sample_weight=weights
    )
    same_results(ours, other)
    inside = make_pipeline(PCA(), LogisticRegression(**EXACT))
    grid = {"logisticregression__C": [1.0, 0.1], "pca__n_components": [2, 4]}
    given = {"logisticregression__sample_weight": weights}
    ours = GridSearchCV(inside, grid, **how).fit(X, y, **given)
    same_results(ours, theirs.GridSearchCV(inside, grid, **how).fit(X, y, **given))


def test_a_path_at_the_usual_tolerance_is_within_the_gap_that_each_fit_proves():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    path = LogisticRegression().fit_path((X, y), "C", CS)
    assert [model.C for model in path] == CS
    for model in path:
        best = LogisticRegression(C=model.C, tol=1e-11).fit(X, y).objective_
        excess = model.objective_ - best
        assert -1e-9 * best <= excess <= model.dual_gap_ + 1e-9 * best
        assert model.stop_reason_ == "converged"
        assert model.warm_start is False


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_candidates_without_a_path_are_fitted_by_themselves():
    X, y, _ = problem()
    grid = [{"C": [1.0, np.inf]}, {"solver": ["sgd", "gradient"], "max_iter": [5]}]
    ours = GridSearchCV(LogisticRegression(random_state=0, **EXACT), grid, cv=3).fit(X, y)
    other = theirs.GridSearchCV(LogisticRegression(random_state=0, **EXACT), grid, cv=3).fit(X, y)
    same_results(ours, other)
    wrong = GridSearchCV(LogisticRegression(), {"C": [0.1, -1.0]}, cv=3, refit=False)
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        wrong.fit(X, y)
    assert np.isnan(wrong.cv_results_["mean_test_score"][1])
    assert np.isfinite(wrong.cv_results_["mean_test_score"][0])


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_training_set_of_one_class_fails_as_in_scikit_learn():
    X, y, _ = problem()
    y = np.where(np.arange(len(y)) < 3, "no", "yes")
    splits = [(np.arange(3, 90), np.arange(90, 150)), (np.arange(90), np.arange(90, 150))]
    for search in (GridSearchCV, theirs.GridSearchCV):
        with pytest.warns(FitFailedWarning, match="greater than one"):
            found = search(LogisticRegression(), {"C": CS}, cv=splits, refit=False).fit(X, y)
        assert np.isnan(found.cv_results_["split0_test_score"]).all()
        assert np.isfinite(found.cv_results_["split1_test_score"]).all()


def test_several_processes_and_data_frames_give_the_same_results():
    X, y, weights = problem()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    searches = [
        GridSearchCV(LogisticRegression(), {"C": CS}, cv=3, n_jobs=n).fit(table, y)
        for n, table in ((None, X), (2, frame))
    ]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    assert np.array_equal(*scores)
    how = {"cv": 4, "return_estimator": True, "params": {"sample_weight": weights}}
    ours = cross_validate(LogisticRegression(), frame, y, **how)
    other = theirs.cross_validate(LogisticRegression(), frame, y, **how)
    assert np.array_equal(ours["test_score"], other["test_score"])
    for a, b in zip(ours["estimator"], other["estimator"], strict=True):
        assert np.array_equal(a.coef_, b.coef_)
        assert list(a.feature_names_in_) == list(frame.columns)
        assert set(vars(a)) == set(vars(b))


def test_a_model_may_begin_at_another_if_it_ends_in_the_same_place():
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
    before, cold = LogisticRegression().fit(X[:200], y[:200]), LogisticRegression(tol=1e-8)
    warm = clone(cold)
    assert may_begin_at(before, warm, X, y)
    fit_from(before, warm, X, y)
    np.testing.assert_allclose(warm.coef_, cold.fit(X, y).coef_, atol=1e-5)
    assert warm.get_params() == cold.get_params()


@pytest.mark.parametrize(
    ("model", "columns", "classes"),
    [
        (LogisticRegression(solver="sgd"), 6, 3),  # ends where it gets to
        (LogisticRegression(C=np.inf), 6, 3),  # may have no end, or several
        (LogisticRegression(), 5, 3),
        (LogisticRegression(), 6, 2),
        (Ridge(), 6, 3),
    ],
)
def test_a_model_that_may_not_begins_at_zero(model, columns, classes):
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
    before = LogisticRegression().fit(X, y)
    assert not may_begin_at(before, model, X[:, :columns], y % classes)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("flip", [0.0, 0.3])  # with none a run ends before its last pass
def test_perceptrons_of_fewer_passes_are_stations_of_one_run(kind, n_classes, flip):
    X, y = make_classification(
        120, 8, n_informative=6, n_classes=n_classes, flip_y=flip, class_sep=3, random_state=1
    )
    passes = [20, 2, 5, 2, 1, 50, 50]
    path = kind().fit_path((X, y), "max_iter", passes)
    assert len(path) == len(passes)
    for model, n in zip(path, passes, strict=True):
        alone = kind(max_iter=n).fit(X, y)
        assert vars(alone).keys() == vars(model).keys()
        for name, value in vars(alone).items():
            np.testing.assert_array_equal(vars(model)[name], value, err_msg=name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_over_passes_is_scikit_learns():
    X, y, _ = problem(3)
    grid = {"max_iter": [2, 5, 20], "shuffle": [True, False]}
    for model, before in (
        (Perceptron(), ""),
        (make_pipeline(StandardScaler(), AveragedPerceptron()), "averagedperceptron__"),
    ):
        named = {before + name: values for name, values in grid.items()}
        ours = GridSearchCV(model, named).fit(X, y)
        same_results(ours, theirs.GridSearchCV(model, named).fit(X, y), tol=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "others",
    [{"early_stopping": True}, {"random_state": None}, {"warm_start": True}, {"pick": "random"}],
)
def test_runs_that_would_differ_are_made_one_by_one(others, monkeypatch):
    fits = []
    monkeypatch.setattr(Perceptron, "fit_path", lambda *args: fits.append(args))
    X, y, _ = problem()
    GridSearchCV(Perceptron(**others), {"max_iter": [2, 5]}).fit(X, y)
    assert not fits


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_perceptron_of_another_class_is_fitted_by_itself():
    class Own(Perceptron):
        def _weights(self, *args):
            self.asked_ = self.max_iter
            return super()._weights(*args)

    assert not path_parameters(Own())
