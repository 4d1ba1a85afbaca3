# mypy: ignore-errors
"""Growing one tree of a forest on coded columns: at most 255 levels each, or categories.

See `forest_scan_loops` for the keys, and for the best split on one column. Nodes are numbered in
preorder as they leave the stack.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.random import random_bits
from rosenblatt.tree.tree_loops import (
    ENTROPY,
    GINI,
    LOW_HALF,
    POISSON,
    SQUARED,
    TO_THE_HEAVIER,
    class_impurity,
)

from .forest_scan_loops import (
    CLASS_SHIFT,
    DRAWN_SHIFT,
    FEW,
    FIELD,
    FIELDS,
    MOST_COUNTED,
    ONE,
    SIXTEEN,
    clear_groups,
    group_rows,
    score_sums,
    split_at_random,
    split_on_all,
    split_on_groups,
    split_on_pairs,
)

# What is known of a node: whole numbers, and others (its values from VALUE on).
FEATURE, PARENT, DEPTH, ROWS, BRANCH_CODE, CHILDREN, MISSING_LEFT = range(7)
WEIGHT, IMPURITY, THRESHOLD, VALUE = range(4)


class Nodes(NamedTuple):
    """The nodes so far."""

    ints: Any  # (N, 7)
    floats: Any  # (N, 3 + K)


@compiled
def sum_keys(levels, settings, keys, start, stop, sums, added):
    """Write the sums (S,) of the rows of keys[start:stop]; return their weight.

    Of two classes, added (n,) gets what each row adds to a count.
    """
    weights, numbers, weighted = levels.weights, levels.numbers, settings.weighted
    for k in range(sums.shape[0]):
        sums[k] = 0.0
    if settings.kind <= ENTROPY and sums.shape[0] == 2 and not weighted:
        total, ones = np.uint64(0), np.uint64(0)
        for i in range(start, stop):
            w = keys[i] >> DRAWN_SHIFT
            second = w * ((keys[i] >> CLASS_SHIFT) & ONE)
            total += w
            ones += second
            added[i] = ONE | w << FIELD | second << FIELDS
        sums[0], sums[1] = np.float64(total - ones), np.float64(ones)
        return np.float64(total)
    W = 0.0
    for i in range(start, stop):
        key = keys[i]
        w = np.float64(key >> DRAWN_SHIFT)
        if weighted:
            w *= weights[key & LOW_HALF]
        W += w
        if settings.kind <= ENTROPY:
            sums[(key >> CLASS_SHIFT) & SIXTEEN] += w
        else:
            sums[1] += w * numbers[key & LOW_HALF]
    if settings.kind > ENTROPY:
        sums[0] = W
    return W


@compiled(inline=True)
def find_split(levels, settings, scratch, start, stop, W, state):
    """Put the best split on columns drawn at random in scratch.found; return the random state."""
    found, columns, d = scratch.found, scratch.columns, scratch.columns.shape[0]
    constant = scratch.constant
    found[0], found[1] = -np.inf, -1
    in_pairs = settings.kind == GINI and scratch.sums.shape[1] == 2 and not settings.weighted
    in_pairs &= W <= MOST_COUNTED
    in_pairs |= settings.kind == SQUARED and stop - start <= FEW
    in_pairs &= not settings.random
    useful = 0
    for c in range(d):
        if c >= settings.max_features and useful:
            break
        j = c
        if settings.max_features < d:  # the columns stay permuted: any order draws as well
            bits, state = random_bits(state)
            other = c + np.int64(bits % np.uint64(d - c))
            columns[c], columns[other] = columns[other], columns[c]
            j = columns[c]
        plain, share = not levels.has_missing[j] and not levels.categorical[j], 0.0
        if not (plain and in_pairs):
            bits, state = random_bits(state)
            share = np.float64(bits >> np.uint64(11)) * 2.0**-53
        if constant[j, 0] <= start and stop <= constant[j, 1]:
            continue
        if plain and in_pairs:
            differs = split_on_pairs(levels, settings, scratch, j, start, stop, W)
        elif plain and settings.random:
            differs = split_at_random(levels, settings, scratch, j, start, stop, W, share)
        else:
            n_groups = group_rows(levels, settings, scratch, j, start, stop)
            differs = n_groups > 1
            if differs and levels.categorical[j]:
                split_on_all(levels, settings, scratch, j, n_groups)
            elif differs:
                split_on_groups(levels, settings, scratch, j, n_groups, W, share)
            clear_groups(scratch, n_groups)
        if differs:
            useful += 1
        else:
            constant[j, 0], constant[j, 1] = start, stop
    return state


@compiled(inline=True)
def partition(levels, scratch, start, stop):
    """Put the keys of a node in the order of its children; scratch.sizes gets theirs.

    scratch.group_code gets the category of each child.
    """
    found, sizes, keys, buffer = scratch.found, scratch.sizes, scratch.keys, scratch.buffer
    j = int(found[1])
    codes = levels.codes[j]
    if levels.categorical[j]:
        partition_by_category(levels, scratch, j, start, stop)
        return
    last, missing, missing_left = int(found[2]), levels.missing_code, int(found[4])
    left, right = start, start
    for i in range(start, stop):
        key = keys[i]
        c = np.int64(codes[key & LOW_HALF])
        side = np.int64(c > last) - missing_left * np.int64(c == missing)
        keys[left] = key
        buffer[right] = key
        left += 1 - side
        right += side
    sizes[0], sizes[1] = left - start, right - start
    for i in range(start, right):
        keys[left] = buffer[i]
        left += 1


@compiled
def partition_by_category(levels, scratch, j, start, stop):
    """The same for a branch per category."""
    codes, keys, buffer, side_of = levels.codes[j], scratch.keys, scratch.buffer, scratch.side_of
    last_slot, missing_code, sizes = levels.n_levels[j], levels.missing_code, scratch.sizes
    for c in range(last_slot + 1):
        side_of[c] = 0
    for i in range(start, stop):
        c = np.int64(codes[keys[i] & LOW_HALF])
        side_of[last_slot if c == missing_code else c] += 1
    branch, place = 0, start
    for c in range(last_slot + 1):
        if side_of[c]:
            sizes[branch], scratch.group_code[branch] = side_of[c], c
            side_of[c], place = place, place + side_of[c]
            branch += 1
    for i in range(start, stop):
        c = np.int64(codes[keys[i] & LOW_HALF])
        c = last_slot if c == missing_code else c
        buffer[side_of[c]] = keys[i]
        side_of[c] += 1
    for i in range(start, stop):
        keys[i] = buffer[i]


@compiled(inline=True)
def describe_keys(levels, settings, nodes, scratch, node, start, stop):
    """Weight, impurity and values of a node; returns whether its targets are all equal.

    Leaves the sums of the node in scratch.totals[0].
    """
    sums, keys, floats = scratch.totals[0], scratch.keys, nodes.floats
    W = sum_keys(levels, settings, keys, start, stop, sums, scratch.added)
    floats[node, WEIGHT], floats[node, IMPURITY] = W, 0.0
    if settings.kind > ENTROPY:
        return describe_numbers(levels, settings, floats, keys, node, start, stop, sums[1] / W)
    for k in range(sums.shape[0]):
        floats[node, VALUE + k] = sums[k] / W
    if sums[(keys[start] >> CLASS_SHIFT) & SIXTEEN] >= W:
        return True
    floats[node, IMPURITY] = class_impurity(settings.kind, sums, W)
    return False


@compiled(inline=True)
def describe_numbers(levels, settings, floats, keys, node, start, stop, centre):
    """Impurity and mean of the targets of a node; whether they are equal.

    The mean is added up as differences from the first target: equal targets have that mean.
    """
    first, equal, total, difference = levels.targets[keys[start] & LOW_HALF], True, 0.0, 0.0
    for i in range(start, stop):
        row = keys[i] & LOW_HALF
        y, centred = levels.targets[row], levels.numbers[row]
        equal &= y == first
        w = np.float64(keys[i] >> DRAWN_SHIFT)
        if settings.weighted:
            w *= levels.weights[row]
        difference += w * (y - first)
        if settings.kind == POISSON:
            total += w * y * np.log(y / centre) if y > 0 else 0.0
        else:
            total += w * (centred - centre) ** 2
    floats[node, VALUE] = first + difference / floats[node, WEIGHT]
    if not equal:
        floats[node, IMPURITY] = total / floats[node, WEIGHT]
    return equal


@compiled(inline=True)
def gain_of_found(levels, settings, scratch, W):
    """What the split in scratch.found gains, times the weight of its node."""
    gain = scratch.found[0] - score_sums(
        settings.kind, scratch.totals[0], W, levels.table, not settings.weighted
    )
    return gain / np.log(2.0) if settings.kind == ENTROPY else gain


@compiled
def has_missing(levels, scratch, start, stop):
    """Whether a value of a node's rows is missing in the column that it splits on."""
    j = int(scratch.found[1])
    if not levels.has_missing[j]:
        return False
    codes, keys, found = levels.codes[j], scratch.keys, False
    for i in range(start, stop):
        found |= codes[keys[i] & LOW_HALF] == levels.missing_code
    return found


@compiled(inline=True)
def split_node(levels, settings, nodes, scratch, node, start, stop, state):
    """Split a node, if that gains enough; return whether it has children, and the state."""
    found, W = scratch.found, nodes.floats[node, WEIGHT]
    state = find_split(levels, settings, scratch, start, stop, W, state)
    if found[1] < 0:
        return False, state
    least = settings.min_decrease * nodes.floats[0, WEIGHT]
    if gain_of_found(levels, settings, scratch, W) + 1e-15 * W < least:
        return False, state
    nodes.ints[node, FEATURE], nodes.ints[node, CHILDREN] = int(found[1]), int(found[6])
    nodes.ints[node, MISSING_LEFT] = int(found[4])
    nodes.floats[node, THRESHOLD] = found[5]
    partition(levels, scratch, start, stop)
    if levels.stored_rows.shape[0]:
        for i in range(start, stop):
            scratch.place[scratch.keys[i] & LOW_HALF] = i
    if not has_missing(levels, scratch, start, stop):
        nodes.ints[node, MISSING_LEFT] = TO_THE_HEAVIER
    return True, state


@compiled(inline=True)
def push_children(levels, nodes, scratch, node, stop, n_waiting):
    """Put the children of a node on the stack, the first on top; return how many wait."""
    stack, children = scratch.stack, nodes.ints[node, CHILDREN]
    categorical = levels.categorical[nodes.ints[node, FEATURE]]
    for b in range(children - 1, -1, -1):
        start = stop - scratch.sizes[b]
        stack[n_waiting, 0], stack[n_waiting, 1] = start, stop
        stack[n_waiting, 2], stack[n_waiting, 3] = nodes.ints[node, DEPTH] + 1, node
        stack[n_waiting, 4] = scratch.group_code[b] if categorical else b
        stop, n_waiting = start, n_waiting + 1
    return n_waiting


@compiled(inline=True)
def add_node(nodes, scratch, place, node):
    """Begin a node with what the stack holds."""
    ints = nodes.ints
    ints[node, FEATURE] = ints[node, CHILDREN] = ints[node, MISSING_LEFT] = 0
    ints[node, ROWS] = scratch.stack[place, 1] - scratch.stack[place, 0]
    ints[node, DEPTH], ints[node, PARENT] = scratch.stack[place, 2], scratch.stack[place, 3]
    ints[node, BRANCH_CODE] = scratch.stack[place, 4]


@compiled
def grow_coded(levels, settings, nodes, scratch, n_waiting, n_nodes, state, budget):
    """Grow the nodes on the stack, depth first, until about `budget` cells were read.

    Returns how many nodes wait, how many there are, and the random state.
    """
    while n_waiting and budget > 0:
        n_waiting -= 1
        node, n_nodes = n_nodes, n_nodes + 1
        start, stop = scratch.stack[n_waiting, 0], scratch.stack[n_waiting, 1]
        add_node(nodes, scratch, n_waiting, node)
        equal = describe_keys(levels, settings, nodes, scratch, node, start, stop)
        small = stop - start < settings.min_split or nodes.ints[node, DEPTH] >= settings.max_depth
        if equal or small or nodes.floats[node, WEIGHT] < 2 * settings.min_weight:
            continue
        budget -= (stop - start) * settings.max_features
        inner, state = split_node(levels, settings, nodes, scratch, node, start, stop, state)
        if inner:
            n_waiting = push_children(levels, nodes, scratch, node, stop, n_waiting)
    return n_waiting, n_nodes, state
