"""A certificate that is not there is accounted for in a sentence."""

import re

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.runtime.deadline import OutOfTime
from rosenblatt.workbench import importance
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.report import page


def compared(tmp_path, **options):
    ledger = tmp_path / "openings.jsonl"
    return rosenblatt.compare("wine", target="cultivar", ledger=ledger, **options).findings


def test_a_fit_that_is_proved_needs_no_word(tmp_path):
    found = compared(tmp_path, families=["Gaussian naive Bayes"])
    assert found.certificate is not None
    assert found.why_no_certificate == ""


REASONS = {
    "a peer's": "Histogram boosting publishes nothing that could be proved.*model of scikit-learn",
    "large": "of tables of more than 0 MB none is made",
    "refused": "The proof could not be made: it is too dark",
    "late": "no time to prove",
}


@pytest.mark.parametrize("what", REASONS)
def test_it_is_said_why_there_is_no_certificate(what, tmp_path, monkeypatch):
    def refuse(*rest, **options):
        raise TypeError if what == "a peer's" else ValueError("it is too dark")

    def late(*rest, **options):
        raise OutOfTime

    families = ["histogram boosting"] if what == "a peer's" else ["Gaussian naive Bayes"]
    if what == "large":
        monkeypatch.setattr(importance, "MOST_BYTES_TO_CERTIFY", 100)
    if what in ("refused", "a peer's"):
        monkeypatch.setattr(importance, "certify", refuse)
    if what == "late":
        monkeypatch.setattr(importance, "certify", late)
    found = compared(tmp_path, families=families, peers=what == "a peer's")
    assert found.certificate is None
    assert re.search(REASONS[what], found.why_no_certificate)
    assert "No certificate" in page(found)


@pytest.mark.parametrize(
    ("target", "model", "settings"),
    [
        ("width", "LinearSVR", []),
        ("side", "LinearSVC", ["loss=hinge"]),
        ("side", "LinearSVC", ["C=inf,penalize_intercept=False"]),
    ],
)
def test_hinges_are_proved_with_the_search_that_they_need(target, model, settings):
    """`fit` said of good machines that their gap does not hold: it looked for no multipliers."""
    rng = np.random.default_rng(0)
    side = np.arange(100) % 2
    columns = rng.normal(size=(100, 3)) + 6 * side[:, None]
    table = pl.DataFrame(columns, ["length", "height", "width"])
    table = table.with_columns(side=pl.Series(np.array(["left", "right"])[side]))
    saved = fit_table(read_table(table), target=target, model=model, settings=settings)
    claims = saved.certificate["claims"]
    assert any(claim["name"] == "gap" for claim in claims)
    assert all(claim["holds"] for claim in claims)
