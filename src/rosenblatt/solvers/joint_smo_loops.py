# mypy: ignore-errors
"""All classes in one kernel machine: a row's multipliers at a time, of a working set.

The problem is that of `joint_margin`, with kernel values in place of scalar products and `column`
in place of the squared bias: ``minimise sum_k alpha_k'K alpha_k / 2 - sum_i alpha[i, y_i]``.
"""

from rosenblatt.loops import compiled

from .joint_margin_loops import best, standing


@compiled
def joint_steps(K, codes, c, column, slopes, alpha, tol, most, new):
    """Set the multipliers of the row that is furthest from rest, until none is by more than tol.

    Reads K (q, q), codes and c (q,); changes slopes (q, k), the scores plus one for other classes,
    and alpha (q, k); new (k,) is scratch space. Returns how many rows were set.
    """
    q, n_classes = slopes.shape
    for step in range(most):
        row, largest = -1, tol
        for t in range(q):
            violation, _ = standing(slopes[t], alpha[t], codes[t], c[t])
            if violation > largest:
                row, largest = t, violation
        if row < 0:
            return step
        best(slopes[row], alpha[row], codes[row], c[row], K[row, row] + column, new)
        for k in range(n_classes):
            change, alpha[row, k] = new[k] - alpha[row, k], new[k]
            if change != 0.0:
                for t in range(q):
                    slopes[t, k] += change * (K[row, t] + column)
    return most


@compiled
def violations(slopes, alpha, codes, c, found):
    """Set found (n,) to how far each row is from rest, by slopes and alpha (n, k)."""
    for t in range(found.shape[0]):
        found[t], _ = standing(slopes[t], alpha[t], codes[t], c[t])
