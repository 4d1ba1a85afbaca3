"""Mixtures: rows drawn from one of several distributions, nobody knows which."""

from .gaussian import GaussianMixture

__all__ = ["GaussianMixture"]
