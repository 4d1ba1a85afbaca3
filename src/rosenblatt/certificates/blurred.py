"""Why a gap cannot be shown to be small: columns so wide that rounding hides it.

The slope of a column is a sum of products with its numbers, known up to rounding r. A bound must
allow for it: with ``l2/2 |w|^2`` that costs ``r^2 / (2 l2)``; with ``l1 |w|_1`` alone the dual
point must shrink by ``r / l1``; and without a penalty it costs r times the coefficients' length.
"""

from typing import Any

import numpy as np

from .lasso import Penalty
from .table import Floats


def why_blurred(
    model: Any, rounding: Floats, penalty: Penalty, value: float, reach: float, bound: float
) -> str:
    """The end of a sentence on a gap that is above its bound; nothing where rounding is small.

    `rounding` (d,) is what it may do to the slope of each column, `value` the objective, `reach`
    the length of coefficients spoken of where there is no penalty.
    """
    if penalty.l2 > 0:
        worth = rounding**2 / (2 * penalty.l2)
    elif penalty.l1 > 0:
        worth = np.minimum(rounding / penalty.l1, 1.0) * value
    else:
        worth = np.minimum(rounding * reach, value)
    total = float(worth.sum()) if penalty.l2 > 0 else float(worth.max(initial=0.0))
    if not total > bound:
        return ""
    names = getattr(model, "feature_names_in_", np.arange(len(worth)))
    widest = names[int(np.argmax(worth))] if len(names) == len(worth) else int(np.argmax(worth))
    return (
        f"; rounding alone may hide {total:.3g}, most of it in column {widest!s}, whose numbers "
        "are so large: standardise it"
    )
