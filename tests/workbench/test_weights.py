"""Weights are named as files count columns, and all are counted; claims are marked alike."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file

import rosenblatt
from rosenblatt.certificates import Certificate, Claim
from rosenblatt.data import read_table
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.report import page
from rosenblatt.workbench.weights import weights_of
from tests.cli.commands import run


@pytest.fixture
def libsvm(tmp_path):
    """300 columns of which the one that LIBSVM calls 7 decides."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (200, 300)).astype(float)
    y = np.where(X[:, 6] > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "rows.libsvm"), zero_based=False)
    return tmp_path / "rows.libsvm"


def test_report_and_explain_count_columns_of_libsvm_as_the_file_does(libsvm, tmp_path):
    found = rosenblatt.compare(
        libsvm, target="target", families=["logistic regression"], ledger=tmp_path / "openings"
    )
    assert found.findings.learned[0][0] == "x7"
    assert found.findings.n_weights == 300
    text = page(found.findings)
    assert "The next 200 of 285 more features" in text
    assert "counted from 1" in text
    model = tmp_path / "rows.skops"
    found.save(model)
    row = int(np.flatnonzero(read_table(libsvm).sparse[:, 6].toarray())[0])
    said = run("explain", model, libsvm, "--row", row)
    assert re.search(r"\bx7\b", said.stdout), said.output


def test_weights_of_classes_are_all_counted():
    saved = fit_table(read_table("wine"), "cultivar", "logistic regression")
    weights, n = weights_of(saved.model)
    assert n == len(weights) == 3 * 13
    assert abs(weights[0][1]) == np.abs(saved.model[-1].coef_).max()
    assert weights_of(fit_table(read_table("wine"), "cultivar", "GaussianNB").model) == ([], 0)


def test_a_product_of_columns_is_written_as_one():
    """A space alone was between the names, which may have spaces themselves."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 120))
    word = np.where(rng.random(120) < 0.5, "x y", "z")
    table = pl.DataFrame({"top left": a, "b": b, "word": word, "y": 3 * a * b + 2 * b * b})
    saved = fit_table(read_table(table), "y", "ridge on products")
    names = [name for name, _ in weights_of(saved.model)[0]]
    assert set(names[:2]) == {"top left × b", "b²"}
    assert {"top left", "top left²", "b × word = x y"} <= set(names)


def test_a_measurement_is_marked_by_a_dash_on_the_page_as_on_the_terminal(tmp_path):
    from dataclasses import replace

    found = rosenblatt.compare(
        "iris", target="species", families=["Gaussian naive Bayes"], ledger=tmp_path / "openings"
    ).findings
    claims = (
        Claim("gap", "it is small", 0.0, 1.0, True, "checked"),
        Claim("training error", "45% are wrong", 0.45, None, True, "checked"),
        Claim("margin", "there is none", 0.0, 1.0, False, "checked"),
    )
    text = page(replace(found, certificate=Certificate("M", "P", "D", claims)))
    marks = {
        name: re.search(rf"<td[^>]*>([^<]*)</td>\s*<th scope=\"row\">{name}<", text)[1]
        for name in ("gap", "training error", "margin")
    }
    measured = page(replace(found, certificate=Certificate("M", "P", "D", claims[1:2])))
    assert "Measurements only, nothing is claimed." in measured
    assert marks == {"gap": "✓ yes", "training error": "–", "margin": "✗ no"}


def test_fit_names_the_claims_that_fail(tmp_path, monkeypatch):
    certificate = Certificate(
        "M", "P", "D", (Claim("gap", "far from the best", 1.0, 0.1, False, "checked"),)
    )
    monkeypatch.setattr("rosenblatt.workbench.fitting.certificate_of", lambda *_: certificate)
    words = ["fit", "iris", "--target", "species", "--model", "GaussianNB", "-o"]
    said = run(*words, tmp_path / "m.skops")
    assert "Certificate: 0 of 1 claims hold." in said.stdout
    assert "Failed claim: gap: far from the best" in said.stdout


def test_a_peer_that_won_cannot_be_saved_and_it_is_said(tmp_path):
    found = rosenblatt.compare(
        "iris", target="species", families=["histogram boosting"], peers=True,
        ledger=tmp_path / "openings",
    )  # fmt: skip
    with pytest.raises(ValueError, match="boosting of scikit-learn, and model files hold"):
        found.save(tmp_path / "forest.skops")
    assert not (tmp_path / "forest.skops").exists()


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("kernel perceptron", r"a weight for each of \d+ rows, not of columns"),
        ("kernel logistic regression", r"a weight for each of 120 rows.*kernel"),
        ("Gaussian naive Bayes", "no single weight for each column.*explain"),
    ],
)
def test_a_model_without_weights_of_columns_says_what_it_learned(family, words, tmp_path):
    found = rosenblatt.compare(
        "iris", target="species", families=[family], ledger=tmp_path / "openings"
    ).findings
    assert found.learned_as == "worth"
    assert re.search(words, found.learned_note)
    assert "Permutation importance" in page(found)


def test_of_two_classes_the_note_says_which_one_a_weight_speaks_for(tmp_path):
    found = rosenblatt.compare(
        "breast_cancer", families=["logistic regression"], ledger=tmp_path / "openings",
        target=read_table("breast_cancer").frame.columns[-1],
    ).findings  # fmt: skip
    assert re.search(r"above zero speaks for (\w+), what is below for (?!\1)", found.learned_note)
