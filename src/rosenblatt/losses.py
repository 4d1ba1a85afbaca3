"""The losses of the margin m = y f(x), for models, certificates and figures."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["perceptron"]


def perceptron(margin: ArrayLike) -> NDArray[np.float64]:
    """Perceptron loss, ``max(0, -m)``: how far a point is on the wrong side, 0 on the right one.

    Its sum over the data is the perceptron criterion; a correction of one mistake is a
    step against its gradient.

    Parameters
    ----------
    margin : y times the score, any shape.

    Returns
    -------
    loss : array of the same shape.

    Examples
    --------
    >>> from rosenblatt import losses
    >>> losses.perceptron([-2.0, 0.0, 3.0])
    array([2., 0., 0.])
    """
    # Adding 0 turns a negative zero into a plain one.
    return np.maximum(-np.asarray(margin, dtype=np.float64), 0.0) + 0.0
