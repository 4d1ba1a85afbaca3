"""The headline: how good the chosen model is on rows never seen, and whether it is of use."""

from rosenblatt.workbench.hints import n_repeated
from rosenblatt.workbench.results import Findings, Opening

from . import numbers
from .markup import Markup, joined, tag

FEW_REPEATED = 0.05  # of the test rows: more of them in the rows learned from spoil the score
MOST_REPEATED = 0.5  # and above this it says little
OFF_BY = {
    "neg_mean_absolute_error": "on average (mean absolute error)",
    "neg_median_absolute_error": "in half of the rows or more (median absolute error)",
    "neg_root_mean_squared_error": "typically (root mean squared error)",
    "neg_max_error": "at most (largest error)",
}


def headline(opening: Opening, findings: Findings, target: Markup) -> list[object]:
    """The words that follow the name of the model."""
    return [*_how_good(opening, findings, target), *_of_no_use(opening, findings)]


def _how_good(opening: Opening, findings: Findings, target: Markup) -> list[object]:
    n, metric = numbers.plural(len(opening.y), "row"), findings.protocol.metric
    good, unseen = (
        tag("strong", score_in_words(opening.score, findings)),
        _unseen(opening, findings),
    )
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
    of = f" with {_article(name)} {name}{which} of "
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
    simple = numbers.clipped(findings.baseline.family)
    return [
        " It is ",
        tag("strong", f"{how} the baseline"),
        f" ({simple}), which reaches {reached}.",
    ]


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


def _article(name: str) -> str:
    return "an" if name[0].lower() in "aeiou" or name.startswith("f1") else "a"  # as it is spoken


def score_in_words(value: float, findings: Findings) -> str:
    """A score in words: shares in percent, errors without the minus that makes them scores.

    An R² below zero is no share of anything, and those that stand beside it are told as it is.
    """
    metric = findings.protocol.metric
    told = findings.opening.score if findings.opening else findings.board[0].mean
    if metric == "accuracy" or (metric == "r2" and told >= 0):
        return numbers.share(value).replace("-", numbers.MINUS)
    return numbers.score(-value if metric.startswith("neg_") else value)
