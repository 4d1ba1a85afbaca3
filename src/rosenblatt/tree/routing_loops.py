# mypy: ignore-errors
"""Send rows down a tree."""

import numpy as np

from rosenblatt.loops import compiled

ROWS_AT_ONCE = 16  # in flight: each step of a row waits for the one before
ONE, TWO, CHILD, COLUMN = (np.uint64(k) for k in (1, 2, 32, 0xFFFFFFFF))


@compiled
def pack_nodes(left, right, feature, threshold, missing_left, order, nodes, cuts):
    """Write the nodes of a binary tree level by level to nodes (2 N,) and cuts (2 N,).

    Both are the same memory. The first word of a node has the place of its left child in the high
    half; the right child follows it. The low half is twice the column, plus one if NaN goes right.
    The second word is the threshold. A leaf is its own left child. order (N,) gets the number of
    each node in the tree.
    """
    order[0] = 0
    end = 1
    for i in range(left.shape[0]):
        node = order[i]
        if left[node] < 0:
            nodes[2 * i], cuts[2 * i + 1] = np.uint64(2 * i) << CHILD, np.inf
        else:
            low = 2 * np.int64(feature[node]) + (missing_left[node] == 0)
            nodes[2 * i] = np.uint64(2 * end) << CHILD | np.uint64(low)
            cuts[2 * i + 1] = threshold[node]
            order[end], order[end + 1] = left[node], right[node]
            end += 2


@compiled(inline=True)
def next_node(X, i, shift, nodes, cuts, node):
    """Return the child of a node that row i goes to; a leaf leads to itself."""
    word = nodes[node]
    goes_left = X[i, (word & COLUMN) >> shift] <= cuts[node + ONE]
    return (word >> CHILD) + (np.uint64(0) if goes_left else TWO)


@compiled
def route(X, shift, nodes, cuts, order, at, leaves):
    """Write the leaf of each row of X to leaves (n,); see `pack_nodes` for the tree.

    X is (n, d), without NaN, if shift is 1, and (n, 2 d) if it is 0: then each column stands there
    with -inf in place of NaN, and next to it as it is. Scratch: at (ROWS_AT_ONCE,).
    """
    n = X.shape[0]
    n_together = n - n % ROWS_AT_ONCE
    for first in range(0, n_together, ROWS_AT_ONCE):
        for i in range(ROWS_AT_ONCE):
            at[i] = 0
        moved = ONE
        while moved:
            moved = np.uint64(0)
            for i in range(ROWS_AT_ONCE):
                node = at[i]
                at[i] = next_node(X, np.uint64(first + i), shift, nodes, cuts, node)
                moved |= at[i] ^ node
        for i in range(ROWS_AT_ONCE):
            leaves[first + i] = order[at[i] >> ONE]
    for i in range(n_together, n):
        node, child = ONE, np.uint64(0)
        while child != node:
            node = child
            child = next_node(X, np.uint64(i), shift, nodes, cuts, node)
        leaves[i] = order[node >> ONE]


@compiled
def add_values(value, weight, leaves, out):
    """Add the values (N, S) of the leaves (n,), times a weight, to out (n, S)."""
    for i in range(out.shape[0]):
        for s in range(out.shape[1]):
            out[i, s] += weight * value[leaves[i], s]


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
def route_by_branches(
    X, feature, threshold, left, right, missing_left, first_branch, n_branches, branch_code,
    branch_child, n_categories, leaves,
):  # fmt: skip
    """Write the leaf of each row of X (n, d) to leaves (n,); nodes may have many branches."""
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
