"""What scores mean, in sentences: overfitting by its definition, bias or variance."""

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.errors import listed

from .findings import Contestant, Findings, Opening, figure
from .problem import Problem
from .significance import area

Array = NDArray[np.float64]

LARGE_GAP = 0.1  # between training and held-out score, of what the held-out score lacks to one
ALL_RIGHT = 0.001  # what a score may lack to one
BEYOND_CHANCE = 3  # standard errors: the highest of some scores is high by chance, too
FLAT = 0.005  # a gain by the last doubling of rows that is none
FLATTERED = 0.1  # of it, where rows are repeated: that is no matter of chance
NO_WONDER = 0.25  # of what the folds' score lacks to the best: a difference to the test score
MOST_NAMED = 5
OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score",
                    "roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted",
                    "roc_auc_ovo_weighted", "average_precision", "top_k_accuracy")  # fmt: skip
ENOUGH_ROWS = 10_000  # to prefer a held-out set to folds


NOTHING_TOLD = (
    "No family found a relation between the columns and the target. Other columns may help; other "
    "settings or more rows are unlikely to."
)
NOTHING_FITTED = (
    "No model could be fitted in time: raise --budget, or use fewer rows. Only the baseline has a "
    "score."
)


def overfits(model: Contestant, other: Contestant) -> bool:
    """Whether a model beats another on the rows it was fitted to, and loses on others.

    That is the definition, with the development part in the place of all the world.
    """
    return model.dev_train_score > other.dev_train_score and model.dev_score < other.dev_score


def verdicts_of(problem: Problem, contestants: list[Contestant]) -> list[str]:
    """What is to be said of the chosen model, the first of the contestants."""
    chosen = contestants[0]
    better = [other.family for other in contestants[1:] if overfits(chosen, other)]
    said = []
    if better:
        said.append(
            f"{chosen.family[:1].upper()}{chosen.family[1:]} overfits relative to "
            f"{', '.join(better[:3])}: better on the training rows, worse on the development rows."
        )
    else:
        said.append(
            f"{chosen.family[:1].upper()}{chosen.family[1:]} does not overfit relative to any "
            "other: none is worse on the training rows and better on the development rows."
        )
    n = len(problem.train)
    if n >= ENOUGH_ROWS:
        said.append(
            f"With {n:,} rows a held-out set would suffice, but cross-validation is cheap here."
        )
    else:
        said.append(
            f"With {n:,} rows cross-validation is needed: a small held-out set can be overfitted."
        )
    return said


def is_of_use(entry: Contestant, baseline: Contestant) -> bool:
    """Whether a family beats the baseline, where the best can be told from that at all."""
    return entry.beats(baseline) and not baseline.may_equal_best()


def against_baseline(
    chosen: Contestant, baseline: Contestant, stopped: str = "", opening: Opening | None = None
) -> str:
    """A sentence if the chosen model cannot be told apart from none; else nothing.

    If the search was `stopped`, there may be one among those that were not done. A model that says
    the largest class of every row may still order the rows well, as the `opening` shows.
    """
    if chosen.family == baseline.family or not np.isfinite([chosen.mean, baseline.mean]).all():
        return ""
    scores = f"{chosen.family} {figure(chosen.mean)}, {baseline.family} {figure(baseline.mean)}"
    if learned := learned_by_probabilities(opening):
        if chosen.beats(baseline) and not baseline.may_equal_best():
            return ""
        return f"By this metric the best does not beat the baseline ({scores}), but {learned}."
    if not chosen.beats(baseline):
        if stopped:
            return f"No family that was fitted in time beat the baseline ({scores})."
        return f"Nothing beat the baseline in cross-validation ({scores}): no model is useful here."
    if baseline.may_equal_best():
        if stopped:
            return (
                "No family that was fitted in time is significantly better than the baseline in "
                f"cross-validation ({scores}, p = {baseline.p_value:.2f})."
            )
        return (
            "The best model is not significantly better than the baseline in cross-validation "
            f"({scores}, p = {baseline.p_value:.2f})."
        )
    return ""


def learned_by_probabilities(opening: Opening | None) -> str:
    """That a classifier orders test rows, or gives probabilities, beyond chance; else nothing.

    Of two classes by the area under the ROC curve, whose deviation by chance is that of ranks; of
    more by the log-loss beside that of the classes' shares, row by row.
    """
    if opening is None or opening.classes is None or len(np.unique(opening.y)) < 2:
        return ""
    scores, K = opening.probabilities, len(opening.classes)
    if not np.isin(opening.y, opening.classes).all():
        return ""
    code = np.searchsorted(opening.classes, opening.y)  # classes are sorted
    if K == 2:
        order = opening.decisions if scores is None else scores[:, 1]
        if order is None:
            return ""
        found = float(area(code == 1, np.asarray(order), np.ones((1, len(code))))[0])
        n, m = np.bincount(code, minlength=2)
        chance = np.sqrt((n + m + 1) / (12 * n * m))
        return f"its test AUC is {found:.2f}" if found - 0.5 > BEYOND_CHANCE * chance else ""
    if scores is None:
        return ""
    own = -np.log(np.maximum(scores[np.arange(len(code)), code], 1e-15))
    plain = -np.log(np.bincount(code, minlength=K)[code] / len(code))
    error = np.std(plain - own) / np.sqrt(len(code))
    if not np.mean(plain - own) > BEYOND_CHANCE * error:
        return ""
    return f"its test log loss is {own.mean():.2f} (class frequencies: {plain.mean():.2f})"


def far_from_folds(chosen: Contestant, opening: Opening | None, metric: str) -> str:
    """A sentence if the test score is not what the folds promised; else nothing.

    That is, if its whole interval is beyond one deviation of the folds' scores, by no small part of
    what their mean lacks to the best score there is: more rows were learned from for the test, and
    a little better is no wonder. Rows that are repeated are so in the folds, too: the score is that
    of all test rows.
    """
    mean, deviation = chosen.mean, chosen.deviation
    if opening is None or not _is_far(opening, mean, deviation, metric):
        return ""
    why = (
        "the model was fitted to more rows than in the folds, rows may be repeated across the "
        "parts, or some folds have rows of another kind"
        if opening.score > mean
        else "the test rows may differ from the training rows"
    )
    return (
        "The test score is far from the cross-validated score "
        f"({figure(opening.score, 3)}; {figure(mean, 3)} ± {figure(deviation, 3)}): {why}."
    )


def flattered_by_repeats(opening: Opening | None, metric: str) -> str:
    """A sentence if rows never seen are scored far lower than all test rows; else nothing."""
    some = None if opening is None else opening.unrepeated
    if opening is None or some is None or some.score >= opening.score:
        return ""
    if not _is_far(some, opening.score, 0.0, metric, FLATTERED):
        return ""
    return (
        f"Without the test rows that are also training rows, the score is {figure(some.score, 3)} "
        f"instead of {figure(opening.score, 3)}. The folds have the same duplicates, so trust "
        f"{figure(some.score, 3)}."
    )


def _is_far(
    opening: Opening, mean: float, deviation: float, metric: str, share: float = NO_WONDER
) -> bool:
    """Whether a score with its interval is beyond another, by no small part of what that lacks."""
    if not opening.intervals:
        return False
    narrow = min(opening.intervals, key=lambda interval: interval.high - interval.low)
    beyond = max(narrow.low - (mean + deviation), (mean - deviation) - narrow.high)
    lacking = abs(mean) if metric.startswith("neg_") else abs(1 - mean)
    same = figure(opening.score, 3) == figure(mean, 3)  # as far as anybody reads
    return not same and beyond > 0 and abs(opening.score - mean) > share * lacking


def unseen_classes(opening: Opening | None, metric: str) -> list[str]:
    """A sentence if test rows are of classes that no row learned from belongs to."""
    if opening is None or opening.classes is None:
        return []
    unseen = ~np.isin(opening.y, opening.classes)
    if not unseen.any():
        return []
    names = ", ".join(map(str, np.unique(opening.y[unseen])[:MOST_NAMED]))
    rows = "1 test row is" if unseen.sum() == 1 else f"{unseen.sum():,} test rows are"
    done = "the score ignores them" if metric in OF_PROBABILITIES else "they count as wrong"
    return [f"{rows} of a class that the training rows do not have ({names}): {done}."]


def verdict_of_curve(
    rows: NDArray[np.int64],
    train: Array,
    dev: Array,
    metric: str = "",
    baseline: float = np.nan,
    of_use: bool = True,
) -> str:
    """Return whether a learning curve shows bias or variance, by how its scores end.

    Errors (scores that end at zero) have a unit; as shares of the baseline's error they have none.
    A model that is not `of_use` beside the baseline is not said to want a richer one.
    """
    of = ""
    if metric.startswith("neg_"):
        unit = abs(baseline) if np.isfinite(baseline) and baseline else max(abs(dev[0]), 1e-300)
        train, dev, of = 1 + train / unit, 1 + dev / unit, " of the baseline's error"
    gap, room = train[-1] - dev[-1], max(1 - dev[-1], 1e-12)
    if room < ALL_RIGHT:
        return "There is nothing left to gain on the development rows."
    gain = (dev[-1] - dev[-2]) / np.log2(rows[-1] / rows[-2])
    met = gap < max(2 * FLAT, room / 10)
    if gap > LARGE_GAP and gap > room / 2:
        return (
            f"Variance: it fits its own rows better by {gap:.3f}{of}. More rows, fewer columns or "
            "a stronger penalty may help."
        )
    if gain > FLAT and not met:
        return f"More rows would help: the last doubling gained {gain:.3f}{of}."
    if gap < room / 4:
        return (
            NOTHING_TOLD
            if not of_use
            else (
                "Bias: both scores have met, and more rows would change little. A richer model or "
                "better columns may help, unless the rest is noise."
            )
        )
    return "Neither bias nor variance stands out; more rows change little."


# The outcome of a comparison in sentences, the same on a terminal and in Python.


def name_on_board(entry: Contestant, findings: Findings) -> str:
    """What a line of the leaderboard is called."""
    return f"{entry.family} (baseline)" if entry is findings.baseline else entry.family


def sentence_of_test(findings: Findings) -> str:
    """Return the test score with its intervals and the baseline; empty if it is unknown."""
    opening = findings.opening
    if opening is None:
        return ""
    n = opening.times_opened
    times = "" if n == 1 else f" (evaluation number {n} on this test set, so it may be too high)"
    best, metric = findings.contestants[0].family, findings.protocol.metric
    of = f" {findings.protocol.positive_words}".rstrip()
    return (
        f"{best[:1].upper()}{best[1:]}: {metric}{of} {_scored(opening)}{times}"
        f"{_learned_from(findings, opening)}"
    )


def warnings_of_scores(findings: Findings) -> list[str]:
    """What makes the scores less than they seem, each in a sentence."""
    if findings.nothing_fitted:
        return []
    chosen, protocol = findings.contestants[0], findings.protocol
    found = [
        against_baseline(chosen, findings.baseline, protocol.stopped, findings.opening),
        far_from_folds(chosen, findings.opening, protocol.metric),
        flattered_by_repeats(findings.opening, protocol.metric),
    ]
    return [sentence for sentence in found if sentence]


def outcome(findings: Findings) -> list[str]:
    """Hints of leakage, the test score and what makes it less than it seems, a sentence each."""
    said = sentence_of_test(findings)
    before = [f"! {hint}" for hint in findings.listed_hints]
    after = [f"! {word}" for word in warnings_of_scores(findings) + left_by_budget(findings)]
    return before + ([said] if said else []) + after


def left_by_budget(findings: Findings) -> list[str]:
    """A sentence if time was over, or somebody interrupted, that names what was left out."""
    stopped, budget = findings.protocol.stopped, findings.protocol.budget
    late = [drop.family for drop in findings.dropped if drop.late]
    if not stopped and not late:
        return []
    of = "" if budget is None else f" of {budget:g} s"
    why = "Interrupted" if stopped == "interrupt" else f"The time limit{of} was too short"
    partly = [entry.family for entry in findings.contestants if entry.partly_searched]
    said = f"; not tried: {listed(late, MOST_NAMED)}" if late else ""
    said += f"; partly searched: {listed(partly, MOST_NAMED)}" if partly else ""
    return [f"{why}{said}."]


def _scored(opening: Opening) -> str:
    ranges = ", ".join(
        f"{figure(i.low, 3)} to {figure(i.high, 3)} by {i.method}" for i in opening.intervals
    )
    interval = f" (95% interval {ranges})" if ranges else ""
    rows = "1 test row" if len(opening.y) == 1 else f"{len(opening.y):,} test rows"
    baseline = figure(opening.baseline_score)
    return f"{figure(opening.score)} on {rows}{interval}; baseline {baseline}"


def _learned_from(findings: Findings, opening: Opening) -> str:
    """Return a warning if test rows are also training rows, and the score of the other rows."""
    n, some = findings.n_repeated, opening.unrepeated
    if not n:
        return ""
    which = "all" if n == len(opening.y) else f"{n:,} of the {len(opening.y):,}"
    are = "is" if n == 1 else "are"
    warning = f". Warning: {which} test rows {are} also training rows."
    return warning if some is None else f"{warning} Without them: {_scored(some)}."
