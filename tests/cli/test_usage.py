"""Words that are not a command are answered in one sentence, as bad tables are."""

import pytest

from tests.cli.commands import done, refused, run

COMPARE = ("compare", "iris", "--target", "species")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*COMPARE, "--budget", "0"), "--budget must be at least 1; got 0."),
        ((*COMPARE, "--budget", "nan"), "--budget must be at least 1; got nan."),
        ((*COMPARE, "--format", "cvs"), "--format must be csv, tsv, parquet, arrow, jsonl,"),
        (("predict", "iris", "iris"), "There is no file iris."),
        (("compare", ".", "--target", "x"), "The folder . has no files."),
        ((*COMPARE, "--seed", "-1"), "--seed must be from 0 to 4294967295; got -1."),
        (("split", "iris", "--seed", 2**32), "from 0 to 4294967295; got 4294967296."),
        (("explain", "m.skops", "iris", "--row", "-1"), "--row must be at least 0; got -1."),
        (("warm", "--jobs", "0"), "--jobs must be at least 1; got 0."),
        (
            ("compare", "iris"),
            "iris has sepal_length, sepal_width, petal_length, petal_width, species.",
        ),
        ((*COMPARE, "--targt", "x"), "--targt"),
        ((*COMPARE, "--seed", "one"), "--seed must be a whole number; got 'one'."),
        (("wram",), "No such command 'wram'"),
        (("--colour",), "--colour"),
    ],
)
def test_what_cannot_be_understood_is_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sentence in refused(*words)
    assert len(run(*words).stderr.splitlines()) == 1


def test_without_a_word_there_is_help():
    result = run()
    assert "commands:" in result.output
    assert "Error" not in result.output


def test_families_are_named_with_commas_or_one_at_a_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = done(*COMPARE, "--families", "GaussianNB, perceptron", "--family", "LogisticRegression")
    for name in ("Gaussian naive Bayes", "perceptron", "logistic regression"):
        assert name in text
    assert "least squares" not in text
    assert "There is no family 'nosuch'" in refused(*COMPARE, "--families", "nosuch")


def test_an_infinite_budget_is_no_limit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = done(*COMPARE, "--families", "GaussianNB", "--budget", "inf")
    assert "Gaussian naive Bayes: accuracy" in text
    assert "too short" not in text
