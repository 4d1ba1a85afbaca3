"""Surprise, entropy, conditional entropy and information gain."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from .inputs import (
    Floats,
    check_labels,
    distribution,
    each_probability,
    frequencies,
    number,
    plain,
    tabulate,
)

OTHER_INPUT = "give counts as counts=..., labels as labels=..."


def surprise(p: ArrayLike, *, base: float = 2) -> Any:
    """Surprise at an event of probability p, ``-log p``, of the shape of p.

    The only continuous measure that falls with p and adds up over independent events,
    ``S(pq) = S(p) + S(q)``, once ``S(1/2) = 1`` fixes the unit.

    Parameters
    ----------
    p : probability, or an array of any shape; zero gives infinity.
    base : of the logarithm, above 1: 2 for bits, `math.e` for nats.

    Examples
    --------
    >>> from rosenblatt.information import surprise
    >>> surprise(0.5), surprise(1), surprise(2**-7)
    (1.0, 0.0, 7.0)
    """
    return plain(_surprise(each_probability(p, "p"), _check_base(base)))


def entropy(
    p: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    axis: int | None = None,
    base: float = 2,
) -> Any:
    """Entropy ``H = -sum p log p``, the expected surprise: a float, or an array along an axis.

    Between 0, one outcome being certain, and ``log K``, all K being alike.

    Parameters
    ----------
    p : probabilities that sum to one.
    counts : instead of p, how often each outcome occurred, whole or weighted.
    labels : instead of p, the outcomes themselves.
    axis : None for the entropy of the whole table, or the axis along which p sums to one.
    base : of the logarithm, above 1: 2 for bits, `math.e` for nats.

    Examples
    --------
    >>> from rosenblatt.information import entropy
    >>> entropy([0.5, 0.5]), entropy([1, 0]), entropy([0.25] * 4)
    (1.0, 0.0, 2.0)
    >>> round(entropy(labels=["yes", "no", "yes"]), 6)
    0.918296
    >>> entropy([[0.5, 0.5], [1, 0]], axis=1)
    array([1., 0.])
    """
    base = _check_base(base)
    _exactly_one(p=p, counts=counts, labels=labels)
    if p is None and axis is not None:
        raise ValueError(f"axis must be None with counts or labels; got {axis}.")
    if p is not None:
        probability = distribution(p, "p", axis=axis, cure=OTHER_INPUT)
    else:
        probability = frequencies(
            counts if labels is None else tabulate(check_labels(labels, "labels"))
        )
    return plain(_weighted_surprise(probability, probability, base).sum(axis=axis))


def binary_entropy(t: ArrayLike, *, base: float = 2) -> Any:
    """Entropy of a coin, ``-(t log t + (1 - t) log(1 - t))``, for each probability of heads t.

    Parameters
    ----------
    t : probability, or an array of any shape.
    base : of the logarithm, above 1: 2 for bits, `math.e` for nats.

    Examples
    --------
    >>> from rosenblatt.information import binary_entropy
    >>> binary_entropy([0, 0.5, 1])
    array([0., 1., 0.])
    """
    heads = each_probability(t, "t")
    # log1p keeps the digits that 1 - t loses when t is tiny.
    nats = -xlogy(heads, heads) - xlog1py(1 - heads, -heads)
    return plain(nats / math.log(_check_base(base)) + 0.0)


def conditional_entropy(
    p: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    given: ArrayLike | None = None,
    base: float = 2,
) -> float:
    """Entropy of Y that remains when X is known, ``H[Y|X] = sum_x P(x) H[Y|X=x]``.

    It is from 0 (x settles y) to ``H[Y]`` (x says nothing), although ``H[Y|X=x]`` of a single x
    may be larger: ``entropy(conditional(p, given=0), axis=1)`` has them all.

    Parameters
    ----------
    p : table of ``P(x, y)``: the last axis is y, all others are x.
    counts : instead of p, a table of counts.
    labels, given : instead of p, the values of y and those of x, of the same length.
    base : of the logarithm, above 1: 2 for bits, `math.e` for nats.

    Examples
    --------
    >>> from rosenblatt.information import conditional_entropy
    >>> round(conditional_entropy(labels=[1, 0, 1], given=[0, 1, 1]), 6)
    0.666667
    """
    table, base = _table(p, counts, labels, given), _check_base(base)
    x = table.sum(axis=1, keepdims=True)
    y_given_x = np.divide(table, x, out=np.zeros_like(table), where=x > 0)
    return float(_weighted_surprise(table, y_given_x, base).sum())


def information_gain(
    p: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    given: ArrayLike | None = None,
    base: float = 2,
) -> float:
    """Mutual information ``H[Y] - H[Y|X]``, the entropy that X takes from Y and Y from X.

    It is at most the smaller of the two entropies, never negative, and zero if and only if X and Y
    are independent. It is summed as ``P(x,y) log(P(x,y) / (P(x) P(y)))``, which loses no digits to
    a difference of two nearly equal entropies.

    Parameters
    ----------
    p : table of ``P(x, y)``: the last axis is y, all others are x.
    counts : instead of p, a table of counts.
    labels, given : instead of p, the values of y and those of x, of the same length.
    base : of the logarithm, above 1: 2 for bits, `math.e` for nats.

    Examples
    --------
    >>> from rosenblatt.information import information_gain
    >>> round(information_gain(counts=[[0, 4], [1, 1]]), 6)
    0.316689
    >>> information_gain(labels=["a", "b", "a", "b"], given=[0, 1, 0, 1])
    1.0
    """
    table, base = _table(p, counts, labels, given), _check_base(base)
    x, y = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    # Logarithms are subtracted, for a product of two tiny probabilities may vanish.
    lift = _surprise(x, base) + _surprise(y, base)
    terms = np.zeros_like(table)
    some = table > 0
    terms[some] = table[some] * (lift[some] - _surprise(table[some], base))
    return max(float(terms.sum()), 0.0)  # rounding may leave an independent table below zero


def _table(p: Any, counts: Any, labels: Any, given: Any) -> Floats:
    """Return P(x, y), one row for each x, from whichever form was given."""
    _exactly_one(p=p, counts=counts, labels=labels)
    if (labels is None) != (given is None):
        raise ValueError("labels and given go together: the values of y and those of x.")
    if labels is not None:
        y, x = check_labels(labels, "labels"), check_labels(given, "given")
        if len(x) != len(y):
            raise ValueError(
                f"labels and given must have the same length; got {len(y)} and {len(x)}."
            )
        table = frequencies(tabulate(x, y))
    elif p is not None:
        table = distribution(p, "p", cure=OTHER_INPUT)
    else:
        table = frequencies(counts)
    if table.ndim < 2:
        raise ValueError("a table of x and y must have two axes or more; got one.")
    return table.reshape(-1, table.shape[-1])


def _exactly_one(**forms: Any) -> None:
    given = [name for name, value in forms.items() if value is not None]
    if len(given) != 1:
        what = " and ".join(given) or "none"
        raise ValueError(f"give exactly one of {', '.join(forms)}; got {what}.")


def _check_base(base: float) -> float:
    if number(base, "base") <= 1:
        raise ValueError(f"base must be a number > 1, such as 2 or math.e; got {base!r}.")
    return float(base)


def _surprise(p: Floats, base: float) -> Floats:
    """Return -log p, exactly for powers of a base that has a logarithm of its own."""
    log = {2.0: np.log2, math.e: np.log, 10.0: np.log10}.get(base)
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, as it should be
        bits: Floats = -log(p) if log else -np.log(p) / math.log(base)
    return bits + 0.0  # adding 0 turns a negative zero into a plain one


def _weighted_surprise(weight: Floats, p: Floats, base: float) -> Floats:
    """Return weight times -log p, zero where the weight is (0 log 0 = 0)."""
    terms = np.zeros_like(p)
    some = weight > 0
    terms[some] = weight[some] * _surprise(p[some], base)
    return terms
