"""No message is judged by a filter that has seen it, and the order of time is kept."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rosenblatt.spam import Mail
from rosenblatt.spam.evaluation import (
    _at_random,
    _in_time,
    area,
    caught,
    evaluate_filter,
    examples_of_mails,
    lost,
    summary,
)
from rosenblatt.spam.evaluation_page import save
from tests.spam.messages import ham, spam

EXAMPLES = examples_of_mails(
    [(Mail(f"h{k}", raw), 0) for k, raw in enumerate(ham(40))]
    + [(Mail(f"s{k}", raw), 1) for k, raw in enumerate(spam(25))]
)


def test_training_comes_before_testing():
    for train, test in _in_time(EXAMPLES):
        assert max(e.sent for e in train) <= min(e.sent for e in test)
    judged = [e.digest for _, test in _at_random(EXAMPLES, 0) for e in test]
    assert sorted(judged) == sorted(e.digest for e in EXAMPLES)
    for train, test in _at_random(EXAMPLES, 0):
        assert not {e.digest for e in train} & {e.digest for e in test}


def test_areas_and_points_of_the_curve():
    rng = np.random.RandomState(0)
    score, truth = rng.randint(0, 20, 300) / 20, rng.rand(300) < 0.4
    assert area(score, truth) == pytest.approx(roc_auc_score(truth, score))
    least = next(s for s in np.sort(score)[::-1] if np.mean(score[truth] >= s) >= 0.9)
    assert lost(score, truth, 0.9) == np.mean(score[~truth] >= least)
    assert caught(score, truth, 0.0) == np.mean(score[truth] > score[~truth].max())


@pytest.mark.parametrize("protocol", ["time", "folds"])
def test_an_easy_corpus_is_told_apart_and_has_its_page(tmp_path, protocol):
    found = evaluate_filter(EXAMPLES, protocol=protocol)
    assert found.area() == 1.0
    assert sum(map(sum, found.bands().values())) == len(found.names)
    assert "caught with no ham lost" in summary(found)
    assert "0.00% of the ham lost with 95% of the spam caught" in summary(found)
    save(found, tmp_path / "page.html")
    page = " ".join((tmp_path / "page.html").read_text().split())
    assert "ROC curve" in page
    low, high = found.thresholds
    assert f"ham below {low:g}, spam above {high:g}" in page
    assert page.index("Recall by false positive rate") < page.index("Messages by band")
    assert "counts as spam if its probability is above 0.5" in page
    assert "://" not in page.replace("http://www.w3.org", "")


def test_too_little_mail_is_refused():
    with pytest.raises(ValueError, match="needs 20 ham and 20 spam"):
        evaluate_filter(EXAMPLES[:30])
    with pytest.raises(ValueError, match="protocol must be one of"):
        evaluate_filter(EXAMPLES, protocol="magic")
