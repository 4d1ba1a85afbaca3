"""GC26, M1, M2, M3, T18: kernel identities at u = [1, 2], v = [3, 4]."""

import numpy as np
import pytest

from rosenblatt.kernels import Gaussian, Linear, Polynomial, Sigmoid

U, V = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])


def test_the_square_of_the_product_is_a_product_of_squares():
    # u.v = 3 + 8 = 11; [1,2,2,4].[9,12,12,16] = 9 + 24 + 24 + 64 = 121
    assert Linear()(U, V).item() == 11
    assert Polynomial(2)(U, V).item() == 121
    assert np.kron(U, U).tolist() == [[1, 2, 2, 4]]
    assert (np.kron(U, U) @ np.kron(V, V).T).item() == 121
    # The two mixed products are one feature here, sqrt(2) times as large.
    phi = Polynomial(2).features
    assert phi(U) == pytest.approx(np.array([[1, 2 * np.sqrt(2), 4]]))
    assert (phi(U) @ phi(V).T).item() == pytest.approx(121)


def test_up_to_the_second_degree():
    kernel = Polynomial(2, coef0=1)
    assert kernel(U, V).item() == 144
    root = np.sqrt(2)

    def phi(x1, x2):  # as printed
        return sorted([1, x1**2, root * x1 * x2, x2**2, root * x1, root * x2])

    for row in (U, V):
        assert sorted(kernel.features(row)[0]) == pytest.approx(phi(*row[0]))
    assert (kernel.features(U) @ kernel.features(V).T).item() == pytest.approx(144)


def test_the_gaussian_of_width_one_has_the_square_in_it():
    # |u - v|^2 = 8, so exp(-8 / 2); without the square it would be exp(-sqrt(8) / 2) = 0.243117
    value = Gaussian(gamma=1 / (2 * 1.0**2))(U, V).item()
    assert value == pytest.approx(0.018316, abs=5e-7)
    assert np.exp(-np.sqrt(8) / 2) == pytest.approx(0.243117, abs=5e-7)


def test_the_sigmoid():
    assert Sigmoid(gamma=0.1, coef0=0.5)(U, V).item() == pytest.approx(0.921669, abs=5e-7)
