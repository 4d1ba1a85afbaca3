# mypy: ignore-errors
"""A classification tree on categories alone: each node is a table of counts by column and class.

A cell of a row is its category in a column times the number of classes, plus the class of the row.
Cells are small, the cells of a row lie together, and rows are moved when a node is split: so the
rows of a node are read once, from the first to the last, for the counts of all columns.
"""

import math
from typing import Any, NamedTuple

from rosenblatt.loops import compiled

from .growth_loops import TIE, class_impurity
from .scan_loops import GINI

START, STOP, DEPTH, BRANCH, FIRST_COUNT = range(5)  # of a node that waits, with its class counts


class Limits(NamedTuple):
    """What a tree may do."""

    kind: int  # the criterion: GINI, or else entropy
    n_classes: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_decrease: float


class Cells(NamedTuple):
    """The rows of a fit, in an order that changes."""

    cells: Any  # (n, 8 or 4 words)
    words: Any  # (n, words) the same memory, to move
    moved: Any  # (n, words) scratch
    n_categories: Any  # (d,) NaN, where there is one, is the last
    first: Any  # (d + 1,) where the counts of a column begin
    category: Any  # the category of a cell
    x_log_x: Any  # (n + 1,) of whole numbers, for entropy


class Work(NamedTuple):
    """Scratch space."""

    counts: Any  # (first[d],) how often a node has each cell of each column
    scores: Any  # (categories of all columns,)
    place: Any  # (C,) where the next row of each category goes
    stack: Any  # (waiting nodes, 4 + K)


class Nodes(NamedTuple):
    """The nodes so far, in preorder, and their branches."""

    feature: Any  # -2 for a leaf
    rows: Any
    depth: Any
    first_branch: Any  # -1 for a leaf
    n_branches: Any
    impurity: Any
    value: Any  # (2 n, K) class shares
    branch_code: Any
    branch_child: Any


@compiled
def write_cells(X, classes, n_categories, K, cells, has_missing):
    """Write the cells (n, d) of places of categories X (n, d), NaN after all others.

    Marks the columns that have NaN in has_missing (d,).
    """
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            value = X[i, j]
            if value == value:
                cells[i, j] = int(value) * K + classes[i]
            else:
                cells[i, j] = n_categories[j] * K + classes[i]
                has_missing[j] = 1


@compiled
def count_cells(cells, start, stop, first, counts):
    """Write how often each cell of each column occurs in the rows start to stop."""
    d = first.shape[0] - 1
    for i in range(counts.shape[0]):
        counts[i] = 0
    for i in range(start, stop):
        for j in range(d):
            counts[first[j] + cells[i, j]] += 1


@compiled(inline=True)
def score_branch(kind, counts, first, K, x_log_x):
    """The score of a branch whose class counts begin at `first`; 0 if it has no rows."""
    rows, squares, logs = 0, 0.0, 0.0
    for k in range(first, first + K):
        count = counts[k]
        rows += count
        if kind == GINI:
            squares += float(count) * float(count)
        else:
            logs += x_log_x[count]
    return squares / max(rows, 1) if kind == GINI else logs - x_log_x[rows]


@compiled
def score_branches(limits, counts, x_log_x, scores):
    """Write the scores of the categories of all columns."""
    K = limits.n_classes
    if K == 2 and limits.kind == GINI:  # without a branch: several at once
        for c in range(scores.shape[0]):
            a, b = counts[2 * c], counts[2 * c + 1]
            rows, one, other = a + b, float(a), float(b)
            scores[c] = (one * one + other * other) / float(rows + (rows == 0))
    else:
        for c in range(scores.shape[0]):
            scores[c] = score_branch(limits.kind, counts, c * K, K, x_log_x)


@compiled
def branches_of(limits, counts, first, stop):
    """How many branches a column has whose counts are first to stop; 0 if one is too small."""
    branches = 0
    for cell in range(first, stop, limits.n_classes):
        rows = 0
        for k in range(cell, cell + limits.n_classes):
            rows += counts[k]
        if 0 < rows < limits.min_leaf:
            return 0
        branches += rows > 0
    return branches


@compiled(inline=True)
def best_column(table, limits, counts, scores):
    """The column that splits a node best, the first if equal; its score and its branches."""
    best, best_score, best_branches, K = -1, -math.inf, 0, limits.n_classes
    score_branches(limits, counts, table.x_log_x, scores)
    last = 0
    for j in range(table.first.shape[0] - 1):
        c, last, score = last, last + table.n_categories[j], 0.0
        for i in range(c, last):
            score += scores[i]
        if best < 0 or score > best_score + TIE * abs(best_score):
            branches = branches_of(limits, counts, c * K, last * K)
            if branches > 1:
                best, best_score, best_branches = j, score, branches
    return best, best_score, best_branches


@compiled(inline=True)
def gains_enough(table, limits, counts, first, rows, score):
    """Whether a split of this score lowers the impurity as much as it must."""
    own = score_branch(limits.kind, counts, first, limits.n_classes, table.x_log_x)
    gain = max(score - own, 0.0)
    if limits.kind != GINI:
        gain /= math.log(2.0)
    return gain + 1e-15 * rows >= limits.min_decrease


@compiled(inline=True)
def is_open(limits, counts, first, rows, depth):
    """Whether a node may be split: its class counts begin at `first`."""
    if rows < limits.min_split or depth >= limits.max_depth:
        return False
    largest = 0
    for k in range(first, first + limits.n_classes):
        largest = max(largest, counts[k])
    return largest < rows


@compiled(inline=True)
def move_rows(table, j, start, stop, place):
    """Put the rows start to stop in the order of their categories in column j."""
    cells, words, moved, category = table.cells, table.words, table.moved, table.category
    width = words.shape[1]
    for i in range(start, stop):
        c = category[cells[i, j]]
        to = place[c]
        place[c] += 1
        for w in range(width):
            moved[to, w] = words[i, w]
    for i in range(start, stop):
        for w in range(width):
            words[i, w] = moved[i, w]


@compiled(inline=True)
def split(table, limits, nodes, work, start, stop, depth, j, first_branch, branches, waiting):
    """Put the children of a node on the stack, the last below; return how many nodes wait."""
    K, counts, stack, place = limits.n_classes, work.counts, work.stack, work.place
    first, last, end, branch = table.first[j], table.first[j + 1], stop, first_branch + branches
    any_open = False
    for cell in range(last - K, first - 1, -K):
        rows = 0
        for k in range(K):
            rows += counts[cell + k]
        place[(cell - first) // K] = end - rows
        if rows == 0:
            continue
        branch -= 1
        nodes.branch_code[branch] = (cell - first) // K
        stack[waiting, START], stack[waiting, STOP] = end - rows, end
        stack[waiting, DEPTH], stack[waiting, BRANCH] = depth + 1, branch
        for k in range(K):
            stack[waiting, FIRST_COUNT + k] = counts[cell + k]
        any_open |= is_open(limits, counts, cell, rows, depth + 1)
        end -= rows
        waiting += 1
    if any_open:
        move_rows(table, j, start, stop, place)
    return waiting


@compiled(inline=True)
def write_node(limits, nodes, node, waits):
    """Write a node that waited: its rows, its impurity and its class shares."""
    rows = waits[STOP] - waits[START]
    nodes.rows[node], nodes.depth[node], nodes.feature[node] = rows, waits[DEPTH], -2
    nodes.first_branch[node], nodes.n_branches[node] = -1, 0
    value = nodes.value[node]
    for k in range(value.shape[0]):
        value[k] = waits[FIRST_COUNT + k]
    nodes.impurity[node] = class_impurity(limits.kind, value, float(rows))
    for k in range(value.shape[0]):
        value[k] /= rows
    if waits[BRANCH] >= 0:
        nodes.branch_child[waits[BRANCH]] = node


@compiled
def grow(table, limits, nodes, work, waiting, n_nodes, n_branches, budget):
    """Grow the nodes on the stack, depth first, until about `budget` cells were read.

    Returns how many nodes wait, how many there are, and how many branches they have.
    """
    d = table.first.shape[0] - 1
    while waiting and budget > 0:
        waiting -= 1
        waits = work.stack[waiting]
        node, n_nodes = n_nodes, n_nodes + 1
        write_node(limits, nodes, node, waits)
        start, stop, depth = waits[START], waits[STOP], waits[DEPTH]
        if not is_open(limits, waits, FIRST_COUNT, stop - start, depth):
            continue
        count_cells(table.cells, start, stop, table.first, work.counts)
        budget -= (stop - start) * d + work.counts.shape[0]
        j, score, branches = best_column(table, limits, work.counts, work.scores)
        if j < 0 or not gains_enough(table, limits, waits, FIRST_COUNT, stop - start, score):
            continue
        nodes.feature[node], nodes.first_branch[node] = j, n_branches
        nodes.n_branches[node] = branches
        waiting = split(
            table, limits, nodes, work, start, stop, depth, j, n_branches, branches, waiting
        )
        n_branches += branches
    return waiting, n_nodes, n_branches
