"""The same models on data that fits neither in memory nor on one machine.

Three verbs: map parts to statistics, merge them in a tree, broadcast what follows. The scheduler is
yours: none, a pool of processes, or a Dask client.
"""

from .cross_validation import SourceSearch, cross_validate, search
from .passes import Progress
from .training import fit, fit_stream, way_of

__all__ = ["Progress", "SourceSearch", "cross_validate", "fit", "fit_stream", "search", "way_of"]
