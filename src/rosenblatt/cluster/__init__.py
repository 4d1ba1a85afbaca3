"""Groups of rows that carry no label."""

from .kmeans import KMeans

__all__ = ["KMeans"]
