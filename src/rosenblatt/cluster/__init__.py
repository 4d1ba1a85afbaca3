"""Groups of rows that carry no label."""

from .agglomerative import AgglomerativeClustering
from .consensus import ConsensusClustering
from .kmeans import KMeans
from .mini_batch import MiniBatchKMeans
from .number_of_clusters import ClusterNumber, choose_k
from .quality import ClusterQuality, cluster_quality
from .seeding import kmeans_plusplus

__all__ = [
    "AgglomerativeClustering",
    "ClusterNumber",
    "ClusterQuality",
    "ConsensusClustering",
    "KMeans",
    "MiniBatchKMeans",
    "choose_k",
    "cluster_quality",
    "kmeans_plusplus",
]
