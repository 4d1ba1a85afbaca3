"""Naive Bayes: features that are independent within each class."""

from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .multinomial import ComplementNB, MultinomialNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB"]
