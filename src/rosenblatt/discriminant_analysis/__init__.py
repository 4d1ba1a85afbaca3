"""Discriminants: one Gaussian per class with shared or own covariance, and Fisher's direction."""

from .fisher import FisherDiscriminant
from .linear import LinearDiscriminantAnalysis
from .quadratic import QuadraticDiscriminantAnalysis

__all__ = ["FisherDiscriminant", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
