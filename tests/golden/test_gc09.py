"""GC09, C3, C4: the word that a zero count makes decisive, marked in the text."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    BernoulliNB,
    CountVectorizer,
    MultinomialNB,
    explain,
)

# Three ham without the word, two spam with it: P(spam) = 0.4.
TEXTS = ["see you at noon", "noon at work", "you at work", "win at noon", "win you win"]
LABELS = ["ham", "ham", "ham", "spam", "spam"]
MAIL = "Win at work: noon"


def told(vectorizer, model, text=MAIL):
    return explain(make_pipeline(vectorizer, model).fit(TEXTS, LABELS), text)


def test_without_smoothing_the_word_decides_alone():
    found = told(CountVectorizer(binary=True), BernoulliNB(alpha=0), "win at noon, you")
    assert (found.winner, found.log_odds) == ("spam", np.inf)
    assert [found.text[a:b] for a, b, part in found.marks if part == np.inf] == ["win"]


def test_smoothed_by_one_the_word_adds_what_its_shares_say():
    found = told(CountVectorizer(binary=True, vocabulary=["win"]), BernoulliNB(), "Win!")
    [(start, stop, part)] = found.marks
    assert found.text[start:stop] == "Win"
    assert part == pytest.approx(np.log(0.75 / 0.2))  # (2 + 1) / (2 + 2) and (0 + 1) / (3 + 2)
    assert found.log_odds == pytest.approx(np.log(0.4 * 0.75 / (0.6 * 0.2)))


@pytest.mark.parametrize(
    ("vectorizer", "model"),
    [
        (CountVectorizer(), MultinomialNB()),
        (CountVectorizer(ngram_range=(1, 2)), MultinomialNB()),
        (CountVectorizer(binary=True), BernoulliNB()),
    ],
)
def test_marks_and_the_rest_add_up_to_the_log_odds(vectorizer, model):
    found = told(vectorizer, model, MAIL + ", win")
    parts = sum(part for _, _, part in found.marks)
    assert found.start + parts + found.rest == pytest.approx(found.log_odds, abs=1e-12)
    fitted = make_pipeline(vectorizer, model).fit(TEXTS, LABELS)
    shares = dict(zip(fitted.classes_, fitted.predict_proba([MAIL + ", win"])[0], strict=True))
    odds = np.log(shares[found.winner] / shares[found.rival])
    assert found.log_odds == pytest.approx(odds, abs=1e-9)
    first, text = found.marked().split("\n", 1)
    assert first == f"{found.winner} rather than {found.rival}"
    assert text.replace(" ", "").startswith("Win[")
    assert "<span" in found._repr_html_()
