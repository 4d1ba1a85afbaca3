# mypy: ignore-errors
"""Growing one tree of gradient boosting on coded columns, leaf by leaf, by several threads.

See `boosted_split_loops` for the notation, and for the best split of a node.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.random import random_bits
from rosenblatt.loops.simd import prefetch

from .boosted_split_loops import (
    AHEAD,
    BY_DIFFERENCE,
    BYTE,
    CATEGORICAL,
    COLUMN,
    COLUMNS_A_BLOCK,
    DEPTH,
    DITHER,
    GAIN,
    HAS_MISSING,
    L2,
    LEAST_HESSIAN,
    LEAST_ROWS,
    LEFT,
    LEFT_SUM,
    LEVEL,
    LEVELS,
    LOSS,
    LOWER,
    MISSING,
    MISSING_LEFT,
    MONOTONIC,
    MOST_DEPTH,
    MOST_LEAVES,
    N_FREE,
    N_LEAVES,
    N_NODES,
    N_OPEN,
    NEWTON_LEAVES,
    OPENED,
    PARENT,
    SEED,
    SHARE_TRIED,
    SHARED_ABOVE,
    SHRINKAGE,
    SLOT,
    START,
    STOP,
    SUM,
    UPPER,
    VALUE,
    WANTED,
    WORK,
    find_split,
    histograms,
    newton_step,
    pack,
    sums_of,
)
from .boosting_loops import derivatives
from .fork_join_loops import (
    ABOUT,
    KIND,
    MOST_PARTS,
    N_HELPERS,
    PARTS,
    TICKET,
    claim,
    next_part,
    post,
    report,
    wait,
)

DONE, PAUSE = -1, -2
WORK_A_CALL = 300_000_000
# Jobs that threads share, and how many parts those over all rows have.
# Of one type, and not Python's whole numbers, for each of which `lead` would be compiled anew.
PACK, HISTOGRAMS, SPLITS, PARTITION, LEAF_OF_ROWS, LEAF_SUMS, ADD_LEAVES = np.arange(7)
FIRST, SECOND, HALVES = np.arange(3)
ROW_PARTS = 16


class Tree(NamedTuple):
    """The rows and the memory in which a tree grows."""

    codes: Any  # (blocks, n) levels of eight columns each
    rows: Any  # (2, n + 16) in the order of the nodes, and scratch
    values: Any  # (n,) g and h as one integer
    columns: Any  # (4, d)
    groups: Any  # (m, d) which columns may meet
    hist: Any  # (slots + 1, blocks, 8 levels); slot 0 and the last are scratch
    whole: Any  # settings
    real: Any
    node: Any  # (nodes, 11)
    number: Any  # (nodes, 4)
    sets: Any  # (nodes, 4) categories that go left
    active: Any  # (nodes, m) groups that are still allowed
    heap: Any  # (nodes,) those that can be split
    free: Any  # (slots,) a stack
    state: Any
    allowed: Any  # (2, d), and the next two: scratch for two nodes
    ints: Any  # (2, 3, 256 or d)
    floats: Any  # (2, 2, 256)
    sums: Any  # (parts, nodes, 2) of G and H of leaves
    totals: Any  # (parts, 3) of the losses, of the |g| and of the h


class Derived(NamedTuple):
    """What a tree is grown on: derivatives at raw predictions, hessian of shape (1,) or (n,)."""

    gradient: Any
    hessian: Any
    raw: Any
    y: Any
    weight: Any


@compiled
def levels_left(v, columns, node, sets, left):
    """Write to left (256,) which levels of its column go to the left child of node v."""
    if columns[CATEGORICAL, node[v, COLUMN]]:
        for level in range(LEVELS):
            word = sets[v, level >> 6] >> np.uint64(level & 63)
            left[level] = np.int64(word & np.uint64(1))
    else:
        for level in range(LEVELS):
            left[level] = level <= node[v, LEVEL]
        left[MISSING] = node[v, MISSING_LEFT]


@compiled
def partition(codes, j, left, start, stop, rows):
    """Move rows start to stop that go left before those that go right; return where these start.

    rows (2, n + 16): the second half is scratch. The order is kept on both sides.
    """
    eight, shift = codes[j // COLUMNS_A_BLOCK], np.uint64(j % COLUMNS_A_BLOCK * 8)
    order, right, ahead = (
        rows[0, start:stop],
        rows[1, start:],
        rows[0, start + AHEAD : stop + AHEAD],
    )
    p, q = np.uint64(0), np.uint64(0)  # indices that are not negative are not checked
    for i in range(order.shape[0]):
        row = order[i]
        prefetch(eight, np.int64(ahead[i]))
        goes_left = np.uint64(left[(eight[np.uint32(row)] >> shift) & BYTE])
        order[p], right[q] = row, row
        p += goes_left
        q += np.uint64(1) - goes_left
    moved = rows[0, start + np.int64(p) : stop]
    for i in range(moved.shape[0]):
        moved[i] = right[i]
    return start + np.int64(p)


@compiled
def join_halves(start, middle, half, half_middle, stop, rows):
    """Bring the left rows of both halves before the right ones; return where these start.

    The rows start to half are divided at middle, those from half to stop at half_middle.
    """
    right = rows[1, start : start + half - middle]  # where `partition` left them
    moved = rows[0, middle : middle + half_middle - half]
    later = rows[0, half:half_middle]
    for i in range(moved.shape[0]):
        moved[i] = later[i]
    rest = rows[0, middle + half_middle - half : half_middle]
    for i in range(right.shape[0]):
        rest[i] = right[i]
    return middle + half_middle - half


@compiled
def add_children(v, middle, columns, groups, whole, real, node, number, active, state):
    """Add the two nodes below v, whose rows are divided at `middle`."""
    j, start, stop = node[v, COLUMN], node[v, START], node[v, STOP]
    if not columns[HAS_MISSING, j]:
        node[v, MISSING_LEFT] = middle - start > stop - middle
    first = state[N_NODES]
    state[N_NODES] += 2
    state[N_LEAVES] += 1
    node[v, LEFT] = first
    for child in (first, first + 1):
        right = child > first
        node[child, START] = middle if right else start
        node[child, STOP] = stop if right else middle
        node[child, SUM] = node[v, SUM] - node[v, LEFT_SUM] if right else node[v, LEFT_SUM]
        node[child, LEFT], node[child, SLOT] = 0, 0
        node[child, DEPTH], node[child, PARENT] = node[v, DEPTH] + 1, v
        _, G, H = sums_of(node[child, SUM], whole, real)
        number[child, LOWER], number[child, UPPER] = number[v, LOWER], number[v, UPPER]
        number[child, VALUE] = newton_step(G, H, real[L2], number[v, LOWER], number[v, UPPER])
        for k in range(groups.shape[0]):
            active[child, k] = active[v, k] & groups[k, j]
    sign = columns[MONOTONIC, j]
    if sign != 0:
        middle_value = 0.5 * (number[first, VALUE] + number[first + 1, VALUE])
        low, high = (first, first + 1) if sign > 0 else (first + 1, first)
        number[low, UPPER], number[high, LOWER] = middle_value, middle_value


@compiled
def allowed_columns(v, groups, active, seed, share, order, allowed):
    """Write to allowed (d,) the columns that node v may try: by the groups, or a share of those."""
    d = allowed.shape[0]
    n = 0
    for j in range(d):
        allowed[j] = groups.shape[0] == 0
        for k in range(groups.shape[0]):
            allowed[j] |= active[v, k] & groups[k, j]
        if allowed[j]:
            order[n] = j
            n += 1
    if share >= 1.0:
        return
    tried = max(1, int(np.ceil(share * n)))
    draw, _ = random_bits(np.uint64(seed) + np.uint64(v))
    for i in range(n):
        draw, _ = random_bits(draw)
        k = i + np.int64(draw % np.uint64(n - i))
        order[i], order[k] = order[k], order[i]
        allowed[order[i]] = i < tried


@compiled
def push(v, heap, number, state):
    """Add node v to the heap of nodes that can be split, the largest gain first."""
    p = state[N_OPEN]
    state[N_OPEN] += 1
    while p > 0 and number[heap[(p - 1) // 2], GAIN] < number[v, GAIN]:
        heap[p] = heap[(p - 1) // 2]
        p = (p - 1) // 2
    heap[p] = v


@compiled
def pop(heap, number, state):
    """Take the node of the largest gain off the heap."""
    top = heap[0]
    state[N_OPEN] -= 1
    n = state[N_OPEN]
    v, p = heap[n], 0
    while 2 * p + 1 < n:
        child = 2 * p + 1
        if child + 1 < n and number[heap[child + 1], GAIN] > number[heap[child], GAIN]:
            child += 1
        if number[heap[child], GAIN] <= number[v, GAIN]:
            break
        heap[p] = heap[child]
        p = child
    heap[p] = v
    return top


@compiled(inline=True)
def can_split(v, whole, node):
    """Whether node v has rows enough and may have children."""
    enough = node[v, STOP] - node[v, START] >= 2 * whole[LEAST_ROWS]
    return enough and node[v, DEPTH] < whole[MOST_DEPTH]


@compiled
def subtract(hist, slot, other):
    """Take the histograms in another slot off those in a slot of hist (slots, blocks, 8 levels)."""
    for block in range(hist.shape[1]):
        for b in range(hist.shape[2]):
            hist[slot, block, b] -= hist[other, block, b]


@compiled
def sibling(v, node):
    """The other child of the parent of node v; -1 for the root."""
    return 2 * node[node[v, PARENT], LEFT] + 1 - v if v > 0 else np.int64(-1)


@compiled
def open_node(child, turn, v, tree):
    """Find the split of a node: of v, whose histograms are there, or of its sibling.

    Writes to state whether there is one. `turn` is 0 for v and 1 for the sibling: each has scratch
    space of its own.
    """
    codes, rows, values, columns = tree.codes, tree.rows, tree.values, tree.columns
    groups, hist, whole, real = tree.groups, tree.hist, tree.whole, tree.real
    node, number, sets, active = tree.node, tree.number, tree.sets, tree.active
    state, allowed, ints, floats = tree.state, tree.allowed, tree.ints, tree.floats
    state[OPENED + turn] = 0
    if not can_split(child, whole, node):
        return
    if child != v and state[BY_DIFFERENCE]:
        subtract(hist, node[child, SLOT], node[v, SLOT])
    elif child != v:
        none = np.int64(0)  # not a literal, which would compile loops anew
        start, stop = node[child, START], node[child, STOP]
        histograms(codes, rows, values, start, stop, none, codes.shape[0], hist, none)
    tried = allowed[turn]
    allowed_columns(child, groups, active, whole[SEED], real[SHARE_TRIED], ints[turn, 2], tried)
    state[OPENED + turn] = find_split(
        child, hist, node[child, SLOT], columns, tried, whole, real, node, number, sets,
        ints[turn], floats[turn],
    )  # fmt: skip


@compiled
def leaf_of_rows(first, last, node, rows):
    """Write the leaf of each row to the second half of rows (2, n), of the nodes first to last."""
    for v in range(first, last):
        if node[v, LEFT] == 0:
            places = rows[0, node[v, START] : node[v, STOP]]
            for i in range(places.shape[0]):
                rows[1, np.uint32(places[i])] = v


@compiled
def leaf_sums(first, last, rows, gradient, hessian, sums):
    """Write G and H of each leaf over rows first to last to sums (nodes, 2).

    hessian has shape (1,) if it is constant; H is then left out.
    """
    leaf, gradient = rows[1, first:last], gradient[first:last]
    sums[:] = 0.0
    if hessian.shape[0] > 1:
        hessian = hessian[first:last]
        for i in range(leaf.shape[0]):
            v = np.uint32(leaf[i])
            sums[v, 0] += gradient[i]
            sums[v, 1] += hessian[i]
    else:
        for i in range(leaf.shape[0]):
            sums[np.uint32(leaf[i]), 0] += gradient[i]


@compiled
def add_leaves(first, last, rows, number, raw):
    """Add the values of the leaves to rows first to last of raw (n,)."""
    leaf, raw = rows[1, first:last], raw[first:last]
    for i in range(leaf.shape[0]):
        raw[i] += number[np.uint32(leaf[i]), VALUE]


@compiled
def do_part(part, board, tree, derived):
    """Do one part of the job on the board."""
    codes, rows, values, hist = tree.codes, tree.rows, tree.values, tree.hist
    whole, real, node, number = tree.whole, tree.real, tree.node, tree.number
    state, ints, sums, totals = tree.state, tree.ints, tree.sums, tree.totals
    gradient, hessian, raw, y, weight = derived
    kind, v, parts = board[KIND], board[ABOUT], board[PARTS]
    n = values.shape[0]
    first, last = n * part // parts, n * (part + 1) // parts
    if kind == PACK:
        ints[0, 0, part] = pack(
            gradient, hessian, whole, real, whole[DITHER], first, last, rows, values
        )
    elif kind == HISTOGRAMS:  # the halves of the rows, for each block
        block, start, stop = part // 2, node[v, START], node[v, STOP]
        half = (start + stop) // 2
        first, last = (half, stop) if part % 2 else (start, half)
        slot = hist.shape[0] - 1 if part % 2 else node[v, SLOT]
        histograms(codes, rows, values, first, last, block, block + 1, hist, slot)
    elif kind == SPLITS:
        open_node(sibling(v, node) if part else v, part, v, tree)
    elif kind == PARTITION:
        start, stop = node[v, START], node[v, STOP]
        half = (start + stop) // 2
        first, last = (half, stop) if part else (start, half)
        ints[0, 0, part] = partition(codes, node[v, COLUMN], ints[0, 1], first, last, rows)
    elif kind == LEAF_OF_ROWS:
        n_nodes = state[N_NODES]
        leaf_of_rows(n_nodes * part // parts, n_nodes * (part + 1) // parts, node, rows)
    elif kind == LEAF_SUMS:
        leaf_sums(first, last, rows, gradient, hessian, sums[part, : state[N_NODES]])
    else:
        add_leaves(first, last, rows, number, raw)
        if whole[LOSS] >= 0:
            totals[part, 0], totals[part, 1], totals[part, 2] = derivatives(
                raw, y, weight, whole[LOSS], 0.0, first, last, gradient, hessian
            )


@compiled
def lead(kind, about, parts, board, tree, derived):
    """Have a job done: by this thread and those that help."""
    board[KIND], board[ABOUT], board[PARTS] = kind, about, parts
    ticket, helped, part = board[TICKET], board[N_HELPERS] > 0, np.int64(0)
    if helped:
        post(board)
        part = claim(board, ticket)
    while 0 <= part < parts:
        do_part(part, board, tree, derived)
        part += 1
        if helped:
            report(board)
            part = claim(board, ticket)
    if helped:
        wait(board)


@compiled
def help_leader(ticket, board, tree, derived):
    """Do parts of the jobs of a leader until it leaves."""
    part = next_part(board, ticket)
    while part >= 0:
        do_part(part, board, tree, derived)
        report(board)
        part = next_part(board, ticket)


@compiled
def plant(board, tree, derived):
    """Write g and h of all rows as integers, and the root."""
    values, whole, real, node = tree.values, tree.whole, tree.real, tree.node
    number, active, free, state = tree.number, tree.active, tree.free, tree.state
    ints = tree.ints
    parts = ROW_PARTS if board[N_HELPERS] > 0 else 1
    lead(PACK, FIRST, parts, board, tree, derived)
    node[0] = 0
    number[0] = 0.0
    node[0, STOP] = values.shape[0]
    for part in range(parts):
        node[0, SUM] += ints[0, 0, part]
    _, G, H = sums_of(node[0, SUM], whole, real)
    number[0, LOWER], number[0, UPPER] = -np.inf, np.inf
    number[0, VALUE] = newton_step(G, H, real[L2], -np.inf, np.inf)
    active[:1] = 1
    for i in range(free.shape[0]):
        free[i] = free.shape[0] - i
    state[:] = 0
    state[N_NODES], state[N_LEAVES] = 1, 1
    enough = values.shape[0] >= 2 * whole[LEAST_ROWS] and H >= LEAST_HESSIAN
    state[WANTED] = 0 if enough else -1
    state[N_FREE] = free.shape[0] - 1
    node[0, SLOT] = free[-1]


@compiled(inline=True)
def build(v, board, tree, derived):
    """The histograms of node v."""
    codes, rows, values, columns = tree.codes, tree.rows, tree.values, tree.columns
    hist, whole, node = tree.hist, tree.whole, tree.node
    start, stop, slot, blocks = node[v, START], node[v, STOP], node[v, SLOT], codes.shape[0]
    few = (stop - start) * columns.shape[1] < whole[SHARED_ABOVE]
    if few or board[N_HELPERS] == 0 or 2 * blocks > MOST_PARTS:
        histograms(codes, rows, values, start, stop, np.int64(0), blocks, hist, slot)
        return
    lead(HISTOGRAMS, v, 2 * blocks, board, tree, derived)
    second = hist.shape[0] - 1
    for block in range(blocks):
        for b in range(hist.shape[2]):
            hist[slot, block, b] += hist[second, block, b]


@compiled(inline=True)
def divide(v, board, tree, derived):
    """Divide the rows of node v by its split; return where those of the right child start."""
    codes, rows, columns, whole = tree.codes, tree.rows, tree.columns, tree.whole
    node, sets, ints = tree.node, tree.sets, tree.ints
    start, stop = node[v, START], node[v, STOP]
    levels_left(v, columns, node, sets, ints[0, 1])
    if board[N_HELPERS] == 0 or (stop - start) * COLUMNS_A_BLOCK < 2 * whole[SHARED_ABOVE]:
        return partition(codes, node[v, COLUMN], ints[0, 1], start, stop, rows)
    lead(PARTITION, v, HALVES, board, tree, derived)
    return join_halves(start, ints[0, 0, 0], (start + stop) // 2, ints[0, 0, 1], stop, rows)


@compiled(inline=True)
def open_children(v, board, tree, derived):
    """Find the splits of node v, whose histograms are there, and of its sibling, and note them."""
    columns, hist, whole, node = tree.columns, tree.hist, tree.whole, tree.node
    number, heap, free, state = tree.number, tree.heap, tree.free, tree.state
    u, other = node[v, PARENT], sibling(v, node)
    state[BY_DIFFERENCE] = v > 0 and node[u, SLOT] > 0
    if state[BY_DIFFERENCE]:
        node[other, SLOT], node[u, SLOT] = node[u, SLOT], 0
    cells = columns.shape[1] * hist.shape[2]
    if board[N_HELPERS] > 0 and state[BY_DIFFERENCE] and cells > whole[SHARED_ABOVE]:
        lead(SPLITS, v, HALVES, board, tree, derived)
    else:
        open_node(v, FIRST, v, tree)
        if other >= 0:
            open_node(other, SECOND, v, tree)
    for turn in range(1 if other < 0 else 2):
        child = other if turn else v
        if state[OPENED + turn]:
            push(child, heap, number, state)
        elif node[child, SLOT] > 0:
            free[state[N_FREE]] = node[child, SLOT]
            state[N_FREE] += 1


@compiled
def grow(board, tree, derived):
    """Grow a tree leaf by leaf, the largest gain first. Returns DONE, or PAUSE to be called again.

    Threads that call `help_leader` share what is worth it.
    """
    columns, groups, whole, real = tree.columns, tree.groups, tree.whole, tree.real
    node, number, active, heap = tree.node, tree.number, tree.active, tree.heap
    free, state = tree.free, tree.state
    while True:
        v = state[WANTED]
        if v >= 0:
            build(v, board, tree, derived)
            state[WORK] += (node[v, STOP] - node[v, START]) * columns.shape[1]
            state[WANTED] = -1
            open_children(v, board, tree, derived)
        if state[N_OPEN] == 0 or state[N_LEAVES] >= whole[MOST_LEAVES]:
            return DONE
        if state[WORK] > WORK_A_CALL:
            state[WORK] = 0
            return PAUSE
        v = pop(heap, number, state)
        middle = divide(v, board, tree, derived)
        add_children(v, middle, columns, groups, whole, real, node, number, active, state)
        first = node[v, LEFT]
        if can_split(first, whole, node) or can_split(first + 1, whole, node):
            left_is_smaller = 2 * node[first, STOP] <= node[v, START] + node[v, STOP]
            state[WANTED] = first if left_is_smaller else first + 1
            if state[N_FREE] > 0:
                state[N_FREE] -= 1
                node[state[WANTED], SLOT] = free[state[N_FREE]]
        elif node[v, SLOT] > 0:
            free[state[N_FREE]] = node[v, SLOT]
            state[N_FREE] += 1
        if state[N_LEAVES] >= whole[MOST_LEAVES]:
            return DONE


@compiled
def finish(board, tree, derived):
    """Set the values of the leaves to the Newton steps of their rows, and add them to raw (n,).

    The sums are of the gradients themselves, which the histograms have rounded. If the loss has one
    output, the derivatives are then those at raw, and totals (parts, 3) the sums of the losses,
    of the |g| and of the h.
    """
    real, node, number, state = tree.real, tree.node, tree.number, tree.state
    sums = tree.sums
    hessian, helped = derived.hessian, board[N_HELPERS] > 0
    lead(LEAF_OF_ROWS, FIRST, ROW_PARTS if helped else 1, board, tree, derived)
    lead(LEAF_SUMS, FIRST, sums.shape[0], board, tree, derived)
    for v in range(state[N_NODES]):
        if node[v, LEFT] == 0:
            G, H = 0.0, 0.0
            for part in range(sums.shape[0]):
                G += sums[part, v, 0]
                H += sums[part, v, 1]
            if hessian.shape[0] == 1:
                H = hessian[0] * float(node[v, STOP] - node[v, START])
            value = newton_step(G, H, real[L2], number[v, LOWER], number[v, UPPER])
            number[v, VALUE] = real[SHRINKAGE] * value
    lead(ADD_LEAVES, FIRST, sums.shape[0], board, tree, derived)


@compiled
def grow_tree(begun, board, tree, derived):
    """Grow a tree, and give its leaves their values if these are Newton steps.

    Returns DONE, or PAUSE to be called again with `begun`. See `grow` for what is read and changed.
    """
    if not begun:
        plant(board, tree, derived)
    found = grow(board, tree, derived)
    if found == DONE and tree.whole[NEWTON_LEAVES]:
        finish(board, tree, derived)
    return found
