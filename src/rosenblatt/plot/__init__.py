"""Pictures of models, drawn by matplotlib, which is imported when the first one is drawn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .constraints import constraint
    from .model_choice import bias_variance, learning_curve, validation_curve
    from .penalty_paths import path
    from .regions import boundary
    from .tree_nodes import decision_tree
    from .tree_votes import vote_curves, votes

__all__ = [
    "bias_variance",
    "boundary",
    "constraint",
    "decision_tree",
    "learning_curve",
    "path",
    "validation_curve",
    "vote_curves",
    "votes",
]

# Imported when asked for: curves to choose by fit models, and traces want none of that.
_HOMES = {
    "bias_variance": "model_choice",
    "boundary": "regions",
    "constraint": "constraints",
    "decision_tree": "tree_nodes",
    "learning_curve": "model_choice",
    "path": "penalty_paths",
    "validation_curve": "model_choice",
    "vote_curves": "tree_votes",
    "votes": "tree_votes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
