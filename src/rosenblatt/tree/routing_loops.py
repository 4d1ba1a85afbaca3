# mypy: ignore-errors
"""Send rows down a tree."""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.rows import prefetch_elements

ROWS_AT_ONCE = 256  # that go down a tree together: each step of a row waits for the one before
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
def descend(X, shift, first, n_active, nodes, cuts, scratch):
    """Write the places of the leaves of `n_active` rows, from `first` on, to scratch[0].

    Each row goes two nodes down in its turn, until it stays where it is.
    """
    at, active = scratch[0], scratch[1]
    for i in range(n_active):
        at[i] = 0
        active[i] = i
    while n_active:
        moved = 0
        for a in range(n_active):
            i = active[a]
            row = np.uint64(first) + i
            node = next_node(X, row, shift, nodes, cuts, at[i])
            child = next_node(X, row, shift, nodes, cuts, node)
            at[i] = child
            active[moved] = i
            moved += child != node
        n_active = moved


@compiled
def route(X, shift, nodes, cuts, order, scratch, leaves):
    """Write the leaf of each row of X to leaves (n,); see `pack_nodes` for the tree.

    X is (n, d), without NaN, if shift is 1, and (n, 2 d) if it is 0: then each column stands there
    with -inf in place of NaN, and next to it as it is. Scratch has the
    shape (2, ROWS_AT_ONCE).
    """
    for first in range(0, X.shape[0], ROWS_AT_ONCE):
        n_rows = min(ROWS_AT_ONCE, X.shape[0] - first)
        descend(X, shift, first, n_rows, nodes, cuts, scratch)
        for i in range(n_rows):
            leaves[first + i] = order[scratch[0, i] >> ONE]


@compiled
def add_leaf_values(X, shift, nodes, cuts, starts, value, scratch, out):
    """Add the values (N, S) of the leaves of the rows of X in several trees to out (n, S).

    Tree t has the nodes and values from starts[t] on; see `route` for the other arguments.
    """
    for t in range(starts.shape[0] - 1):
        begin, end = starts[t], starts[t + 1]
        own, own_cuts = nodes[2 * begin : 2 * end], cuts[2 * begin : 2 * end]
        of_leaf = value[begin:end]
        for first in range(0, X.shape[0], ROWS_AT_ONCE):
            n_rows = min(ROWS_AT_ONCE, X.shape[0] - first)
            for i in range(first + n_rows, min(first + 2 * ROWS_AT_ONCE, X.shape[0])):
                prefetch_elements(X, i * X.shape[1], X.shape[1])
            descend(X, shift, first, n_rows, own, own_cuts, scratch)
            for i in range(n_rows):
                leaf = scratch[0, i] >> ONE
                for s in range(out.shape[1]):
                    out[first + i, s] += of_leaf[leaf, s]


@compiled
def write_rows(X, clear, table):
    """Write the numbers that CSR rows X store to table (n, d), or zeros in their places."""
    data, indices, indptr = X
    for i in range(table.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            table[i, np.uint32(indices[p])] = 0 if clear else data[p]


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
