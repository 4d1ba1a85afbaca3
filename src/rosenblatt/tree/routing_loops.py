# mypy: ignore-errors
"""Send rows down a tree, or down many trees."""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.rows import prefetch_elements

ROWS_AT_ONCE = 256  # that go down a tree together: each step of a row waits for the one before
ONE, TWO, CHILD, COLUMN = (np.uint64(k) for k in (1, 2, 32, 0xFFFFFFFF))


@compiled
def pack_nodes(
    left, right, feature, threshold, missing_left, n_samples, order, waiting, nodes, cuts
):
    """Write the nodes of a binary tree depth first, the child of more rows first.

    They are written to nodes (2 N,) and cuts (2 N,), which are the same memory. The first word of a
    node has the place of its left child in the high half; the right child follows it. The low half
    is twice the column, plus one if NaN goes right. The second word is the threshold. A leaf is its
    own left child. order (N,) gets the number of each node in the tree; waiting (N,) is scratch.
    """
    order[0] = waiting[0] = 0
    end, n_waiting = 1, 1
    while n_waiting:
        n_waiting -= 1
        i = waiting[n_waiting]
        node = order[i]
        if left[node] < 0:
            nodes[2 * i], cuts[2 * i + 1] = np.uint64(2 * i) << CHILD, np.inf
        else:
            low = 2 * np.int64(feature[node]) + (missing_left[node] == 0)
            nodes[2 * i] = np.uint64(2 * end) << CHILD | np.uint64(low)
            cuts[2 * i + 1] = threshold[node]
            order[end], order[end + 1] = left[node], right[node]
            right_is_larger = n_samples[right[node]] > n_samples[left[node]]
            waiting[n_waiting + right_is_larger] = end + 1
            waiting[n_waiting + 1 - right_is_larger] = end
            end, n_waiting = end + 2, n_waiting + 2


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

    Dense X is (n, d), without NaN, if shift is 1, and (n, 2 d) if it is 0: then each column stands
    there with -inf in place of NaN, and next to it as it is. For CSR rows X, shift is a table of
    zeros (m, d), to which m rows at a time are written. Scratch has the shape (2, ROWS_AT_ONCE).
    """
    if isinstance(X, tuple):
        m = shift.shape[0]
        for first in range(0, leaves.shape[0], m):
            own = leaves[first : first + m]
            write_rows(X, first, own.shape[0], False, shift)
            descend(shift, ONE, 0, own.shape[0], nodes, cuts, scratch)
            write_rows(X, first, own.shape[0], True, shift)
            for i in range(own.shape[0]):
                own[i] = order[scratch[0, i] >> ONE]
    else:
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
    if isinstance(X, tuple):
        m = shift.shape[0]
        for first in range(0, out.shape[0], m):
            own = out[first : first + m]
            write_rows(X, first, own.shape[0], False, shift)
            add_dense(shift, ONE, nodes, cuts, starts, value, scratch, own)
            write_rows(X, first, own.shape[0], True, shift)
    else:
        add_dense(X, shift, nodes, cuts, starts, value, scratch, out)


@compiled
def add_dense(X, shift, nodes, cuts, starts, value, scratch, out):
    """The same for dense rows, as many as out has."""
    for t in range(starts.shape[0] - 1):
        begin, end = starts[t], starts[t + 1]
        own, own_cuts = nodes[2 * begin : 2 * end], cuts[2 * begin : 2 * end]
        of_leaf = value[begin:end]
        for first in range(0, out.shape[0], ROWS_AT_ONCE):
            n_rows = min(ROWS_AT_ONCE, out.shape[0] - first)
            for i in range(first + n_rows, min(first + 2 * ROWS_AT_ONCE, out.shape[0])):
                prefetch_elements(X, i * X.shape[1], X.shape[1])
            descend(X, shift, first, n_rows, own, own_cuts, scratch)
            for i in range(n_rows):
                leaf = scratch[0, i] >> ONE
                for s in range(out.shape[1]):
                    out[first + i, s] += of_leaf[leaf, s]


@compiled
def write_rows(X, first, n_rows, clear, table):
    """Write the numbers of CSR rows from `first` on to table (m, d), or zeros in their places."""
    data, indices, indptr = X
    for i in range(n_rows):
        for p in range(indptr[first + i], indptr[first + i + 1]):
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
