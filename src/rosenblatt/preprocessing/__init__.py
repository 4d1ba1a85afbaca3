"""Columns and rows before a model sees them: on one scale, or expanded into functions of them."""

from .basis_expansion import BasisExpansion
from .standardizer import Standardizer

__all__ = ["BasisExpansion", "Standardizer"]
