"""Exponential and logarithm, written so that the compiler can do several at once.

Calls of the C library prevent the vectorization of a loop; for twenty classes, these functions take
a third of the time. Their errors are below two units in the last place.
"""

import math

import numpy as np

from . import compiled, instruction
from .llvm import llvm_type

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
MAGIC = 6755399441055744.0  # 1.5 * 2**52: added and taken off, it rounds; its last bits are the sum
LOWEST = -708.0
LN2 = 0.6931471805599453
ROOT2 = 1.4142135623730951
# The same in single precision, and the series: a constant of 64 bits would widen all the rest.
LOG2_E_32 = np.float32(LOG2_E)
LN2_HIGH_32, LN2_LOW_32 = np.float32(0.693359375), np.float32(-2.1219444e-4)
MAGIC_32 = np.float32(12582912.0)
LOWEST_32 = np.float32(-87.0)
SERIES_32 = tuple(np.float32(1 / math.factorial(k)) for k in range(8))


def _bit_cast(source, target):
    """Return a function that reads the bits of a number of one type as one of another type."""

    @instruction(f"{target}({source})")
    def bit_cast(number):
        return np.dtype(source).type(number).view(target)

    bit_cast.llvm(lambda builder, number: builder.bitcast(number, llvm_type(target)))
    return bit_cast


bits, float_of = _bit_cast("float64", "int64"), _bit_cast("int64", "float64")
bits_32, float_of_32 = _bit_cast("float32", "int32"), _bit_cast("int32", "float32")


@compiled(fuse=True)
def exp_negative(x):
    """Return exp(x) for x <= 0: 2**k times the series of the rest, which is at most ln(2) / 2."""
    x = max(x, LOWEST)
    shifted = x * LOG2_E + MAGIC
    k = shifted - MAGIC
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    # The series in pairs, so that no term waits for all the others.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + r * 0.16666666666666666)
    middle = (0.041666666666666664 + r * 0.008333333333333333) + r2 * (
        0.001388888888888889 + r * 0.0001984126984126984
    )
    high = (2.48015873015873e-05 + r * 2.7557319223985893e-06) + r2 * (
        2.755731922398589e-07 + r * 2.505210838544172e-08 + r2 * 2.08767569878681e-09
    )
    series = low + r4 * (middle + r4 * high)
    return series * float_of((bits(shifted) + np.int64(1023)) << np.int64(52))


@compiled(fuse=True)
def exp_negative_32(x):
    """Return exp(x) for x <= 0 in single precision, in the same way."""
    x = max(x, LOWEST_32)
    shifted = x * LOG2_E_32 + MAGIC_32
    k = shifted - MAGIC_32
    r = (x - k * LN2_HIGH_32) - k * LN2_LOW_32
    r2 = r * r
    one, _, half, third, fourth, fifth, sixth, seventh = SERIES_32
    low = (one + r) + r2 * (half + r * third)
    high = (fourth + r * fifth) + r2 * (sixth + r * seventh)
    scale = np.int32(bits_32(shifted) + np.int32(127)) << np.int32(23)
    power = float_of_32(np.int32(scale))
    return (low + (r2 * r2) * high) * power


@compiled
def exp_of_its_precision(x):
    """Return exp(x) for x <= 0, in the precision of x."""
    if isinstance(x, np.float32):
        return exp_negative_32(x)
    else:  # noqa: RET505  (Numba prunes the branch only in this form)
        return exp_negative(x)


@compiled(fuse=True)
def log_near_one(u):
    """Return log(1 + u) = 2 artanh(u / (2 + u)) for 1 + u from 2**-0.5 to 2**0.5."""
    s = u / (2.0 + u)
    z = s * s
    z2 = z * z
    low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0))
    high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (
        1.0 / 15.0 + z * (1.0 / 17.0) + z2 * (1.0 / 19.0 + z * (1.0 / 21.0))
    )
    return 2.0 * s + 2.0 * s * z * (low + z2 * z2 * high)


@compiled
def log_one_plus(u):
    """Return log(1 + u) for u from 0 to 1, exact also for small u."""
    high = u > ROOT2 - 1.0
    near = log_near_one(0.5 * (u - 1.0) if high else u)
    return LN2 + near if high else near


@compiled
def log(x):
    """Return log(x) for normal numbers x > 0: k log(2) and the logarithm of the rest."""
    k = (bits(x) >> np.int64(52)) - np.int64(1023)
    rest = float_of(bits(x) - (k << np.int64(52)))
    high = rest > ROOT2
    rest = 0.5 * rest if high else rest
    return (float(k) + (1.0 if high else 0.0)) * LN2 + log_near_one(rest - 1.0)
