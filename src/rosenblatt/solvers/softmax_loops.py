# mypy: ignore-errors
"""Softmax: probabilities and loss from scores, and a stochastic pass.

Legend: code (n,) each row's class; c (n,) what a row counts; W (d + 1, K) weights, the biases last.
With `reference`, one more class, the last, has score 0 and no column.
"""

import math

from rosenblatt.loops import compiled, rows
from rosenblatt.loops.exponential import exp_negative, exp_of_its_precision, log

SMALLEST = 2.3e-308  # number that is none of the subnormal ones
ROUNDING = 4e-15  # of a sum of probabilities
ROWS_PER_SUM = 64  # losses are summed in parts, which loses fewer digits


@compiled
def loss_block(Z, b, code, c, reference, scratch, P):
    """The loss of a block of rows, from Z (K, m), their scores without the biases b (K,).

    Fills P (m, K) with probabilities unless it has no rows, and Z with what each row pulls its
    classes by, c (p - indicator). Classes come first, so that the inner loops run over rows, all
    alike. scratch (2, m) holds the highest score of each row, then the sum of its exponentials. All
    but the loss is in the precision of Z.
    """
    K, m = Z.shape
    top, total = scratch[0], scratch[1]
    for i in range(m):
        top[i] = 0.0 if reference else Z[0, i] + b[0]
    for k in range(K):
        z = Z[k]
        for i in range(m):
            score = z[i] + b[k]
            z[i] = score
            top[i] = score if score > top[i] else top[i]
    loss = 0.0
    for first in range(0, m, ROWS_PER_SUM):
        part = 0.0
        for i in range(first, min(first + ROWS_PER_SUM, m)):
            own = 0.0 if reference and code[i] == K else Z[code[i], i]
            part -= c[i] * (own - top[i])
            total[i] = exp_of_its_precision(-top[i]) if reference else 0.0
        loss += part
    for k in range(K):
        z = Z[k]
        for i in range(m):
            # By a name of its own: read back from z, it would keep the loop from being vectorised.
            e = exp_of_its_precision(z[i] - top[i])
            z[i] = e
            total[i] += e
    for first in range(0, m, ROWS_PER_SUM):
        part = 0.0
        for i in range(first, min(first + ROWS_PER_SUM, m)):
            part += c[i] * math.log(total[i])
            total[i] = 1.0 / total[i]
        loss += part
    for k in range(K):
        z = Z[k]
        for i in range(P.shape[0]):
            P[i, k] = z[i] * total[i]
    for i in range(m):
        total[i] *= c[i]
    for k in range(K):
        z = Z[k]
        for i in range(m):
            z[i] *= total[i]
    for i in range(m):
        if code[i] < K:
            Z[code[i], i] -= c[i]
    return loss


@compiled(reorder_sums=True)
def move_block(P, scores, code, c, reference, kept, R):
    """Move probabilities P (m, K) of a block of rows against scores (m, K), to first order.

    Fills R (m, K) with minus the gradient of each row's loss by its scores, c (indicator - p).
    Returns the sum of c times the entropy of ``kept p + (1 - kept) indicator``, and how many moved
    probabilities are negative; the entropy is not finite if a probability is not.
    """
    entropy, negative = 0.0, 0.0
    for i in range(P.shape[0]):
        p, s, r = P[i], scores[i], R[i]
        mean = 0.0
        for k in range(p.shape[0]):
            mean += p[k] * s[k]
        rest, own = 1.0, 0.0
        for k in range(p.shape[0]):
            moved = p[k] * (1.0 - (s[k] - mean))
            r[k] = -c[i] * moved
            negative += 1.0 if moved < 0.0 else 0.0
            moved = kept * moved + (1.0 - kept if code[i] == k else 0.0)
            own -= moved * log(max(moved, SMALLEST))
            rest -= moved
        if reference:
            own -= rest * log(rest) if rest > SMALLEST else 0.0
            negative += 1.0 if rest < -ROUNDING else 0.0
        if code[i] < p.shape[0]:
            r[code[i]] += c[i]
        entropy += c[i] * own
    return entropy, negative


@compiled
def row_loss(z, true, reference):
    """Turn the scores z (K,) of a row into probabilities; return log sum exp z - z_true."""
    K = z.shape[0]
    top = 0.0 if reference else z[0]
    for k in range(K):
        top = max(top, z[k])
    own = -top if reference and true == K else z[true] - top
    for k in range(K):
        z[k] = exp_negative(z[k] - top)
    total = rows.sum_of(z)
    if reference:
        total += exp_negative(-top)
    share = 1.0 / total
    for k in range(K):
        z[k] *= share
    return math.log(total) - own


@compiled
def stochastic_pass(X, code, c, order, steps, shrink, bias, reference, W, scale, scores):
    """As `logistic.stochastic_pass`, for W (d + 1, K); scores (K,) is scratch space."""
    d, K = W.shape[0] - 1, W.shape[1]
    for t in range(order.shape[0]):
        rows.prefetch_row(X, c, order, t)
        i = order[t]
        rows.dots(X, i, W[:d], scores)
        total = 0.0
        for k in range(K):
            scores[k] = scale[0] * scores[k] + W[d, k]
            total += scores[k]
        if not math.isfinite(total):
            return t
        row_loss(scores, code[i], reference)
        scale[0] *= shrink[t]
        if scale[0] < 1e-9:
            for j in range(d):
                for k in range(K):
                    W[j, k] *= scale[0]
            scale[0] = 1.0
        for k in range(K):
            residual = (1.0 if k == code[i] else 0.0) - scores[k]
            step = steps[t] * c[i] * residual
            rows.add(X, i, step / scale[0], W[:d, k])
            W[d, k] += bias * step
    return order.shape[0]
