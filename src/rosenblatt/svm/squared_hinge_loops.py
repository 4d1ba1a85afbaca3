# mypy: ignore-errors
"""The squared loss of a margin: loss, gradient and curvature, a block of rows at a time.

Legend: X rows (see `rows`); t (n,) targets; above, below (n,) costs of scores too low and too high;
w (d + 1,) the weights and, last, the intercept; bend (n,) the second derivative of each row's loss
by its score: 0 for rows without loss.
"""

from rosenblatt.loops import compiled, rows


@compiled
def loss_pass(X, t, above, below, epsilon, start, stop, w, bend, steps, gradient):
    """Return the sum of the losses of rows start to stop; fill bend, add to gradient (d + 1,).

    steps (b,) is scratch space, as long as a block.
    """
    d = w.shape[0] - 1
    loss = 0.0
    for first in range(start, stop, steps.shape[0]):
        last = min(first + steps.shape[0], stop)
        step = steps[: last - first]
        rows.dot_each(X, first, w[:d], step)
        for i in range(last - first):
            over = t[first + i] - step[i] - w[d]
            if over > 0:
                excess, price = max(over - epsilon, 0.0), above[first + i]
            else:
                excess, price = min(over + epsilon, 0.0), below[first + i]
            loss += price * excess * excess
            step[i] = -2.0 * price * excess
            bend[first + i] = 2.0 * price if excess != 0 else 0.0
        rows.add_each(X, first, step, gradient[:d])
        gradient[d] += rows.sum_of(step)
    return loss


@compiled
def curvature_pass(X, bend, start, stop, v, product):
    """Add H v, with H the sum of bend (x, 1)(x, 1)', to product (d + 1,)."""
    d = v.shape[0] - 1
    for i in range(start, stop):
        if bend[i] != 0:
            step = bend[i] * (rows.dot(X, i, v[:d]) + v[d])
            rows.add(X, i, step, product[:d])
            product[d] += step
