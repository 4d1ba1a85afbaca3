"""A few seeded tries of every attack; `make fuzz` makes new ones."""

import random
import warnings

import pytest

from . import attacks


@pytest.mark.parametrize("kind", attacks.KINDS)
def test_nothing_breaks(kind):
    assert attacks.attack(kind, tries=10, seed=0) == []


def test_an_attack_that_succeeds_is_counted(monkeypatch):
    monkeypatch.setitem(attacks.KINDS, "fits", lambda rng, folder: 1 / 0)
    assert len(attacks.attack("fits", tries=3, seed=0)) == 3


@pytest.mark.parametrize("number", [994, 1201, 1855])
def test_coefficients_that_overflow_are_refused_without_a_warning_of_numpy(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".* encountered ", RuntimeWarning)
        assert attacks.fits(random.Random(f"fits 2411 {number}"), None)
