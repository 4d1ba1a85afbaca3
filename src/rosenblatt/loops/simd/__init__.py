"""Explicit vectors, where the compiler does not find them by itself."""

from . import exponential, lanes, tiles

__all__ = ["exponential", "lanes", "tiles"]
