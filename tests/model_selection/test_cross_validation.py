"""The scores, times, estimators and errors of scikit-learn's `cross_validate`."""

import functools
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as theirs
from sklearn.callback import ProgressBar
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning, UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import GaussianNB, LinearDiscriminantAnalysis, Perceptron
from rosenblatt.additive import Additive
from rosenblatt.model_selection import cross_val_score, cross_validate, evaluation
from rosenblatt.model_selection.additive_pipelines import is_additive
from tests.model_selection.additive_models import NearestMean, RowByRow, WordCounts
from tests.model_selection.compare import assert_same
from tests.model_selection.real_models import REAL_MODELS

X, y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[y]
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(y)) / 2

SPLITTERS = {
    "default": None,
    "folds": theirs.KFold(4, shuffle=True, random_state=0),
    "one left out": theirs.LeaveOneOut(),
    "shuffles": theirs.ShuffleSplit(5, random_state=0),
    "repeated": theirs.RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "time series": theirs.TimeSeriesSplit(3),
    "lists": [(np.arange(0, 150, 2), np.arange(1, 150, 2)), ([0, 60, 120, -1, 0], [5, 70])],
}
MODELS = {
    "means": NearestMean(0.1),
    "means, full": NearestMean(0.1, full=True),
    "means, group by group": RowByRow(0.1),
    "words": WordCounts(),
    "words present": WordCounts(0.5, binarize=1.5),
    "scaled": make_pipeline(StandardScaler(), NearestMean(0.1)),
    "scaled, full": make_pipeline(StandardScaler(), NearestMean(0.1, full=True)),
    "centred": make_pipeline(StandardScaler(with_std=False), NearestMean(0.1)),
    "in units of spread": make_pipeline(StandardScaler(with_mean=False), NearestMean(0.1)),
    "untouched": make_pipeline(StandardScaler(with_mean=False, with_std=False), NearestMean()),
    "alone in a pipeline": make_pipeline("passthrough", NearestMean()),
    **REAL_MODELS,
}
# A quadratic discriminant refuses a class of one row, which these have in a training set.
# Each model meets every second splitter, and each splitter every second model.
PAIRS = [
    (m, cv)
    for (i, m), (j, cv) in itertools.product(enumerate(MODELS), enumerate(SPLITTERS))
    if (i + j) % 2 == 0 and (m != "QDA" or cv not in ("time series", "lists"))
]
EVERYTHING = {"return_train_score": True, "return_estimator": True, "return_indices": True}


def some_rows(cv):
    """Which rows to use: leaving out one by one takes long, and says the same of few."""
    return slice(None, None, 7 if cv == "one left out" else 1)


def compare(model, X, y, **how):
    """Ours and theirs, after checking that they agree and that ours took the one pass."""
    ours = cross_validate(model, X, y, **how)
    assert_same(ours, theirs.cross_validate(model, X, y, **how))
    return ours


def confidence(model, X, y):
    scores = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    return scores(X).max(axis=-1).mean()


@pytest.fixture
def no_fits(monkeypatch):
    """Fail if anything is fitted in the ordinary way."""

    @functools.wraps(Additive.fit)  # a fit from elsewhere would rule statistics out
    def refuse(*args, **kwargs):
        raise AssertionError("A fold was fitted.")

    monkeypatch.setattr(evaluation, "_fit_and_score", refuse)
    monkeypatch.setattr("rosenblatt.additive.Additive.fit", refuse)


@pytest.mark.parametrize(("model", "cv"), PAIRS)
@pytest.mark.usefixtures("no_fits")
def test_results_are_scikit_learns_and_no_fold_is_fitted(model, cv, request):
    # B3: cross-validation: every row held out exactly once
    rows, scoring = some_rows(cv), {"a": "accuracy", "b": confidence}
    data, how = (X[rows], WORDS[rows]), {"cv": SPLITTERS[cv], "scoring": scoring, **EVERYTHING}
    found = cross_validate(MODELS[model], *data, **how)
    request.getfixturevalue("monkeypatch").undo()
    assert_same(found, theirs.cross_validate(MODELS[model], *data, **how))


@given(st.data())
def test_any_splits_and_weights_agree(data):
    n = data.draw(st.integers(6, 20))
    rows = st.lists(st.integers(0, n - 1), min_size=3, max_size=2 * n)
    splits = data.draw(st.lists(st.tuples(rows, rows), min_size=1, max_size=5))
    weights = data.draw(st.lists(st.sampled_from([0, 0.5, 1, 3]), min_size=n, max_size=n))
    weights = None if data.draw(st.booleans()) else weights
    scaled = data.draw(st.booleans())
    model = make_pipeline(StandardScaler(), NearestMean(0.2)) if scaled else NearestMean(0.2)
    name = "nearestmean__sample_weight" if scaled else "sample_weight"
    numbers = np.random.default_rng(n).normal(size=(n, 3)) * [1, 1e3, 1e-3] + [0, 1e6, 1]
    how = {"cv": splits, "params": {name: weights}, "error_score": 0.5, "return_estimator": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes, or whole folds, that weigh nothing
        try:
            expected = theirs.cross_validate(model, numbers, np.arange(n) % 3, **how)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).strip()[:20]):
                cross_validate(model, numbers, np.arange(n) % 3, **how)
            return
        found = cross_validate(model, numbers, np.arange(n) % 3, **how)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])


def test_a_huge_row_spoils_no_fold_but_its_own():
    """Training sets by subtraction would lose all digits of the folds without it."""
    numbers = X.copy()
    numbers[7] = 1e8
    compare(NearestMean(), numbers, y, cv=10, scoring="neg_log_loss", **EVERYTHING)


def scores_by_name(model, X, y):
    probabilities = model.predict_proba(X)
    return {"loss": log_loss(y, probabilities, labels=[0, 1, 2]), "sure": probabilities.max()}


@pytest.mark.parametrize(
    "scoring",
    [
        None,
        "accuracy",
        "neg_log_loss",
        ["accuracy", "f1_macro"],
        {"a": "accuracy", "b": make_scorer(accuracy_score, normalize=False)},
        lambda model, X, y: float(np.mean(model.predict(X) == y)),
        scores_by_name,
    ],
)
@pytest.mark.usefixtures("no_fits")
def test_any_scoring_is_taken(scoring, request):
    found = cross_validate(NearestMean(), X, y, scoring=scoring, return_train_score=True)
    request.getfixturevalue("monkeypatch").undo()
    expected = theirs.cross_validate(NearestMean(), X, y, scoring=scoring, return_train_score=True)
    assert_same(found, expected)


@pytest.mark.parametrize("labels", [y, WORDS, list(WORDS), y.astype(float), WORDS.astype(object),
                                    pd.Series(WORDS), y == 1])  # fmt: skip
def test_labels_of_any_kind(labels):
    compare(NearestMean(), X, labels)


@pytest.mark.parametrize("model", ["means", "scaled", "words"])
def test_tables_of_any_kind(model):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for table in (frame, X.tolist(), X.astype(np.float32), (X * 10).astype(int), X[:, :1]):
        compare(MODELS[model], table, y, **EVERYTHING)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_sparse_tables_stay_sparse(form):
    table = form(np.where(X > 2, X, 0))
    scaler = StandardScaler(with_mean=False)
    for model in (NearestMean(), WordCounts(), make_pipeline(scaler, NearestMean())):
        compare(model, table, y, **EVERYTHING)
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        cross_validate(make_pipeline(StandardScaler(), NearestMean()), table, y)


def test_groups_keep_their_rows_together():
    groups = np.arange(len(y)) % 7
    for cv in (theirs.GroupKFold(3), theirs.LeaveOneGroupOut(), theirs.LeavePGroupsOut(2)):
        compare(NearestMean(), X, y, groups=groups, cv=cv, return_indices=True)


@pytest.mark.parametrize("weights", [WEIGHTS, list(WEIGHTS), pd.Series(WEIGHTS), None])
def test_weights_reach_the_model(weights):
    compare(NearestMean(), X, y, params={"sample_weight": weights}, **EVERYTHING)


@pytest.mark.parametrize("steps", [["scaler"], ["model"], ["scaler", "model"]])
@pytest.mark.usefixtures("no_fits")
def test_weights_reach_the_steps_they_are_for(steps, request):
    model = Pipeline([("scaler", StandardScaler()), ("model", NearestMean())])
    how = {"params": {f"{step}__sample_weight": WEIGHTS for step in steps}, **EVERYTHING}
    found = cross_validate(model, X, y, **how)
    request.getfixturevalue("monkeypatch").undo()
    assert_same(found, theirs.cross_validate(model, X, y, **how))


def test_metadata_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = NearestMean().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        params = {"sample_weight": WEIGHTS, "groups": np.arange(len(y)) % 7}
        compare(model, X, y, params=params, scoring=scorer, cv=theirs.GroupKFold(4), **EVERYTHING)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        compare(make_pipeline(scaler, model), X, y, params={"sample_weight": WEIGHTS},
                scoring=scorer, **EVERYTHING)  # fmt: skip
        with pytest.raises(UnsetMetadataPassedError, match=r"cross_validate"):
            cross_validate(NearestMean(), X, y, params={"sample_weight": WEIGHTS})


def test_a_fold_that_cannot_be_concluded_gets_the_error_score():
    """The third of these training sets lacks a class."""
    splits = [*theirs.StratifiedKFold(2).split(X, y), (np.arange(100), np.arange(100, 150))]
    for scoring in (None, ["accuracy", "f1_macro"], scores_by_name):
        how = {"cv": splits, "scoring": scoring, "error_score": -3.0, "return_estimator": False}
        with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 3"):
            found = cross_validate(NearestMean(n_classes=3), X, y, return_train_score=True, **how)
        with pytest.warns(FitFailedWarning):
            expected = theirs.cross_validate(
                NearestMean(n_classes=3), X, y, return_train_score=True, **how
            )
        assert_same(found, expected)
    with pytest.raises(ValueError, match="3 classes were expected"):
        cross_validate(NearestMean(n_classes=3), X, y, cv=splits, error_score="raise")


def test_a_row_that_cannot_be_measured_spoils_its_own_training_sets_only():
    numbers = X.copy()
    numbers[3, 1] = np.nan
    splits = [(np.arange(0, 120, 2), np.arange(1, 60, 2)), (np.arange(1, 150, 2), [0, 2])]
    how = {"cv": splits, "error_score": np.nan}
    with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 2"):
        found = cross_validate(NearestMean(), numbers, y, **how)
    assert np.isnan(found["test_score"]).tolist() == [False, True]
    with pytest.raises(ValueError, match="NaN"):
        cross_validate(NearestMean(), numbers, y, cv=splits, error_score="raise")


def test_when_all_fits_fail_the_reason_is_given():
    with pytest.raises(ValueError, match=r"shrinkage.*must be a float in the range"):
        cross_validate(NearestMean(shrinkage=7), X, y)
    with pytest.raises(ValueError, match="Negative values in data cannot be counted"):
        cross_validate(WordCounts(), -X, y)


def test_a_scorer_that_fails_gives_the_error_score():
    def broken(model, X, y):
        raise RuntimeError("no score")

    with pytest.warns(UserWarning, match="Scoring failed"):
        found = cross_validate(NearestMean(), X, y, scoring=broken, error_score=-1)
    assert found["test_score"].tolist() == [-1] * 5
    with pytest.raises(RuntimeError, match="no score"):
        cross_validate(NearestMean(), X, y, scoring=broken, error_score="raise")


def test_a_split_without_training_rows_fails_as_ever():
    splits = [([], np.arange(10)), (np.arange(50, 150), np.arange(10))]
    with pytest.raises((ValueError, IndexError)):
        cross_validate(NearestMean(), X, y, cv=splits, error_score="raise")


def test_arguments_are_checked_as_by_scikit_learn():
    with pytest.raises(ValueError, match="The 'scoring' parameter of cross_validate"):
        cross_validate(NearestMean(), X, y, scoring="accurate")
    with pytest.raises(ValueError, match="n_splits=300 greater than"):
        cross_validate(NearestMean(), X, y, cv=300)


class OwnFit(NearestMean):
    """Learns something else than its statistic implies."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.intercept_ = self.intercept_ + [100, 0, 0]
        return self


def test_what_is_not_additive_is_scikit_learns_business():
    heard = NearestMean()
    heard._skl_callbacks = [ProgressBar()]
    others = [
        TheirGaussianNB(),
        DecisionTreeClassifier(random_state=0),
        Perceptron(random_state=0),
        make_pipeline(StandardScaler(), TheirGaussianNB()),
        OwnFit(),
    ]
    assert not any(is_additive(model) for model in [*others, heard])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in others[:-1]:
            found = cross_validate(model, X, y)["test_score"]
            np.testing.assert_array_equal(found, theirs.cross_validate(model, X, y)["test_score"])
    assert cross_validate(OwnFit(), X, y)["test_score"].mean() == pytest.approx(1 / 3)


def test_other_steps_before_the_model_are_fitted_in_the_ordinary_way(tmp_path):
    scaled = make_pipeline(StandardScaler(), NearestMean())
    in_frames = make_pipeline(StandardScaler().set_output(transform="pandas"), NearestMean())
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for model in (
        make_pipeline(MinMaxScaler(), NearestMean()),
        make_pipeline(StandardScaler(), StandardScaler(), NearestMean()),
        make_pipeline(StandardScaler(), WordCounts(binarize=0.5)),
        Pipeline(scaled.steps, memory=str(tmp_path)),
        in_frames,
    ):
        ours = cross_validate(model, frame, y, return_estimator=True)
        expected = theirs.cross_validate(model, frame, y)
        np.testing.assert_array_equal(ours["test_score"], expected["test_score"])
    ours = cross_validate(in_frames, frame, y, return_estimator=True)
    assert list(ours["estimator"][0][-1].feature_names_in_) == ["a", "b", "c", "d"]


def test_times_add_up_to_what_was_spent(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(evaluation.time, "perf_counter", lambda: float(next(clock)))
    found = cross_validate(NearestMean(), X, y, cv=4)
    # One second for measuring, shared by four; one for each conclusion, and one for each score.
    np.testing.assert_allclose(found["fit_time"], 1.25)
    np.testing.assert_allclose(found["score_time"], 1.0)


def test_progress_is_printed(capsys):
    cross_validate(NearestMean(), X, y, cv=3, verbose=2)
    assert capsys.readouterr().out.count("END") == 3


def test_real_data_agree(data_folder):
    """Columns of spam counts, a third of them far apart in size."""
    table = np.loadtxt(data_folder / "spambase" / "spambase.csv.gz", delimiter=",", skiprows=1)
    numbers, spam = table[:, :-1], table[:, -1].astype(int)
    assert len(table) > 4000
    for model in (NearestMean(), WordCounts(), make_pipeline(StandardScaler(), NearestMean())):
        compare(model, numbers, spam, cv=10, scoring=["accuracy", "neg_log_loss"], **EVERYTHING)


def test_folds_with_no_more_rows_than_classes_fail_as_fits_do():
    """A linear discriminant from such a fold was concluded in silence, where a fit refuses."""
    X, y = load_iris(return_X_y=True)
    cv = theirs.ShuffleSplit(6, train_size=3, random_state=0)
    with pytest.warns(FitFailedWarning):
        expected = theirs.cross_validate(LinearDiscriminantAnalysis(), X, y, cv=cv)["test_score"]
    with pytest.warns(FitFailedWarning):
        found = cross_validate(LinearDiscriminantAnalysis(), X, y, cv=cv)["test_score"]
    assert np.isnan(expected).any()
    np.testing.assert_allclose(found, expected)


def test_huge_weights_are_weights():
    X, y = load_iris(return_X_y=True)
    params = {"sample_weight": np.random.default_rng(0).uniform(0.5, 2, len(X)) * 1e300}
    expected = theirs.cross_validate(TheirGaussianNB(), X, y, params=params)["test_score"]
    found = cross_validate(GaussianNB(), X, y, params=params)["test_score"]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.parametrize("model", MODELS)
def test_the_scores_alone_are_those_of_all_results(model, scoring):
    how = {"cv": 4, "scoring": scoring}
    found = cross_val_score(MODELS[model], X, y, **how)
    np.testing.assert_array_equal(found, cross_validate(MODELS[model], X, y, **how)["test_score"])
    np.testing.assert_array_equal(found, theirs.cross_val_score(MODELS[model], X, y, **how))


def test_the_scores_alone_are_of_one_scoring():
    with pytest.raises(ValueError, match=r"The 'scoring' parameter of cross_val_score"):
        cross_val_score(NearestMean(), X, y, scoring=["accuracy", "f1_macro"])
