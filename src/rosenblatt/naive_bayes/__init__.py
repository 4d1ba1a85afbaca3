"""Naive Bayes: features that are independent within each class.

>>> from rosenblatt.naive_bayes import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
