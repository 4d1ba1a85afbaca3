# mypy: ignore-errors
"""A classification tree on categories alone: each node is a table of counts by column and class.

A cell of a row is its category in a column times the number of classes, plus the class of the row.
Cells are small, the cells of a row lie together, and rows are moved when a node is split: so the
rows of a node are read once, from the first to the last, for the counts of all columns.
"""

import math
from typing import Any, NamedTuple

from rosenblatt.loops import compiled

from .tree_loops import GINI, TIE, class_impurity

# Of a node that waits, before its class counts.
START, STOP, DEPTH, PARENT, CODE, FIRST_COUNT = range(6)


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
    stack: Any  # (waiting nodes, 5 + K)


class Nodes(NamedTuple):
    """The nodes so far, in preorder."""

    feature: Any
    rows: Any
    depth: Any
    parent: Any
    code: Any  # the category of the parent's column that leads here
    impurity: Any
    value: Any  # (2 n, K) class shares


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
def score_branches(settings, counts, x_log_x, scores):
    """Write the scores of the categories of all columns."""
    K = settings.n_classes
    if K == 2 and settings.kind == GINI:  # without a branch: several at once
        for c in range(scores.shape[0]):
            a, b = counts[2 * c], counts[2 * c + 1]
            rows, one, other = a + b, float(a), float(b)
            scores[c] = (one * one + other * other) / float(rows + (rows == 0))
    else:
        for c in range(scores.shape[0]):
            scores[c] = score_branch(settings.kind, counts, c * K, K, x_log_x)


@compiled
def branches_of(settings, counts, first, stop):
    """How many branches a column has whose counts are first to stop; 0 if one is too small."""
    branches = 0
    for cell in range(first, stop, settings.n_classes):
        rows = 0
        for k in range(cell, cell + settings.n_classes):
            rows += counts[k]
        if 0 < rows < settings.min_leaf:
            return 0
        branches += rows > 0
    return branches


@compiled(inline=True)
def best_column(table, settings, counts, scores):
    """The column that splits a node best, the first if equal, and its score."""
    best, best_score, K = -1, -math.inf, settings.n_classes
    score_branches(settings, counts, table.x_log_x, scores)
    last = 0
    for j in range(table.first.shape[0] - 1):
        c, last, score = last, last + table.n_categories[j], 0.0
        for i in range(c, last):
            score += scores[i]
        better = best < 0 or score > best_score + TIE * abs(best_score)
        if better and branches_of(settings, counts, c * K, last * K) > 1:
            best, best_score = j, score
    return best, best_score


@compiled(inline=True)
def gains_enough(table, settings, counts, first, rows, score):
    """Whether a split of this score lowers the impurity as much as it must."""
    own = score_branch(settings.kind, counts, first, settings.n_classes, table.x_log_x)
    gain = max(score - own, 0.0)
    if settings.kind != GINI:
        gain /= math.log(2.0)
    return gain + 1e-15 * rows >= settings.min_decrease * table.cells.shape[0]


@compiled(inline=True)
def is_open(settings, counts, first, rows, depth):
    """Whether a node may be split: its class counts begin at `first`."""
    if rows < settings.min_split or depth >= settings.max_depth:
        return False
    largest = 0
    for k in range(first, first + settings.n_classes):
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
def split(table, settings, work, start, stop, depth, j, node, waiting):
    """Put the children of a node on the stack, the last below; return how many nodes wait."""
    K, counts, stack, place = settings.n_classes, work.counts, work.stack, work.place
    first, last, end, any_open = table.first[j], table.first[j + 1], stop, False
    for cell in range(last - K, first - 1, -K):
        rows = 0
        for k in range(K):
            rows += counts[cell + k]
        place[(cell - first) // K] = end - rows
        if rows == 0:
            continue
        stack[waiting, START], stack[waiting, STOP] = end - rows, end
        stack[waiting, DEPTH], stack[waiting, PARENT] = depth + 1, node
        stack[waiting, CODE] = (cell - first) // K
        for k in range(K):
            stack[waiting, FIRST_COUNT + k] = counts[cell + k]
        any_open |= is_open(settings, counts, cell, rows, depth + 1)
        end -= rows
        waiting += 1
    if any_open:
        move_rows(table, j, start, stop, place)
    return waiting


@compiled(inline=True)
def write_node(settings, nodes, node, waits):
    """Write a node that waited: its rows, its impurity and its class shares."""
    rows = waits[STOP] - waits[START]
    nodes.rows[node], nodes.depth[node], nodes.feature[node] = rows, waits[DEPTH], 0
    nodes.parent[node], nodes.code[node] = waits[PARENT], waits[CODE]
    value = nodes.value[node]
    for k in range(value.shape[0]):
        value[k] = waits[FIRST_COUNT + k]
    nodes.impurity[node] = class_impurity(settings.kind, value, float(rows))
    for k in range(value.shape[0]):
        value[k] /= rows


@compiled
def grow(table, settings, nodes, work, waiting, n_nodes, budget):
    """Grow the nodes on the stack, depth first, until about `budget` cells were read.

    Returns how many nodes wait and how many there are.
    """
    d = table.first.shape[0] - 1
    while waiting and budget > 0:
        waiting -= 1
        waits = work.stack[waiting]
        node, n_nodes = n_nodes, n_nodes + 1
        write_node(settings, nodes, node, waits)
        start, stop, depth = waits[START], waits[STOP], waits[DEPTH]
        if not is_open(settings, waits, FIRST_COUNT, stop - start, depth):
            continue
        count_cells(table.cells, start, stop, table.first, work.counts)
        budget -= (stop - start) * d + work.counts.shape[0]
        j, score = best_column(table, settings, work.counts, work.scores)
        if j < 0 or not gains_enough(table, settings, waits, FIRST_COUNT, stop - start, score):
            continue
        nodes.feature[node] = j
        waiting = split(table, settings, work, start, stop, depth, j, node, waiting)
    return waiting, n_nodes
