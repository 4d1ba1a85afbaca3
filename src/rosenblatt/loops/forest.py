"""Growing one tree of a forest on coded columns: at most 255 levels each, or categories.

A key holds a row in its low half, above it the row's class (16 bits) and how often the row was
drawn (16 bits). At a node, rows with the same code in a column have sums: the weights of their
classes, or their weight and weight times target. A bit for each code that occurs spares small nodes
the codes that do not.
"""

from typing import Any, NamedTuple

import numpy as np

from . import compiled
from .tree import (
    BRANCH_CODE,
    CHILDREN,
    DEPTH,
    FEATURE,
    GAIN,
    GOLDEN,
    IMPURITY,
    MISSING_LEFT,
    START,
    STOP,
    THRESHOLD,
    TIE,
    WEIGHT,
    class_impurity,
    random_bits,
)
from .tree_columns import LOW_HALF
from .tree_scan import ENTROPY, GINI, MAJORITY, POISSON, SQUARED, mean_score, x_log_x

CLASS_SHIFT, DRAWN_SHIFT = np.uint64(32), np.uint64(48)
SIXTEEN = np.uint64(0xFFFF)
MANY = 400  # rows of a node, beside which all codes can be looked through
SIX, SIXTY_THREE, ONE = np.uint64(6), np.uint64(63), np.uint64(1)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
PLACES = np.zeros(64, np.int64)
for _place in range(64):
    PLACES[((int(DE_BRUIJN) << _place) & 0xFFFFFFFFFFFFFFFF) >> 58] = _place


class Levels(NamedTuple):
    """The coded data of a fit."""

    codes: Any  # (d, n)
    missing_code: int
    n_levels: Any  # (d,) levels or categories
    categorical: Any  # (d,) whether codes are categories
    has_missing: Any  # (d,) whether values are missing
    bounds: Any  # (d, 2, M) least and largest value of each level
    numbers: Any  # (n,) targets
    weights: Any  # (n,)
    table: Any  # x ln x of whole numbers


class Scratch(NamedTuple):
    """Space of one thread."""

    keys: Any  # (n,)
    buffer: Any  # (n,)
    stack: Any  # (n,)
    sums: Any  # (M + 1, S) of codes; zero between uses
    rows: Any  # (M + 1,) rows of codes, counted if limits ask for it; zero between uses
    held: Any  # (M / 64 + 1,) a bit for each code that occurs; zero between uses
    group_code: Any  # (M + 1,) the codes that occur, in order
    totals: Any  # (3, S) node, left, right
    columns: Any  # (d,)
    found: Any  # (8,) score, column, last code left, -, NaN left, threshold, branches
    side_of: Any  # (M + 1,) child of each code
    sizes: Any  # (M + 2,) rows of each child


@compiled
def sum_keys(levels, limits, keys, start, stop, sums):
    """Write the sums (S,) of the rows of keys[start:stop]; return their weight."""
    weights, numbers, weighted = levels.weights, levels.numbers, limits.weighted
    for k in range(sums.shape[0]):
        sums[k] = 0.0
    W = 0.0
    for i in range(start, stop):
        key = keys[i]
        w = np.float64(key >> DRAWN_SHIFT)
        if weighted:
            w *= weights[key & LOW_HALF]
        W += w
        if limits.kind <= ENTROPY:
            sums[(key >> CLASS_SHIFT) & SIXTEEN] += w
        else:
            sums[1] += w * numbers[key & LOW_HALF]
    if limits.kind > ENTROPY:
        sums[0] = W
    return W


@compiled
def score_sums(kind, sums, W, table, whole):
    """The score of a branch of weight W (see `tree_scan`)."""
    score = 0.0
    if kind == GINI:
        for k in range(sums.shape[0]):
            score += sums[k] * sums[k]
        return score / W
    if kind == ENTROPY:
        for k in range(sums.shape[0]):
            score += x_log_x(sums[k], not whole, table)
        return score - x_log_x(W, not whole, table)
    return mean_score(kind, sums[1], W)


@compiled
def lowest_bit(word):
    """The place of the lowest bit that is set in a word of 64 bits (de Bruijn's sequence)."""
    low = word & (~word + np.uint64(1))
    return PLACES[(low * DE_BRUIJN) >> np.uint64(58)]


@compiled
def group_rows(levels, limits, scratch, j, start, stop):
    """Sum the rows of a node by their codes in column j; return how many codes occur.

    Their codes are written to scratch.group_code in order, that of NaN last.
    """
    codes, keys = levels.codes[j], scratch.keys
    sums, rows, held = scratch.sums, scratch.rows, scratch.held
    weights, numbers, weighted = levels.weights, levels.numbers, limits.weighted
    by_class, counted = limits.kind <= ENTROPY, limits.min_leaf > 1
    missing_code, last = np.uint64(levels.missing_code), np.uint64(levels.n_levels[j])
    if stop - start > MANY and by_class and not counted and not weighted:
        for i in range(start, stop):  # bits would be one more chain of stores and loads
            key = keys[i]
            c = np.uint64(codes[key & LOW_HALF])
            c = last if c == missing_code else c
            sums[c, (key >> CLASS_SHIFT) & SIXTEEN] += np.float64(key >> DRAWN_SHIFT)
        return list_groups(sums, levels.n_levels[j] + 1, scratch.group_code)
    for i in range(start, stop):
        key = keys[i]
        row = key & LOW_HALF
        c = np.uint64(codes[row])
        c = last if c == missing_code else c
        w = np.float64(key >> DRAWN_SHIFT)
        if weighted:
            w *= weights[row]
        held[c >> SIX] |= ONE << (c & SIXTY_THREE)
        if by_class:
            sums[c, (key >> CLASS_SHIFT) & SIXTEEN] += w
        else:
            sums[c, 0] += w
            sums[c, 1] += w * numbers[row]
        if counted:
            rows[c] += 1
    n_groups = 0
    for word in range((levels.n_levels[j] >> 6) + 1):
        bits = held[word]
        held[word] = 0
        while bits:
            scratch.group_code[n_groups] = (word << 6) + lowest_bit(bits)
            n_groups += 1
            bits &= bits - ONE
    return n_groups


@compiled
def list_groups(sums, n_slots, group_code):
    """Write the codes whose sums (n_slots, S) are not zero to group_code; return how many."""
    n_groups = 0
    for c in range(n_slots):
        occurs = False
        for k in range(sums.shape[1]):
            occurs |= sums[c, k] != 0.0
        group_code[n_groups] = c
        n_groups += occurs
    return n_groups


@compiled
def clear_groups(limits, scratch, n_groups):
    """Set the sums of the codes that occur to zero again."""
    for g in range(n_groups):
        c = scratch.group_code[g]
        scratch.rows[c] = 0
        for k in range(scratch.sums.shape[1]):
            scratch.sums[c, k] = 0.0


@compiled
def is_better(score, found):
    """Whether a score beats the best so far by more than rounding."""
    return found[1] < 0 or score > found[0] + TIE * abs(found[0])


@compiled
def split_on_groups(levels, limits, scratch, j, n_groups, W, share):
    """Improve on scratch.found by a threshold between two codes, or one drawn at random."""
    group_code, sums, totals = scratch.group_code, scratch.sums, scratch.totals
    last, missing = n_groups, False
    if group_code[n_groups - 1] == levels.n_levels[j]:
        last, missing = n_groups - 1, True
    by_pairs = sums.shape[1] == 2 and (limits.kind == GINI or limits.kind == SQUARED)
    if by_pairs and not missing and not limits.random:
        scan_pairs(levels, limits, scratch, j, n_groups, W, totals[0, 0], totals[0, 1])
        return
    only, threshold = -1, np.nan
    if limits.random and last > 1:
        only, threshold = random_group(levels, group_code, j, last, share)
    n_missing = scratch.rows[group_code[n_groups - 1]] if missing else 0
    n_rows, S, kind = 0, sums.shape[1], limits.kind
    for g in range(n_groups):
        n_rows += scratch.rows[group_code[g]]
    left, right = totals[1], totals[2]
    for side in range(2 if missing else 1):
        n_left, L = 0, 0.0
        for k in range(S):
            left[k] = sums[group_code[n_groups - 1], k] if side else 0.0
            right[k] = totals[0, k] - left[k]
            if kind <= ENTROPY:
                L += left[k]
        if side:
            n_left = n_missing
            L = L if kind <= ENTROPY else left[0]
        # With NaN on the right, all known values may go left.
        for g in range(last if missing and not side else last - 1):
            c = group_code[g]
            n_left += scratch.rows[c]
            for k in range(S):
                w = sums[c, k]
                left[k] += w
                right[k] -= w
                if kind <= ENTROPY or k == 0:
                    L += w
            if only >= 0 and g != only:
                continue
            R = W - L
            if kind == GINI and S == 2:
                score = W - 2.0 * (left[0] * left[1] * R + right[0] * right[1] * L) / (L * R)
            else:
                score = score_sums(kind, left, L, levels.table, not limits.weighted)
                score += score_sums(kind, right, R, levels.table, not limits.weighted)
            if is_better(score, scratch.found) and is_allowed(
                limits, n_left, n_rows, n_missing, side, L, R
            ):
                take(levels, scratch, j, g, last, side, score, threshold)


@compiled
def scan_pairs(levels, limits, scratch, j, n_groups, W, W0, W1):
    """The same for two classes by gini, or one target by squares, without missing values.

    Either score needs two sums and one division at each threshold.
    """
    group_code, sums, rows = scratch.group_code, scratch.sums, scratch.rows
    gini, min_leaf, min_weight = limits.kind == GINI, limits.min_leaf, limits.min_weight
    n_rows, n_left = 0, 0
    if min_leaf > 1:
        for g in range(n_groups):
            n_rows += rows[group_code[g]]
    best, place = -np.inf, -1
    L0 = L1 = 0.0
    for g in range(n_groups - 1):
        c = group_code[g]
        L0 += sums[c, 0]
        L1 += sums[c, 1]
        R0, R1 = W0 - L0, W1 - L1
        if gini:
            L, R = L0 + L1, R0 + R1
            score = -(L0 * L1 * R + R0 * R1 * L) / (L * R)
        else:
            L, R = L0, R0
            score = (L1 * L1 * R + R1 * R1 * L) / (L * R)
        if min_leaf > 1:
            n_left += rows[c]
            if min(n_left, n_rows - n_left) < min_leaf:
                continue
        if score > best and min(L, R) >= min_weight:
            best, place = score, g
    if gini:
        best = W + 2.0 * best
    if place >= 0 and is_better(best, scratch.found):
        take(levels, scratch, j, place, n_groups, 0, best, np.nan)


@compiled
def is_allowed(limits, n_left, n_rows, n_missing, side, L, R):
    """Whether a split has enough rows and weight on both sides; rows are counted if they matter."""
    if min(L, R) < limits.min_weight or min(L, R) <= 0:
        return False
    if limits.min_leaf > 1 and min(n_left, n_rows - n_left) < limits.min_leaf:
        return False
    if limits.missing == MAJORITY and n_missing:
        known = n_left - n_missing if side else n_left
        return (2 * known > n_rows - n_missing) == (side == 1)
    return True


@compiled
def take(levels, scratch, j, g, last, side, score, threshold):
    """Keep the split after group g as the best."""
    found, group_code = scratch.found, scratch.group_code
    found[0], found[1], found[2] = score, j, group_code[g]
    found[4], found[5], found[6] = side, np.inf, 2
    if g < last - 1:
        low, high = levels.bounds[j, 1, group_code[g]], levels.bounds[j, 0, group_code[g + 1]]
        middle = low / 2.0 + high / 2.0
        if not (low <= middle < high):
            middle = low
        found[5] = threshold if low <= threshold < high else middle


@compiled
def random_group(levels, group_code, j, last, share):
    """A threshold drawn between the least and largest value, and the last group below it."""
    low = levels.bounds[j, 0, group_code[0]]
    high = levels.bounds[j, 1, group_code[last - 1]]
    threshold = low + share * (high - low)
    g = 0
    while g < last - 2 and levels.bounds[j, 0, group_code[g + 1]] <= threshold:
        g += 1
    return g, threshold


@compiled
def split_at_random(levels, limits, scratch, j, start, stop, W, share):
    """Improve on scratch.found by a threshold drawn between the least and the largest value.

    Two reads of the codes do without sums by code. Returns whether the values differ.
    """
    codes, keys, left, right = levels.codes[j], scratch.keys, scratch.totals[1], scratch.totals[2]
    least = most = np.int64(codes[keys[start] & LOW_HALF])
    for i in range(start + 1, stop):
        c = np.int64(codes[keys[i] & LOW_HALF])
        least, most = min(least, c), max(most, c)
    if least == most:
        return 0
    lows, highs = levels.bounds[j, 0], levels.bounds[j, 1]
    threshold = lows[least] + share * (highs[most] - lows[least])
    a, b = least, most - 1  # the last level, but for the largest, that begins below it
    while a < b:
        middle = (a + b + 1) // 2
        if lows[middle] <= threshold:
            a = middle
        else:
            b = middle - 1
    n_left = 0
    for k in range(left.shape[0]):
        left[k] = 0.0
    for i in range(start, stop):
        key = keys[i]
        row = key & LOW_HALF
        if codes[row] <= a:
            w = np.float64(key >> DRAWN_SHIFT)
            if limits.weighted:
                w *= levels.weights[row]
            n_left += 1
            if limits.kind <= ENTROPY:
                left[(key >> CLASS_SHIFT) & SIXTEEN] += w
            else:
                left[0] += w
                left[1] += w * levels.numbers[row]
    L = 0.0
    for k in range(left.shape[0]):
        right[k] = scratch.totals[0, k] - left[k]
        L += left[k] if limits.kind <= ENTROPY or k == 0 else 0.0
    R = W - L
    if not is_allowed(limits, n_left, stop - start, 0, 0, L, R):
        return 1
    score = score_sums(limits.kind, left, L, levels.table, not limits.weighted)
    score += score_sums(limits.kind, right, R, levels.table, not limits.weighted)
    if is_better(score, scratch.found):
        scratch.group_code[0], scratch.group_code[1] = a, a + 1
        take(levels, scratch, j, 0, 2, 0, score, threshold)
    return 1


@compiled
def split_on_all(levels, limits, scratch, j, n_groups):
    """Improve on scratch.found by a branch for each category of column j."""
    score, kind = 0.0, limits.kind
    for g in range(n_groups):
        c = scratch.group_code[g]
        W = scratch.sums[c, 0]
        if kind <= ENTROPY:
            for k in range(1, scratch.sums.shape[1]):
                W += scratch.sums[c, k]
        few = limits.min_leaf > 1 and scratch.rows[c] < limits.min_leaf
        if few or limits.min_weight > W:
            return
        score += score_sums(kind, scratch.sums[c], W, levels.table, not limits.weighted)
    if is_better(score, scratch.found):
        scratch.found[0], scratch.found[1], scratch.found[6] = score, j, n_groups


@compiled
def find_split(levels, limits, nodes, scratch, node):
    """The best split of a node on columns drawn at random, in scratch.found."""
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    found, columns, W = scratch.found, scratch.columns, nodes.floats[node, WEIGHT]
    found[0], found[1] = -np.inf, -1
    state = np.uint64(limits.seed) ^ (np.uint64(node) * GOLDEN)
    d = columns.shape[0]
    useful = 0
    for c in range(d):
        if c >= limits.max_features and useful:
            break
        j = c
        if limits.max_features < d:  # the columns stay permuted: any order draws as well
            bits, state = random_bits(state)
            other = c + np.int64(bits % np.uint64(d - c))
            columns[c], columns[other] = columns[other], columns[c]
            j = columns[c]
        bits, state = random_bits(state)
        share = np.float64(bits >> np.uint64(11)) * 2.0**-53
        if limits.random and not levels.has_missing[j] and not levels.categorical[j]:
            useful += split_at_random(levels, limits, scratch, j, start, stop, W, share)
            continue
        n_groups = group_rows(levels, limits, scratch, j, start, stop)
        if n_groups > 1:
            useful += 1
            if levels.categorical[j]:
                split_on_all(levels, limits, scratch, j, n_groups)
            else:
                split_on_groups(levels, limits, scratch, j, n_groups, W, share)
        clear_groups(limits, scratch, n_groups)


@compiled
def set_sides(levels, scratch, j, start, stop):
    """The child of each code of column j, in scratch.side_of; the codes of the children."""
    found, side_of = scratch.found, scratch.side_of
    n_slots = levels.n_levels[j] + 1
    if not levels.categorical[j]:
        for c in range(n_slots - 1):
            side_of[c] = 0 if c <= found[2] else 1
        side_of[n_slots - 1] = 1 - int(found[4])
        return
    for c in range(n_slots):
        side_of[c] = -1
    for i in range(start, stop):
        c = np.int64(levels.codes[j, scratch.keys[i] & LOW_HALF])
        side_of[c if c != levels.missing_code else n_slots - 1] = 0
    branch = 0
    for c in range(n_slots):
        if side_of[c] == 0:
            side_of[c] = branch
            scratch.group_code[branch] = c
            branch += 1


@compiled
def partition_keys(levels, scratch, j, start, stop, children):
    """Put the keys of a node in the order of its children; scratch.sizes gets theirs."""
    codes, keys, buffer, side_of = levels.codes[j], scratch.keys, scratch.buffer, scratch.side_of
    last_slot, missing_code = levels.n_levels[j], levels.missing_code
    sizes = scratch.sizes
    if children == 2:
        left, right = start, start
        for i in range(start, stop):
            key = keys[i]
            c = np.int64(codes[key & LOW_HALF])
            side = side_of[last_slot if c == missing_code else c]
            keys[left] = key
            buffer[right] = key
            left += 1 - side
            right += side
        sizes[0], sizes[1] = left - start, right - start
        for i in range(start, right):
            keys[left] = buffer[i]
            left += 1
        return
    for b in range(children + 1):
        sizes[b] = 0
    for i in range(start, stop):
        c = np.int64(codes[keys[i] & LOW_HALF])
        sizes[side_of[last_slot if c == missing_code else c] + 1] += 1
    for b in range(children):
        sizes[b + 1] += sizes[b]
    for i in range(start, stop):
        c = np.int64(codes[keys[i] & LOW_HALF])
        b = side_of[last_slot if c == missing_code else c]
        buffer[start + sizes[b]] = keys[i]
        sizes[b] += 1
    for i in range(start, stop):
        keys[i] = buffer[i]
    for b in range(children - 1, 0, -1):
        sizes[b] -= sizes[b - 1]


@compiled
def describe_keys(levels, limits, nodes, scratch, node):
    """Weight and impurity of a node; returns whether its targets are all equal.

    Leaves the sums of the node in scratch.totals[0].
    """
    start, stop = nodes.ints[node, START], nodes.ints[node, STOP]
    sums, keys = scratch.totals[0], scratch.keys
    W = sum_keys(levels, limits, keys, start, stop, sums)
    equal, total = True, 0.0
    first = keys[start]
    if limits.kind <= ENTROPY:
        equal = sums[(first >> CLASS_SHIFT) & SIXTEEN] >= W
        if not equal:
            total = class_impurity(limits.kind, sums, W)
    else:
        y0, mean = levels.numbers[first & LOW_HALF], sums[1] / W
        for i in range(start, stop):
            row = keys[i] & LOW_HALF
            y = levels.numbers[row]
            equal &= y == y0
            w = np.float64(keys[i] >> DRAWN_SHIFT)
            if limits.weighted:
                w *= levels.weights[row]
            if limits.kind == POISSON:
                total += w * y * np.log(y / mean) if y > 0 else 0.0
            else:
                total += w * (y - mean) ** 2
        total = 0.0 if equal else total / W
    nodes.floats[node, WEIGHT] = W
    nodes.floats[node, IMPURITY] = total
    return equal


@compiled
def gain_of_found(levels, limits, nodes, scratch, node):
    """What the split in scratch.found gains, times the weight of its node."""
    W = nodes.floats[node, WEIGHT]
    gain = scratch.found[0] - score_sums(
        limits.kind, scratch.totals[0], W, levels.table, not limits.weighted
    )
    return gain / np.log(2.0) if limits.kind == ENTROPY else gain


@compiled
def split_found(levels, limits, nodes, scratch, node):
    """Split a node as found, if that gains enough; return whether it has children."""
    ints, floats, found = nodes.ints, nodes.floats, scratch.found
    ints[node, CHILDREN] = 0
    if found[1] < 0:
        return False
    gain = gain_of_found(levels, limits, nodes, scratch, node)
    if gain + 1e-15 * floats[node, WEIGHT] < limits.min_decrease:
        return False
    start, stop, j = ints[node, START], ints[node, STOP], int(found[1])
    children = int(found[6])
    ints[node, CHILDREN], ints[node, FEATURE] = children, j
    ints[node, MISSING_LEFT] = int(found[4])
    floats[node, GAIN], floats[node, THRESHOLD] = gain, found[5]
    set_sides(levels, scratch, j, start, stop)
    partition_keys(levels, scratch, j, start, stop, children)
    child, begin = node + 1, start
    for b in range(children):
        m = scratch.sizes[b]
        nodes.used[child] = 1
        ints[child, START], ints[child, STOP] = begin, begin + m
        ints[child, DEPTH] = ints[node, DEPTH] + 1
        ints[child, CHILDREN] = 0
        ints[child, BRANCH_CODE] = scratch.group_code[b] if levels.categorical[j] else b
        begin += m
        child += 2 * m - 1
    return True


@compiled
def grow_coded(levels, limits, nodes, scratch, n_waiting, budget):
    """Grow the nodes on the stack, depth first, until about `budget` rows were read.

    Returns how many nodes are waiting.
    """
    ints, stack = nodes.ints, scratch.stack
    while n_waiting and budget > 0:
        n_waiting -= 1
        node = stack[n_waiting]
        budget -= (ints[node, STOP] - ints[node, START]) * limits.max_features
        equal = describe_keys(levels, limits, nodes, scratch, node)
        if equal or nodes.floats[node, WEIGHT] < 2 * limits.min_weight:
            continue
        find_split(levels, limits, nodes, scratch, node)
        if not split_found(levels, limits, nodes, scratch, node):
            continue
        child = node + 1
        for _ in range(ints[node, CHILDREN]):
            m = ints[child, STOP] - ints[child, START]
            if m >= limits.min_split and ints[child, DEPTH] < limits.max_depth:
                stack[n_waiting] = child
                n_waiting += 1
            else:
                describe_keys(levels, limits, nodes, scratch, child)
            child += 2 * m - 1
    return n_waiting


@compiled
def next_node(X, i, ints, floats, node):
    """Where row i goes from a node: a leaf leads to itself."""
    packed = ints[node, 1]
    x = X[i, (packed >> 1) & 0x7FFFFFFF]
    # Without a branch: which way a row goes is hard to foresee.
    goes_left = np.int64(x <= floats[node, 0]) | (np.int64(x != x) & packed & 1)
    return (packed >> 32) + 1 - goes_left


@compiled
def add_leaf_values(X, ints, floats, roots, depths, leaf, value, out):
    """Add the values of the leaves of each row of X (n, d), over all trees, to out (n, S).

    A node (N, 2) is a threshold, and as an integer its left child, its column and a bit that
    says whether NaN goes left; the right child is the next. Tree t starts at roots[t] and has
    depths[t] levels; leaf (N,) is the place of a leaf in value. Eight rows go down at once:
    each of their steps waits for the one before.
    """
    n = X.shape[0]
    for t in range(roots.shape[0]):
        root, depth = roots[t], depths[t]
        i = 0
        while i + 8 <= n:
            a, b, c, d, e, f, g, h = root, root, root, root, root, root, root, root
            for step in range(depth):
                a = next_node(X, i, ints, floats, a)
                b = next_node(X, i + 1, ints, floats, b)
                c = next_node(X, i + 2, ints, floats, c)
                d = next_node(X, i + 3, ints, floats, d)
                e = next_node(X, i + 4, ints, floats, e)
                f = next_node(X, i + 5, ints, floats, f)
                g = next_node(X, i + 6, ints, floats, g)
                h = next_node(X, i + 7, ints, floats, h)
                if step & 3 != 3:
                    continue
                ends = leaf[a] >= 0 and leaf[b] >= 0 and leaf[c] >= 0 and leaf[d] >= 0
                if ends and leaf[e] >= 0 and leaf[f] >= 0 and leaf[g] >= 0 and leaf[h] >= 0:
                    break
            for k in range(out.shape[1]):
                out[i, k] += value[leaf[a], k]
                out[i + 1, k] += value[leaf[b], k]
                out[i + 2, k] += value[leaf[c], k]
                out[i + 3, k] += value[leaf[d], k]
                out[i + 4, k] += value[leaf[e], k]
                out[i + 5, k] += value[leaf[f], k]
                out[i + 6, k] += value[leaf[g], k]
                out[i + 7, k] += value[leaf[h], k]
            i += 8
        while i < n:
            node = root
            while leaf[node] < 0:
                node = next_node(X, i, ints, floats, node)
            for k in range(out.shape[1]):
                out[i, k] += value[leaf[node], k]
            i += 1
