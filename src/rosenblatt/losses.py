"""The losses of the margin m = y f(x), for models, certificates and figures.

The margin, y times the score, may have any shape, and the losses have the same. It is positive
where a row is on its right side. Each method makes the sum of one of them
small: the perceptron `perceptron`, support vector machines `hinge`, logistic regression `logistic`,
boosting `exponential`, the least-squares classifier `squared`. What one would like to make small,
the share of mistakes, is the mean of `zero_one`, which `hinge`, `exponential`, `squared` and, in
bits, `logistic` are nowhere below.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["exponential", "hinge", "logistic", "perceptron", "squared", "zero_one"]

Losses = NDArray[np.float64]


def zero_one(margin: ArrayLike) -> Losses:
    """Zero-one loss: 1 for a mistake, 0 otherwise; a row on the plane is a mistake.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.zero_one([-2.0, 0.0, 3.0])
    array([1., 1., 0.])
    """
    return (_numbers(margin) <= 0).astype(np.float64)


def perceptron(margin: ArrayLike) -> Losses:
    """Perceptron loss, ``max(0, -m)``: how far a point is on the wrong side, 0 on the right one.

    Its sum over the data is the perceptron criterion; a correction of one mistake is a
    step against its gradient.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.perceptron([-2.0, 0.0, 3.0])
    array([2., 0., 0.])
    """
    # Adding 0 turns a negative zero into a plain one.
    return np.maximum(-_numbers(margin), 0.0) + 0.0


def hinge(margin: ArrayLike) -> Losses:
    """Hinge loss, ``max(0, 1 - m)``: 0 from a margin of one on, then one for each unit less.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.hinge([-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    """
    return np.maximum(1 - _numbers(margin), 0.0)


def logistic(margin: ArrayLike, *, bits: bool = False) -> Losses:
    """Logistic loss, ``ln(1 + e^-m)``: minus the log-probability of the right label.

    It charges a little for right answers, too. In bits, divided by ln 2, it is 1 at the plane.

    Parameters
    ----------
    margin : y times the score, any shape.
    bits : whether the logarithm is that of base 2.

    Returns
    -------
    loss : array of the same shape.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.logistic([-1.0, 0.0, 2.0]).round(4)
    array([1.3133, 0.6931, 0.1269])
    >>> losses.logistic(0.0, bits=True)
    array(1.)
    """
    loss = np.logaddexp(0.0, -_numbers(margin))  # without an exponential that overflows
    return np.asarray(loss / np.log(2) if bits else loss)


def exponential(margin: ArrayLike) -> Losses:
    """Exponential loss, ``e^-m``: a mistake far out costs more than all others together.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.exponential([-1.0, 0.0, 2.0]).round(4)
    array([2.7183, 1.    , 0.1353])
    """
    with np.errstate(over="ignore"):  # infinity is what it is
        return np.exp(-_numbers(margin))


def squared(margin: ArrayLike) -> Losses:
    """Squared loss, ``(1 - m)^2``: that of codes -1 and +1; rows far on the right side pay, too.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.squared([-1.0, 1.0, 3.0])
    array([4., 0., 4.])
    """
    return np.asarray((1 - _numbers(margin)) ** 2)


def _numbers(margin: ArrayLike) -> Losses:
    return np.asarray(margin, dtype=np.float64)
