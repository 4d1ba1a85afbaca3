# mypy: ignore-errors
"""Products of a symmetric matrix with a few vectors, each of which leaves out a group of rows."""

from rosenblatt.loops import compiled

TILE = 256  # columns of four rows that stay in the nearest cache


@compiled(reorder_sums=True)  # products of matrices: any order of their terms will do
def four_rows(first, second, third, fourth, v, a, b, c, d, sums):
    """Add a, b, c, d times four rows (m,) to sums (m,); return their products with v (m,)."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for j in range(sums.shape[0]):
        p += first[j] * v[j]
        q += second[j] * v[j]
        r += third[j] * v[j]
        s += fourth[j] * v[j]
        sums[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
    return p, q, r, s


@compiled(reorder_sums=True)
def add_row(K, i, start, stop, v, sums):
    """Add what row i of K has in columns start to stop, all before i, to sums (n,)."""
    total = 0.0
    for j in range(start, stop):
        total += K[i, j] * v[j]
        sums[j] += K[i, j] * v[i]
    sums[i] += total


@compiled
def add_symmetric(K, bounds, left_out, V, start, stop, sums):
    """Add what the rows start to stop of the lower half of K have of V K to sums (c, n).

    Reads symmetric K (n, n), whose rows are in groups from bounds[g] to bounds[g + 1], and vectors
    V (c, n), of which V[k] is zero in group left_out[k] and there stays out of the sums. Changes
    sums (c, n).
    """
    g = 0
    for i in range(start, stop):
        while i >= bounds[g + 1]:
            g += 1
        # Rows are taken four at a time, where as many are left of the group.
        place = (i - max(bounds[g], start)) % 4
        first = i - place
        whole = first + 4 <= min(bounds[g + 1], stop)
        for k in range(V.shape[0]):
            if left_out[k] != g:
                sums[k, i] += K[i, i] * V[k, i]
                add_row(K, i, first if whole else bounds[g], i, V[k], sums[k])
        if whole and place > 0:
            continue
        for h in range(g + 1):
            last = first if h == g else bounds[h + 1]
            if not whole:
                for k in range(V.shape[0]):
                    if h < g and left_out[k] != g and left_out[k] != h:
                        add_row(K, i, bounds[h], last, V[k], sums[k])
                continue
            for j in range(bounds[h], last, TILE):
                end = min(j + TILE, last)
                for k in range(V.shape[0]):
                    if left_out[k] != g and left_out[k] != h:
                        v, of = V[k], sums[k]
                        p, q, r, s = four_rows(
                            K[i, j:end], K[i + 1, j:end], K[i + 2, j:end], K[i + 3, j:end],
                            v[j:end], v[i], v[i + 1], v[i + 2], v[i + 3], of[j:end],
                        )  # fmt: skip
                        of[i] += p
                        of[i + 1] += q
                        of[i + 2] += r
                        of[i + 3] += s
