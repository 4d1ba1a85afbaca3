"""The workbench: from a table to an answer that can be trusted."""

from rosenblatt.workbench.model_file.files import load_model

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare", "load_model"]
