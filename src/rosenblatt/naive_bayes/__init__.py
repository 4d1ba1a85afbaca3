"""Naive Bayes: features that are independent within each class.

>>> from rosenblatt.naive_bayes import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from .gaussian import GaussianNB
from .mixed import MixedNB

__all__ = ["GaussianNB", "MixedNB"]
