"""Operations on vectors agree in plain Python and compiled."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import rosenblatt
from rosenblatt.loops import compiled
from rosenblatt.loops.simd import (
    count_bits,
    float32x8,
    float64x4,
    lowest_bit,
    prefetch,
)


@compiled
def doubles(x, y, single, out):
    """Write the results of operations on four doubles to out (5, 4)."""
    a, b = float64x4.load(x, 1), float64x4.load(y, 1)
    float64x4.store(out, 0, float64x4.add(a, b))
    float64x4.store(out, 4, float64x4.subtract(a, float64x4.load(single, 1)))
    float64x4.store(out, 8, float64x4.multiply(a, float64x4.spread_from(y, 0)))
    float64x4.store(out, 12, float64x4.multiply_add(a, b, float64x4.spread(0.5)))
    float64x4.store(out, 16, float64x4.where_below(a, b, a, float64x4.zeros()))
    prefetch(x, 10**6)
    return float64x4.total(float64x4.highest(a, b))


def test_four_doubles():
    x, y = np.random.default_rng(0).normal(size=(2, 5))
    single, out = x.astype(np.float32), np.empty((5, 4))
    total = doubles(x, y, single, out)
    a, b = x[1:], y[1:]
    assert out[0].tolist() == (a + b).tolist()
    assert out[1].tolist() == (a - single[1:]).tolist()
    assert out[2].tolist() == (a * y[0]).tolist()
    np.testing.assert_allclose(out[3], a * b + 0.5, rtol=0, atol=1e-15)
    assert out[4].tolist() == np.where(a < b, a, 0.0).tolist()
    m = np.maximum(a, b)
    assert total == (m[0] + m[1]) + (m[2] + m[3])


@compiled
def singles(x, y, whole, out, found):
    """Write the results of operations on eight floats to out (6, 8) and found (3,)."""
    a, b = float32x8.load(x, 0), float32x8.load(y, 0)
    float32x8.store(out, 0, float32x8.lowest(a, b))
    float32x8.store(out, 8, float32x8.highest(a, b))
    float32x8.store(out, 16, float32x8.less_distance(a, a, b))
    float32x8.store(out, 24, float32x8.root(a))
    float32x8.store(out, 32, float32x8.load(whole, 0))
    float32x8.store(out, 40, float32x8.where_below(a, b, b, a))
    found[0] = float32x8.bits_below(a, b)
    found[1] = float32x8.any_below(a, b)
    found[2] = float32x8.any_below(b, b)


def test_eight_floats():
    x, y = np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32)
    whole, out = np.arange(-3, 5, dtype=np.int32), np.empty((6, 8), np.float32)
    found = np.empty(3, np.int64)
    singles(x, y, whole, out, found)
    expected = [
        np.minimum(x, y), np.maximum(x, y), x - np.abs(x - y),
        np.sqrt(np.maximum(x, 0)), whole, np.maximum(x, y),
    ]  # fmt: skip
    assert out.tolist() == np.array(expected, np.float32).tolist()
    assert found.tolist() == [np.packbits(x < y, bitorder="little")[0], 1, 0]


@compiled
def places_of(words, places):
    """Write the places of all bits of words to places; return how many there are."""
    n = 0
    for word in words:
        for _ in range(count_bits(word)):
            places[n] = lowest_bit(word)
            word &= word - np.uint64(1)
            n += 1
    return n


def test_bits_of_a_word():
    words, places = np.array([0, 2**63 + 2**17 + 1, 2**40], np.uint64), np.empty(9, np.int64)
    assert places[: places_of(words, places)].tolist() == [0, 17, 63, 40]


def test_modules_of_loops_import_without_numba():
    package = Path(rosenblatt.__file__).parent
    own = {"compiler", "helpers"}  # imported when the first loop is called
    files = [file for file in (package / "loops").glob("*.py") if file.stem not in own]
    files += package.glob("*/*_loops.py")
    modules = [".".join(file.relative_to(package.parent).with_suffix("").parts) for file in files]
    script = (
        "import importlib, sys\n"
        f"for module in {modules}:\n"
        "    importlib.import_module(module.removesuffix('.__init__'))\n"
        "    for other in ('numba', 'llvmlite'):\n"
        "        assert other not in sys.modules, (module, other)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
