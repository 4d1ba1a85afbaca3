"""Blocks of kernel rows: what is computed when, and the memory they are kept in."""

import numpy as np
import pytest

from rosenblatt.kernels import Gaussian, blocks
from rosenblatt.kernels.blocks import KernelBlocks

X = np.random.default_rng(0).normal(size=(60, 3))
K = Gaussian(0.3)(X)


@pytest.fixture(params=[10, 1500], ids=["float32", "float64"])
def of_rows(request, monkeypatch):
    monkeypatch.setattr(blocks, "FEW", request.param)
    monkeypatch.setattr(blocks, "COLUMNS", 16)  # the last block is narrower
    return KernelBlocks(Gaussian(0.3), X, 1)


def test_rows_are_added_whether_they_were_there_or_not(of_rows):
    f, expected = np.ones(60), np.ones(60)
    for rows in ([3, 50, 7], [7, 8, 9, 10, 3], [50]):
        steps = np.arange(1.0, len(rows) + 1)
        of_rows.add(np.array(rows), steps, f)
        expected += steps @ K[rows]
    np.testing.assert_allclose(f, expected, rtol=1e-5)
    some = np.array([4, 2, 59])
    np.testing.assert_allclose(of_rows.among(some), K[np.ix_(some, some)], rtol=1e-5)


def test_rows_of_a_working_set_that_do_not_move_are_not_computed(monkeypatch):
    monkeypatch.setattr(blocks, "FEW", 10)
    found = KernelBlocks(Gaussian(0.3), X, 1)
    found.among(np.arange(20))
    found.add(np.array([5, 6]), np.ones(2), np.zeros(60))
    assert np.flatnonzero(found.slot >= 0).tolist() == [5, 6]


@pytest.mark.parametrize("large", [0, 64 << 20], ids=["pages", "memory"])
def test_memory_is_left_to_the_next_blocks_up_to_a_limit(monkeypatch, large):
    monkeypatch.setattr(blocks, "SPARE", [])
    monkeypatch.setattr(blocks, "LARGE", large)
    many = np.random.default_rng(0).normal(size=(1_000, 3))
    first = KernelBlocks(Gaussian(0.3), many, 8)
    first.fetch(np.arange(1_000))
    address = first.kept.ctypes.data
    del first
    second = KernelBlocks(Gaussian(0.3), many, 8)
    assert second.kept.ctypes.data == address
    second.fetch(np.arange(1_000))
    np.testing.assert_allclose(second.among(np.arange(1_000)), Gaussian(0.3)(many), rtol=1e-9)
    monkeypatch.setattr(blocks, "MOST_SPARE", second.kept.nbytes - 1)
    del second
    assert not blocks.SPARE
