"""Columns and rows before a model sees them: on one scale, cut into bins, or expanded."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
