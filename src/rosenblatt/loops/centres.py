"""The middle of each bucket of rows, from a few of them: what distances are taken from.

Legend: X, buckets as in `counts`; B buckets, d features, m rows of each bucket looked at.
"""

from . import compiled

# How far out a row may lie and still be near, in quartile distances: rounding is then at most
# 2**16 times 2**-53 of the scatter of what a typical row adds.
REACH = 256.0


@compiled
def choose_rows(buckets, step, n_rows, seen, chosen):
    """Fill chosen (B, m) with rows of each bucket, among every step-th of all, evenly spread.

    n_rows (B,) says how many of these the bucket has; it is left out if they are fewer than 2 m.
    seen (2, B) are zeros to count with.
    """
    m = chosen.shape[1]
    for i in range(0, buckets.shape[0], step):
        b = buckets[i]
        if b >= 0 and n_rows[b] >= 2 * m:
            if seen[0, b] == seen[1, b] and seen[1, b] < m * (n_rows[b] // m):
                chosen[b, seen[1, b] // (n_rows[b] // m)] = i
                seen[1, b] += n_rows[b] // m
            seen[0, b] += 1


@compiled
def find_centres(rows, n_rows, centres, reach, sample):
    """Fill centres and reach (B, d): the middle of the chosen rows (B m, d), and how far is near.

    The scale is the lower quartile of the distances from the median: half of the rows may lie
    anywhere and the centre is still in the midst of the others. Too small a scale only costs time.
    A bucket of fewer than 2 m rows has no near rows. sample (m,) is scratch space.
    """
    m = sample.shape[0]
    for b in range(centres.shape[0]):
        for j in range(centres.shape[1]):
            reach[b, j] = -1
            if n_rows[b] >= 2 * m:
                for s in range(m):
                    sample[s] = rows[b * m + s, j]
                sort(sample)
                centres[b, j] = sample[m // 2]
                for s in range(m):
                    sample[s] = abs(sample[s] - centres[b, j])
                sort(sample)
                reach[b, j] = REACH * first_positive(sample, m // 4)


@compiled
def sort(values):
    """Sort a few values in place, by insertion."""
    for s in range(1, values.shape[0]):
        value, t = values[s], s
        while t > 0 and values[t - 1] > value:
            values[t] = values[t - 1]
            t -= 1
        values[t] = value


@compiled
def first_positive(values, start):
    """The first number above zero from `start` on; 0 if there is none."""
    for s in range(start, values.shape[0]):
        if values[s] > 0:
            return values[s]
    return 0.0
