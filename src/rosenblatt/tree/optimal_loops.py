# mypy: ignore-errors
"""The best tree of depth two on coded columns: every root, and the best stump on both its sides.

Legend: codes (n, d) the level of each row in each column. What a row adds to the sums of a level is
its `amount` in its `channel`: of two classes the signed weight in the only channel, so that a leaf
scores ``|S|``; of more its weight in the channel of its class, and a leaf scores ``max_k S_k``. The
loss of a tree is the weight less the scores of its leaves: the weight of its mistakes, or twice
that of two classes. `unit`, 2 or 1, says which. All sums are whole numbers, so the order in which
they are made does not matter.
"""

from rosenblatt.loops import compiled


@compiled
def take_rows(codes, rows, levels, found, n_levels):
    """Write the codes of some rows to found (m, d), numbered anew without gaps.

    Changes levels (d, 256), which gets the level that each new one had, and n_levels (d,).
    """
    d = codes.shape[1]
    for j in range(d):
        for v in range(256):
            levels[j, v] = -1
    for i in rows:
        for j in range(d):
            levels[j, codes[i, j]] = 0
    for j in range(d):
        held = 0
        for v in range(256):
            if levels[j, v] == 0:
                levels[j, v] = held
                held += 1
        n_levels[j] = held
    for p in range(rows.shape[0]):
        for j in range(d):
            found[p, j] = levels[j, codes[rows[p], j]]
    for j in range(d):
        for v in range(256):
            if levels[j, v] >= 0:
                levels[j, levels[j, v]] = v  # no later level is overwritten: new ones are smaller


@compiled
def add_rows(codes, channel, amount, rows, sums):
    """Add rows to the sums (d, 256, channels) of their levels."""
    for i in rows:
        for j in range(codes.shape[1]):
            sums[j, codes[i, j], channel[i]] += amount[i]


@compiled
def sort_by_level(codes, j, n_levels, starts, order):
    """Write the rows in the order of column j to order (n,), where each level begins to starts."""
    for v in range(n_levels + 1):
        starts[v] = 0
    for i in range(codes.shape[0]):
        starts[codes[i, j] + 1] += 1
    for v in range(n_levels):
        starts[v + 1] += starts[v]
    for i in range(codes.shape[0]):
        order[starts[codes[i, j]]] = i
        starts[codes[i, j]] += 1
    for v in range(n_levels, 0, -1):
        starts[v] = starts[v - 1]
    starts[0] = 0


@compiled
def best_stumps(whole, left, n_levels, totals, found):
    """Find the best stump of the rows on the left, and of those that are not.

    whole, left (d, 256, channels) have the sums of all rows and of those on the left. Writes the
    score, column and level (-1 for a leaf) of both to found (2, 3). Scratch: totals (4, channels).
    """
    if whole.shape[2] == 1:
        stumps_of_two_classes(whole, left, n_levels, found)
        return
    L, R, a, b = totals[0], totals[1], totals[2], totals[3]
    K = whole.shape[2]
    found[:, 0], found[:, 1:] = 0, -1
    for k in range(K):
        L[k], R[k] = 0, 0
        for v in range(n_levels[0]):
            L[k] += left[0, v, k]
            R[k] += whole[0, v, k] - left[0, v, k]
        found[0, 0], found[1, 0] = max(found[0, 0], L[k]), max(found[1, 0], R[k])
    for j in range(whole.shape[0]):
        for k in range(K):
            a[k], b[k] = 0, 0
        for v in range(n_levels[j] - 1):
            low, high, low_right, high_right = 0, 0, 0, 0
            for k in range(K):
                a[k] += left[j, v, k]
                b[k] += whole[j, v, k] - left[j, v, k]
                low, high = max(low, a[k]), max(high, L[k] - a[k])
                low_right, high_right = max(low_right, b[k]), max(high_right, R[k] - b[k])
            if low + high > found[0, 0]:
                found[0, 0], found[0, 1], found[0, 2] = low + high, j, v
            if low_right + high_right > found[1, 0]:
                found[1, 0], found[1, 1], found[1, 2] = low_right + high_right, j, v


@compiled
def stumps_of_two_classes(whole, left, n_levels, found):
    """The same, of signed sums."""
    L, R = 0, 0
    for v in range(n_levels[0]):
        L += left[0, v, 0]
        R += whole[0, v, 0] - left[0, v, 0]
    best_left, left_column, left_level = abs(L), -1, -1
    best_right, right_column, right_level = abs(R), -1, -1
    for j in range(whole.shape[0]):
        a, b = 0, 0
        for v in range(n_levels[j] - 1):
            a += left[j, v, 0]
            b += whole[j, v, 0] - left[j, v, 0]
            score, score_right = abs(a) + abs(L - a), abs(b) + abs(R - b)
            if score > best_left:
                best_left, left_column, left_level = score, j, v
            if score_right > best_right:
                best_right, right_column, right_level = score_right, j, v
    found[0, 0], found[0, 1], found[0, 2] = best_left, left_column, left_level
    found[1, 0], found[1, 1], found[1, 2] = best_right, right_column, right_level


@compiled
def search_roots(
    codes, channel, amount, n_levels, whole, unit, total, first, last, left, starts, order, totals,
    stumps, best,
):  # fmt: skip
    """Find the best tree of depth two whose root asks for one of the columns `first` to `last`.

    For each root column the rows move from the right to the left, level by level. A row that moves
    lowers the loss by `unit` times its weight at most, so the stumps are looked for only where
    enough has moved since the last time to beat `best` (8,): loss, root column and level, column
    and level on the left, on the right; it is changed where a tree loses less. `total` is the
    weight of all rows. Scratch: left like whole, starts (257,), order (n,), totals, stumps.
    """
    for j in range(first, last):
        left[:] = 0
        sort_by_level(codes, j, n_levels[j], starts, order)
        loss, moved = best[0], 0
        for v in range(n_levels[j] - 1):
            rows = order[starts[v] : starts[v + 1]]
            add_rows(codes, channel, amount, rows, left)
            for i in rows:
                moved += unit * abs(amount[i])
            if loss - moved >= best[0]:
                continue
            best_stumps(whole, left, n_levels, totals, stumps)
            loss, moved = total - stumps[0, 0] - stumps[1, 0], 0
            if loss < best[0]:
                best[0], best[1], best[2] = loss, j, v
                for side in range(2):
                    best[3 + 2 * side] = stumps[side, 1]
                    best[4 + 2 * side] = stumps[side, 2]
