"""Groups of rows that carry no label."""

from .kmeans import KMeans
from .mini_batch import MiniBatchKMeans

__all__ = ["KMeans", "MiniBatchKMeans"]
