"""Discriminants: Gaussian classes with a shared or separate covariance, and Fisher's direction."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
