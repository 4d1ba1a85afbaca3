"""Loss functions of the margin m = y f(x), for models, certificates and figures.

The margin, y times the score, is positive where a row is classified correctly; it may have any
shape, and the losses have the same. The perceptron minimizes the sum of `perceptron`, support
vector machines of `hinge`, logistic regression of `logistic`, boosting of `exponential`, and the
least-squares classifier of `squared`. The error rate is the mean of `zero_one`, of which `hinge`,
`exponential`, `squared` and, in bits, `logistic` are upper bounds.
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
    """Perceptron loss, ``max(0, -m)``; its sum is the perceptron criterion.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.perceptron([-2.0, 0.0, 3.0])
    array([2., 0., 0.])
    """
    # Adding 0 turns a negative zero into a plain one.
    return np.maximum(-_numbers(margin), 0.0) + 0.0


def hinge(margin: ArrayLike) -> Losses:
    """Hinge loss, ``max(0, 1 - m)``: 0 from a margin of one on.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.hinge([-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    """
    return np.maximum(1 - _numbers(margin), 0.0)


def logistic(margin: ArrayLike, *, bits: bool = False) -> Losses:
    """Logistic loss, ``ln(1 + e^-m)``: minus the log-probability of the correct label.

    Parameters
    ----------
    margin : y times the score, any shape.
    bits : whether the loss is divided by ln 2; it is then 1 at margin 0.

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
    """Exponential loss, ``e^-m``.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.exponential([-1.0, 0.0, 2.0]).round(4)
    array([2.7183, 1.    , 0.1353])
    """
    with np.errstate(over="ignore"):
        return np.exp(-_numbers(margin))


def squared(margin: ArrayLike) -> Losses:
    """Squared loss, ``(1 - m)^2``, which also increases for margins above one.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.squared([-1.0, 1.0, 3.0])
    array([4., 0., 4.])
    """
    return np.asarray((1 - _numbers(margin)) ** 2)


def _numbers(margin: ArrayLike) -> Losses:
    return np.asarray(margin, dtype=np.float64)
