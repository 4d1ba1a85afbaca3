"""Many models at once: forests of random trees, and bagging of any model."""

from .bagging import BaggingClassifier, BaggingRegressor
from .extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from .forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
