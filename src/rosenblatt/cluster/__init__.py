"""Groups of rows that carry no label."""

from .agglomerative import AgglomerativeClustering
from .kmeans import KMeans
from .mini_batch import MiniBatchKMeans
from .quality import ClusterQuality, cluster_quality

__all__ = [
    "AgglomerativeClustering",
    "ClusterQuality",
    "KMeans",
    "MiniBatchKMeans",
    "cluster_quality",
]
