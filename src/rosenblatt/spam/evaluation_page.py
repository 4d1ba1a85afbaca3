"""The report of a spam filter's evaluation, in the style of a comparison's report."""

import os

import numpy as np

from rosenblatt.workbench.findings import Opening
from rosenblatt.workbench.report.page import render, write
from rosenblatt.workbench.report.prediction_figures import class_values

from .evaluation import HAM_LOST, SPAM_CAUGHT, Evaluation

LABELS = np.array(["ham", "spam"])
CUT = 0.5  # of the confusion matrix, which has no band in between


def page(found: Evaluation) -> str:
    """Return the report as a self-contained HTML page."""
    return render(
        "spam.html",
        found=found,
        CUT=CUT,
        n_ham=int(np.sum(~found.is_spam)),
        n_spam=int(np.sum(found.is_spam)),
        recalls=[(f"{lost:.1%}", f"{found.caught(lost):.1%}") for lost in HAM_LOST],
        costs=[(f"{caught:.0%}", f"{found.lost(caught):.2%}") for caught in SPAM_CAUGHT],
        bands=[(name, f"{ham:,}", f"{spam:,}") for name, (ham, spam) in found.bands().items()],
        wrong=[(name, truth, f"{p:.4f}") for name, truth, p in found.most_wrong()],
        **class_values(_opening(found), "spam"),
    )


def save(found: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write the report atomically."""
    write(page(found), path)


def _opening(found: Evaluation) -> Opening:
    """Return the evaluation in the form that the figures of reports read."""
    p, truth = found.probability, LABELS[found.is_spam.astype(int)]
    predicted = LABELS[(p > CUT).astype(int)]
    baseline = float(max(np.mean(found.is_spam), np.mean(~found.is_spam)))
    return Opening(
        float(np.mean(predicted == truth)), baseline, [], truth, predicted,
        np.column_stack([1 - p, p]), None, LABELS, 1,
    )  # fmt: skip
