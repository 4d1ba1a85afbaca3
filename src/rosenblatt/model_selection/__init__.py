"""Choosing between models without fooling oneself."""

from .cross_validation import cross_val_score, cross_validate
from .error_decomposition import BiasVariance, bias_variance
from .sealed_test import SealedTest
from .search import GridSearchCV
from .split import train_dev_test_split

__all__ = [
    "BiasVariance",
    "GridSearchCV",
    "SealedTest",
    "bias_variance",
    "cross_val_score",
    "cross_validate",
    "train_dev_test_split",
]
