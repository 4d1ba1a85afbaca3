"""Prediction by the distance to stored rows, or to the centroid of each class."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__, {"dimension": ["distance_concentration", "hamming", "shell_fraction"]}
)
