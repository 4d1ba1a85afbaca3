# mypy: ignore-errors
"""Moments by bucket: sums of numbers and squares, means and scatters, and their merging.

Legend: X, buckets, weights as in `bucket_counts`; B buckets or classes; d features. All sums are
pairs of doubles (see `pairs`), high numbers first: sums (2, B, d), mean (2, B, d), scatter
(2, B, d) of the weighted squared distances from the mean. weight is (2, B, 1), or (2, B, d) where
values may be missing. noise (B, d) bounds the error of the scatter.

Plain squares of numbers far from zero lose the spread to rounding; that is why others shift them
first. With 32 digits nothing is lost as long as the spread is more than 1e-13 of the mean, a row
costs the same whether it is typical or 1e8 times too large, and CSR needs only what it stores. Many
dense rows are summed in `shifted`, in half the time.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.pairs import add, divide, multiply, two_product, two_sum

# Units of the last place of a pair, with a few for good measure.
ROUNDING = 2.0**-100

LARGE_WEIGHT = 2.0**500  # products of two such would leave the range of doubles

TOO_LARGE = -2  # what merging returns if a scatter leaves the range of doubles


@compiled
def sum_squares(X, buckets, weights, sums, squares):
    """Add weight times number to sums, weight times square to squares, both pairs (2, B, d)."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                add_square(data[p], i, weights, sums, squares, b, np.uint32(indices[p]))
        else:
            for j in range(X.shape[1]):
                add_square(X[i, j], i, weights, sums, squares, b, j)


@compiled
def add_square(value, i, weights, sums, squares, b, j):
    """Add one number of row i to its cell."""
    x = np.float64(value)
    if weights is None:
        first, first_error = x, 0.0
        second, second_error = two_product(x, x)
    else:
        first, first_error = two_product(np.float64(weights[i]), x)
        second, second_error = two_product(first, x)
        second_error += first_error * x
    sums[0, b, j], rest = two_sum(sums[0, b, j], first)
    sums[1, b, j] += rest + first_error
    squares[0, b, j], rest = two_sum(squares[0, b, j], second)
    squares[1, b, j] += rest + second_error


@compiled
def sum_known_squares(X, buckets, weights, sums, squares, missing):
    """As `sum_squares`, leaving out NaN; the weight left out is added to missing (2, B, d)."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint32(indices[p])
                if data[p] == data[p]:
                    add_square(data[p], i, weights, sums, squares, b, j)
                else:
                    add_missing(i, weights, missing, b, j)
        else:
            for j in range(X.shape[1]):
                if X[i, j] == X[i, j]:
                    add_square(X[i, j], i, weights, sums, squares, b, j)
                else:
                    add_missing(i, weights, missing, b, j)


@compiled
def add_missing(i, weights, missing, b, j):
    """Add the weight of row i to a cell of missing (2, B, d)."""
    weight = 1.0 if weights is None else np.float64(weights[i])
    missing[0, b, j], rest = two_sum(missing[0, b, j], weight)
    missing[1, b, j] += rest


@compiled
def add_pairs(total, part, sign):
    """Add `sign` (+1 or -1) times the pairs part (2, m) to the pairs total (2, m)."""
    for c in range(total.shape[1]):
        total[0, c], total[1, c] = add(
            total[0, c], total[1, c], sign * part[0, c], sign * part[1, c]
        )


@compiled
def centre(weight, sums, squares, n_rows, mean, scatter, noise):
    """Turn sums and squares into mean, scatter and noise.

    mean = sum / weight; scatter = squares - sum mean. `n_rows` is the most rows that were added one
    by one, since each may leave a rounding in the low number; it is added to the noise there is.
    """
    for b in range(sums.shape[1]):
        for j in range(sums.shape[2]):
            v = j % weight.shape[2]
            if weight[0, b, v] == 0:
                continue
            m, m_low = divide(sums[0, b, j], sums[1, b, j], weight[0, b, v], weight[1, b, v])
            p, p_low = multiply(sums[0, b, j], sums[1, b, j], m, m_low)
            s, s_low = add(squares[0, b, j], squares[1, b, j], -p, -p_low)
            noise[b, j] += (1 + n_rows / 16) * ROUNDING * squares[0, b, j]
            mean[0, b, j], mean[1, b, j] = m, m_low
            if s > noise[b, j]:  # else the numbers were all the same
                scatter[0, b, j], scatter[1, b, j] = s, s_low


@compiled
def merge(sign, place, weight, mean, scatter, noise, other):
    """Add the moments `other` = (weight, mean, scatter, noise), class k to class place[k].

    Changes weight, mean, scatter and noise. With sign -1 the rows of `other` are taken out: the
    same formula with negative weight. Returns the first cell k d + j of `other` whose scatter would
    fall below zero by more than rounding; -1 if there is none, TOO_LARGE if doubles cannot hold it.

    With distance D = mean - other mean (Chan, Golub and LeVeque 1979):
    scatter = scatter + other scatter + D D w w' / (w + w').
    """
    other_weight, other_mean, other_scatter, other_noise = other
    bad, held = -1, True
    w = w_low = o = o_low = total = total_low = f = f_low = 0.0
    for k in range(place.shape[0]):
        t = place[k]
        for j in range(mean.shape[2]):
            if j < weight.shape[2]:  # else the weight is that of the first feature, and of all
                w, w_low = weight[0, t, j], weight[1, t, j]
                o, o_low = sign * other_weight[0, k, j], sign * other_weight[1, k, j]
                total, total_low = add(w, w_low, o, o_low)
                f, f_low = join_factor(w, w_low, o, o_low, total, total_low)
            if o == 0:
                continue
            m, m_low = mean[0, t, j], mean[1, t, j]
            n, n_low = other_mean[0, k, j], other_mean[1, k, j]
            D, D_low = add(m, m_low, -n, -n_low)
            mean[0, t, j], mean[1, t, j] = join_means(
                (w, w_low), (m, m_low), (o, o_low), (n, n_low), (total, total_low)
            )
            q, q_low = multiply(D, D_low, D, D_low)
            q, q_low = multiply(q, q_low, f, f_low)
            a, a_low = scatter[0, t, j], scatter[1, t, j]
            c, c_low = sign * other_scatter[0, k, j], sign * other_scatter[1, k, j]
            # The scatters first, so that either order gives the same bits.
            s, s_low = add(a, a_low, c, c_low)
            s, s_low = add(s, s_low, q, q_low)
            spread = abs(a) + abs(c) + abs(q) + abs(f * D) * (abs(m) + abs(n))
            noise[t, j] = (noise[t, j] + other_noise[k, j]) + ROUNDING * spread
            held = held and noise[t, j] < np.inf
            if sign < 0 and s <= noise[t, j]:
                if s < -noise[t, j] and bad < 0:
                    bad = k * mean.shape[2] + j
                s, s_low = 0.0, 0.0
            scatter[0, t, j], scatter[1, t, j] = s, s_low
        add_weights(sign, weight, t, other_weight, k)
    return bad if held else TOO_LARGE


@compiled
def merge_full(sign, place, weight, mean, scatter, noise, other, D):
    """As `merge`, for scatter (2, B, d, d) and one weight a class; D (2, d) is scratch space."""
    other_weight, other_mean, other_scatter, other_noise = other
    bad, held = -1, True
    for k in range(place.shape[0]):
        t = place[k]
        w, w_low = weight[0, t, 0], weight[1, t, 0]
        o, o_low = sign * other_weight[0, k, 0], sign * other_weight[1, k, 0]
        if o == 0:
            continue
        total, total_low = add(w, w_low, o, o_low)
        f, f_low = join_factor(w, w_low, o, o_low, total, total_low)
        for j in range(mean.shape[2]):
            m, m_low = mean[0, t, j], mean[1, t, j]
            n, n_low = other_mean[0, k, j], other_mean[1, k, j]
            D[0, j], D[1, j] = add(m, m_low, -n, -n_low)
            mean[0, t, j], mean[1, t, j] = join_means(
                (w, w_low), (m, m_low), (o, o_low), (n, n_low), (total, total_low)
            )
            spread = abs(f * D[0, j]) * (abs(D[0, j]) + abs(m) + abs(n))
            spread += abs(scatter[0, t, j, j]) + abs(other_scatter[0, k, j, j])
            noise[t, j] = (noise[t, j] + other_noise[k, j]) + ROUNDING * spread
            held = held and noise[t, j] < np.inf
        for j in range(mean.shape[2]):
            g, g_low = multiply(f, f_low, D[0, j], D[1, j])
            for i in range(j + 1):
                q, q_low = multiply(g, g_low, D[0, i], D[1, i])
                s, s_low = add(
                    scatter[0, t, j, i],
                    scatter[1, t, j, i],
                    sign * other_scatter[0, k, j, i],
                    sign * other_scatter[1, k, j, i],
                )
                s, s_low = add(s, s_low, q, q_low)
                if sign < 0:
                    if i == j and s < -noise[t, j] and bad < 0:
                        bad = k * mean.shape[2] + j
                    if abs(s) <= np.sqrt(noise[t, j]) * np.sqrt(noise[t, i]):
                        s, s_low = 0.0, 0.0
                scatter[0, t, j, i], scatter[1, t, j, i] = s, s_low
                scatter[0, t, i, j], scatter[1, t, i, j] = s, s_low
        add_weights(sign, weight, t, other_weight, k)
    return bad if held else TOO_LARGE


@compiled
def add_weights(sign, weight, t, other_weight, k):
    """Add the weights of class k of another statistic to those of class t."""
    for v in range(weight.shape[2]):
        weight[0, t, v], weight[1, t, v] = add(
            weight[0, t, v],
            weight[1, t, v],
            sign * other_weight[0, k, v],
            sign * other_weight[1, k, v],
        )


@compiled
def join_factor(w, w_low, o, o_low, total, total_low):
    """The pair w o / (w + o); 0 when nothing is left."""
    if total == 0:
        return 0.0, 0.0
    unit = weight_unit(w, o)
    f, f_low = multiply(w * unit, w_low * unit, o * unit, o_low * unit)
    f, f_low = divide(f, f_low, total * unit, total_low * unit)
    return f / unit, f_low / unit


@compiled
def weight_unit(w, o):
    """The power of two to multiply weights by, so that their products are in range: mostly 1."""
    return 1.0 if abs(w) + abs(o) < LARGE_WEIGHT else 1 / LARGE_WEIGHT


@compiled
def join_means(w, m, o, n, total):
    """The pair (w m + o n) / (w + o) for pairs; unchanged if the means are equal or one is new."""
    if w[0] == 0:
        return n
    if (m[0] == n[0] and m[1] == n[1]) or total[0] == 0:
        return m
    unit = weight_unit(w[0], o[0])
    a, a_low = multiply(w[0] * unit, w[1] * unit, m[0], m[1])
    b, b_low = multiply(o[0] * unit, o[1] * unit, n[0], n[1])
    a, a_low = add(a, a_low, b, b_low)
    return divide(a, a_low, total[0] * unit, total[1] * unit)


# Full scatters by bucket: sums of products of all pairs of features.
#
# Legend as above; products (2, B, d, d) are pairs. Most rows are multiplied in plain
# doubles, as distances from a centre near the middle of their bucket (see `tiles`); rows that lie
# far out come here, where 32 digits are kept, so that taking them out again leaves the rest as it
# was.


@compiled
def sum_products(X, buckets, weights, sums, products):
    """Add each row to the pairs sums (2, B, d), its products to the lower half of products."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else np.float64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                j = np.int64(indices[p])
                w, w_low = two_product(weight, np.float64(data[p]))
                sums[0, b, j], rest = two_sum(sums[0, b, j], w)
                sums[1, b, j] += rest + w_low
                for q in range(indptr[i], indptr[i + 1]):
                    if indices[q] <= j:
                        add_product(w, w_low, data[q], products, b, j, np.int64(indices[q]))
        else:
            for j in range(X.shape[1]):
                w, w_low = two_product(weight, np.float64(X[i, j]))
                sums[0, b, j], rest = two_sum(sums[0, b, j], w)
                sums[1, b, j] += rest + w_low
                for l in range(j + 1):  # noqa: E741
                    add_product(w, w_low, X[i, l], products, b, j, l)


@compiled
def add_product(w, w_low, value, products, b, j, l):  # noqa: E741
    """Add the pair w times a number to one cell of products."""
    x = np.float64(value)
    product, error = two_product(w, x)
    products[0, b, j, l], rest = two_sum(products[0, b, j, l], product)
    products[1, b, j, l] += rest + (error + w_low * x)


@compiled
def centre_products(weight, sums, products, n_rows, mean, scatter, noise):
    """As `moments.centre`, for products (2, B, d, d) whose lower half is filled."""
    d = sums.shape[2]
    for b in range(sums.shape[1]):
        if weight[0, b, 0] == 0:
            continue
        for j in range(d):
            mean[0, b, j], mean[1, b, j] = divide(
                sums[0, b, j], sums[1, b, j], weight[0, b, 0], weight[1, b, 0]
            )
            noise[b, j] = (1 + n_rows / 16) * ROUNDING * products[0, b, j, j]
        for j in range(d):
            for l in range(j + 1):  # noqa: E741
                p, p_low = multiply(sums[0, b, j], sums[1, b, j], mean[0, b, l], mean[1, b, l])
                s, s_low = add(products[0, b, j, l], products[1, b, j, l], -p, -p_low)
                if abs(s) <= np.sqrt(noise[b, j]) * np.sqrt(noise[b, l]):
                    s, s_low = 0.0, 0.0
                scatter[0, b, j, l], scatter[1, b, j, l] = s, s_low
                scatter[0, b, l, j], scatter[1, b, l, j] = s, s_low
