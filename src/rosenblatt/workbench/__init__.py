"""The workbench: from a table to an answer that can be trusted."""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
