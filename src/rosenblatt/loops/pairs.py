"""Arithmetic on pairs of doubles: about 32 digits from two numbers of 16.

A pair ``(high, low)`` stands for the sum of its two numbers, the second being what the first had to
round away. Each function of pairs is right to a few units of 2**-104. They are Dekker's and Knuth's
(see Hida, Li and Bailey 2001, Algorithms for quad-double precision floating point arithmetic).
"""

from numba import config, types
from numba.extending import intrinsic

from . import compiled


@compiled
def two_sum(a, b):
    """a + b without error: the rounded sum, and what rounding took."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


if config.DISABLE_JIT:

    def two_product(a, b):
        """a b without error: Dekker's splitting, for want of the fused instruction."""
        product = a * b
        a_high, b_high = _high_half(a), _high_half(b)
        a_low, b_low = a - a_high, b - b_high
        error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
        return product, error

    def _high_half(a):
        """The leading 26 bits of a number."""
        shifted = 134217729.0 * a  # 2**27 + 1
        return shifted - (shifted - a)

else:

    @intrinsic
    def multiply_add(context, a, b, c):
        """a b + c, rounded once."""

        def generate(context, builder, signature, arguments):
            return builder.fma(*arguments)

        return types.float64(types.float64, types.float64, types.float64), generate

    @compiled
    def two_product(a, b):
        """a b without error: the rounded product, and what rounding took."""
        product = a * b
        return product, multiply_add(a, b, -product)


@compiled
def add(a, a_low, b, b_low):
    """The sum of two pairs; the same bits in either order."""
    high, error = two_sum(a, b)
    low, rest = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@compiled
def multiply(a, a_low, b, b_low):
    """The product of two pairs; the same bits in either order."""
    high, error = two_product(a, b)
    return two_sum(high, error + (a * b_low + a_low * b))


@compiled
def divide(a, a_low, b, b_low):
    """The quotient of two pairs, by long division with three digits of 53 bits."""
    first = a / b
    high, low = multiply(first, 0.0, b, b_low)
    high, low = add(a, a_low, -high, -low)
    second = high / b
    down, down_low = multiply(second, 0.0, b, b_low)
    high, low = add(high, low, -down, -down_low)
    high, low = two_sum(first, second), high / b
    return add(high[0], high[1], low, 0.0)
