"""Our fitted trees as scikit-learn's."""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree as SklearnTree

NODE_FIELDS = {
    "left_child": "children_left", "right_child": "children_right", "feature": "feature",
    "threshold": "threshold", "impurity": "impurity", "n_node_samples": "n_node_samples",
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
