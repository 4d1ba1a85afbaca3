"""Fewer columns that keep what matters: principal components."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
