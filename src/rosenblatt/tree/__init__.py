"""Decision trees and rules: tests on single columns, by threshold or by category."""

from .classifier import DecisionTreeClassifier
from .regressor import DecisionTreeRegressor
from .rules import (
    ConjunctionClassifier,
    MofNClassifier,
    count_conjunctions,
    count_functions,
    count_m_of_n,
    nested_search,
)

__all__ = [
    "ConjunctionClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "MofNClassifier",
    "count_conjunctions",
    "count_functions",
    "count_m_of_n",
    "nested_search",
]
