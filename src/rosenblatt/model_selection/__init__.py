"""Choosing between models without fooling oneself."""

from .sealed import SealedTest
from .split import train_dev_test_split

__all__ = ["SealedTest", "train_dev_test_split"]
