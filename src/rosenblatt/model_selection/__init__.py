"""Choosing among models."""

from .cross_validation import cross_validate
from .search import GridSearchCV

__all__ = ["GridSearchCV", "cross_validate"]
