"""DC23, J9: two classes in the form for many give the same run as the form for two."""

import numpy as np

from rosenblatt.base import arrays, read_only
from rosenblatt.linear_model import perceptron_loops
from rosenblatt.mistake_driven.visits import UNLIMITED

X = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
Y = np.array([0, 1, 1, 1, 0], np.int32)


def test_two_rows_of_weights_are_the_plane_and_its_opposite():
    W, b = np.zeros((2, 2)), np.zeros(2)
    order, step = read_only(np.arange(5, dtype=np.int32)), read_only(np.ones(5))
    passes = updates = 0
    mistakes = -1
    while mistakes:
        mistakes, _, _ = perceptron_loops.multiclass_pass(
            arrays(X), read_only(Y), step, order, -1, UNLIMITED, 1.0, W, b, np.empty(2)
        )
        passes, updates = passes + 1, updates + mistakes
    assert np.column_stack([b, W.T]).tolist() == [[23, -10, -1], [-23, 10, 1]]
    assert (passes, updates) == (176, 339)
