import numpy as np
import pytest

from rosenblatt.solvers.newton import factored, inverted

ONES = np.ones((3, 3))


def curvatures(seed, *scales):
    rng = np.random.default_rng(seed)
    roots = [rng.normal(size=(20, 3)) * scale for scale in scales]
    return np.stack([root.T @ root for root in roots])


def test_inverses_of_all_are_those_of_each():
    H = curvatures(0, 1.0, [1e-6, 1.0, 1e6], 1e80)
    for one, inverse in zip(H, inverted(H), strict=True):
        np.testing.assert_allclose(inverse, factored(one)(np.eye(3)), rtol=1e-7)


@pytest.mark.parametrize("flat", [np.zeros((3, 3)), ONES, np.full((3, 3), np.nan)])
def test_one_that_has_no_inverse_leaves_the_others_theirs(flat):
    H = curvatures(1, 1.0, 10.0)
    found = inverted(np.concatenate([H, flat[None]]))
    np.testing.assert_allclose(found[:2], np.linalg.inv(H), rtol=1e-6)


def test_what_is_flat_does_not_move():
    """The scores do not change along some directions; where nothing pulls, nothing happens."""
    step = factored(ONES)(np.ones(3))
    np.testing.assert_allclose(step, np.full(3, 1 / 3), rtol=1e-6)
    np.testing.assert_allclose(ONES @ inverted(ONES[None])[0] @ np.ones(3), 1.0, rtol=1e-6)


@pytest.mark.parametrize("m", [1, 5, 40, 41])
def test_small_and_large_are_factored_alike(m):
    root = np.random.default_rng(m).normal(size=(3 * m, m)) * np.logspace(-3, 3, m)
    H = root.T @ root
    lower, scale = factored(H)
    np.testing.assert_allclose(lower @ lower.T, H / np.outer(scale, scale), atol=1e-11)
    np.testing.assert_allclose(H @ factored(H)(H[0]), H[0], rtol=1e-8)
