"""An evaluation as one self-contained page, in the style of a comparison's report."""

import os

import numpy as np

from rosenblatt.data.files import whole_file
from rosenblatt.workbench.protocol.results import Opening
from rosenblatt.workbench.report.mistakes import confusion
from rosenblatt.workbench.report.numbers import Markup, joined, table, tag
from rosenblatt.workbench.report.page import assembled
from rosenblatt.workbench.report.probabilities import calibration, ranking

from .evaluation import HAM_LOST, SPAM_CAUGHT, Evaluation

LABELS = np.array(["ham", "spam"])
CUT = 0.5  # of "Right and wrong", which has no band in between


def page(found: Evaluation) -> str:
    """Return the report as HTML that needs nothing else."""
    return assembled("The spam filter", joined(_header(found), _answer(found), *_test(found)))


def save(found: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write the report whole or not at all."""
    with whole_file(path) as draft:
        draft.write_bytes(page(found).encode("utf-8", "replace"))


def _header(found: Evaluation) -> Markup:
    how = (
        "Every message was judged by a filter that had learned those sent before it."
        if found.protocol == "time"
        else "Every message was judged by a filter that had learned the other nine tenths."
    )
    return tag("header", tag("h1", "The spam filter on mail it has not learned"), tag("p", how))


def _answer(found: Evaluation) -> Markup:
    n_ham, n_spam = int(np.sum(~found.is_spam)), int(np.sum(found.is_spam))
    sentence = (
        f"{found.model} catches {found.caught(0.0):.1%} of {n_spam:,} spam without losing one of "
        f"{n_ham:,} ham."
    )
    rows = [
        tag("tr", tag("td", f"{lost:.1%}"), tag("td", f"{found.caught(lost):.1%}"))
        for lost in HAM_LOST
    ]
    costs = [
        tag("tr", tag("td", f"{caught:.0%}"), tag("td", f"{found.lost(caught):.2%}"))
        for caught in SPAM_CAUGHT
    ]
    bands = [
        tag("tr", tag("td", name), tag("td", f"{ham:,}"), tag("td", f"{spam:,}"))
        for name, (ham, spam) in found.bands().items()
    ]
    low, high = found.thresholds
    cuts = (
        f"Ham below {low:g}, spam above {high:g}, and unsure between, by the probability of spam."
    )
    return tag(
        "section", tag("h2", "The answer"), tag("p", sentence),
        tag("h3", "Spam caught for ham lost, by the best cut"),
        table(("ham lost", "spam caught"), rows, "scores"),
        tag("h3", "Ham lost for spam caught (the false-positive rate)"),
        table(("spam caught", "ham lost"), costs, "scores"),
        tag("h3", "Messages by band"), tag("p", cuts),
        table(("band", "ham", "spam"), bands, "scores"), id="answer",
    )  # fmt: skip


def _test(found: Evaluation) -> list[Markup]:
    opening = _opening(found)
    curves, areas = ranking(opening, "spam") or (None, None)
    pictures = [picture for picture in (curves, calibration(opening, "spam")) if picture]
    wrong = [
        tag("tr", tag("td", name), tag("td", truth), tag("td", f"{p:.4f}"))
        for name, truth, p in found.most_wrong()
    ]
    sections = [
        tag("section", tag("h2", "Curves"), tag("div", *pictures, class_="figures"), id="curves"),
        tag(
            "section",
            tag("h2", "Right and wrong"),
            tag("p", f"A message counts as spam if its probability is above {CUT:g}."),
            confusion(opening, areas),
            id="mistakes",
        ),
    ]
    if wrong:
        rows = table(("message", "truth", "probability of spam"), wrong, "scores")
        sections.append(tag("section", tag("h2", "The most wrong"), rows, id="wrong"))
    return sections


def _opening(found: Evaluation) -> Opening:
    """What was measured, in the form that the report's pictures read."""
    p, truth = found.probability, LABELS[found.is_spam.astype(int)]
    predicted = LABELS[(p > CUT).astype(int)]
    baseline = float(max(np.mean(found.is_spam), np.mean(~found.is_spam)))
    return Opening(
        float(np.mean(predicted == truth)), baseline, [], truth, predicted,
        np.column_stack([1 - p, p]), None, LABELS, 1,
    )  # fmt: skip
