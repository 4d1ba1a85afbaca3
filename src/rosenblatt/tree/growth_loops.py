# mypy: ignore-errors
"""Growing a decision tree: describe a node, find its best split, partition its rows.

A node of rows start to stop owns the numbers 2 start to 2 stop - 2 in preorder: its first child is
the next number, and a child of m rows leaves room for the 2 m - 1 nodes that it can need. So nodes
can be grown in any order, by several threads, and have the same numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.random import random_bits

from .scan_loops import (
    Segment,
    add_target,
    clear_targets,
    deviation_from_median,
    median,
    scan_absolute,
    scan_classes,
    scan_counts,
    scan_number,
    scan_numbers,
    scan_two_classes,
)
from .tree_loops import (
    ABSOLUTE,
    ENTROPY,
    GINI,
    HALF,
    LOW_HALF,
    MISSING,
    OWN_BRANCH,
    POISSON,
    TO_THE_HEAVIER,
    class_impurity,
    is_better,
    mean_score,
    x_log_x,
)

# What is known of a node: whole numbers, and others.
START, STOP, DEPTH, PARENT, CHILDREN, BRANCH_CODE, FEATURE, LOW_ROW, HIGH_ROW = range(9)
MISSING_LEFT, DRAWS = 9, 10
WEIGHT, IMPURITY, THRESHOLD, LOWER, UPPER, VALUE = range(6)
NO_SHIFT = np.uint64(0)
SIX, SIXTY_THREE, ONE = np.uint64(6), np.uint64(63), np.uint64(1)


class Rows(NamedTuple):
    """The data of a fit."""

    entries: Any  # (numeric columns, n) keys
    codes: Any  # (categorical columns, n) categories
    n_categories: Any  # (d,) 0 for a numeric column
    place: Any  # (d,) where a column stands in entries or codes
    classes: Any  # (n, o) class of each row, or rank of its target
    numbers: Any  # (n, o) targets
    levels: Any  # (o, m) distinct targets, for absolute error
    weights: Any  # (n,)
    signs: Any  # (d,) monotonic constraints
    values: Any  # (d, n) the columns themselves, for random thresholds
    table: Any  # x ln x of whole numbers up to n


class Nodes(NamedTuple):
    """What is known of the nodes so far."""

    used: Any  # (2 n,) whether there is such a node
    ints: Any  # (2 n, 11)
    floats: Any  # (2 n, 6)


class Work(NamedTuple):
    """Scratch space; what is shared by threads is cut by the rows of a node."""

    order: Any  # (n,) rows, node after node: shared
    side: Any  # (n,) the child of each row: shared
    buffer: Any  # (n,) keys: shared
    deviation: Any  # (1, n), with monotone medians (3, n): shared
    stack: Any  # (n,) nodes to grow: shared
    bits: Any  # (n / 64 + 1,) the child of each row if there are two: small enough for the cache
    totals: Any  # (4, o, K): sums of a node, of a left part, of missing values, of known ones
    columns: Any  # (d,) an order of the columns
    counts: Any  # (C + 1, o, K) sums of each category
    weight_of: Any  # (C + 1,) their weights
    rows_of: Any  # (C + 1,) their rows, and then the child that each goes to
    weight_tree: Any  # (m + 1,)
    sum_tree: Any  # (m + 1,)


@compiled
def clear(sums):
    """Set sums (o, K) to zero."""
    for o in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            sums[o, k] = 0.0


@compiled
def sum_rows(rows, settings, keys, shift, start, stop, sums):
    """Write the sums (o, K) of the rows of keys[start:stop]; return their weight.

    Keys are entries of a column, or rows with shift 0. Sums are the weights of classes, or of
    weight times target.
    """
    clear(sums)
    classes, numbers, weights, weighted = (
        rows.classes,
        rows.numbers,
        rows.weights,
        settings.weighted,
    )
    if settings.kind <= ENTROPY and sums.shape[0] == 1 and sums.shape[1] == 2 and not weighted:
        second = 0
        for i in range(start, stop):
            second += classes[(np.uint64(keys[i]) & LOW_HALF) >> shift, 0]
        sums[0, 0], sums[0, 1] = stop - start - second, second
        return np.float64(stop - start)
    W = 0.0
    for i in range(start, stop):
        row = (np.uint64(keys[i]) & LOW_HALF) >> shift
        w = weights[row] if weighted else 1.0
        W += w
        if settings.kind <= ENTROPY:
            for o in range(classes.shape[1]):
                sums[o, classes[row, o]] += w
        else:
            for o in range(classes.shape[1]):
                sums[o, 0] += w * numbers[row, o]
    return W


@compiled
def score_of(settings, sums, W, table):
    """The score of a branch of weight W with sums (o, K); not for absolute error."""
    score = 0.0
    for o in range(sums.shape[0]):
        if settings.kind == GINI:
            for k in range(sums.shape[1]):
                score += sums[o, k] * sums[o, k] / W
        elif settings.kind == ENTROPY:
            for k in range(sums.shape[1]):
                score += x_log_x(sums[o, k], settings.weighted, table)
            score -= x_log_x(W, settings.weighted, table)
        else:
            score += mean_score(settings.kind, sums[o, 0], W)
    return score


@compiled
def all_equal(rows, settings, order, start, stop, sums, W):
    """Whether all rows order[start:stop] have the same targets."""
    for o in range(sums.shape[0]):
        if settings.kind <= ENTROPY:
            if sums[o, rows.classes[order[start], o]] < W:
                return False
        else:
            first = rows.numbers[order[start], o]
            for i in range(start + 1, stop):
                if rows.numbers[order[i], o] != first:
                    return False
    return True


@compiled
def describe(rows, settings, nodes, work, node):
    """Weight and impurity of a node; returns whether its targets are all equal."""
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    sums, order = work.totals[0], work.order
    W = sum_rows(rows, settings, order, NO_SHIFT, start, stop, sums)
    equal = all_equal(rows, settings, order, start, stop, sums, W)
    nodes.floats[node, WEIGHT] = W
    nodes.floats[node, IMPURITY] = 0.0
    if not equal:
        total = 0.0
        for o in range(sums.shape[0]):
            if settings.kind <= ENTROPY:
                total += class_impurity(settings.kind, sums[o], W)
            elif settings.kind == ABSOLUTE:
                total += absolute_impurity(rows, settings, work, start, stop, o) / W
            else:
                total += number_impurity(rows, settings, order, start, stop, o, sums[o, 0] / W) / W
        nodes.floats[node, IMPURITY] = total / sums.shape[0]
    return equal


@compiled
def number_impurity(rows, settings, order, start, stop, o, mean):
    """The sum of squares about the mean, or of Poisson deviances (halved)."""
    total, numbers, weights = 0.0, rows.numbers, rows.weights
    for i in range(start, stop):
        y = numbers[order[i], o]
        w = weights[order[i]] if settings.weighted else 1.0
        if settings.kind == POISSON:
            total += w * y * math.log(y / mean) if y > 0 else 0.0
        else:
            total += w * (y - mean) ** 2
    return total


@compiled
def add_rows(rows, settings, work, start, stop, o):
    """Add the targets of some rows to the Fenwick trees."""
    for i in range(start, stop):
        row = work.order[i]
        w = rows.weights[row] if settings.weighted else 1.0
        add_target(w, rows.numbers[row, o], rows.classes[row, o], work.weight_tree, work.sum_tree)


@compiled
def absolute_impurity(rows, settings, work, start, stop, o):
    """The sum of deviations from the median."""
    add_rows(rows, settings, work, start, stop, o)
    total = deviation_from_median(rows.levels[o], work.weight_tree, work.sum_tree)
    clear_targets(work.weight_tree, work.sum_tree)
    return total


@compiled
def sum_node(rows, settings, nodes, work, node):
    """Write the sums of a node to work.totals[0]."""
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    sum_rows(rows, settings, work.order, NO_SHIFT, start, stop, work.totals[0])


@compiled
def best_split(rows, settings, nodes, work, node, first, last, found):
    """The best split of a node on the columns from first to last, after `sum_node`.

    Writes to found (8,): score, column, position, whether NaN goes left, random threshold,
    branches. The column is -1 if there is none.
    """
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    for i in range(found.shape[0]):
        found[i] = 0.0
    found[0], found[1] = -np.inf, -1
    own, state = random_bits(np.uint64(nodes.ints[node, DRAWS]))
    d = rows.place.shape[0]
    draws = settings.max_features < d
    counted = settings.shift and settings.kind <= ENTROPY and not settings.weighted
    counted &= not settings.monotone and not settings.random
    useful = 0
    for c in range(first, last):
        j = c
        if draws:
            if c == first:
                for i in range(d):
                    work.columns[i] = i
            bits, state = random_bits(state)
            other = c + np.int64(bits % np.uint64(d - c))
            work.columns[c], work.columns[other] = work.columns[other], work.columns[c]
            j = work.columns[c]
            if c - first >= settings.max_features and useful:
                break
        # By node and column alone: the columns of a large node are searched one by one.
        bits, _ = random_bits(own ^ np.uint64(j))
        share = np.float64(bits >> np.uint64(11)) * 2.0**-53
        if rows.n_categories[j]:
            useful += split_on_categories(rows, settings, nodes, work, node, j, found)
        elif counted and rows.entries[rows.place[j], stop - 1] >> HALF != MISSING:
            E, W1 = rows.entries[rows.place[j]], work.totals[0, 0, 1]
            W, ends = nodes.floats[node, WEIGHT], work.deviation[0]
            useful += split_on_counts(E, settings, start, stop, W, W1, rows.table, ends, j, found)
        else:
            useful += split_on_threshold(rows, settings, nodes, work, node, j, share, found)


@compiled(inline=True)
def take(found, score, j, place, left, threshold, branches):
    """Keep a split as the best."""
    found[0], found[1], found[2] = score, j, place
    found[3], found[4], found[5] = left, threshold, branches


@compiled
def split_on_counts(E, settings, start, stop, W, W1, table, ends, j, found):
    """The same as `split_on_threshold` for the commonest case, handed only what it needs.

    Two classes, rows that count once, known values: a call with all tuples takes longer than the
    scan of a small node.
    """
    if E[start] >> HALF == E[stop - 1] >> HALF:
        return 0
    at = Segment(start, stop, stop, False, -1, 0, -np.inf, np.inf, 0.0)
    score, place = scan_counts(E, settings, at, table, W, W1, 0.0, 0.0, found[0], ends)
    if place >= 0 and is_better(score, found):
        take(found, score, j, place, 0, np.nan, 2)
    return 1


@compiled
def split_on_threshold(rows, settings, nodes, work, node, j, share, found):
    """Improve on `found` by a threshold on column j; return whether its values differ."""
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    E, known = rows.entries[rows.place[j]], stop
    while known > start and E[known - 1] >> HALF == MISSING:
        known -= 1
    if known == start or (known == stop and E[start] >> HALF == E[stop - 1] >> HALF):
        return 0
    totals, missing, own = work.totals[0], work.totals[2], 0.0
    clear(missing)
    M = 0.0
    if known < stop:
        M = sum_rows(rows, settings, E, np.uint64(settings.shift), known, stop, missing)
    W = nodes.floats[node, WEIGHT]
    if settings.missing == OWN_BRANCH and known < stop:
        if stop - known < settings.min_leaf or settings.min_weight > M:
            return 1
        own = score_of(settings, missing, M, rows.table)
        for o in range(totals.shape[0]):
            for k in range(totals.shape[1]):
                work.totals[3, o, k] = totals[o, k] - missing[o, k]
        totals, W = work.totals[3], W - M
        if known - start >= settings.min_leaf and settings.min_weight <= W:
            score = own + score_of(settings, totals, W, rows.table)
            if is_better(score, found):  # known or not is all that is asked
                take(found, score, j, known - 1, 0, np.inf, 2)
    only, threshold = -1, np.nan
    if settings.random:
        only, threshold = random_position(rows, settings, E, j, start, known, share)
    for left in range(2):
        if left and (known == stop or settings.missing == OWN_BRANCH):
            break
        at = Segment(
            start, known, stop, left == 1, only, rows.signs[j],
            nodes.floats[node, LOWER], nodes.floats[node, UPPER], M,
        )  # fmt: skip
        score, place = scan(E, rows, settings, at, W, totals, missing, M, work)
        if place >= 0 and is_better(score + own, found):
            branches = 3 if settings.missing == OWN_BRANCH and known < stop else 2
            at_end = place == known - 1
            take(found, score + own, j, place, left, np.inf if at_end else threshold, branches)
    return 1


@compiled
def scan(E, rows, settings, at, W, totals, missing, M, work):
    """Scan a column by the criterion, NaN on the left or not."""
    left = work.totals[1]
    L = 0.0
    clear(left)
    if at.missing_left:
        L = M
        for o in range(left.shape[0]):
            for k in range(left.shape[1]):
                left[o, k] = missing[o, k]
    if settings.kind == ABSOLUTE:
        return scan_absolute(E, rows, settings, at, work)
    if settings.kind <= ENTROPY:
        if totals.shape[0] == 1 and totals.shape[1] == 2:
            return scan_two_classes(E, rows, settings, at, totals, left, work.deviation[0])
        return scan_classes(E, rows, settings, at, totals, left)
    if totals.shape[0] == 1:
        return scan_number(E, rows, settings, at, W, totals[0, 0], L, left[0, 0])
    return scan_numbers(E, rows, settings, at, W, totals, L, left)


@compiled
def random_position(rows, settings, E, j, start, known, share):
    """A threshold drawn between the least and the largest value, and the last row below it."""
    shift = np.uint64(settings.shift)
    values = rows.values[j]
    low = values[(E[start] & LOW_HALF) >> shift]
    high = values[(E[known - 1] & LOW_HALF) >> shift]
    threshold = low + share * (high - low)
    if not (low <= threshold < high):
        threshold = low
    a, b = start, known - 1  # the last place whose value is not above it
    while a < b:
        middle = (a + b + 1) // 2
        if values[(E[middle] & LOW_HALF) >> shift] <= threshold:
            a = middle
        else:
            b = middle - 1
    return a, threshold


@compiled
def split_on_categories(rows, settings, nodes, work, node, j, found):
    """Improve on `found` by a branch for each category of column j; return whether they differ."""
    codes, C = rows.codes[rows.place[j]], rows.n_categories[j]
    classes, numbers, weights = rows.classes, rows.numbers, rows.weights
    counts, weight_of, rows_of = work.counts, work.weight_of, work.rows_of
    for c in range(C):
        clear(counts[c])
        weight_of[c] = 0.0
        rows_of[c] = 0
    for i in range(nodes.ints[node, START], nodes.ints[node, STOP]):
        row = work.order[i]
        c = codes[row]
        w = weights[row] if settings.weighted else 1.0
        weight_of[c] += w
        rows_of[c] += 1
        for o in range(classes.shape[1]):
            if settings.kind <= ENTROPY:
                counts[c, o, classes[row, o]] += w
            else:
                counts[c, o, 0] += w * numbers[row, o]
    score, branches, allowed = 0.0, 0, True
    for c in range(C):
        if work.rows_of[c]:
            branches += 1
            score += score_of(settings, work.counts[c], work.weight_of[c], rows.table)
            allowed &= work.rows_of[c] >= settings.min_leaf
            allowed &= work.weight_of[c] >= settings.min_weight
    if branches > 1 and allowed and is_better(score, found):
        take(found, score, j, -1, 0, np.nan, branches)
    return int(branches > 1)


@compiled
def make_children(rows, settings, nodes, work, node, found):
    """Split a node as `found`: sides of its rows, order of its rows, its children.

    Returns how many children may be split further.
    """
    ints, floats = nodes.ints, nodes.floats
    start, stop, j = ints[node, START], ints[node, STOP], int(found[1])
    ints[node, FEATURE] = j
    ints[node, CHILDREN] = int(found[5])
    ints[node, MISSING_LEFT] = int(found[3])
    C = rows.n_categories[j]
    rows_of = work.rows_of
    if C:
        set_category_sides(rows, nodes, work, node, j, C)
    else:
        set_sides(rows, settings, nodes, work, node, j, found)
    children = ints[node, CHILDREN]
    count_children(work, start, stop, children)
    partition_order(work, start, stop, children)
    child, begin, still_open = node + 1, start, 0
    for c in range(children):
        m = int(work.weight_of[c])
        nodes.used[child] = 1
        ints[child, START], ints[child, STOP] = begin, begin + m
        ints[child, DEPTH], ints[child, PARENT] = ints[node, DEPTH] + 1, node
        ints[child, CHILDREN] = 0
        # The draws of a node depend on the way to it, and not on the number of its rows.
        bits, _ = random_bits(np.uint64(ints[node, DRAWS]) ^ np.uint64(c + 1))
        ints[child, DRAWS] = np.int64(bits >> np.uint64(1))
        ints[child, BRANCH_CODE] = rows_of[c] if C or children == 3 or found[4] == np.inf else c
        floats[child, LOWER], floats[child, UPPER] = floats[node, LOWER], floats[node, UPPER]
        begin += m
        child += 2 * m - 1
    child = node + 1
    for c in range(children):
        m = int(ints[child, STOP] - ints[child, START])
        equal = describe(rows, settings, nodes, work, child)
        if settings.monotone:
            narrow_bounds(rows, settings, nodes, work, node, child, c, j)
        enough = m >= settings.min_split and floats[child, WEIGHT] >= 2 * settings.min_weight
        if not equal and enough and ints[child, DEPTH] < settings.max_depth:
            ints[child, CHILDREN] = -1  # to be split
            still_open += 1
        child += 2 * m - 1
    return still_open


@compiled
def count_children(work, start, stop, children):
    """Write how many rows each child of a node gets to work.weight_of, and work.bits of two."""
    order, sides, bits = work.order, work.side, work.bits
    if children == 2:
        second = 0
        for i in range(start, stop):
            row = np.uint64(order[i])
            side, word, place = np.uint64(sides[row]), row >> SIX, row & SIXTY_THREE
            bits[word] = (bits[word] & ~(ONE << place)) | (side << place)
            second += np.int64(side)
        work.weight_of[0], work.weight_of[1] = stop - start - second, second
        return
    for c in range(children):
        work.weight_of[c] = 0.0
    for i in range(start, stop):
        work.weight_of[sides[order[i]]] += 1


@compiled
def set_sides(rows, settings, nodes, work, node, j, found):
    """The child of each row of a node that is split by a threshold."""
    E, place = rows.entries[rows.place[j]], int(found[2])
    shift = np.uint64(settings.shift)
    ints, stop, sides = nodes.ints, nodes.ints[node, STOP], work.side
    own_branch = settings.missing == OWN_BRANCH
    missing_side = ints[node, CHILDREN] - 1 if own_branch else 1 - int(found[3])
    for p in range(ints[node, START], stop):
        side = 0 if p <= place else 1
        if E[p] >> HALF == MISSING:
            side = missing_side
        sides[(E[p] & LOW_HALF) >> shift] = side
    for c in range(3):
        work.rows_of[c] = c
    if own_branch and found[4] == np.inf:
        work.rows_of[1] = 2  # known values in one branch, NaN in the other
    nodes.floats[node, THRESHOLD] = found[4]
    if E[stop - 1] >> HALF != MISSING:
        ints[node, MISSING_LEFT] = TO_THE_HEAVIER
    ints[node, LOW_ROW] = (E[place] & LOW_HALF) >> shift
    ints[node, HIGH_ROW] = -1
    if place + 1 < stop and E[place + 1] >> HALF != MISSING:
        ints[node, HIGH_ROW] = (E[place + 1] & LOW_HALF) >> shift


@compiled
def set_category_sides(rows, nodes, work, node, j, C):
    """The same for a branch per category; rows_of gets the category of each branch."""
    codes = rows.codes[rows.place[j]]
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    for c in range(C):
        work.weight_of[c] = -1.0
    for i in range(start, stop):
        work.weight_of[codes[work.order[i]]] = 0.0
    branch = 0
    for c in range(C):
        if work.weight_of[c] == 0.0:
            work.weight_of[c] = branch
            work.rows_of[branch] = c
            branch += 1
    for i in range(start, stop):
        row = work.order[i]
        work.side[row] = int(work.weight_of[codes[row]])


@compiled
def partition_order(work, start, stop, children):
    """Put the rows of a node in the order of its children, each in the order they had."""
    place = start
    if children == 2:
        order, sides, buffer, after = work.order, work.side, work.buffer, start
        for i in range(start, stop):
            row = order[i]
            side = sides[row]
            order[place] = row
            buffer[after] = row
            place += 1 - side
            after += side
        for i in range(start, after):
            order[place] = buffer[i]
            place += 1
        return
    for c in range(children):
        place += int(work.weight_of[c])
        work.weight_of[c] = place - work.weight_of[c]
    for i in range(start, stop):
        c = work.side[work.order[i]]
        work.buffer[int(work.weight_of[c])] = work.order[i]
        work.weight_of[c] += 1
    for i in range(start, stop):
        work.order[i] = work.buffer[i]
    for c in range(children - 1, 0, -1):
        work.weight_of[c] -= work.weight_of[c - 1]
    work.weight_of[0] -= start


@compiled
def partition_columns(rows, settings, nodes, work, node, first, last, buffer):
    """Put the entries of a node in the order of its children, in the columns first to last."""
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    children, shift = nodes.ints[node, CHILDREN], np.uint64(settings.shift)
    for j in range(first, last):
        E, bits = rows.entries[j], work.bits
        if children == 2:
            left, right = start, start
            for p in range(start, stop):
                key = E[p]
                row = (key & LOW_HALF) >> shift
                side = np.int64((bits[row >> SIX] >> (row & SIXTY_THREE)) & ONE)
                E[left] = key
                buffer[right] = key
                left += 1 - side
                right += side
            for p in range(start, right):
                E[left] = buffer[p]
                left += 1
        else:
            place = start
            child = node + 1
            for c in range(children):
                place_of = place
                place += nodes.ints[child, STOP] - nodes.ints[child, START]
                work.weight_of[c] = place_of
                child += 2 * (place - place_of) - 1
            for p in range(start, stop):
                c = work.side[(E[p] & LOW_HALF) >> shift]
                buffer[int(work.weight_of[c])] = E[p]
                work.weight_of[c] += 1
            for p in range(start, stop):
                E[p] = buffer[p]


@compiled
def narrow_bounds(rows, settings, nodes, work, node, child, c, j):
    """The bounds of a child's predictions: the middle of both children is one of them."""
    floats, sign = nodes.floats, rows.signs[j]
    sums = work.totals[0]
    value = sums[0, 1] if settings.kind <= ENTROPY else sums[0, 0]
    floats[child, VALUE] = value / floats[child, WEIGHT]
    if settings.kind == ABSOLUTE:
        start, stop = nodes.ints[child, START], nodes.ints[child, STOP]
        add_rows(rows, settings, work, start, stop, 0)
        floats[child, VALUE] = median(rows.levels[0], work.weight_tree)
        clear_targets(work.weight_tree, work.sum_tree)
    if sign == 0 or c != 1 or nodes.ints[child, BRANCH_CODE] == 2:  # NaN has no place in the order
        return
    left = node + 1
    middle = 0.5 * (floats[left, VALUE] + floats[child, VALUE])
    if sign > 0:
        floats[left, UPPER], floats[child, LOWER] = middle, middle
    else:
        floats[left, LOWER], floats[child, UPPER] = middle, middle


@compiled
def gain_of(rows, settings, nodes, work, node, score):
    """How much the impurity falls by a split of this score, times the weight of the node.

    Reads the sums of the node that `sum_node` left behind.
    """
    W, outputs = nodes.floats[node, WEIGHT], rows.classes.shape[1]
    if settings.kind == ABSOLUTE:
        return score / outputs + W * nodes.floats[node, IMPURITY]
    gain = (score - score_of(settings, work.totals[0], W, rows.table)) / outputs
    return gain / math.log(2.0) if settings.kind == ENTROPY else gain


@compiled
def split_node(rows, settings, nodes, work, node, found):
    """Split a node as `found`, if that gains enough; return how many children are open."""
    if found[1] < 0:
        nodes.ints[node, CHILDREN] = 0
        return 0
    gain = max(gain_of(rows, settings, nodes, work, node, found[0]), 0.0)
    least = settings.min_decrease * nodes.floats[0, WEIGHT]
    if gain + 1e-15 * nodes.floats[node, WEIGHT] < least:
        nodes.ints[node, CHILDREN] = 0
        return 0
    return make_children(rows, settings, nodes, work, node, found)


@compiled
def grow(rows, settings, nodes, work, n_waiting, found, budget, first):
    """Grow the nodes on the stack, depth first, until about `budget` entries were read.

    `first` is where this stack begins in work.stack. Returns how many nodes are waiting.
    """
    d, m = rows.place.shape[0], rows.entries.shape[0]
    while n_waiting and budget > 0:
        n_waiting -= 1
        node = work.stack[first + n_waiting]
        size = nodes.ints[node, STOP] - nodes.ints[node, START]
        sum_node(rows, settings, nodes, work, node)
        best_split(rows, settings, nodes, work, node, 0, d, found)
        still_open = split_node(rows, settings, nodes, work, node, found)
        if still_open:
            partition_columns(rows, settings, nodes, work, node, 0, m, work.buffer)
            child = node + 1
            for _ in range(nodes.ints[node, CHILDREN]):
                if nodes.ints[child, CHILDREN] < 0:
                    work.stack[first + n_waiting] = child
                    n_waiting += 1
                child += 2 * (nodes.ints[child, STOP] - nodes.ints[child, START]) - 1
        budget -= size * (d + 1)
    return n_waiting


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
