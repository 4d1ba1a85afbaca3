"""Scores and counts as a terminal shows them."""

SMALL = 0.001  # in size: fixed decimals would leave a digit or none
ROUNDING = 1e-15  # less is what is left of a difference that should be zero


def figure(value: float, decimals: int = 4) -> str:
    """A score with fixed decimals; of one so small that they are zeros, its first two digits.

    >>> figure(0.98765), figure(-1234.5, 3), figure(-0.00031), figure(0.0)
    ('0.9877', '-1234.500', '-0.00031', '0.0000')
    """
    return f"{value:.2g}" if is_small(value) else f"{value:.{decimals}f}"


def rows_counted(n: int) -> str:
    """How many rows there are.

    >>> rows_counted(1), rows_counted(2_000)
    ('1 row', '2,000 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"


def is_small(value: float) -> bool:
    """Whether a score would be lost among decimals, and is more than rounding.

    >>> is_small(0.0003), is_small(-2e-17), is_small(0.1)
    (True, False, False)
    """
    return ROUNDING < abs(value) < SMALL
