"""Clustering: groups of rows without labels."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__,
    {
        "number_of_clusters": ["ClusterNumber", "choose_k"],
        "quality": ["ClusterQuality", "cluster_quality"],
        "seeding": ["kmeans_plusplus"],
    },
)
