"""How far a share seen in n independent trials may be from its probability (Hoeffding 1963).

``P(|theta_hat - theta| >= eps) <= 2 exp(-2 n eps^2)``, whatever theta is. So it is, too, for the
error rate of a classifier on n rows it was not trained on.
"""

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from rosenblatt.information.inputs import each_probability, number, unit_share, whole


def hoeffding_bound(n: int, eps: float) -> float:
    """Bound on the risk that a share of n trials is off by eps or more: ``2 exp(-2 n eps^2)``.

    Parameters
    ----------
    n : trials, >= 1.
    eps : from 0 to 1, above 0.

    Returns
    -------
    bound : float; at 1 or above it says nothing.

    Examples
    --------
    >>> from rosenblatt.estimation import hoeffding_bound
    >>> round(hoeffding_bound(185, 0.1), 6)
    0.049447
    """
    return 2 * math.exp(-2 * _trials(n) * _check_eps(eps) ** 2)


def hoeffding_n(eps: float, delta: float) -> int:
    """Fewest trials for which the bound is at most delta: ``ceil(ln(2/delta) / (2 eps^2))``.

    With probability at least ``1 - delta`` the share is then less than eps off (probably
    approximately correct).

    Parameters
    ----------
    eps : from 0 to 1, above 0.
    delta : the risk, strictly between 0 and 1.

    Returns
    -------
    n : int.

    Examples
    --------
    >>> from rosenblatt.estimation import hoeffding_n
    >>> hoeffding_n(0.1, 0.05), hoeffding_n(0.05, 0.05), hoeffding_n(0.01, 0.01)
    (185, 738, 26492)
    """
    eps, delta = _check_eps(eps), unit_share(delta, "delta")
    # Digits to spare: floats would miss by one when the quotient is large or nearly whole.
    with localcontext() as context:
        context.prec = 700
        n = (Decimal(2) / Decimal(delta)).ln() / (2 * Decimal(eps) ** 2)
        return int(n.to_integral_value(rounding=ROUND_CEILING))


def hoeffding_half_width(n: int, delta: float) -> float:
    """Half the width of an interval around a share of n trials: ``sqrt(ln(2/delta) / (2 n))``.

    Parameters
    ----------
    n : trials, >= 1.
    delta : the risk that the probability lies outside, strictly between 0 and 1.

    Returns
    -------
    eps : float; at 1 or above it says nothing.

    Examples
    --------
    >>> from rosenblatt.estimation import hoeffding_half_width
    >>> round(hoeffding_half_width(1000, 0.05), 6)
    0.042947
    """
    return math.sqrt((math.log(2) - math.log(unit_share(delta, "delta"))) / (2 * _trials(n)))


def hoeffding_interval(share: float, n: int, delta: float) -> tuple[float, float]:
    """Interval that holds the true probability with probability at least ``1 - delta``.

    Parameters
    ----------
    share : what was seen in n trials, such as the error on n held-out rows.
    n : trials, >= 1.
    delta : the risk that the probability lies outside, strictly between 0 and 1.

    Returns
    -------
    low, high : floats from 0 to 1.

    Examples
    --------
    >>> from rosenblatt.estimation import hoeffding_interval
    >>> low, high = hoeffding_interval(0.03, n=1000, delta=0.05)
    >>> low, round(high, 6)
    (0.0, 0.072947)
    """
    seen: Any = each_probability(number(share, "share"), "share").item()
    half = hoeffding_half_width(n, delta)
    return max(seen - half, 0.0), min(seen + half, 1.0)


def _trials(n: int) -> int:
    return int(whole(number(n, "n"), "n", least=1))


def _check_eps(eps: float) -> float:
    value = number(eps, "eps")
    if not 0 < value <= 1:
        raise ValueError(f"eps must be a number above 0 and at most 1; got {eps!r}.")
    return value
