"""A few seeded tries of every attack; `make fuzz` makes new ones."""

import random
import warnings
from unittest.mock import Mock

import numpy as np
import pytest

from rosenblatt.discriminant_analysis.base import Undetermined

from . import attacks


@pytest.mark.parametrize("kind", attacks.KINDS)
def test_nothing_breaks(kind):
    assert attacks.attack(kind, tries=10, seed=0) == []


def test_an_attack_that_succeeds_is_counted(monkeypatch):
    monkeypatch.setitem(attacks.KINDS, "fits", lambda rng, folder: 1 / 0)
    assert len(attacks.attack("fits", tries=3, seed=0)) == 3


def test_a_matrix_that_cannot_be_factored_is_a_crash_and_our_sentence_about_it_is_none(monkeypatch):
    model = Mock(fit=Mock(side_effect=np.linalg.LinAlgError), spec=["fit"])
    monkeypatch.setattr(attacks, "clone", lambda _: model)
    assert len(attacks.attack("fits", tries=3, seed=0)) == 3
    model.fit.side_effect = Undetermined
    monkeypatch.setattr(attacks, "_is_fitted", lambda _: False)
    assert attacks.attack("fits", tries=3, seed=0) == []


@pytest.mark.parametrize("number", [994, 1201, 1855])
def test_coefficients_that_overflow_are_refused_without_a_warning_of_numpy(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".* encountered ", RuntimeWarning)
        assert attacks.fits(random.Random(f"fits 2411 {number}"), None)
