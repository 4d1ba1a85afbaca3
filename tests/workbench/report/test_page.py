"""The report without a browser: what it says, in which order, and what can never get into it."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from rosenblatt.data import TableError
from rosenblatt.workbench.findings import Hint
from rosenblatt.workbench.report import page, save
from tests.workbench.report.comparing import CLASSIFIERS, REGRESSORS, compare, letters, unfinished
from tests.workbench.report.reading import Page

SECTIONS = ["answer", "leaderboard", "test", "model", "search", "data", "repeat"]


def test_a_page_is_well_formed_and_has_a_language_and_a_title(findings):
    read = Page(page(findings))
    assert read.all("html")[0]["attributes"]["lang"] == "en"
    assert read.all("title")[0]["text"].strip()
    ids = [e["attributes"]["id"] for e in read.elements if "id" in e["attributes"]]
    assert len(ids) == len(set(ids))


def test_a_page_stands_alone(findings):
    text = page(findings)
    assert "://" not in text
    read = Page(text)
    for element in read.elements:
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert element["attributes"].get(name, "#").startswith(("#", "data:,"))
    assert "@import" not in text
    assert "url(" not in text


def test_headings_are_in_order(findings):
    levels = [int(e["name"][1]) for e in Page(page(findings)).all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_picture_has_a_description_or_is_hidden_from_screen_readers(findings):
    pictures = Page(page(findings)).all("svg")
    assert pictures
    for picture in pictures:
        attributes = picture["attributes"]
        described = attributes.get("role") == "img" and attributes.get("aria-label", "").strip()
        assert described or attributes.get("aria-hidden") == "true"


def test_every_heading_of_a_table_has_a_scope(findings):
    headings = Page(page(findings)).all("th")
    assert headings
    assert {e["attributes"].get("scope") for e in headings} <= {"col", "row"}


def test_links_lead_to_sections(findings):
    read = Page(page(findings))
    targets = [e["attributes"]["href"][1:] for e in read.all("a") if "nav" in e["inside"]]
    assert targets == [e["attributes"]["id"] for e in read.all("section")]
    assert set(targets) <= set(SECTIONS)
    assert {e["attributes"]["href"][1:] for e in read.all("a")} <= set(targets)


def test_what_needs_the_keyboard_can_be_reached_by_it(digits):
    boxes = [e for e in Page(page(digits)).elements if "scroll" in e["attributes"].get("class", "")]
    assert boxes
    assert all(box["attributes"].get("tabindex") == "0" for box in boxes)
    assert all(box["attributes"].get("aria-label") for box in boxes)


def test_no_name_becomes_markup(every_kind):
    text = page(every_kind["hostile"])
    read = Page(text)
    assert len(read.all("script")) == 1
    assert "alert" not in read.all("script")[0]["text"]
    assert "<script>alert" not in text
    assert text.count("<!doctype html>") == text.count("</main>") == 1
    assert "%body%" in read.all("h1")[0]["text"]  # a name, not a place for the body


def test_the_answer_comes_first_with_score_intervals_and_baseline(binary):
    answer = Page(page(binary)).with_id("answer")["text"]
    assert "Logistic regression" in answer
    assert f"{100 * binary.opening.score:.1f}%" in answer
    assert "Wilson" in answer
    assert "Hoeffding" in answer
    assert f"{100 * binary.opening.baseline_score:.1f}%" in answer
    assert "Warnings" not in answer


def test_regression_is_reported_as_explained_variance(diabetes):
    read = Page(page(diabetes))
    assert "of the variance of" in read.with_id("answer")["text"]
    titles = [e["text"] for e in read.all("h3")]
    assert {"Predicted and actual values", "Residuals", "Distribution of residuals"} <= set(titles)
    assert "Confusion matrix" not in titles


def test_classification_has_its_pictures(binary, iris):
    for findings, roc in ((binary, "ROC curve"), (iris, "ROC curves")):
        titles = {e["text"] for e in Page(page(findings)).all("h3")}
        assert {"Confusion matrix", roc, "Precision and recall", "Calibration"} <= titles
        assert {"Learning curve", "What the model learned", "Certificate"} <= titles


def test_warnings_stand_beside_the_answer(binary):
    doubtful = replace(
        binary,
        protocol=replace(binary.protocol, stopped="budget", budget=30.0),
        opening=replace(binary.opening, times_opened=4, baseline_score=0.99),
        hints=[Hint("leakage", "The column diagnosis_code decides the target alone.")],
    )
    answer = Page(page(doubtful)).with_id("answer")["text"]
    assert "The time limit of 30" in answer
    assert "evaluated 4 times" in answer
    assert "1 sign of possible target leakage" in answer
    assert "The difference from the baseline is not significant" in answer


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "of 114 test rows."), (1, "(1 of them duplicates a training row)."),
     (12, "; 12 (10.5%) of them duplicate training rows; on the other 102 it is 81.2%."),
     (60, "; 60 (52.6%) of them duplicate training rows, so this says little about new rows; on "
          "the other 54 it is 81.2%."),
     (114, "; all of them duplicate training rows, so this says little about new rows.")],
)  # fmt: skip
def test_the_headline_counts_duplicate_test_rows(binary, n, words):
    total = len(binary.opening.y)
    assert total == 114
    hints = [Hint("repeated rows", "", np.arange(total) < n)] if n else []
    part = replace(binary.opening, score=0.8125, y=binary.opening.y[n:])
    opening = replace(binary.opening, unrepeated=part if 0 < n < total else None)
    read = Page(page(replace(binary, hints=hints, opening=opening)))
    [headline] = [e for e in read.all("p") if e["attributes"].get("class") == "headline"]
    assert words in headline["text"]
    # Once, and with the score of the other rows.
    assert (
        "are also among the rows"
        not in read.with_id("answer")["text"] + read.with_id("data")["text"]
    )
    assert "of leakage" not in read.with_id("answer")["text"]
    others = f"On the {total - n} test rows that are not duplicates the score is 81.2%"
    assert (others in read.with_id("answer")["text"]) == (0 < n < total)


def test_test_scores_stand_in_the_answer_only(binary):
    def outside(score, simple):
        opening = replace(binary.opening, score=score, baseline_score=simple)
        read = Page(page(replace(binary, opening=opening)))
        assert f"{score:.1%}" in read.with_id("answer")["text"]
        return [e["text"] for e in read.all("section") if e["attributes"]["id"] != "answer"]

    assert outside(0.98765, 0.54321) == outside(0.61234, 0.43210)


def test_the_leaderboard_has_every_family_once_and_why_others_are_not_on_it(iris):
    read = Page(page(iris))
    rows = [e for e in read.all("th") if "family" in e["attributes"].get("class", "")]
    names = [row["text"] for row in rows]
    assert names == [c.family for c in iris.contestants] + ["always the commonest classbaseline"]
    board = read.with_id("leaderboard")["text"]
    assert all(d.family in board and d.reason in board for d in iris.dropped)


@pytest.mark.parametrize(
    ("p", "word", "n_hollow"),
    [(0.4, "no significant difference", 0), (0.001, "significantly worse", 1)],
)
def test_the_baseline_is_tested_as_the_others_are(iris, p, word, n_hollow):
    board = [replace(c, p_value=1.0) for c in iris.contestants]
    baseline = replace(iris.baseline, p_value=p)
    text = str(page(replace(iris, contestants=board, baseline=baseline)))
    line = text[text.rindex("<tr", 0, text.index("always the commonest class<small>")) :]
    line = line[: line.index("</tr>")]
    assert f"<span>{word}</span>" in line
    told = Page(text).with_id("leaderboard")["text"]
    assert ("The best is not significantly better than the baseline" in told) == (n_hollow == 0)
    assert 'class="simple"' in line  # never among those that are highlighted


def test_the_baseline_stands_where_its_score_puts_it(iris):
    first, second, *rest = iris.contestants
    middle = (second.mean + rest[0].mean) / 2
    scores = np.full(5, middle)
    baseline = replace(
        iris.baseline, candidates=[replace(iris.baseline.candidates[0], scores=scores)], best=0
    )
    findings = replace(iris, baseline=baseline)
    assert second.mean > middle > rest[0].mean
    assert findings.board == [first, second, baseline, *rest]
    read = Page(page(findings))
    rows = [e["text"] for e in read.all("th") if "family" in e["attributes"].get("class", "")]
    assert rows[2] == "always the commonest classbaseline"
    ranks = [e["text"] for e in read.all("td") if e["attributes"].get("class") == "rank"]
    assert ranks == [str(i + 1) for i in range(len(findings.board))]
    best = replace(baseline, candidates=[replace(baseline.candidates[0], scores=scores + 1)])
    text = page(replace(iris, baseline=best))
    assert text.index("always the commonest class<small>") < text.index("below the baseline")


def test_families_of_other_packages_are_told_from_ours(iris):
    ours = iris.contestants[0]
    theirs = replace(ours, package="sklearn", p_value=0.5)
    read = Page(page(replace(iris, contestants=[ours, theirs])))
    words = read.with_id("leaderboard")["text"]
    assert f"no significant difference between the best and {ours.family} (sklearn)." in words
    assert "from sklearn" in words


def test_without_an_evaluation_the_test_set_was_not_used(iris):
    read = Page(page(unfinished(iris)))
    assert "The test set was not used" in read.with_id("answer")["text"]
    assert "interrupted" in read.with_id("answer")["text"]
    assert read.with_id("test") is None
    assert not re.search(r"\bnan\b", read.with_id("leaderboard")["text"], re.I)


def test_a_comparison_without_contestants_is_still_a_page(iris):
    empty = replace(unfinished(iris), contestants=[], dropped=[], target={}, columns=[])
    read = Page(page(empty))
    assert "No model could be fitted" in read.with_id("answer")["text"]
    assert "no model fitted in" in read.all("header")[0]["text"]


def test_scores_that_are_no_numbers_are_dashes(iris):
    def failed(contestant):
        candidate = replace(contestant.candidates[0], scores=np.full(5, np.nan))
        return replace(
            contestant, candidates=[candidate], best=0, dev_score=np.nan, dev_train_score=np.nan,
            fit_seconds=np.nan, predict_seconds=np.nan, p_value=np.nan,
        )  # fmt: skip

    nothing = replace(
        unfinished(iris),
        contestants=[failed(c) for c in iris.contestants], baseline=failed(iris.baseline),
    )  # fmt: skip
    text = page(nothing)
    assert not re.search(r"\bnan\b", text, re.I)
    assert "\u2013" in Page(text).with_id("leaderboard")["text"]


def test_predictions_that_are_no_numbers_are_left_out(diabetes):
    for bad in (np.nan, np.inf):
        predicted = diabetes.opening.predicted.copy()
        predicted[:3] = bad
        text = page(replace(diabetes, opening=replace(diabetes.opening, predicted=predicted)))
        assert not re.search(r"\b(nan|inf)\b", text)
        predicted[:] = bad
        text = page(replace(diabetes, opening=replace(diabetes.opening, predicted=predicted)))
        assert "No prediction is a finite number." in text


def test_exact_predictions_have_a_histogram_of_one_bar(diabetes):
    exact = replace(diabetes.opening, predicted=diabetes.opening.y, score=1.0)
    assert "Distribution of residuals" in page(replace(diabetes, opening=exact))


def test_one_fold_has_no_interval(iris):
    first = iris.contestants[0]
    candidate = replace(first.candidates[0], scores=np.array([0.9]), train_scores=np.array([]))
    alone = replace(first, candidates=[candidate], best=0)
    assert "0.900" in page(replace(iris, contestants=[alone], learning_curve=None))


def test_scores_that_are_no_probabilities_rank_but_are_not_calibrated(binary):
    opening = replace(binary.opening, probabilities=None)
    titles = {e["text"] for e in Page(page(replace(binary, opening=opening))).all("h3")}
    assert "ROC curve" in titles
    assert "Calibration" not in titles
    opening = replace(opening, decisions=None)
    titles = {e["text"] for e in Page(page(replace(binary, opening=opening))).all("h3")}
    assert "ROC curve" not in titles
    assert "Confusion matrix" in titles


def test_a_class_that_no_test_row_has_leaves_no_gap(iris):
    kept = iris.opening.y != iris.opening.classes[0]
    opening = replace(
        iris.opening, y=iris.opening.y[kept], predicted=iris.opening.predicted[kept],
        probabilities=iris.opening.probabilities[kept], decisions=None,
    )  # fmt: skip
    section = Page(page(replace(iris, opening=opening))).with_id("test")
    assert not re.search(r"\bnan\b", section["text"])


def test_a_certificate_that_fails_is_a_warning(binary):
    claims = binary.certificate.claims
    broken = replace(binary.certificate, claims=(*claims, replace(claims[0], holds=False)))
    read = Page(page(replace(binary, certificate=broken)))
    assert "does not hold" in read.with_id("answer")["text"]
    judged = sum(claim.bound is not None for claim in claims)
    words = f"{judged} of {judged + 1} claims hold"
    assert words in read.with_id("model")["text"]


def test_twenty_six_classes_fit_in_one_matrix(data_folder):
    text = page(letters(data_folder, 2000))
    matrix = [e for e in Page(text).all("table") if "confusion" in e["attributes"]["class"]]
    assert len(matrix) == 1
    assert "10 of 26 classes" in text


@pytest.mark.parametrize("kind", ["digits", "diabetes"])
def test_a_hundred_thousand_rows_stay_below_a_megabyte(every_kind, kind):
    opening = every_kind[kind].opening
    rng = np.random.default_rng(0)
    rows = rng.integers(len(opening.y), size=100_000)
    y, predicted, probabilities = opening.y[rows], opening.predicted[rows], None
    if kind == "digits":
        noise = rng.exponential(size=(len(rows), 10)) * 0.2
        probabilities = opening.probabilities[rows] + noise
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    else:
        y = y + rng.normal(size=len(rows))
        predicted = predicted + rng.normal(size=len(rows))
    large = replace(opening, y=y, predicted=predicted, probabilities=probabilities, decisions=None)
    text = page(replace(every_kind[kind], opening=large))
    assert len(text.encode()) < 1_000_000
    if kind == "diabetes":
        assert "2,000 of 100,000 rows are drawn" in text


def test_a_page_is_written_whole_or_not_at_all(iris, tmp_path):
    path = tmp_path / "report.html"
    save(iris, path)
    before = path.read_bytes()
    assert before.decode() == page(iris)
    with pytest.raises(AttributeError):
        save(replace(iris, baseline=None), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_named(iris, tmp_path):
    said = f"The folder {tmp_path / 'gone'} for report.html does not exist."
    with pytest.raises(TableError, match=re.escape(said)):
        save(iris, tmp_path / "gone" / "report.html")


def test_other_scores_than_accuracy_are_told_by_their_name():
    families = {"Gaussian naive Bayes": CLASSIFIERS["Gaussian naive Bayes"]}
    found = compare("iris", "species", families, metric="neg_log_loss", certified=False)
    read = Page(page(found))
    assert f"with a log loss of {-found.opening.score:.3f}" in read.with_id("answer")["text"]
    assert "negative log loss" in read.with_id("leaderboard")["text"]


def test_errors_are_told_without_a_minus():
    families = {"least squares": REGRESSORS["least squares"]}
    found = compare(
        "diabetes", "progression", families, metric="neg_mean_absolute_error", certified=False
    )
    answer = Page(page(found)).with_id("answer")["text"]
    score, [interval] = found.opening.score, found.opening.intervals
    assert f"with a mean absolute error of {-score:.4g}" in answer
    assert f"{-interval.high:.4g} to {-interval.low:.4g} (bootstrap)" in answer
    assert f": {-found.opening.baseline_score:.4g}." in answer


@pytest.mark.parametrize(("baseline", "how"), [(-0.1, "worse than"), (-0.2, "not better than")])
def test_the_headline_says_if_the_baseline_is_as_good(binary, baseline, how):
    opening = replace(binary.opening, score=-0.2, baseline_score=baseline, intervals=[])
    protocol = replace(binary.protocol, metric="neg_log_loss")
    read = Page(page(replace(binary, opening=opening, protocol=protocol)))
    [headline] = [e for e in read.all("p") if e["attributes"].get("class") == "headline"]
    name = binary.baseline.family
    wanted = f"This is {how} the baseline ({name}), which scores {-baseline:.3f}."
    assert wanted in headline["text"]
    assert f"Baseline ({name})" not in read.with_id("answer")["text"]


def test_a_negative_share_of_the_variance_is_said_in_words(diabetes):
    opening = replace(diabetes.opening, score=-0.04)
    answer = Page(page(replace(diabetes, opening=opening))).with_id("answer")["text"]
    assert "worse than the mean does" in answer
    assert "explains" not in answer


def test_a_split_by_time_names_its_column_and_ranges_and_no_seed(diabetes):
    words = "by day: learned from 1 to 5, judged on 6 to 7, tested on 8 to 9"
    how = replace(diabetes.protocol, split="by time", split_words=words)
    told = Page(page(replace(diabetes, protocol=how))).with_id("repeat")["text"]
    assert words in told
    assert "seed" not in told


def test_a_table_from_standard_input_is_said_to_be_gone(diabetes):
    told = Page(page(replace(diabetes, source="standard input"))).with_id("repeat")["text"]
    assert "came from standard input (442 rows, 11 columns)" in told
    assert "standard input" not in Page(page(diabetes)).with_id("repeat")["text"]


def test_columns_that_are_left_out_say_so_and_why(diabetes):
    first, *rest = diabetes.columns
    gone = replace(first, kind="identifier", note="they name rows")
    told = Page(page(replace(diabetes, columns=[gone, *rest]))).with_id("data")["text"]
    assert "dropped: they name rows" in told
    assert "9 used, 1 dropped" in told
