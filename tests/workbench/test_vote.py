"""P1: a soft vote of the best families is the last contestant, chosen where the folds prefer it."""

import numpy as np
import pytest

from rosenblatt import GaussianNB, Perceptron, VotingClassifier, load_model
from rosenblatt.data import read_table
from rosenblatt.workbench.clock import Clock
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.fitting import saved_model
from rosenblatt.workbench.model_file import save_model
from rosenblatt.workbench.pipelines import fitted_to
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.schedule import search_families, vote_of
from rosenblatt.workbench.search import FoldedProblem

NAMES = ["logistic regression", "Gaussian naive Bayes", "decision tree", "perceptron"]


def families(*names):
    return [family for family in FAMILIES if family.name in names]


@pytest.fixture(scope="module")
def run():
    folded = FoldedProblem(problem_of(read_table("iris"), "species"), "accuracy")
    return folded, *search_families(folded, families(*NAMES), Clock(None), None, vote=True)


def test_the_vote_comes_last_and_names_its_members(run):
    _, found, dropped = run
    assert not dropped
    family, entry = found[-1]
    assert family.name == entry.family == "vote of the best"
    assert isinstance(family.make(), VotingClassifier)
    assert entry.note.startswith("soft vote of ")
    assert "perceptron" not in entry.note  # it gives no probabilities
    assert all(name in entry.note for name in NAMES[:3])


def test_its_scores_are_those_of_out_of_fold_predictions(run):
    folded, found, _ = run
    problem, y = folded.problem, folded.y
    members = [(f, e) for f, e in found[:-1] if f.name != "perceptron"]
    for (fitted, scored), score in zip(folded.folds, found[-1][1].scores, strict=True):
        rows = problem.some(problem.train[scored])
        models = [fitted_to(problem, f, e.parameters, problem.train[fitted]) for f, e in members]
        mean = np.mean([model.predict_proba(rows) for model in models], axis=0)
        labels = models[0].classes_[mean.argmax(axis=1)]
        assert score == pytest.approx(np.mean(labels == y[scored]))


def test_a_vote_can_be_saved_and_read_again(run, tmp_path):
    folded, found, _ = run
    problem, (family, entry) = folded.problem, found[-1]
    model = fitted_to(problem, family, entry.parameters, problem.train)
    how = {"split": problem.split, "split_by": None, "metric": "accuracy", "certificate": None}
    saved = saved_model(problem, family.name, model, problem.train, **how)
    save_model(saved, tmp_path / "vote.skops")
    rows = problem.some(problem.dev)
    again = load_model(tmp_path / "vote.skops")
    assert np.array_equal(again.model.predict(rows), model.predict(rows))


def test_members_without_probabilities_are_refused_where_these_are_averaged():
    members = [("Bayes", GaussianNB()), ("line", Perceptron()), ("none", "drop")]
    with pytest.raises(ValueError, match="'line', a Perceptron, gives none"):
        VotingClassifier(members, voting="soft").fit([[-2], [-1], [1], [2]], [0, 0, 1, 1])
    hard = VotingClassifier(members).fit([[-2], [-1], [1], [2]], [0, 0, 1, 1])
    assert hard.predict([[-2], [2]]).tolist() == [0, 1]


def test_there_is_no_vote_of_one_family_of_numbers_or_without_time(run):
    folded, found, _ = run
    assert vote_of(folded, found[:1], Clock(None)) is None
    assert vote_of(folded, found, Clock(1e-6)) is None
    regression = FoldedProblem(problem_of(read_table("diabetes"), "progression"), "r2")
    assert vote_of(regression, found, Clock(None)) is None
