"""Probabilities follow the published formulas and this library's own naive Bayes."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from rosenblatt import BernoulliNB, MultinomialNB
from rosenblatt.spam import Mail, SpamFilter
from rosenblatt.spam.scoring import (
    EFFECTIVE_SHARE,
    SMOOTHING,
    CountingModel,
    chi_square,
    chi_square_tail,
)
from rosenblatt.spam.spam_filter import MODELS
from rosenblatt.spam.store import Lesson, Store
from tests.spam.messages import ham, message, spam

RNG = np.random.RandomState(0)
WORDS = [f"w{j}" for j in range(8)]
X = RNG.randint(0, 3, (40, 8))
Y = RNG.randint(0, 2, 40)
LESSONS = [
    Lesson(bytes([i]), int(Y[i]), {w: int(n) for w, n in zip(WORDS, X[i], strict=True) if n})
    for i in range(40)
]


def model_of(lessons, name):
    store = Store.in_memory()
    store.learn(lessons)
    return CountingModel(store, name, all_tokens=True)


@pytest.mark.parametrize(
    ("half", "n"),
    [(0.0, 3), (1e-3, 3), (3.0, 2), (2.7, 0.25), (500.0, 700), (5e3, 4800), (600.0, 2.5), (1e6, 9)],
)
def test_the_tail_is_that_of_the_chi_square_distribution(half, n):
    wanted = chi2.sf(2 * half, 2 * n)
    assert chi_square_tail(half, n) == pytest.approx(wanted, rel=1e-10, abs=1e-300)


def test_fishers_method_from_both_sides():
    """A share of the tokens counts as independent: sums and degrees of freedom take that share."""
    f, c = RNG.uniform(0.01, 0.99, 30), EFFECTIVE_SHARE
    spam_side = chi2.sf(-2 * c * np.log(f).sum(), 60 * c)
    ham_side = chi2.sf(-2 * c * np.log(1 - f).sum(), 60 * c)
    wanted = (1 + spam_side - ham_side) / 2
    assert chi_square(list(np.log(f / (1 - f)))) == pytest.approx(wanted, abs=1e-12)
    assert chi_square([]) == 0.5


@pytest.mark.parametrize("name", ["multinomial", "complement", "bernoulli"])
def test_naive_bayes_is_that_of_the_library(name):
    """W1: word presence with Bernoulli, token stream with multinomial naive Bayes."""
    model = model_of(LESSONS, name)
    counts = X if name == "complement" else (X > 0).astype(int)
    n_ham, n_spam = model.n_messages
    prior = [(n_ham + 1) / (n_ham + n_spam + 2), (n_spam + 1) / (n_ham + n_spam + 2)]
    peer = BernoulliNB if name == "bernoulli" else MultinomialNB
    fitted = peer(alpha=SMOOTHING, class_prior=prior).fit(counts, Y)
    wanted = np.diff(fitted.predict_log_proba(counts), axis=1)[:, 0]
    found = [model.verdict(lesson.tokens).log_odds for lesson in LESSONS]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_evidence_adds_up_to_the_log_odds():
    model = model_of(LESSONS, "multinomial")
    verdict = model.verdict(LESSONS[3].tokens)
    assert verdict.log_odds == verdict.prior + math.fsum(e.weight for e in verdict.evidence)
    assert [abs(e.weight) for e in verdict.evidence] == sorted(
        (abs(e.weight) for e in verdict.evidence), reverse=True
    )


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_the_difference(tmp_path, model):
    """W1: three forms of the filter among them, stored examples with neighbours too."""
    with SpamFilter(tmp_path / "s.db", model=model) as spam_filter:
        spam_filter.learn([Mail("", raw) for raw in ham()], "ham")
        spam_filter.learn([Mail("", raw) for raw in spam()], "spam")
        for label in (0, 1):
            judged = spam_filter.classify(message(label, 31))
            assert judged.label == ("ham", "spam")[label]
            assert 0 <= judged.probability <= 1
        verdict = spam_filter.explain(message(1, 31))
        assert verdict.probability > 0.5
        # One message more changes the answer of the next.
        spam_filter.correct(message(1, 31), "ham")
        assert spam_filter.classify(message(1, 31)).probability <= verdict.probability


def test_unseen_tokens_fall_back_to_plainer_forms(tmp_path):
    with SpamFilter(tmp_path / "s.db") as spam_filter:
        spam_filter.learn([Mail("", raw) for raw in ham()], "ham")
        spam_filter.learn([Mail("", raw) for raw in spam()], "spam")
        verdict = spam_filter.explain(b"Subject: x\n\nWINNER! nonsense")
        assert {e.token: e.counted_as for e in verdict.evidence} == {"WINNER!": "winner"}


def test_little_training_is_unsure(tmp_path):
    with SpamFilter(tmp_path / "s.db") as spam_filter:
        assert spam_filter.balance_warning() == ""
        spam_filter.learn([Mail("", spam(1)[0])], "spam")
        assert spam_filter.classify(spam(2)[1]).band == "unsure"
        assert "No ham" in spam_filter.balance_warning()
        spam_filter.learn([Mail("", raw) for raw in ham()], "ham")
        assert "ten times" in spam_filter.balance_warning()
        few = spam_filter.classify(spam(2)[1]).probability
        spam_filter.learn([Mail("", raw) for raw in spam()], "spam")
        assert 0.5 < few < spam_filter.classify(spam(2)[1]).probability
    with pytest.raises(ValueError, match="model must be one of"):
        SpamFilter(tmp_path / "s.db", model="magic")
    with pytest.raises(ValueError, match="thresholds must be"):
        SpamFilter(tmp_path / "s.db", thresholds=(0.9, 0.1))
