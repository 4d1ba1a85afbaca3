"""Rows sent down a tree."""

from . import compiled


@compiled
def branch_of(code, node, first, stop, branch_code, branch_child):
    """The child of a node for a code, by bisection; the node itself if it has no such branch."""
    end = stop
    while first < end:
        middle = (first + end) // 2
        if branch_code[middle] < code:
            first = middle + 1
        else:
            end = middle
    return branch_child[first] if first < stop and branch_code[first] == code else node


@compiled
def route(
    X, feature, threshold, left, right, missing_left, first_branch, n_branches, branch_code,
    branch_child, n_categories, leaves,
):  # fmt: skip
    """Write the leaf of each row of X (n, d) to leaves (n,)."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            j = feature[node]
            value = X[i, j]
            missing = value != value
            goes_left = missing_left[node] > 0 if missing else value <= threshold[node]
            child = left[node] if goes_left else right[node]
            first = first_branch[node]
            if first >= 0:
                if n_categories[j]:
                    code = n_categories[j] if missing else int(value)
                else:
                    code = 2 if missing else (0 if goes_left else 1)
                stop = first + n_branches[node]
                child = branch_of(code, node, first, stop, branch_code, branch_child)
                if child == node:
                    break
            node = child
        leaves[i] = node
