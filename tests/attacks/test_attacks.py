"""A few tries of every family; `make fuzz` makes thousands of new ones."""

import re
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from rosenblatt import certify, registry
from rosenblatt.certificates import kmeans_bounds

from . import run

MOST_TRIES = 100
BARE = ("k-means", "errors of lasso paths")  # bounds without a certificate around them


@pytest.mark.parametrize("family", run.FAMILIES)
def test_no_certificate_is_false(family):
    count = run.attack(family, tries=12, seed=0)
    assert not count.broken
    assert not count.false
    assert count.tries >= 9  # few are refused


def test_every_verifier_is_attacked(monkeypatch):
    """A new verifier needs a family, or a property test in `run.TESTS` that names its model."""
    attacked = set()

    def recorded(model, *args, **kwargs):
        attacked.add(type(model).__name__)
        return certify(model, *args, **kwargs)

    for family in run.FAMILIES.values():
        monkeypatch.setattr(import_module(family.__module__), "certify", recorded, raising=False)
    for name in run.FAMILIES:
        run.attack(name, tries=8, seed=0)
    folder = Path(__file__).parents[1] / "certificates"
    tests = "".join((folder / f"{name}.py").read_text("utf-8") for name, _ in run.TESTS.values())
    attacked |= {row.name for row in registry.ROWS if re.search(rf"\b{row.name}\b", tests)}
    found = {registry.CERTIFICATES.get(name) for name in attacked}
    assert set(registry.CERTIFICATES.values()) - found == set()


def boasting(*args, **kwargs):
    """A certificate in which every claim holds, and nothing is left to gain."""
    found = certify(*args, **kwargs)
    claims = [replace(claim, value=0.0, holds=True) for claim in found]
    claims = [claim if claim.bound is None else replace(claim, bound=0.0) for claim in claims]
    return replace(found, claims=tuple(claims))


@pytest.mark.parametrize("family", [name for name in run.NAMES if name not in BARE])
def test_a_verifier_that_claims_too_much_is_found_out(family, monkeypatch):
    if family in run.FAMILIES:
        module = import_module(run.FAMILIES[family].__module__)
        tries, seeds = 1, range(MOST_TRIES)
    else:  # Hypothesis stops at the first
        module = import_module(f"tests.certificates.{run.TESTS[family][0]}")
        tries, seeds = MOST_TRIES, range(1)
    monkeypatch.setattr(module, "certify", boasting)
    assert any(run.attack(family, tries, seed).false for seed in seeds)


def test_bounds_that_are_too_tight_are_found_out(monkeypatch):
    monkeypatch.setattr(kmeans_bounds, "best_bound", lambda X, s, K, loss, _: (2 * loss + 1, ""))
    assert run.attack("k-means", tries=20, seed=0).false
    errors = run.optima.held_out_errors
    monkeypatch.setattr(
        run.optima, "held_out_errors", lambda *args: errors(*args)._replace(room=np.zeros(3))
    )
    assert run.attack("errors of lasso paths", tries=20, seed=0).false


def test_what_a_certificate_refuses_is_counted_and_a_crash_is_broken(monkeypatch):
    verifier = import_module("rosenblatt.certificates.linear_regression")
    for error, refused in ((ValueError, 3), (np.linalg.LinAlgError, 0), (ZeroDivisionError, 0)):
        monkeypatch.setattr(verifier, "certify_model", Mock(side_effect=error))
        count = run.attack("ridge", tries=3, seed=0)
        assert (count.refused, len(count.broken)) == (refused, 3 - refused)


def test_a_fault_of_the_attack_is_no_refusal(monkeypatch):
    monkeypatch.setattr(run.optima, "squares_excess", lambda *_: Fraction(float("nan")))
    count = run.attack("ridge", tries=3, seed=0)
    assert (count.refused, len(count.broken)) == (0, 3)


def test_certificates_without_the_claim_are_counted(monkeypatch):
    def bare(*args, **kwargs):
        found = certify(*args, **kwargs)
        return replace(found, claims=found.claims[:1])

    monkeypatch.setattr(run.structures, "certify", bare)
    count = run.attack("rules", tries=3, seed=0)
    assert (count.unclaimed, count.tries) == (3, 0)


def test_the_shortfall_of_mixed_columns_is_rounded_up():
    # The sum over columns was two units in the last place below the exact one in try 1.
    assert not run.attack("mixed naive Bayes", tries=2, seed=7).false
