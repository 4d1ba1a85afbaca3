"""Sums of bytes agree in plain Python and compiled, on processors with and without AVX2."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.loops import JIT_DISABLED, compiled
from rosenblatt.loops.simd import int32x8
from rosenblatt.neighbors.quantized_loops import add_products, has_avx2, less_differences

BASIC, AVX2 = "generic", "haswell"  # processors without and with AVX2


@compiled
def sums_of(starts, products, differences, points, found):
    """Add products and take off differences of 8 points with a query, and mark the negative."""
    a = add_products(int32x8.load(starts, 0), products, 0, points, 0)
    b = less_differences(int32x8.load(starts, 0), differences, 0, points, 0)
    found[0] = int32x8.negative(int32x8.subtract(int32x8.spread_from(starts, 0), a))
    found[1] = int32x8.negative(int32x8.either(b, int32x8.load(starts, 0)))


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


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names processors of that kind")
@pytest.mark.parametrize("cpu", [BASIC, AVX2])
def test_sums_of_bytes_for_a_named_processor(cpu):
    if cpu == AVX2 and (JIT_DISABLED or not has_avx2()):
        pytest.skip("this processor has no AVX2, or it is not known")
    environment = os.environ | {"NUMBA_CPU_NAME": cpu, "NUMBA_DISABLE_JIT": "0"}
    command = "import test_quantized_loops as here; "
    command += f"assert here.has_avx2() is {cpu == AVX2}; here.check()"
    subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=Path(__file__).parent, check=True
    )
