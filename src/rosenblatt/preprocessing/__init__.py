"""Columns and rows before a model sees them: on one scale, cut into bins, or expanded."""

from .basis_expansion import BasisExpansion
from .discretizer import Discretizer
from .standardizer import Standardizer

__all__ = ["BasisExpansion", "Discretizer", "Standardizer"]
