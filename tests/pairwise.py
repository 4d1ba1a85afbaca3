"""Fewer combinations of options: every pair of values occurs, not every combination."""

import itertools

import pytest


def pairwise(**options):
    """Parametrize a test so that each value meets each value of every other option."""
    every = list(itertools.product(*options.values()))
    missing, chosen = set().union(*map(_pairs, every)), []
    while missing:
        chosen.append(max(every, key=lambda values: len(missing & _pairs(values))))
        missing -= _pairs(chosen[-1])
    return pytest.mark.parametrize(tuple(options), chosen)


def _pairs(values):
    """Two options each, with their values by identity: not all values can be hashed."""
    return set(itertools.combinations(enumerate(map(id, values)), 2))
