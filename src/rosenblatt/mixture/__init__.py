"""Mixtures of distributions."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
