"""Independence of two variables: exactly, of a known table; by a test, of counts."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, xlogy

from .inputs import distribution, nonnegative, number

NEARLY = 1e-9  # how far tables of float64 may be from independent by rounding alone


def independent(p: ArrayLike, *, tol: float = NEARLY) -> bool:
    """Return whether ``P(x, y) = P(x) P(y)`` for all x and y, of a known table.

    Parameters
    ----------
    p : table of P(x, y), summing to one.
    tol : the largest difference of two probabilities that passes for rounding.

    Examples
    --------
    >>> from rosenblatt.information import independent
    >>> independent([[0.06, 0.14], [0.24, 0.56]])
    True
    >>> independent([[0.3, 0.2], [0.2, 0.3]])
    False
    """
    table = distribution(p, "p")
    if table.ndim != 2:
        raise ValueError(f"p must have two axes, x and y; got {table.ndim}.")
    return conditionally_independent(table[:, :, None], tol=tol)


def conditionally_independent(p: ArrayLike, *, tol: float = NEARLY) -> bool:
    """Return whether ``P(x, y | z) = P(x|z) P(y|z)`` for all x, y and every z that can occur.

    This is the same as ``P(x | y, z) = P(x|z)``. It does not imply independence without z, and is
    not implied by it.

    Parameters
    ----------
    p : table of P(x, y, z), summing to one; axes after the third are more of z.
    tol : the largest difference of two probabilities that passes for rounding.

    Examples
    --------
    Headache and cough, each likelier with a cold, are independent once the cold is known:

    >>> import numpy as np
    >>> from rosenblatt.information import conditionally_independent, independent
    >>> with_cold = 0.1 * np.outer([0.4, 0.6], [0.2, 0.8])
    >>> without = 0.9 * np.outer([0.9, 0.1], [0.95, 0.05])
    >>> table = np.stack([with_cold, without], axis=2)
    >>> conditionally_independent(table), independent(table.sum(axis=2))
    (True, False)
    """
    table = distribution(p, "p")
    if table.ndim < 3:
        raise ValueError(f"p must have three axes or more, x, y and z; got {table.ndim}.")
    if number(tol, "tol") < 0:
        raise ValueError(f"tol must be a number >= 0; got {tol!r}.")
    table = table.reshape(*table.shape[:2], -1)
    z = table.sum(axis=(0, 1))
    given_z = table[:, :, z > 0] / z[z > 0]
    product = given_z.sum(axis=1, keepdims=True) * given_z.sum(axis=0, keepdims=True)
    return bool((np.abs(given_z - product) <= tol).all())


@dataclass(frozen=True)
class IndependenceTest:
    """Result of `independence_test`.

    Attributes
    ----------
    statistic : the distance of the counts from those expected of independent variables.
    df : degrees of freedom; zero if a variable never varies.
    p_value : how likely so large a distance is if they are independent, by the chi-square limit.
    smallest_expected : the smallest count expected; below about 5 the limit is a rough guide.

    Examples
    --------
    >>> from rosenblatt.information import independence_test
    >>> independence_test([[10, 10], [10, 10]])
    IndependenceTest(statistic=0.0, df=1, p_value=1.0, smallest_expected=10.0)
    """

    statistic: float
    df: int
    p_value: float
    smallest_expected: float


def independence_test(
    counts: ArrayLike, *, method: Literal["pearson", "likelihood-ratio"] = "pearson"
) -> IndependenceTest:
    """Test whether two variables are independent, or independent given a third, from counts.

    With expected counts ``E = row sum x column sum / N``, Pearson's statistic is
    ``sum (O - E)^2 / E``, and the likelihood ratio is ``2 sum O ln(O / E)``, that is
    ``2 N ln 2`` times the information gain in bits. Given a third variable both are summed over
    its values. No continuity correction is made.

    Parameters
    ----------
    counts : table (x, y), or (x, y, z) to test given z; `tabulate` makes it from labels.
    method : "pearson" or "likelihood-ratio".

    Examples
    --------
    >>> from rosenblatt.information import independence_test
    >>> found = independence_test([[4, 0], [1, 1]])
    >>> round(found.statistic, 6), found.df, round(found.p_value, 6)
    (2.4, 1, 0.121335)
    """
    if method not in ("pearson", "likelihood-ratio"):
        raise ValueError(f"method must be 'pearson' or 'likelihood-ratio'; got {method!r}.")
    table = nonnegative(counts, "counts")
    if table.ndim < 2 or not table.any():
        raise ValueError(
            "counts must be a table of two axes or more with a count above zero; "
            f"got shape {table.shape}."
        )
    statistic, df, smallest = 0.0, 0, math.inf
    for observed in np.moveaxis(table.reshape(*table.shape[:2], -1), 2, 0):
        # Rows and columns without a count add nothing, and have no degree of freedom.
        observed = observed[observed.any(axis=1)][:, observed.any(axis=0)]
        if not observed.size:
            continue
        # One factor is divided first, for a product of large counts may overflow.
        share = observed.sum(axis=0, keepdims=True) / observed.sum()
        expected = observed.sum(axis=1, keepdims=True) * share
        if method == "pearson":
            statistic += float((((observed - expected) / np.sqrt(expected)) ** 2).sum())
        else:
            statistic += max(float(2 * xlogy(observed, observed / expected).sum()), 0.0)
        df += (observed.shape[0] - 1) * (observed.shape[1] - 1)
        smallest = min(smallest, float(expected.min()))
    p_value = float(chdtrc(df, statistic)) if df else 1.0
    return IndependenceTest(statistic, df, p_value, smallest)
