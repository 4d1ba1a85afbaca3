"""What counting models know of their data, as values with + and -."""

from .counts import ClassCounts, FeatureCounts
from .labels import Labels
from .moments import Moments

__all__ = ["ClassCounts", "FeatureCounts", "Labels", "Moments"]
