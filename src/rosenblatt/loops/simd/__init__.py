"""Explicit vectors, where the compiler does not find them by itself."""

from . import exponential, lanes, singles, tiles

__all__ = ["exponential", "lanes", "singles", "tiles"]
