"""Choosing between models without fooling oneself."""

from .cross_validation import cross_validate
from .sealed import SealedTest
from .search import GridSearchCV
from .split import train_dev_test_split

__all__ = ["GridSearchCV", "SealedTest", "cross_validate", "train_dev_test_split"]
