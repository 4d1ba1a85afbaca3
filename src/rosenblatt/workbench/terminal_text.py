"""The outcome of a comparison in sentences, the same on a terminal and in Python."""

from rosenblatt.workbench.preparation.leakage import n_repeated
from rosenblatt.workbench.protocol.results import Contestant, Findings, Opening
from rosenblatt.workbench.protocol.verdicts import (
    against_baseline,
    far_from_folds,
    flattered_by_repeats,
)

from .number_format import figure


def name_on_board(entry: Contestant, findings: Findings) -> str:
    """What a line of the leaderboard is called."""
    return f"{entry.family} (baseline)" if entry is findings.baseline else entry.family


def sentence_of_test(findings: Findings) -> str:
    """The test score, how sure it is, and what stands beside it; nothing if it is not known."""
    opening = findings.opening
    if opening is None:
        return ""
    n = opening.times_opened
    times = "once" if n == 1 else f"{n} times by now, which flatters it"
    best = findings.contestants[0].family
    return (
        f"Test ({len(opening.y):,} rows), opened {times}: {best} {_scored(opening)}"
        f"{_learned_from(findings, opening)}"
    )


def warnings_of_scores(findings: Findings) -> list[str]:
    """What makes the scores less than they seem, each in a sentence."""
    if findings.nothing_fitted:
        return []
    chosen, protocol = findings.contestants[0], findings.protocol
    found = [
        against_baseline(chosen, findings.baseline, protocol.stopped),
        far_from_folds(chosen, findings.opening, protocol.metric),
        flattered_by_repeats(findings.opening, protocol.metric),
    ]
    return [sentence for sentence in found if sentence]


def outcome(findings: Findings) -> list[str]:
    """The test score and what makes it less than it seems, a sentence each."""
    said = sentence_of_test(findings)
    return ([said] if said else []) + [f"! {word}" for word in warnings_of_scores(findings)]


def _scored(opening: Opening) -> str:
    ranges = ", ".join(
        f"{figure(i.low, 3)} to {figure(i.high, 3)} ({i.method})" for i in opening.intervals
    )
    sure = f", 95% in {ranges}" if ranges else ""
    return f"{figure(opening.score)}{sure}; baseline {figure(opening.baseline_score)}."


def _learned_from(findings: Findings, opening: Opening) -> str:
    """A word beside the test score if it is no score of rows never seen, and the score of these."""
    n, some = n_repeated(findings.hints), opening.unrepeated
    if not n:
        return ""
    which = "all" if n == len(opening.y) else f"{n:,} of the {len(opening.y):,}"
    are = "is" if n == 1 else "are"
    word = f" But {which} rows {are} also among those learned from, which flatters what remembers."
    return word if some is None else f"{word} On the other {len(some.y):,}: {_scored(some)}"
