"""DC10, J6: the pocket on XOR."""

import numpy as np
import pytest

from rosenblatt import PocketPerceptron

X = np.array([[1.0, 1], [-1, 1], [-1, -1], [1, -1]])
Y = [1, -1, 1, -1]


@pytest.mark.parametrize("pick", ["first", "cyclic"])
def test_the_best_of_a_cycle_of_four(pick):
    # (b, w): 0 wrong on all; (1, 1, 1) on 3; (0, 2, 0) on 2; (1, 1, -1) on 1; 0 again, for ever.
    model = PocketPerceptron(shuffle=False, pick=pick).fit(X, Y)
    assert model.pocket_history_ == [(0, 1.0), (1, 0.75), (2, 0.5), (3, 0.25)]
    assert [*model.intercept_, *model.coef_[0]] == [1, 1, -1]
    assert model.pocket_error_ == 0.25
    assert model.stop_reason_ == "no_progress"
    assert model.cycle_ > 0


def test_zero_for_the_second_class_halves_the_error_of_the_start():
    model = PocketPerceptron(shuffle=False, pick="first", boundary="positive").fit(X, Y)
    assert model.pocket_history_[0] == (0, 0.5)
    assert model.pocket_error_ == 0.25
    assert [*model.intercept_, *model.coef_[0]] == [1, 1, -1]
