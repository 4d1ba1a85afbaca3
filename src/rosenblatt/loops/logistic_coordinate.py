"""Coordinate descent on a quadratic with an L1 penalty."""

from . import compiled


@compiled
def shrink(value, threshold):
    """Move a number towards 0 by `threshold`, not past it."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@compiled
def quadratic_sweep(H, l1, w, slope):
    """One round of exact steps, each along one coordinate, to lower g.v + v'Hv/2 + sum l1 |w|.

    Reads H (m, m) and l1 (m,); changes w (m,), which moves by v, and slope (m,), g + H v. Returns
    the largest fall that one coordinate alone could bring, before the round was made.
    """
    most = 0.0
    for j in range(w.shape[0]):
        if H[j, j] <= 0.0:
            continue
        new = shrink(w[j] - slope[j] / H[j, j], l1[j] / H[j, j])
        move = new - w[j]
        if move != 0.0:
            w[j] = new
            for k in range(w.shape[0]):
                slope[k] += move * H[j, k]
            most = max(most, 0.5 * H[j, j] * move * move)
    return most
