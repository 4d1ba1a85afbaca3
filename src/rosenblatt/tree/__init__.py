"""Decision trees and rules: tests on single columns, by threshold or by category."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__, {"rules": ["count_conjunctions", "count_functions", "count_m_of_n", "nested_search"]}
)
