"""Pictures of models, drawn by matplotlib, which is imported when the first one is drawn.

Functions that take ``ax`` draw on it. Without one they draw on the current axes if these are empty,
and else in a new figure, so that one picture never covers another. They return the axes.
"""

from typing import TYPE_CHECKING

import lazy_loader  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from .boosting import alpha_curve as alpha_curve
    from .boosting import boosting_curves as boosting_curves
    from .boosting import error_parts as error_parts
    from .boosting import margin_losses as margin_losses
    from .cluster_steps import cluster_steps as cluster_steps
    from .cluster_steps import loss_curves as loss_curves
    from .cluster_steps import mixture_density as mixture_density
    from .constraints import constraint as constraint
    from .dendrogram import cluster_numbers as cluster_numbers
    from .dendrogram import dendrogram as dendrogram
    from .dendrogram import linkages as linkages
    from .dendrogram import vote_map as vote_map
    from .lifted import lifted as lifted
    from .margin_lines import margins as margins
    from .margin_lines import separating_lines as separating_lines
    from .model_choice import bias_variance as bias_variance
    from .model_choice import learning_curve as learning_curve
    from .model_choice import validation_curve as validation_curve
    from .neighbours import boundaries_by_k as boundaries_by_k
    from .neighbours import distance_concentration as distance_concentration
    from .neighbours import neighbours as neighbours
    from .neighbours import voronoi as voronoi
    from .penalty_paths import path as path
    from .regions import boundary as boundary
    from .split_sizes import split_sizes as split_sizes
    from .tree_nodes import decision_tree as decision_tree
    from .tree_votes import vote_curves as vote_curves
    from .tree_votes import votes as votes
    from .two_views import two_views as two_views

# Imported when asked for: curves to choose by fit models, and traces want none of that.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "boosting": ["alpha_curve", "boosting_curves", "error_parts", "margin_losses"],
        "cluster_steps": ["cluster_steps", "loss_curves", "mixture_density"],
        "constraints": ["constraint"],
        "dendrogram": ["cluster_numbers", "dendrogram", "linkages", "vote_map"],
        "lifted": ["lifted"],
        "margin_lines": ["margins", "separating_lines"],
        "model_choice": ["bias_variance", "learning_curve", "validation_curve"],
        "neighbours": ["boundaries_by_k", "distance_concentration", "neighbours", "voronoi"],
        "penalty_paths": ["path"],
        "regions": ["boundary"],
        "split_sizes": ["split_sizes"],
        "tree_nodes": ["decision_tree"],
        "tree_votes": ["vote_curves", "votes"],
        "two_views": ["two_views"],
    },
)
