"""The workbench: from a table to an answer that can be trusted."""

from .comparison import Comparison, compare
from .model_file import load_model

__all__ = ["Comparison", "compare", "load_model"]
