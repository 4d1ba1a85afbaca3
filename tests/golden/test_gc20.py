"""GC20, B5: of the penalties 1, 10, 100 and 1000, 100 did best; the next lie around it."""

import numpy as np

from rosenblatt.linear_model.penalty_search import around, decades, search

GRID = np.array([1.0, 10.0, 100.0, 1000.0])


def test_the_closer_look_lies_between_the_neighbours_on_either_side():
    closer = around(GRID, best=2)
    assert ((closer > 10) & (closer < 1000)).all()
    assert (closer < 100).any()
    assert (closer > 100).any()


def test_the_search_tries_the_decades_and_then_goes_to_200():
    def score(penalties):
        return -np.abs(np.log(penalties / 200))

    found = search(score, decades(1.0, 1000.0), closer=2, grow=False)
    assert np.isin(GRID, found.penalties).all()
    best = found.penalties[found.scores.argmax()]
    assert abs(best / 200 - 1) < 0.05


def test_at_an_end_there_is_one_side_only():
    assert (around(GRID, best=3) > 100).all()
    assert (around(GRID, best=3) < 1000).all()
