"""Mixtures: rows drawn from one of several distributions, nobody knows which."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
