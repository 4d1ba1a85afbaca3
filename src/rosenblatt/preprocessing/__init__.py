"""Columns and rows on one scale, before a model sees them."""

from .standardizer import Standardizer

__all__ = ["Standardizer"]
