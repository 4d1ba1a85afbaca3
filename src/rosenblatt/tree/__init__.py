"""Decision trees: tests on single columns, thresholds on numbers, branches on categories."""

from .classifier import DecisionTreeClassifier
from .regressor import DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
