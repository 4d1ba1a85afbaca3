"""Discriminants: one Gaussian per class with shared or own covariance, and Fisher's direction."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
