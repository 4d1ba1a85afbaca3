"""Decisions by distance: to the centre of each class."""

from .nearest_centroid import NearestCentroid

__all__ = ["NearestCentroid"]
