# mypy: ignore-errors
"""Arithmetic on pairs of doubles: about 32 digits from two numbers of 16.

A pair ``(high, low)`` stands for the sum of its two numbers, the second being what the first had to
round away. Each function of pairs is right to a few units of 2**-104. They are Dekker's and Knuth's
(see Hida, Li and Bailey 2001, Algorithms for quad-double precision floating point arithmetic).
"""

from rosenblatt.loops import compiled, instruction


@compiled
def two_sum(a, b):
    """a + b without error: the rounded sum, and what rounding took."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def two_product(a, b):
    """a b without error: the rounded product, and what rounding took."""
    product = a * b
    return product, fused_multiply_add(a, b, -product)


@instruction("float64(float64, float64, float64)")
def fused_multiply_add(a, b, c):
    """Return a b + c, rounded once where c is about -a b, by Dekker's splitting."""
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high + c) + a_high * b_low + a_low * b_high) + a_low * b_low


@fused_multiply_add.llvm
def _(builder, a, b, c):
    return builder.fma(a, b, c)


def _high_half(a):
    """Return the leading 26 bits of a number."""
    shifted = 134217729.0 * a  # 2**27 + 1
    return shifted - (shifted - a)


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
