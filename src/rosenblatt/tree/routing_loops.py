# mypy: ignore-errors
"""Rows sent down a tree."""

import numpy as np

from rosenblatt.loops import compiled


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


NAN_RIGHT = 0xFFFF
CHILD, COLUMN, SIXTEEN = np.uint64(32), np.uint64(16), np.uint64(0xFFFF)


@compiled
def rank_columns(columns, thresholds, starts, places, ranks):
    """Write how many of its column's thresholds are below each value to ranks (n, 2 d).

    columns (d, n) are the values; thresholds, sorted, of column j begin at starts[j]. A value is
    at most the threshold of rank r if its own rank is at most r. NaN has the largest rank in the
    first d columns of ranks and the least in the others, for nodes that send it left. All rows
    take each step of the bisection together, so that none waits. Scratch: places (n,).
    """
    d, n = columns.shape
    for j in range(d):
        first, size, column = starts[j], starts[j + 1] - starts[j], columns[j]
        for i in range(n):
            places[i] = first
        while size > 1:
            half = size >> 1
            for i in range(n):
                places[i] += half & -np.int64(thresholds[places[i] + half - 1] < column[i])
            size -= half
        for i in range(n):
            rank = places[i] - first
            if size:
                rank += np.int64(thresholds[places[i]] < column[i])
            ranks[i, d + j] = rank
            ranks[i, j] = rank if column[i] == column[i] else NAN_RIGHT


@compiled(inline=True)
def next_node(ranks, row, nodes, node):
    """Where a row goes from a node: a leaf leads to itself."""
    packed = nodes[node]
    rank = ranks[row + ((packed >> COLUMN) & SIXTEEN)]
    return (packed >> CHILD) + np.uint64(rank > (packed & SIXTEEN))


@compiled
def add_leaf_values(ranks, nodes, roots, leaf, value, out):
    """Add the values of the leaves of each row, over all trees, to out (n, S).

    ranks (2 n d,) are those of `rank_columns`. A node is its left child, the column of ranks that
    it asks for and the rank of its threshold, in one number; the right child is the next. Tree t
    starts at roots[t]; leaf (N,) is the place of a leaf in value. Six rows go down at once,
    because each step of a row waits for the one before; more would not fit into registers.
    """
    n = out.shape[0]
    width = np.uint64(ranks.shape[0] // max(n, 1))
    for t in range(roots.shape[0]):
        root, i = np.uint64(roots[t]), 0
        while i + 6 <= n:
            r0 = np.uint64(i) * width
            r1, r2 = r0 + width, r0 + np.uint64(2) * width
            r3, r4, r5 = r1 + r2 - r0, r2 + r2 - r0, r2 + r2 + width - r0
            a, b, c, d, e, f = root, root, root, root, root, root
            moved = True
            while moved:
                u, v = next_node(ranks, r0, nodes, a), next_node(ranks, r1, nodes, b)
                w, x = next_node(ranks, r2, nodes, c), next_node(ranks, r3, nodes, d)
                y, z = next_node(ranks, r4, nodes, e), next_node(ranks, r5, nodes, f)
                moved = ((u ^ a) | (v ^ b) | (w ^ c) | (x ^ d) | (y ^ e) | (z ^ f)) != 0
                a, b = next_node(ranks, r0, nodes, u), next_node(ranks, r1, nodes, v)
                c, d = next_node(ranks, r2, nodes, w), next_node(ranks, r3, nodes, x)
                e, f = next_node(ranks, r4, nodes, y), next_node(ranks, r5, nodes, z)
            for s in range(out.shape[1]):
                out[i, s] += value[leaf[a], s]
                out[i + 1, s] += value[leaf[b], s]
                out[i + 2, s] += value[leaf[c], s]
                out[i + 3, s] += value[leaf[d], s]
                out[i + 4, s] += value[leaf[e], s]
                out[i + 5, s] += value[leaf[f], s]
            i += 6
        while i < n:
            node, row = root, np.uint64(i) * width
            while nodes[node] >> CHILD != node:
                node = next_node(ranks, row, nodes, node)
            for s in range(out.shape[1]):
                out[i, s] += value[leaf[node], s]
            i += 1
