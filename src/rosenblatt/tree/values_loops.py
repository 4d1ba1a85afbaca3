# mypy: ignore-errors
"""Parents and values of grown nodes."""

from rosenblatt.loops import compiled


@compiled
def link_children(n_children, ends, parent):
    """Write the parent of each node (N,), -1 of the root; nodes are in preorder.

    ends (N,) is the node after all that are below a node.
    """
    parent[0] = -1
    for node in range(n_children.shape[0]):
        child = node + 1
        for _ in range(n_children[node]):
            parent[child] = node
            child = ends[child]


@compiled
def sum_leaf_classes(starts, stops, n_children, order, classes, weights, value):
    """Add the weights of the rows of each leaf to value (N, o, K), by class."""
    for node in range(starts.shape[0]):
        if n_children[node] <= 0:
            for i in range(starts[node], stops[node]):
                row = order[i]
                for o in range(classes.shape[1]):
                    value[node, o, classes[row, o]] += weights[row]


@compiled
def mean_numbers(leaf_of, parent, numbers, weights, first, total, mass, value):
    """Write the means of the rows of every node to value (N, o, 1).

    leaf_of (n,) is the leaf of each row, -1 for a row without one. Rows are added in their order,
    each to its leaf and all nodes above, as differences from the node's first target: so equal
    targets have that mean, and a node has the same mean whether it is split or not. Scratch:
    first (N,), total (N,), mass (N,).
    """
    for o in range(numbers.shape[1]):
        for node in range(parent.shape[0]):
            total[node] = mass[node] = 0.0
        for row in range(leaf_of.shape[0]):
            node, y, w = leaf_of[row], numbers[row, o], weights[row]
            while node >= 0:
                if mass[node] == 0.0:
                    first[node] = y
                mass[node] += w
                total[node] += w * (y - first[node])
                node = parent[node]
        for node in range(parent.shape[0]):
            value[node, o, 0] = first[node] + total[node] / mass[node]


@compiled
def add_up(parent, sums):
    """Add the sums (N, o, K) of every node to those of its parent, from the last node on."""
    for node in range(parent.shape[0] - 1, 0, -1):
        for o in range(sums.shape[1]):
            for k in range(sums.shape[2]):
                sums[parent[node], o, k] += sums[node, o, k]
