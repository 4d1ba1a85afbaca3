"""Our fitted trees as scikit-learn's."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree as SklearnTree

NODE_FIELDS = {
    "left_child": "children_left", "right_child": "children_right", "feature": "feature",
    "impurity": "impurity", "n_node_samples": "n_node_samples",
    "weighted_n_node_samples": "weighted_n_node_samples",
    "missing_go_to_left": "missing_go_to_left",
}  # fmt: skip


def sklearn_tree(model: Any) -> Any:
    """scikit-learn's tree with the splits, values and classes of ours."""
    tree = model.tree_
    if tree.is_multiway:
        raise ValueError(
            "to_sklearn takes trees of thresholds; this one has branches for categories or for "
            "missing values, which scikit-learn's trees cannot have."
        )
    is_classifier = hasattr(model, "classes_")
    n_classes = np.atleast_1d(model.n_classes_ if is_classifier else [1] * tree.n_outputs)
    theirs = SklearnTree(tree.n_features, n_classes.astype(np.intp), tree.n_outputs)
    state = theirs.__getstate__()
    nodes = np.zeros(tree.node_count, state["nodes"].dtype)
    for field, name in NODE_FIELDS.items():
        nodes[field] = getattr(tree, name)
    nodes["threshold"] = for_single_precision(tree.threshold)
    state.update(
        max_depth=tree.max_depth, node_count=tree.node_count, nodes=nodes,
        values=np.ascontiguousarray(tree.value, np.float64),
    )  # fmt: skip
    theirs.__setstate__(state)
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    shared = {k: v for k, v in model.get_params().items() if k in kind().get_params()}
    found = kind(**shared)
    names = ("n_features_in_", "feature_names_in_", "n_outputs_", "classes_", "n_classes_")
    for name in (*names, "max_features_"):
        if hasattr(model, name):
            setattr(found, name, getattr(model, name))
    found.tree_ = theirs
    return found


def for_single_precision(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds for rows read as float32, which put decimal numbers on the side they were on.

    Half-way between decimals is a decimal, and rows may have it: 40.6 between 40.5 and 40.7. As
    float32 it may be above a threshold that it is equal to, or below one that it exceeds by the
    rounding of the mean.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite one stays
        single = thresholds.astype(np.float32)
        below = np.nextafter(single, np.float32(-np.inf)).astype(np.float64)
        decimal = single.astype(str).astype(np.float64)  # the shortest that rounds to it
        near = np.abs(decimal - thresholds) <= 4.0 * np.spacing(np.abs(thresholds))
    on_its_side = np.where(
        decimal <= thresholds, np.maximum(thresholds, single), np.minimum(thresholds, below)
    )
    return np.where(near, on_its_side, thresholds)
