"""What a penalised fit is made of: checked rows, the way down of each target, what is published."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from rosenblatt.base import FLOATS
from rosenblatt.solvers import Step
from rosenblatt.solvers.coordinate import Penalty

from .squares import Descent, Squares
from .targets import refuse_words

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked input."""

    X: Any  # (n, d)
    targets: NDArray[Any]  # (n, t)
    weights: Array | None  # (n,)
    flat: bool  # whether the target was a vector


@dataclass(eq=False)
class Descending:
    """One target's way down, from w (d,)."""

    descent: Descent
    penalty: Penalty
    w: Array
    wanted: float  # the gap that will do
    steps: Iterator[Step]
    last: Step = field(default_factory=lambda: Step(np.zeros(0), np.inf))
    n_iter: int = 0
    idle: int = 0  # iterations since the objective or the gap fell
    start: Step | None = None  # known if someone is listening

    @property
    def now(self) -> Step:
        """Where it is: at the start, or after the last iteration."""
        return self.last if self.n_iter or self.start is None else self.start

    def advance(self) -> None:
        """Make one iteration; and if that will do, go the last of the way at once."""
        step = next(self.steps)
        if step.gap <= self.wanted:
            step = self.descent.finish(self.penalty, self.w, step)
        progress = step.objective < self.last.objective or step.gap < self.last.gap
        self.last, self.n_iter = step, self.n_iter + 1
        self.idle = 0 if progress else self.idle + 1

    @property
    def done(self) -> bool:
        """Whether the gap is what was wanted."""
        return self.last.gap <= self.wanted


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Rows, targets and weights, checked; a weight that is one number says nothing."""
    refuse_words(y)
    X, y = validate_data(
        estimator, X, y, accept_sparse=("csr", "csc"), dtype=FLOATS, multi_output=True,
        y_numeric=True,
    )  # fmt: skip
    y = y.toarray() if sp.issparse(y) else y
    weights = None
    if sample_weight is not None and not isinstance(sample_weight, Number):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return Rows(X, y.reshape(len(y), -1), weights, y.ndim == 1)


def published(
    squares: Squares,
    coefs: Array,
    runs: list[Descending],
    alpha: float,
    rows: Rows,
) -> dict[str, Any]:
    """The fitted attributes as they are now: numbers for one target, lists of them for several."""
    found: dict[str, Any] = {
        "n_iter_": [run.n_iter for run in runs],
        "objective_": np.array([run.now.objective for run in runs]),
        "dual_gap_": np.array([run.now.gap for run in runs]),
        "gradient_norm_": np.array([run.now.gradient_norm for run in runs]),
    }
    coef, intercept = coefs.astype(rows.X.dtype), squares.intercepts(coefs)
    intercept = intercept.astype(rows.X.dtype)
    if len(runs) == 1:
        coef = coef[0]
        found = {name: values[0] for name, values in found.items()}
        found |= {name: float(found[name]) for name in found if name != "n_iter_"}
    # scikit-learn keeps the intercept of a single column of targets in an array.
    return {
        "coef_": coef,
        "intercept_": intercept[0] if rows.flat else intercept,
        **found,
        "alpha_": alpha,
    }
