"""The singular values that a least-squares fit publishes, beside those of the rows given."""

from typing import Any

import numpy as np

from .claims import Claim
from .published import nearness
from .table import UNIT, Table

MOST_COLUMNS = 1000  # whose products are taken


def singular_claim(model: Any, table: Table, weight: float) -> list[Claim]:
    """That `singular_` are those of the centred, weighted rows; nothing where there are none.

    Their squares are the eigenvalues of the products of columns, to within rounding of the largest.
    """
    said = getattr(model, "singular_", None)
    if said is None or table.d > MOST_COLUMNS or not table.d:
        return []
    said = np.sort(np.ravel(np.asarray(said, np.float64)))[::-1]
    derived = weight * np.linalg.eigvalsh(table.scatter(np.arange(table.d)))[::-1]
    far = float(np.abs(table.mean).max(initial=0.0))
    # Constants vary by the rounding of their mean, which is as large as any variation of theirs.
    largest = max(float(derived[0]), weight * (UNIT * far) ** 2, 1e-300)
    squares = np.zeros(max(len(said), len(derived)))
    squares[: len(derived)] = derived
    squares[: len(said)] -= said**2
    off, near = float(np.abs(squares).max()) / largest, nearness(model)
    off = off if off == off else np.inf
    # Columns far from zero have lost that of their variation before they were decomposed.
    level = float(np.sqrt(weight / largest)) * far
    near *= max(1.0, level)
    holds = bool(off <= near)
    statement = "singular_ are those of the centred, weighted rows"
    if not holds:
        statement += f", but for {off:.2g} of the square of the largest"
    return [Claim("singular values", statement, off, near, holds, "checked")]
