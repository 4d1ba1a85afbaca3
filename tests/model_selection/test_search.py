"""The results of scikit-learn's `GridSearchCV`, from one read of the rows."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rosenblatt.model_selection import GridSearchCV, evaluation
from rosenblatt.model_selection.search import simplest
from tests.model_selection.additive_models import NearestMean, WordCounts
from tests.model_selection.compare import assert_same, assert_same_fit
from tests.model_selection.counted import CountedTable
from tests.model_selection.test_cross_validation import (
    WEIGHTS,
    no_fits,  # noqa: F401
    scores_by_name,
)

X, y = load_iris(return_X_y=True)
SHRINKAGES = [0.0, 0.3, 0.6, 0.9]
SCALED = Pipeline([("scaler", StandardScaler()), ("model", NearestMean())])


def searches(estimator, grid, **how):
    """Ours and theirs, unfitted."""
    return GridSearchCV(estimator, grid, **how), theirs.GridSearchCV(estimator, grid, **how)


def assert_same_search(ours, other):
    """Raise unless two fitted searches say the same, times and the choice of tied ones apart."""
    assert_same(ours.cv_results_, other.cv_results_)
    public = {name for name in vars(other) if name.endswith("_") and not name.startswith("_")}
    assert {name for name in vars(ours) if name.endswith("_") and name[0] != "_"} == public
    for name in ("best_score_", "n_splits_", "multimetric_"):
        assert getattr(ours, name, None) == pytest.approx(getattr(other, name, None))
    assert type(ours.scorer_) is type(other.scorer_)
    if getattr(ours, "best_index_", None) == getattr(other, "best_index_", None):
        assert getattr(ours, "best_params_", None) == getattr(other, "best_params_", None)
        if hasattr(other, "best_estimator_"):
            assert_same_fit(ours.best_estimator_, other.best_estimator_)


GRIDS = {
    "one parameter": (NearestMean(), {"shrinkage": SHRINKAGES}),
    "two, one of them measured": (NearestMean(), {"shrinkage": SHRINKAGES, "full": [False, True]}),
    "two grids": (WordCounts(), [{"alpha": [0.1, 1, 10]}, {"binarize": [1.0, 2.0]}]),
    "a pipeline": (SCALED, {"model__shrinkage": SHRINKAGES, "scaler__with_mean": [True, False]}),
    "steps": (
        SCALED,
        {
            "scaler": [StandardScaler(), "passthrough", MinMaxScaler()],
            "model": [NearestMean(), NearestMean(0.5), WordCounts(), TheirGaussianNB()],
        },
    ),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize(
    "cv", [None, theirs.ShuffleSplit(4, random_state=0), theirs.TimeSeriesSplit(3)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the:UserWarning")
def test_results_are_scikit_learns(name, cv):
    estimator, grid = GRIDS[name]
    ours, other = searches(estimator, grid, cv=cv, return_train_score=True)
    assert_same_search(ours.fit(X, y), other.fit(X, y))


@pytest.mark.parametrize(
    "how",
    [
        {"scoring": "neg_log_loss"},
        {"scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss"},
        {"scoring": {"a": "accuracy", "l": "neg_log_loss"}, "refit": False},
        {"scoring": {"a": "accuracy", "l": "neg_log_loss"}, "refit": lambda found: 2},
        {"scoring": scores_by_name, "refit": "loss"},
        {"scoring": make_scorer(accuracy_score)},
        {"refit": False},
        {"refit": lambda found: int(found["mean_test_score"].argmin())},
        {"n_jobs": 2, "pre_dispatch": 2},
    ],
)
def test_any_scoring_and_refit(how):
    ours, other = searches(NearestMean(), {"shrinkage": SHRINKAGES}, **how)
    assert_same_search(ours.fit(X, y), other.fit(X, y))
    if ours.refit:
        np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    if ours.refit and not (callable(ours.refit) and ours.multimetric_):
        assert ours.score(X, y) == pytest.approx(other.score(X, y))


@pytest.mark.usefixtures("no_fits")
@pytest.mark.parametrize("name", list(GRIDS)[:-1])
def test_nothing_is_fitted_not_even_the_best(name):
    estimator, grid = GRIDS[name]
    search = GridSearchCV(estimator, grid).fit(X, y)
    assert search.predict(X).shape == y.shape


@pytest.mark.parametrize("n_folds", [3, 10])
@pytest.mark.parametrize("n_points", [1, 20])
def test_each_row_is_read_once_whatever_the_folds_and_the_grid(n_folds, n_points):
    table = CountedTable(X)
    grid = {"shrinkage": np.linspace(0, 0.9, n_points)}
    GridSearchCV(NearestMean(), grid, cv=n_folds).fit(table, y)
    assert table.reads.tolist() == [2] * len(y)  # once to train, once to score


def test_another_statistic_takes_another_read():
    table = CountedTable(X)
    grid = {"alpha": [0.1, 1.0, 2.0], "binarize": [None, 1.0, 2.0]}
    GridSearchCV(WordCounts(), grid, cv=5).fit(table, y)
    assert table.reads.tolist() == [4] * len(y)


def test_an_undeclared_model_is_measured_for_each_candidate():
    class Undeclared(NearestMean):
        measured_by = None

    table = CountedTable(X)
    ours, other = searches(Undeclared(), {"shrinkage": SHRINKAGES})
    assert_same_search(ours.fit(table, y), other.fit(X, y))
    assert table.reads.tolist() == [1 + len(SHRINKAGES)] * len(y)


def test_weights_groups_and_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    groups = np.arange(len(y)) % 8
    for estimator, name, params in (
        (NearestMean(), "shrinkage", {"sample_weight": WEIGHTS}),
        (SCALED, "model__shrinkage", {"model__sample_weight": WEIGHTS}),
    ):
        ours, other = searches(estimator, {name: SHRINKAGES}, cv=theirs.GroupKFold(4))
        ours.fit(frame, y, groups=groups, **params)
        other.fit(frame, y, groups=groups, **params)
        assert_same_search(ours, other)
        assert list(ours.feature_names_in_) == ["a", "b", "c", "d"]
        assert ours.n_features_in_ == 4


def test_metadata_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = NearestMean().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        ours, other = searches(model, {"shrinkage": SHRINKAGES}, scoring=scorer)
        ours.fit(X, y, sample_weight=WEIGHTS)
        other.fit(X, y, sample_weight=WEIGHTS)
        assert_same_search(ours, other)


def test_a_candidate_that_fails_gets_the_error_score():
    grid = {"shrinkage": [0.1, 7.0], "full": [False, True]}
    ours, other = searches(NearestMean(), grid, error_score=-1.0)
    with pytest.warns(FitFailedWarning, match="10 fits failed out of a total of 20"):
        ours.fit(X, y)
    with pytest.warns(FitFailedWarning):
        other.fit(X, y)
    assert_same_search(ours, other)
    with pytest.raises(ValueError, match="shrinkage"):
        GridSearchCV(NearestMean(), grid, error_score="raise").fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_statistic_that_cannot_be_measured_fails_alone():
    grid = {"binarize": [-1.0, 1.0]}
    ours, other = searches(WordCounts(), grid)
    for search in (ours, other):
        with pytest.warns(UserWarning, match="non-finite"):
            search.fit(X, y)
    assert_same_search(ours, other)
    assert ours.best_params_ == {"binarize": 1.0}


def test_errors_are_scikit_learns():
    with pytest.raises(ValueError, match="Invalid parameter 'smoothing'"):
        GridSearchCV(NearestMean(), {"smoothing": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        GridSearchCV(NearestMean(), {"shrinkage": [0]}, scoring=["accuracy"]).fit(X, y)
    with pytest.raises(ValueError, match="The 'refit' parameter"):
        GridSearchCV(NearestMean(), {"shrinkage": [0]}, refit=3.5).fit(X, y)
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        GridSearchCV(NearestMean(), {"shrinkage": [9]}).fit(X, y)
    with pytest.raises(ValueError, match="No fits were performed"):
        GridSearchCV(NearestMean(), {"shrinkage": [0]}, cv=[]).fit(X, y)


def test_other_estimators_are_searched_by_scikit_learn():
    grid = {"max_depth": [1, 2, 3]}
    ours, other = searches(DecisionTreeClassifier(random_state=0), grid)
    np.testing.assert_array_equal(
        ours.fit(X, y).cv_results_["mean_test_score"],
        other.fit(X, y).cv_results_["mean_test_score"],
    )
    assert ours.best_params_ == other.best_params_


def test_somebody_who_listens_hears_every_fit(capsys):
    search = GridSearchCV(NearestMean(), {"shrinkage": SHRINKAGES}, cv=3)
    assert search._has_shared_work()
    search.set_callbacks(ProgressBar())
    assert not search._has_shared_work()


def test_a_search_is_cloned_and_shown_like_scikit_learns():
    search = GridSearchCV(NearestMean(), {"shrinkage": SHRINKAGES}, cv=3)
    assert clone(search).get_params().keys() == theirs.GridSearchCV(NearestMean(), {}).get_params(
    ).keys()  # fmt: skip
    assert repr(search).startswith("GridSearchCV(")
    fitted = search.fit(X, y)
    assert not hasattr(fitted, "_evaluation")


class TestTies:
    """A10, B2: of candidates that do equally well the simplest is taken."""

    same = (np.zeros((30, 2)) + np.arange(30)[:, None] % 2, np.arange(30) % 2)  # no mistakes

    def best(self, estimator, grid, **how):
        return GridSearchCV(estimator, grid, cv=3, **how).fit(*self.same).best_params_

    def test_the_most_smoothing_wins(self):
        grid = {"shrinkage": [0.5, 0.0, 0.9, 0.1]}
        assert self.best(NearestMean(), grid) == {"shrinkage": 0.9}
        assert self.best(NearestMean(), grid, refit=False) == {"shrinkage": 0.9}
        assert theirs.GridSearchCV(NearestMean(), grid).fit(*self.same).best_index_ == 0

    def test_inside_pipelines_too(self):
        grid = {"model__shrinkage": [0.5, 0.0, 0.9, 0.1]}
        assert self.best(SCALED, grid) == {"model__shrinkage": 0.9}

    def test_otherwise_the_first_of_the_grid(self):
        grid = {"full": [True, False]}
        assert self.best(NearestMean(), grid) == {"full": True}
        grid = {"max_depth": [3, 1, 2]}
        assert self.best(DecisionTreeClassifier(), grid) == {"max_depth": 3}

    def test_a_better_candidate_beats_a_simpler_one(self):
        search = GridSearchCV(NearestMean(), {"shrinkage": [0.0, 1.0]}).fit(X, y)
        assert search.best_params_ == {"shrinkage": 0.0}

    def test_a_function_that_chooses_has_the_last_word(self):
        assert self.best(NearestMean(), {"shrinkage": [0.5, 0.9]}, refit=lambda found: 0) == {
            "shrinkage": 0.5
        }

    def test_rounding_breaks_no_tie(self):
        """The same three scores in another order have another mean, by one digit in the last."""
        search = GridSearchCV(NearestMean(), {})
        means = np.array([np.mean([0.1, 0.2, 0.3]), np.mean([0.3, 0.2, 0.1])])
        assert means[0] != means[1]
        search._evaluation = None
        found = {
            "params": [{"shrinkage": 0.1}, {"shrinkage": 0.7}],
            "mean_test_score": means,
            "rank_test_score": np.array([1, 2]) if means[0] > means[1] else np.array([2, 1]),
        }
        assert search._select_best_index(True, "score", found) == 1

    def test_fewer_parameters_before_more_smoothing(self):
        models = [NearestMean(0.9), NearestMean(0.1), NearestMean(0.2)]
        for model, n in zip(models, [6, 4, 4], strict=True):
            model.n_parameters_ = n
        assert simplest(models) == 2
        assert simplest([*models, TheirGaussianNB()]) == 0

    def test_what_cannot_be_compared_is_not(self):
        assert simplest([NearestMean("auto"), NearestMean(0.5)]) == 0
        assert simplest([NearestMean(None), NearestMean(0.5)]) == 1


def test_memory_is_bounded_by_blocks_here_too(monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_BYTES", 1)
    ours, other = searches(NearestMean(), {"shrinkage": SHRINKAGES}, cv=theirs.LeaveOneOut())
    few = slice(None, None, 2)
    assert_same_search(ours.fit(X[few], y[few]), other.fit(X[few], y[few]))


def test_progress_is_printed(capsys):
    GridSearchCV(NearestMean(), {"shrinkage": SHRINKAGES}, cv=3, verbose=2).fit(X, y)
    printed = capsys.readouterr().out
    assert "Fitting 3 folds for each of 4 candidates, totalling 12 fits" in printed
    assert printed.count("END shrinkage=") == 12
