"""The small parts of a report: numbers in words, axes, intervals, curves and colours."""

import math
import re
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

from rosenblatt.workbench.findings import Candidate
from rosenblatt.workbench.report import format as formats
from rosenblatt.workbench.report import page, score_figures
from rosenblatt.workbench.report.prediction_figures import (
    counts_of,
    predicted_and_observed,
    rankings_of,
)
from rosenblatt.workbench.report.score_figures import gaps, profiles, validation
from rosenblatt.workbench.report.svg import COLORS, Axis, Plot, dash, element, round_numbers
from rosenblatt.workbench.significance import interval_of_mean, wilson
from tests.workbench.report.reading import Page

STYLE = resources.files("rosenblatt.workbench.report").joinpath("templates/style.css").read_text()


def test_text_and_attributes_are_escaped():
    drawn = element("text", "<b>\x07", element("title"), class_='"')
    assert drawn == '<text class="&#34;">&lt;b&gt;\ufffd<title></title></text>'


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (formats.score(0.12345), "0.123"),
        (formats.score(-0.0001), "\u22120.0001"),
        (formats.score(0.00031415), "0.00031"),
        (formats.score(-3.14e-7), "\u22123.1·10\u207b\u2077"),
        (formats.score(-1e-17), "0.000"),  # what rounding left of nothing
        (formats.difference(-0.0001), "0.000"),
        (formats.deviation(0.0002, 0.95), "0.0002"),
        (formats.deviation(0.00012, 0.00095), "0.00012"),
        (formats.score(-12345.6), "\u221212,346"),
        (formats.score(math.nan), "\u2013"),
        (formats.score(0.99962), "0.9996"),
        (formats.score(0.99999), "0.9999"),
        (formats.score(1.0), "1.000"),
        (formats.count(4874), "4,874"),
        (formats.plain(1990.0), "1990"),
        (formats.plain(1e-7), "10\u207b\u2077"),
        (formats.plain(2.5), "2.5"),
        (formats.share(0.9912), "99.1%"),
        (formats.share(1.0), "100%"),
        (formats.share(0.0), "0%"),
        (formats.share(0.9997), "99.97%"),
        (formats.share(0.0001), "<\u202f0.1%"),
        (formats.seconds(0.00021), "210\u202fµs"),
        (formats.seconds(61.2), "61\u202fs"),
        (formats.seconds(math.nan), "\u2013"),
        (formats.size(12_345), "12\u202fkB"),
        (formats.p_value(0.00001), "<\u202f0.001"),
        (formats.weight(1.0), "1.00"),
        (formats.weight(-0.5), "\u22120.500"),
        (formats.weight(5625.4), "5625"),
        (formats.weight(0.0), "0"),
        (formats.deviation(184.97, -5491.0), "185"),
        (formats.deviation(0.00071, 0.9996), "0.0007"),
        (formats.deviation(0.0123, 0.85), "0.012"),
        (formats.settings({"model__C": 0.1, "fit": None}), "C = 0.1, fit = None"),
        (formats.metric("neg_mean_squared_error"), "negative mean squared error"),
    ],
)
def test_numbers_are_written_as_people_read_them(written, wanted):
    assert written == wanted


def test_round_numbers_lie_within_the_axis():
    assert round_numbers(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert round_numbers(3, 3) == [3]
    for low, high in [(-1e-7, 3e-7), (0.91, 0.93), (1, 1e9)]:
        found = round_numbers(low, high)
        assert 2 <= len(found) <= 8
        assert low - 1e-12 <= found[0] < found[-1] <= high * (1 + 1e-9)


def test_values_that_span_orders_have_a_logarithmic_axis():
    assert Axis.along([0.001, 1.0, 1000.0], "C").log
    assert not Axis.along([0.0, 1.0, 1000.0], "C").log
    assert not Axis.along([5.0, 7.0], "k").log
    axis = Axis.along([0.001, 1.0, 1000.0], "C")
    assert axis.share([0.001, 1.0, 1000.0]) == pytest.approx([1 / 22, 0.5, 21 / 22])


def test_axes_of_nothing_and_of_one_value_have_a_length():
    assert Axis.around([math.nan], "x").ticks()
    assert Axis.around([3.0, 3.0], "x").low < 3 < Axis.around([3.0], "x").high


def test_the_interval_of_a_mean_allows_for_shared_rows():
    # k = 2 scores 0 and 1: s = sqrt(1/2), t = 12.706, and the variance of the mean (1/2 + 1) s^2.
    scores = np.array([0.0, 1.0])
    found = interval_of_mean(scores)
    assert (found.low + found.high) / 2 == pytest.approx(0.5)
    assert (found.high - found.low) / 2 == pytest.approx(12.7062 * math.sqrt(0.75), rel=1e-5)
    assert interval_of_mean(scores, "accuracy").high == 1.0
    assert interval_of_mean(scores, "neg_log_loss").high == 0.0


def test_the_matrix_and_the_areas_are_those_of_scikit_learn(iris, binary):
    for findings in (iris, binary):
        opening = findings.opening
        wanted = confusion_matrix(opening.y, opening.predicted, labels=opening.classes)
        assert counts_of(opening).tolist() == wanted.tolist()
    opening = binary.opening
    (one,) = rankings_of(opening)
    hit = opening.y == opening.classes[1]
    assert one.area == pytest.approx(roc_auc_score(hit, opening.probabilities[:, 1]))
    assert [r.name for r in rankings_of(iris.opening)] == iris.opening.classes.tolist()


def test_calibration_takes_the_second_of_two_and_the_likeliest_of_more(iris, binary):
    _, observed, name = predicted_and_observed(binary.opening)
    assert name == "malignant"
    assert observed.sum() == np.sum(binary.opening.y == "malignant")
    predicted, observed, _ = predicted_and_observed(iris.opening)
    assert predicted.min() >= 1 / 3
    assert observed.mean() == pytest.approx(iris.opening.score)


def test_wilson_is_right_at_the_ends():
    none, all_of_them = wilson(0, 10), wilson(10, 10)
    assert none.low == pytest.approx(0, abs=1e-12)
    assert all_of_them.high == pytest.approx(1)
    assert none.high == pytest.approx(0.2775, abs=1e-3)


def test_a_profile_takes_the_best_over_other_parameters(iris):
    def tried(score, **parameters):
        return Candidate(parameters, np.array([score, score]), np.array([]))

    candidates = [
        tried(0.5, C=10.0, kind="a"), tried(0.9, C=0.1, kind="a"), tried(0.8, C=10.0, kind=["b"]),
        tried(math.nan, C=100.0, kind="a"),
    ]  # fmt: skip
    contestant = replace(iris.contestants[0], candidates=candidates, best=1)
    by_c, by_kind = profiles(contestant)
    assert (by_c.name, by_c.values, [c.mean for c in by_c.best]) == ("C", [0.1, 10.0], [0.9, 0.8])
    assert by_c.others
    assert not by_kind.numeric
    assert by_kind.values == ["a", ["b"]]


def test_long_lines_are_thinned_to_what_can_be_seen():
    steps = np.linspace(0, 1, 200_000)
    plot = Plot(Axis(0, 1, "x"), Axis(0, 1, "y"))
    plot.line(steps, steps)
    drawn = plot.draw("a line")
    assert len(drawn) < 8_000
    assert f"{plot.right} {plot.top}" in drawn  # the last point is kept


def test_lines_of_one_color_differ_in_their_dashes():
    for k in range(COLORS):
        assert dash(k) != dash(k + COLORS)


def colours(scheme):
    """The variables of the style sheet, in one of the two schemes."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.S)[:2]
    found = dict(re.findall(r"--([\w-]+): (#\w{6})", light))
    return found | (dict(re.findall(r"--([\w-]+): (#\w{6})", dark)) if scheme == "dark" else {})


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def mixed(colour, share, ground):
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half_and_lines_of_three(scheme):
    c = colours(scheme)
    for ground in ("paper", "card"):
        assert min(contrast(c[ink], c[ground]) for ink in ("ink", "soft", "class-2")) >= 4.5
        assert min(contrast(c[f"class-{k}"], c[ground]) for k in range(COLORS)) >= 3
    for ground in ("alarm-ground", "paper"):
        assert contrast(c["alarm"], c[ground]) >= 4.5
    assert contrast(c["ink"], c["alarm-ground"]) >= 4.5
    tinted = mixed(c["class-0"], 0.07, c["paper"])  # rows of the leaderboard
    assert contrast(c["soft"], tinted) >= 4.5
    for colour, most in (("class-0", 0.42), ("class-1", 0.45)):  # cells of the matrix
        assert f"var(--{colour}) calc(var(--dark, 0) * {most:.0%})" in STYLE
        assert contrast(c["ink"], mixed(c[colour], most, c["card"])) >= 4.5


@pytest.mark.parametrize(
    ("scores", "grid", "end"),
    [
        ({0.01: 0.5, 0.1: 0.7}, [0.01, 0.1], True),
        ({0.01: 0.5, 0.1: 0.7}, [0.01, 0.1, 1.0], False),  # 1 was sorted out early
        ({0.1: 0.5, 1.0: 0.7}, [0.01, 0.1, 1.0], True),
        ({1: 0.5, 5: 0.7, 20: 0.7}, [1, 5, 20], False),  # a tie: nothing speaks for more
        ({1: 0.7, 5: 0.8, 20: 0.7}, [1, 5, 20], False),
        ({0.01: 0.5, 0.1: 1.0}, [0.01, 0.1], False),  # nothing is better than all right
    ],
)
def test_an_end_is_that_of_the_whole_grid(iris, scores, grid, end):
    tried = [Candidate({"gamma": g}, np.array([s, s]), np.empty(0)) for g, s in scores.items()]
    entry = replace(iris.contestants[0], candidates=tried, grid={"gamma": grid})
    [profile] = profiles(entry)
    curve = validation(profile, "accuracy")
    assert bool(curve["at_edge"]) == end
    assert bool(curve["dropped"]) == (len(scores) < len(grid))


@pytest.mark.parametrize(
    ("scores", "metric", "low", "high"),
    [([1.0, 1.0], "accuracy", 0.9, 1.0), ([0.0, 0.5], "roc_auc", 0.0, 0.525),
     ([-1.0, 1.0], "r2", -1.1, 1.0), ([-1.0, -0.01], "neg_log_loss", -1.0495, 0.0)],
)  # fmt: skip
def test_an_axis_of_scores_ends_where_scores_end(scores, metric, low, high):
    axis = Axis.of_scores(scores, metric, "")
    assert (axis.low, axis.high) == (pytest.approx(low), pytest.approx(high))


def test_a_negative_gap_is_not_called_overfitting(iris):
    ahead = [replace(c, dev_train_score=0.9, dev_score=0.8) for c in iris.contestants]
    behind = [replace(ahead[0], dev_score=0.99), *ahead[1:]]
    by_chance = "A negative gap is due to chance"
    assert by_chance not in page(replace(iris, contestants=ahead))
    assert by_chance in page(replace(iris, contestants=behind))


def test_a_parameter_with_one_remaining_value_is_reported(iris):
    tried = [Candidate({"gamma": 1.0, "C": 1.0}, np.array([0.9, 0.9]), np.empty(0))]
    grid = {"gamma": [0.01, 0.1, 1.0], "C": [0.1, 1.0, 10.0]}
    chosen = replace(iris.contestants[0], candidates=tried, best=0, grid=grid, note="")
    text = Page(page(replace(iris, contestants=[chosen]))).with_id("search")["text"]
    edge = " This is the largest value tried; try larger ones."
    dropped = "Dropped after a first round on fewer rows:"
    assert f"Only gamma = 1 was evaluated on all folds.{edge} {dropped} 0.01, 0.1." in text
    assert f"Only C = 1 was evaluated on all folds. {dropped} 0.1, 10." in text
    assert "Dropped" not in page(replace(iris, contestants=[replace(chosen, grid={})]))


def test_shares_of_a_matrix_are_whole_only_where_they_are(binary):
    classes = binary.opening.classes
    truth = classes[np.repeat([0, 1], [40_000, 10])]
    said = truth.copy()
    said[0] = classes[1]
    opening = replace(binary.opening, y=truth, predicted=said, probabilities=None, decisions=None)
    text = page(replace(binary, opening=opening))
    assert ">39,999<" in text
    assert ">99%<" in text  # recall of the first class: all but one
    assert ">100%<" in text
    assert ": 1 of 40,000" in text


@pytest.mark.parametrize(("low", "high"), [(0.811, 0.912), (0.99, 1.0), (0.9901, 0.9934), (0, 1)])
def test_numbers_above_the_leaderboard_have_room(low, high):
    axis = Axis(low, high, "")
    places = score_figures.ruler_values(axis)
    assert len(places) >= 2
    width = score_figures.SMALL_LETTER * max(len(formats.plain(value)) for value in places)
    assert min(np.diff([score_figures._line_x(axis, value) for value in places])) > width + 10


def test_what_columns_are_worth_has_the_digits_of_a_score(iris):
    worth = [("odor", 0.0652), ("ring", 0.000492), ("veil", -0.0004), ("gill", 0.0)]
    text = page(replace(iris, learned=worth, learned_as="worth", n_weights=4))
    text = text[text.index('<section id="model">') : text.index('<section id="search">')]
    assert re.findall(r'class="figure">([^<]*)<', text) == ["0.065", "0.000", "0.000", "0.000"]
    assert '<th scope="col">column</th>' in text
    many = [(f"c{i}", 0.5) for i in range(18)]
    assert "more feature" not in page(replace(iris, learned=many, n_weights=18))
    many.append(("last", 0.1))
    assert "4 more features" in page(replace(iris, learned=many, n_weights=19))


def test_a_gap_too_small_to_be_written_is_drawn_small(iris):
    near = [replace(c, dev_train_score=1.0, dev_score=0.9998) for c in iris.contestants]
    text = "".join(picture for _, picture, _ in gaps(replace(iris, contestants=near))["rows"])
    lines = re.findall(r'd="M([0-9.]+) [0-9.]+H([0-9.]+)" class="between"', text)
    assert lines
    assert all(abs(float(a) - float(b)) < 5 for a, b in lines)
