"""Pruning: cost complexity as a path, chi-square tests, and rows held out."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.information.independence import independence_test

from .structure import Tree

Floats = NDArray[np.float64]


def cost_complexity_path(tree: Tree) -> tuple[Floats, Floats, Floats]:
    """Weakest-link pruning of a whole tree (Breiman and others, 1984).

    The weakest link is the node t with the least ``(R(t) - R(T_t)) / (leaves(T_t) - 1)``, R(t)
    being its impurity times its share of the weight and T_t the tree below it. Cutting one after
    the other gives every tree that is best for some price alpha of a leaf.

    Returns the prices (m,), the impurities (m,) of the trees from there on, and for each node the
    price at which it becomes a leaf (nodes,), inf for leaves.
    """
    n_nodes, parents = tree.node_count, tree.parents
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    own = tree.impurity * share
    leaf = tree.is_leaf
    below, leaves = np.where(leaf, own, 0.0), leaf.astype(np.int64)
    sizes = np.ones(n_nodes, np.int64)  # nodes of the tree below a node, itself included
    for node in range(n_nodes - 1, 0, -1):  # children have larger numbers
        below[parents[node]] += below[node]
        leaves[parents[node]] += leaves[node]
        sizes[parents[node]] += sizes[node]
    price_of = np.full(n_nodes, np.inf)

    def strength(node: int) -> float:
        return float((own[node] - below[node]) / (leaves[node] - 1))

    heap = [(strength(node), node) for node in np.flatnonzero(~leaf).tolist()]
    heapq.heapify(heap)
    gone = np.zeros(n_nodes, bool)
    prices, impurities = [0.0], [float(below[0])]
    alpha = 0.0
    while heap:
        found, node = heapq.heappop(heap)
        if gone[node] or leaves[node] == 1 or found != strength(node):
            continue
        alpha = max(alpha, found)
        inside = slice(node, node + sizes[node])
        gone[inside], price_of[inside] = True, np.minimum(price_of[inside], alpha)
        lost, fewer = own[node] - below[node], leaves[node] - 1
        while node >= 0:
            below[node] += lost
            leaves[node] -= fewer
            if leaves[node] > 1:
                heapq.heappush(heap, (strength(node), node))
            node = int(parents[node])
        if alpha == prices[-1]:
            impurities[-1] = float(below[0])
        else:
            prices.append(alpha)
            impurities.append(float(below[0]))
    return np.array(prices), np.array(impurities), price_of


def cut_by_price(tree: Tree, alpha: float) -> Tree:
    """Return the smallest tree that is best if a leaf costs alpha."""
    return tree.cut(cost_complexity_path(tree)[2] <= alpha)


def cut_by_chance(tree: Tree, max_p_chance: float) -> Tree:
    """Cut splits, from the bottom up, whose branches could differ by chance alone.

    The chi-square test compares the classes of the branches; a split stays if everything below
    it cannot go. So XOR, whose root alone tells nothing, is kept.
    """
    cut, p = np.zeros(tree.node_count, bool), np.ones(tree.node_count)
    counts = tree.value * tree.weighted_n_node_samples[:, np.newaxis, np.newaxis]
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        children = [child for _, child in tree.branches(node)]
        if all(tree.is_leaf[child] or cut[child] for child in children):
            p[node] = min(
                independence_test(counts[children, o]).p_value for o in range(tree.n_outputs)
            )
            cut[node] = p[node] > max_p_chance
    return tree.cut(cut)


def losses_by_node(tree: Tree, X: Any, loss: Any) -> Floats:
    """What the rows that pass through a node would lose if it were their leaf (nodes,)."""
    totals, parents = np.zeros(tree.node_count), tree.parents
    nodes, rows = tree.apply(X), np.arange(X.shape[0])
    while len(rows):
        np.add.at(totals, nodes, loss(tree.value[nodes], rows))
        nodes = parents[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
    return totals


def cut_by_held_out(tree: Tree, X: Any, loss: Any) -> Tree:
    """Cut, from the bottom up, every node that does no worse as a leaf on rows held out."""
    own, parents = losses_by_node(tree, X, loss), tree.parents
    leaf, cut = tree.is_leaf, np.zeros(tree.node_count, bool)
    below, stays = np.zeros((2, tree.node_count))
    nodes = tree.apply(X)
    rows = np.flatnonzero(~leaf[nodes])  # that end at an inner node, for want of a branch
    np.add.at(stays, nodes[rows], loss(tree.value[nodes[rows]], rows))
    for node in range(tree.node_count - 1, -1, -1):
        best = own[node] if leaf[node] else below[node] + stays[node]
        if not leaf[node] and own[node] <= best:
            cut[node], best = True, own[node]
        if node:
            below[parents[node]] += best
    return tree.cut(cut)


def stop_by_held_out(tree: Tree, X: Any, loss: Any) -> Tree:
    """The tree grown level by level until one more level does worse on rows held out."""
    depths = tree.depth
    path = tree.decision_path(X)
    best, rows = np.inf, np.arange(X.shape[0])
    for depth in range(int(depths.max()) + 1):
        # The node at this depth of each row's path, or the one where the path ends before.
        place = np.minimum(path.indptr[:-1] + depth, path.indptr[1:] - 1)
        total = float(loss(tree.value[path.indices[place]], rows).sum())
        if total > best:
            return tree.cut(depths >= depth - 1)
        best = total
    return tree
