"""DC23, J9: two classes in the form for many give the same run as the form for two."""

import numpy as np

from rosenblatt import Perceptron

X = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
Y = np.array([0, 1, 1, 1, 0])


def test_two_rows_of_weights_are_the_plane_and_its_opposite():
    # The form for many classes needs a third: its row is not visited, and it is never a rival.
    model = Perceptron(shuffle=False, tol=None, boundary="negative").fit(
        np.vstack([X, [[0.0, 0.0]]]), np.append(Y, 2), sample_weight=[1, 1, 1, 1, 1, 0],
        intercept_init=[0, 0, -1e9],
    )  # fmt: skip
    found = np.column_stack([model.intercept_, model.coef_])[:2]
    assert found.tolist() == [[23, -10, -1], [-23, 10, 1]]
    assert (model.n_iter_, model.n_updates_) == (176, 339)
