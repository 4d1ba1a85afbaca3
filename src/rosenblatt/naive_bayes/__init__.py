"""Naive Bayes: features that are independent within each class.

>>> from rosenblatt.naive_bayes import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .gaussian import GaussianNB
from .mixed import MixedNB
from .multinomial import ComplementNB, MultinomialNB
from .tree_augmented import TreeAugmentedNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "TreeAugmentedNB",
]
