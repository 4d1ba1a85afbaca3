"""Decisions by distance: to stored rows, or to the centre of each class."""

from .classification import KNeighborsClassifier
from .dimension import distance_concentration, hamming, shell_fraction
from .nearest_centroid import NearestCentroid
from .regression import KNeighborsRegressor, NearestNeighbors

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestCentroid",
    "NearestNeighbors",
    "distance_concentration",
    "hamming",
    "shell_fraction",
]
