"""A few seeded tries of every attack; `make fuzz` makes new ones."""

import pytest

from . import attacks


@pytest.mark.parametrize("kind", attacks.KINDS)
def test_nothing_breaks(kind):
    assert attacks.attack(kind, tries=10, seed=0) == []


def test_an_attack_that_succeeds_is_counted(monkeypatch):
    monkeypatch.setitem(attacks.KINDS, "fits", lambda rng, folder: 1 / 0)
    assert len(attacks.attack("fits", tries=3, seed=0)) == 3
