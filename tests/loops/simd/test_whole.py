"""Sums of bytes are the obvious ones, on processors with and without the instructions for them."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import whole

BASIC = "nehalem"  # a processor without AVX2


@compiled
def sums_of(starts, products, differences, points, found):
    """Add products and take off differences of 8 points with a query, and mark the negative."""
    a = whole.add_products(whole.load(starts, 0), products, 0, points, 0)
    b = whole.less_differences(whole.load(starts, 0), differences, 0, points, 0)
    found[0] = whole.negative(whole.subtract(whole.spread_from(starts, 0), a))
    found[1] = whole.negative(whole.either(b, whole.load(starts, 0)))


def check():
    rng = np.random.RandomState(0)
    for _ in range(20):
        starts = rng.randint(-3_000, 3_000, 8).astype(np.int32)
        q, r = rng.randint(0, 128, 8).astype(np.uint8), rng.randint(0, 256, 8).astype(np.uint8)
        points = rng.randint(-63, 64, 64).astype(np.int8).view(np.uint8)
        found = np.empty(2, np.int64)
        sums_of(starts, q, r, points, found)
        x = points.view(np.int8).astype(int).reshape(2, 8, 4)
        a = starts + x[0] @ q[:4].astype(int) + x[1] @ q[4:].astype(int)
        apart = np.abs(points.astype(int).reshape(2, 4, 8) - r).sum(axis=2)
        b = starts - apart.T.ravel()
        assert found[0] == np.packbits(starts[0] < a, bitorder="little")[0]
        assert found[1] == np.packbits((b < 0) | (starts < 0), bitorder="little")[0]


def test_sums_of_bytes():
    check()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a processor of that kind")
def test_the_same_without_the_instructions():
    environment = os.environ | {"NUMBA_CPU_NAME": BASIC, "NUMBA_DISABLE_JIT": "0"}
    command = "import test_whole as here; assert not here.whole.FAST; here.check()"
    subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=Path(__file__).parent, check=True
    )
