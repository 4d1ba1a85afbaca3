"""The workbench: from a table to an answer that can be trusted."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .clustering import cluster_table as cluster_table
    from .clustering_result import Clustering as Clustering
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare
    from .model_file import load_model as load_model
    from .model_file import save_model as save_model

__all__ = ["Clustering", "Comparison", "cluster_table", "compare", "load_model", "save_model"]


def __getattr__(name: str) -> Any:
    # A command that loads a model needs none of the families that a comparison tries.
    if name in ("load_model", "save_model"):
        from . import model_file

        return getattr(model_file, name)
    if name in ("Clustering", "cluster_table"):
        from . import clustering

        return getattr(clustering, name)
    if name in __all__:
        from . import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
