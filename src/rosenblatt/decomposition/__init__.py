"""Fewer columns that keep what matters: principal components."""

from .pca import PCA

__all__ = ["PCA"]
