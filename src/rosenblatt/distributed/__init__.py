"""The same models on data that fits neither in memory nor on one machine.

Three verbs: map parts to statistics, merge them in a tree, and conclude. The scheduler is yours:
none, a pool of processes, or a Dask client.
"""

from .training import fit, fit_stream

__all__ = ["fit", "fit_stream"]
