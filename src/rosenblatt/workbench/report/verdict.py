"""The answer first: which model, how good on rows never seen, and what to be careful about."""

import numpy as np

from rosenblatt.workbench.preparation.leakage import listed_hints, n_repeated
from rosenblatt.workbench.protocol.results import Findings, Interval, Opening
from rosenblatt.workbench.protocol.verdicts import left_by_budget, warnings_of_scores

from . import numbers
from .numbers import Markup, joined, tag
from .pictures import Axis, round_numbers, shape

WIDTH, LEFT, RIGHT = 500, 12, 488  # of the picture, and where its line begins and ends
TOP, ROW = 48, 40  # what is above the intervals, and the height of one
BELOW = 32  # from the last interval to the axis: words may stand between
LETTER = 8.4  # the width of one on a telephone, where letters are largest


def verdict(findings: Findings) -> Markup:
    """The first section: a sentence, a picture of the score, and warnings."""
    return tag(
        "section",
        tag("h2", "The answer", class_="quiet"),
        tag("div", tag("div", *_sentences(findings)), _picture(findings), class_="halves"),
        numbers.warnings("Take care", warnings_of(findings)),
        id="answer", class_="answer",
    )  # fmt: skip


def _sentences(findings: Findings) -> list[Markup]:
    if not findings.contestants:
        simple = numbers.clipped(findings.baseline.family)
        mean = score_in_words(findings.baseline.mean, findings)
        return [
            tag("p", tag("strong", "No model could be fitted in time."), class_="headline"),
            tag("p", "Raise --budget, or use fewer rows."),
            tag("p", f"The baseline ({simple}) reaches {mean} in the folds, which any model should "
                "beat. The test set is still sealed."),
        ]  # fmt: skip
    chosen, opening = findings.contestants[0], findings.opening
    name = tag("strong", numbers.title(numbers.named(chosen, 80)))
    target = tag("span", numbers.clipped(findings.protocol.target, 40), class_="column")
    if opening is None:
        what = joined(" predicts ", target, " best, as far as cross-validation can tell: ")
        mean = tag("strong", score_in_words(chosen.mean, findings))
        unsure = (
            f" ± {score_in_words(chosen.deviation, findings).lstrip(numbers.MINUS)}"
            if len(chosen.scores) > 1
            else ""
        )
        sealed = "The test set is still sealed, so nothing is known of rows never seen."
        return [tag("p", name, what, mean, unsure, ".", class_="headline"), tag("p", sealed)]
    return [
        tag("p", name, *_how_good(opening, findings, target), *_of_no_use(opening, findings),
            class_="headline"),
        tag("p", *_evidence(opening, findings), class_="evidence"),
    ]  # fmt: skip


def _evidence(opening: Opening, findings: Findings) -> list[object]:
    """Intervals and baseline in words."""
    ranges = [_in_words(interval, findings) for interval in opening.intervals]
    said: list[object] = []
    if ranges:
        confidence = numbers.share(opening.intervals[0].confidence).replace(".0%", "%")
        repeated = n_repeated(findings.hints) >= FEW_REPEATED * len(opening.y)
        figure = "the figure of such rows" if repeated else "the true figure"
        said.append(f"With {confidence} confidence {figure} is {', '.join(ranges)}. ")
    simple = numbers.clipped(findings.baseline.family)
    beaten = opening.baseline_score >= opening.score
    if not beaten or findings.learned_nothing:  # else the headline has said it
        reaches = score_in_words(opening.baseline_score, findings)
        said.append(f"The baseline ({simple}) reaches {reaches}. ")
    reached = [i for i in opening.intervals if i.low <= opening.baseline_score]
    if reached and not beaten:
        names = " and ".join(i.method for i in reached)
        said.append(tag("strong", f"By {names}, it cannot be told apart from the baseline. "))
    said.append(_on_the_others(opening, findings))
    if findings.protocol.metric.startswith("neg_"):
        said.append("Scores on this page are errors with a minus, so that larger is better.")
    return said


def _in_words(interval: Interval, findings: Findings) -> str:
    ends = [score_in_words(end, findings) for end in (interval.low, interval.high)]
    low, high = ends[::-1] if findings.protocol.metric.startswith("neg_") else ends
    return f"{low} to {high} by {interval.method}"


def _on_the_others(opening: Opening, findings: Findings) -> str:
    """The score on rows that were not learned from, if others were."""
    some = opening.unrepeated
    if some is None:
        return ""
    sure = "".join(f" ({_in_words(interval, findings)})" for interval in some.intervals[:1])
    rows = numbers.plural(len(some.y), "row")
    score, simple = (score_in_words(s, findings) for s in (some.score, some.baseline_score))
    return (
        f"On the {rows} that it had not learned from the figure is {score}{sure}, and the "
        f"baseline's {simple}. "
    )


def _picture(findings: Findings) -> Markup | None:
    """One line for the scores: intervals of the test score, and the baseline."""
    opening = findings.opening
    if opening is None or not np.isfinite([opening.score, opening.baseline_score]).all():
        return None
    ends = [end for interval in opening.intervals for end in (interval.low, interval.high)]
    axis = Axis.of_scores([opening.score, opening.baseline_score, *ends], findings.protocol.metric,
                          "", margin=0.08)  # fmt: skip
    rows = [TOP + ROW * (i + 0.5) for i in range(max(len(opening.intervals), 1))]
    base = rows[-1] + BELOW
    x, low = _x(axis, opening.score), _x(axis, opening.baseline_score)
    parts = [
        _ticks(axis, base),
        tag("path", d=f"M{low} 44V{base}", class_="baseline"),
        tag("path", d=f"M{x} 22V{base}", class_="test"),
        _label(low, f"baseline {numbers.score(opening.baseline_score)}", 38),
        _label(x, f"test {numbers.score(opening.score)}", 15, class_="strong"),
    ]
    for interval, y in zip(opening.intervals, rows, strict=False):
        parts.extend(_range(axis, interval, y, x, low))
    parts += [tag("path", d=f"M{x} {y}{shape(0)}", class_="mark c0") for y in rows]
    return tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {base + 26}", class_="scale", role="img",
        aria_label=_description(opening, findings),
    )  # fmt: skip


def _range(axis: Axis, interval: Interval, y: float, test: float, baseline: float) -> list[Markup]:
    """The interval as a line, and in words where no upright line crosses them."""
    low, high = _x(axis, interval.low), _x(axis, interval.high)
    text = f"{interval.method}: {numbers.score(interval.low)} to {numbers.score(interval.high)}"
    bar = tag("path", d=f"M{low} {y - 5}v10M{low} {y}H{high}M{high} {y - 5}v10", class_="interval")
    places = (  # beside the line, or below it on one side of the test score
        (low - 9, y + 4, "end"), (high + 9, y + 4, "start"),
        (test - 8, y + 21, "end"), (test + 8, y + 21, "start"),
    )  # fmt: skip

    def crossed(x: float, anchor: str) -> tuple[bool, bool]:
        """Whether words from here leave the picture, and whether a line is in their way."""
        start = x - LETTER * len(text) if anchor == "end" else x
        end = start + LETTER * len(text)
        return start < 0 or end > WIDTH, any(start < line < end for line in (test, baseline))

    x, at, anchor = min(places, key=lambda place: crossed(place[0], place[2]))
    return [bar, _label(x, text, at, anchor=anchor)]


def _ticks(axis: Axis, y: float) -> Markup:
    parts = [tag("path", d=f"M{LEFT} {y}H{RIGHT}", class_="axis")]
    for value in round_numbers(axis.low, axis.high):
        x = _x(axis, value)
        parts.append(tag("path", d=f"M{x} {y}v5", class_="tick"))
        parts.append(tag("text", numbers.plain(value), x=x, y=y + 20, text_anchor="middle"))
    return tag("g", *parts, class_="axes")


def _label(x: float, text: str, y: float, class_: str = "", anchor: str = "") -> Markup:
    """Text over a place, moved in from the edges."""
    edge = "start" if x < 80 else "end" if x > WIDTH - 80 else "middle"
    class_ = f"halo {class_}".strip()
    return tag("text", text, x=x, y=y, text_anchor=anchor or edge, class_=class_)


def _x(axis: Axis, value: float) -> float:
    share = float(np.clip(axis.share(value), 0, 1))
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _description(opening: Opening, findings: Findings) -> str:
    name = numbers.metric(findings.protocol.metric)
    ranges = "".join(
        f"; {i.method} interval {numbers.score(i.low)} to {numbers.score(i.high)}"
        for i in opening.intervals
    )
    return (
        f"Test {name} {numbers.score(opening.score)}{ranges}; "
        f"baseline {numbers.score(opening.baseline_score)}."
    )


def warnings_of(findings: Findings) -> list[str]:
    """What makes the answer weaker than it looks, each in a sentence."""
    protocol, opening, found = findings.protocol, findings.opening, warnings_of_scores(findings)
    if protocol.fewer_words and findings.contestants:
        found.append(f"{protocol.fewer_words}: with more of it there may be a better answer.")
    if protocol.stopped != "interrupt":
        found += left_by_budget(findings)
    elif protocol.stopped and not findings.contestants:
        found.append("It was interrupted before any model was fitted.")
    elif protocol.stopped:
        found.append("It was interrupted: this is the best so far, not the end of the search.")
    if opening is not None and opening.times_opened > 1:
        found.append(
            f"The test set has been opened {opening.times_opened} times. Whoever chose by what an "
            "earlier look said has a score that is too good: trust it less each time."
        )
    if findings.certificate is not None and not findings.certificate.holds:
        found.append("A claim of the model's certificate does not hold (see the certificate).")
    if hints := listed_hints(findings):
        there = "is" if len(hints) == 1 else "are"
        listed = numbers.plural(len(hints), "hint")
        found.append(f"There {there} {listed} of leakage, under The data.")
    return found


# The headline: how good the chosen model is on rows never seen, and whether it is of use.


FEW_REPEATED = 0.05  # of the test rows: more of them in the rows learned from spoil the score
MOST_REPEATED = 0.5  # and above this it says little
OFF_BY = {
    "neg_mean_absolute_error": "on average (mean absolute error)",
    "neg_median_absolute_error": "in half of the rows or more (median absolute error)",
    "neg_root_mean_squared_error": "typically (root mean squared error)",
    "neg_max_error": "at most (largest error)",
}


def _how_good(opening: Opening, findings: Findings, target: Markup) -> list[object]:
    """The words that follow the name of the model."""
    n, metric = numbers.plural(len(opening.y), "row"), findings.protocol.metric
    good = tag("strong", score_in_words(opening.score, findings))
    unseen = _unseen(opening, findings)
    if metric == "accuracy":
        return [" predicts ", target, " right for ", good, f" of {n}", unseen]
    if metric == "r2" and opening.score < 0:
        worse = tag("strong", " worse than its mean would")
        how = f", with an R² of {numbers.score(opening.score)}, in {n}"
        return [" predicts ", target, worse, how, unseen]
    if metric == "r2":
        return [" explains ", good, " of the variance of ", target, f" in {n}", unseen]
    if metric in OFF_BY:
        return [" predicts ", target, " and is off by ", good, f" {OFF_BY[metric]}, on {n}", unseen]
    name = numbers.metric(metric.removeprefix("neg_"))
    words = findings.protocol.positive_words
    which = f" ({numbers.clipped(words, 40)})" if words else ""
    a = "an" if name[0].lower() in "aeiou" or name.startswith("f1") else "a"  # as it is spoken
    of = f" with {a} {name}{which} of "
    return [" predicts ", target, of, good, f" on {n}", unseen]


def _of_no_use(opening: Opening, findings: Findings) -> list[object]:
    """What the headline adds if the model learned nothing, or the baseline does as well."""
    if findings.learned_nothing:
        what = "the mean" if findings.protocol.task == "regression" else "the same"
        why = f": all its weights are zero, and it predicts {what} of every row, as the baseline."
        return [" It ", tag("strong", "learned nothing"), why]
    if not opening.baseline_score >= opening.score:
        return []
    how = "worse than" if opening.baseline_score > opening.score else "no better than"
    reached = score_in_words(opening.baseline_score, findings)
    which = f" ({numbers.clipped(findings.baseline.family)}), which reaches {reached}."
    return [" It is ", tag("strong", f"{how} the baseline"), which]


def _unseen(opening: Opening, findings: Findings) -> Markup | str:
    """What the test rows are to the model; where it knows some, the score of the others."""
    n = n_repeated(findings.hints)
    if not n:
        return " that it had never seen."
    share = n / len(opening.y)
    if share < FEW_REPEATED:
        return f" that it had never seen, but for {numbers.count(n)}."
    which = "all" if n >= len(opening.y) else f"{numbers.count(n)} ({numbers.share(share)})"
    warning = tag("strong", f"{which} of which are also among the rows it learned from")
    some = opening.unrepeated
    little = ": this says little of rows never seen" if share > MOST_REPEATED else ""
    if some is None:
        return joined(", ", warning, little, "." if little else ", which flatters what remembers.")
    good, others = tag("strong", score_in_words(some.score, findings)), numbers.count(len(some.y))
    return joined(", ", warning, little, f"; on the {others} never seen the figure is ", good, ".")


def score_in_words(value: float, findings: Findings) -> str:
    """A score in words: shares in percent, errors without the minus that makes them scores.

    An R² below zero is no share of anything, and those that stand beside it are told as it is.
    """
    metric = findings.protocol.metric
    told = findings.opening.score if findings.opening else findings.board[0].mean
    if metric == "accuracy" or (metric == "r2" and told >= 0):
        return numbers.share(value).replace("-", numbers.MINUS)
    return numbers.score(-value if metric.startswith("neg_") else value)
