"""Shifting, dividing and norms, one number at a time."""

import math


def shift_and_divide(X, shift, scale, width, low):
    return [
        [(float(x) - m) / s * width + low for x, m, s in zip(row, shift, scale, strict=True)]
        for row in X
    ]


def to_unit_length(row, absolute):
    """A row over its norm, whatever its size; zeros stay."""
    numbers = [float(x) for x in row]
    most = max(map(abs, numbers), default=0.0)
    if most == 0:
        return numbers
    shrunk = [x / most for x in numbers]
    length = math.fsum(map(abs, shrunk)) if absolute else math.hypot(*shrunk)
    return [x / length for x in shrunk]
