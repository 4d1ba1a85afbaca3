"""Whether probabilities are what they say: of rows given 80%, do 80% turn out so."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.workbench.results import Opening

from . import numbers
from .axes import Axis
from .markup import Markup
from .svg import Plot, figure

N_BINS = 10
Z = 1.96  # of 95% confidence

Array = NDArray[np.float64]


def calibration(opening: Opening, positive: Any = None) -> Markup | None:
    """The reliability picture; None where there are no probabilities."""
    found = said_and_right(opening, positive)
    if found is None:
        return None
    said, right, what = found
    place = np.clip((said * N_BINS).astype(np.int64), 0, N_BINS - 1)
    n = np.bincount(place, minlength=N_BINS)
    full = n > 0
    mean = np.bincount(place, said, N_BINS)[full] / n[full]
    share = np.bincount(place, right, N_BINS)[full] / n[full]
    low, high = wilson(share, n[full])
    off = float(np.sum(np.abs(mean - share) * n[full]) / n.sum())
    plot = Plot(Axis(0, 1, f"probability given to {what}"), Axis(0, 1, "share it is true of"))
    plot.bars(np.linspace(0, 1, N_BINS + 1), 0.22 * n / n.max(), 6)
    plot.rule([0, 1], [0, 1])
    plot.whiskers(mean, low, high)
    plot.line(mean, share, 0)
    pairs = [
        f"said {numbers.share(m)}, true of {numbers.share(s)} of {numbers.plural(int(k), 'row')}"
        for m, s, k in zip(mean, share, n[full], strict=True)
    ]
    plot.marks(mean, share, 0, words=pairs)
    words = (
        f"On the dotted line, probabilities mean what they say; on average they are "
        f"{numbers.share(off)} off. Upright lines: 95% intervals. Grey: how many rows have them."
    )
    return figure("Calibration", plot.draw("Reliability: " + "; ".join(pairs) + "."), words)


def said_and_right(
    opening: Opening, positive: Any = None
) -> tuple[Array, NDArray[np.bool_], str] | None:
    """A probability and whether it came true for each row, and of what it is.

    Of two classes the positive one is taken, or the second if none is; of more the likeliest of
    each row.
    """
    given = opening.probabilities
    if given is None or opening.classes is None or not np.isfinite(given).all():
        return None
    if len(opening.classes) == 2:
        k = 0 if positive is not None and positive == opening.classes[0] else 1
        label = opening.classes[k]
        return given[:, k], opening.y == label, numbers.clipped(label, 24)
    likeliest = given.argmax(axis=1)
    return given.max(axis=1), opening.classes[likeliest] == opening.y, "the likeliest class"


def wilson(share: Array, n: NDArray[np.int64]) -> tuple[Array, Array]:
    """Wilson's interval of shares of n rows."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return middle - half, middle + half
