"""Is it so that knowing Y says nothing of X? Exactly, of a known table; by a test, of counts."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, xlogy

from .inputs import Floats, distribution, nonnegative, number

NEARLY = 1e-9  # how far tables of float64 may be from independent by rounding alone


def independent(p: ArrayLike, *, tol: float = NEARLY) -> bool:
    """Whether ``P(x, y) = P(x) P(y)`` for all x and y, of a known table.

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
    """Whether ``P(x, y | z) = P(x|z) P(y|z)`` for all x, y and every z that can occur.

    The same as ``P(x | y, z) = P(x|z)``: once z is known, y says no more of x. Neither this
    implies independence without z, nor the other way round.

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
    """What `independence_test` found.

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

    Returns
    -------
    IndependenceTest
        `statistic`, `df`, `p_value`, `smallest_expected`.

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
    table = table.reshape(*table.shape[:2], -1)
    strata = [_occurring(table[:, :, z]) for z in range(table.shape[2])]
    pairs = [(observed, _expected(observed)) for observed in strata if observed.size]
    distance = _pearson if method == "pearson" else _likelihood_ratio
    statistic = sum(distance(observed, expected) for observed, expected in pairs)
    df = sum((observed.shape[0] - 1) * (observed.shape[1] - 1) for observed, _ in pairs)
    p_value = float(chdtrc(df, statistic)) if df else 1.0
    smallest = min(float(expected.min()) for _, expected in pairs)
    return IndependenceTest(statistic, df, p_value, smallest)


def _occurring(observed: Floats) -> Floats:
    """Leave out rows and columns without a count: they hold no evidence and no freedom."""
    return observed[observed.any(axis=1)][:, observed.any(axis=0)]


def _expected(observed: Floats) -> Floats:
    # One factor is divided first, for a product of large counts may overflow.
    share = observed.sum(axis=0, keepdims=True) / observed.sum()
    return np.asarray(observed.sum(axis=1, keepdims=True) * share)


def _pearson(observed: Floats, expected: Floats) -> float:
    return float((((observed - expected) / np.sqrt(expected)) ** 2).sum())


def _likelihood_ratio(observed: Floats, expected: Floats) -> float:
    return max(float(2 * xlogy(observed, observed / expected).sum()), 0.0)
