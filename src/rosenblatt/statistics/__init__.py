"""Sufficient statistics as values with + and -.

A statistic is made by one read of the rows, ``Moments.of(X, y)``; two are added as if their rows
had been read together; rows are taken out by subtracting their statistic.

>>> from rosenblatt.statistics import ClassCounts
>>> first, second = ClassCounts.of(["ham", "spam"]), ClassCounts.of(["ham"])
>>> first + second == ClassCounts.of(["ham", "spam", "ham"])
True
"""

from .batch import Labels
from .categories import CategoryCounts, PairCounts
from .counts import ClassCounts, RowCounts
from .extremes import Extremes
from .features import FeatureCounts
from .files import load, save
from .grams import Gram
from .moments import Moments
from .product import ProductStatistic
from .statistic import Statistic
from .terms import TermCounts

__all__ = [
    "CategoryCounts",
    "ClassCounts",
    "Extremes",
    "FeatureCounts",
    "Gram",
    "Labels",
    "Moments",
    "PairCounts",
    "ProductStatistic",
    "RowCounts",
    "Statistic",
    "TermCounts",
    "load",
    "save",
]
