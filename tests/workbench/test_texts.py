"""Words are counted once for each row, and no fold learns anything from rows that it scores on."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench import column_parts, texts
from rosenblatt.workbench.contestants import contestant
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.features import TableFeatures
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.search import FoldedProblem
from rosenblatt.workbench.texts import CountedTexts

KINDS = {"said": "text", "place": "numeric", "town": "categorical"}


def frame_of(n=200):
    """Texts that name their rows, numbers that are row numbers, and a category."""
    rng = np.random.default_rng(0)
    good = rng.random(n) < 0.5
    said = [f"row{i} {'fine nice' if one else 'poor bad'} day day" for i, one in enumerate(good)]
    columns = {"said": said, "place": np.arange(n) * 1.0, "town": [f"t{i % 5}" for i in range(n)]}
    return pl.DataFrame({**columns, "y": np.where(good ^ (rng.random(n) < 0.1), "u", "v")})


def rows_in(said):
    return [int(text.split()[0].removeprefix("row")) for text in said]


@pytest.fixture
def counted(monkeypatch):
    """The rows whose words are counted, in turn."""
    seen = []
    real = texts.term_counts

    def spy(values, counter):
        seen.extend(rows_in(values))
        return real(values, counter)

    monkeypatch.setattr(texts, "term_counts", spy)
    return seen


def family(name):
    return next(one for one in FAMILIES if one.name == name)


def test_counts_of_any_rows_are_those_of_their_texts(monkeypatch):
    monkeypatch.setattr(texts, "TEXTS_AT_A_TIME", 7)
    said = [None, "", "word " * 70_000, "few words", "and some more of these words", "of"] * 9
    frame = pl.DataFrame({"said": said, "other": said[::-1]})
    kept, rng = CountedTexts(), np.random.default_rng(0)
    for n in (5, 20, 54, 1):
        rows = rng.permutation(len(said))[:n]
        for name in frame.columns:
            known, words = kept.of(frame[name][rows]), kept.table(name).terms()
            for row, text in zip(known, frame[name][rows].to_list(), strict=True):
                counts = {words[j]: n for j, n in zip(row.indices, row.data, strict=True)}
                assert counts == Counter((text or "").split())
    assert kept.n_texts == 2 * len(set(said) - {None})


@pytest.mark.parametrize("counts", [True, False])
def test_features_are_the_same_to_the_last_bit(counts):
    frame, rows = frame_of(), np.random.default_rng(0).permutation(200)[:150]
    made = TableFeatures(KINDS, counts=counts).fit(frame)
    anew = made.transform(frame[rows])
    made = TableFeatures(KINDS, counts=counts).share_counts(CountedTexts())
    kept = made.fit(frame).transform(frame[rows])
    assert made.texts.n_texts == 200
    np.testing.assert_array_equal(anew, kept)
    names = [name for name in made.get_feature_names_out() if name.startswith("said: ")]
    assert set(names) >= {f"said: {word}" for word in ("fine", "nice", "poor", "bad", "day")}


def test_what_is_counted_by_an_interrupt_is_not_counted_again(monkeypatch):
    monkeypatch.setattr(texts, "TEXTS_AT_A_TIME", 10)
    real, frame, kept = texts.term_counts, frame_of(50), CountedTexts()

    def interrupted(values, counter):
        if kept.n_texts == 0 and rows_in(values)[0] == 20:
            raise KeyboardInterrupt
        return real(values, counter)

    monkeypatch.setattr(texts, "term_counts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept.count(frame["said"])
    assert kept.n_texts == 20
    found = kept.of(frame["said"])
    assert kept.n_texts == 50
    assert (found != CountedTexts().of(frame["said"])).nnz == 0


def test_each_row_is_counted_once_and_none_of_the_test_before_it_is_opened(counted, tmp_path):
    frame = frame_of()
    problem = problem_of(read_table(frame), "y", kinds=KINDS)
    folded = FoldedProblem(problem, "accuracy")
    for name in ("multinomial naive Bayes", "logistic regression", "Gaussian naive Bayes"):
        contestant(folded, family(name), folded.candidates(family(name)))
    assert sorted(counted) == sorted([*problem.train, *problem.dev])
    counted.clear()
    names = ["multinomial naive Bayes", "averaged perceptron"]
    rosenblatt.compare(frame, "y", kinds=KINDS, families=names, ledger=tmp_path / "openings")
    assert sorted(counted) == list(range(len(frame)))
    assert set(counted[-len(problem.test) :]) == set(problem.test)


def test_nothing_that_a_fold_learns_has_seen_the_rows_it_scores_on(monkeypatch):
    """Whoever learns is shown the rows of the fold that are fitted to, and no other."""
    frame = frame_of()
    problem = problem_of(read_table(frame), "y", kinds=KINDS)
    folded, learned = FoldedProblem(problem, "accuracy"), []
    towns = {}

    def spy(part, see):
        real = part.fit

        def fit(self, values, counts):
            see(values)
            real(self, values, counts)

        monkeypatch.setattr(part, "fit", fit)

    spy(column_parts.Numbers, lambda values: learned.extend(values.cast(int).to_list()))
    spy(column_parts.Categories, lambda values: towns.update(all=values.to_list()))
    for which in ("logistic regression", "multinomial naive Bayes"):
        for fold, (fitted, scored) in enumerate(folded.folds):
            learned.clear()
            X = folded._features(family(which), fold)
            assert X.shape[0] == len(fitted) + len(scored)
            assert learned == problem.train[fitted].tolist()
            assert towns["all"] == frame["town"][problem.train[fitted]].to_list()


def test_held_out_texts_change_nothing_that_is_learned():
    frame = frame_of()
    problem = problem_of(read_table(frame), "y", kinds=KINDS)
    folded = FoldedProblem(problem, "accuracy")
    fitted, scored = folded.folds[0]
    held_out = problem.train[scored]
    said = frame["said"].to_list()
    for row in held_out:
        said[row] = "quite other words, fine"
    other = FoldedProblem(
        problem_of(read_table(frame.with_columns(said=pl.Series(said))), "y", kinds=KINDS),
        "accuracy",
    )
    logistic = family("logistic regression")
    one, two = (which._features(logistic, 0) for which in (folded, other))
    fits = np.arange(len(fitted))
    np.testing.assert_array_equal(one[fits], two[fits])
    assert (one != two).any()


def test_times_tell_what_counting_takes():
    frame = frame_of()
    problem = problem_of(read_table(frame), "y", kinds=KINDS)
    folded, bayes = FoldedProblem(problem, "accuracy"), family("multinomial naive Bayes")
    problem.count_texts()
    problem.texts.seconds = 1e4  # as if it had taken so long
    entry = contestant(folded, bayes, folded.candidates(bayes))
    share = len(problem.train) / (len(problem.train) + len(problem.dev))
    assert entry.fit_seconds == pytest.approx(1e4 * share, rel=0.01)
    assert entry.predict_seconds == pytest.approx(1e4 * (1 - share), rel=0.01)
