"""What a classifier minimises: two-class problems, or all classes at once, and what they imply."""

from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.solvers.joint_smo import JointBox
from rosenblatt.solvers.smo import BoxProblem

from .hard_margin import refuse_inseparable, refuse_jointly_inseparable
from .multiclass import machines, n_coefficients
from .training_rows import Floats, TrainingRows, summed
from .warm_starts import Run, Runs


class Margins:
    """The two-class problems of a classifier, of rows of which equal ones are merged."""

    def __init__(
        self, model: Any, rows: TrainingRows, codes: NDArray[np.intp], cost: Floats
    ) -> None:
        self.rows, self.model, self.n_classes = rows, model, int(codes.max()) + 1
        self.first, self.group = rows.first, rows.group
        self.codes = codes[self.first]
        self.cost = summed(self.group, cost, len(self.first))
        self.scheme = model.multi_class
        self.machines = list(machines(self.codes, self.n_classes, self.scheme))

    def runs(self, model: Any) -> Runs:
        """The runs of all machines."""
        runs = Runs(model, self.rows)
        for rows, side, _ in self.machines:
            cost = self.cost[rows]
            if len({*side[cost > 0].tolist()}) < 2:
                raise ValueError(
                    "Invalid input - all samples with positive weights belong to the same class."
                )
            low, high = np.where(side > 0, 0.0, -cost), np.where(side > 0, cost, 0.0)
            runs.add(self.first[rows], BoxProblem(-side, low, high, 0.0))
        return runs

    def refuse_if_inseparable(self, C: float) -> None:
        """Raise, with the proof, if no slack is allowed and the classes cannot be separated."""
        if np.isfinite(C):
            return
        refuse_inseparable(self.rows, self.first, self.codes, self.machines)

    def attributes(self, results: list[Run], classes: NDArray[Any]) -> dict[str, Any]:
        """What the runs imply, under the names that are published."""
        n, dtype = len(self.first), self.rows.X.dtype
        a = np.zeros((n_coefficients(self.n_classes, self.scheme), n))
        slack = np.zeros(a.shape)
        primal, margin, intercept = np.zeros((3, len(results)))
        for p, ((rows, side, places), run) in enumerate(zip(self.machines, results, strict=True)):
            a[places, rows] = run.b
            intercept[p] = self.rows.intercept(run.intercept, run.b, self.first[rows])
            slack[places, rows] = left = np.maximum(1 - side * (run.f + run.intercept), 0)
            length = max(float(run.b @ run.f), 0.0)
            cost = self.cost[rows]
            finite = np.isfinite(cost)
            primal[p] = length / 2 + float(cost[finite] @ left[finite])
            margin[p] = 1 / np.sqrt(length) if length > 0 else np.inf
        return {
            **self._of_rows(a, slack, classes),
            "intercept_": intercept.astype(dtype),
            "margin_": margin,
            "objective_": primal,
            "dual_gap_": np.maximum(primal - [run.dual for run in results], 0.0),
            "n_iter_": np.array([run.n_steps for run in results], np.int32),
        }

    def _of_rows(self, a: Floats, slack: Floats, classes: NDArray[Any]) -> dict[str, Any]:
        """Supports by coefficients a (c, n), and the slack (c, n) of all rows given."""
        support = np.flatnonzero(a.any(axis=0))
        support = support[np.lexsort((self.first[support], self.codes[support]))]
        counts = np.bincount(self.codes[support], minlength=self.n_classes)
        of_rows = np.where(self.group >= 0, slack[:, self.group], 0.0).T
        return {
            "classes_": classes,
            **published_supports(self.rows, self.first[support], a[:, support]),
            "_n_support": counts.astype(np.int32),
            "slack_": (of_rows[:, 0] if len(slack) == 1 else of_rows).astype(self.rows.X.dtype),
        }


class JointMargins(Margins):
    """All classes in one problem with one slack a row, ``sum_k |w_k|^2 + sum_i C_i xi_i``."""

    def runs(self, model: Any) -> Runs:
        """The one run, of half the problem."""
        # The multipliers of a class sum to zero up to the tolerance alone: a shift would show.
        self.rows.centre = None
        runs = Runs(model, self.rows)
        if len(np.unique(self.codes[self.cost > 0])) < self.n_classes:
            raise ValueError(
                "Invalid input - all samples of some class have zero or negative weights."
            )
        runs.add(self.first, JointBox(self.codes, self.n_classes, self.cost / 2))
        return runs

    def refuse_if_inseparable(self, C: float) -> None:
        """Raise, with the proof, if no slack is allowed and no scores put all rows right."""
        if not np.isfinite(C):
            refuse_jointly_inseparable(self.rows, self.first, self.codes)

    def attributes(self, results: list[Run], classes: NDArray[Any]) -> dict[str, Any]:
        """What the run implies, under the names that are published."""
        (run,) = results
        b = np.broadcast_to(run.intercept, self.n_classes)
        f, own = run.f + b[:, np.newaxis], (self.codes, np.arange(len(self.codes)))
        leads = f[own] - f
        leads[own] = np.inf
        slack = np.maximum(1 - leads.min(axis=0), 0.0)
        products = run.b @ run.f.T  # w_k.w_l
        finite = np.isfinite(self.cost)
        primal = np.array([np.trace(products) + float(self.cost[finite] @ slack[finite])])
        squares = np.diag(products)
        apart = [squares[k] + squares[j] - 2 * products[k, j] for k, j in self._pairs]
        with np.errstate(divide="ignore"):
            margin = 1 / np.sqrt(np.maximum(apart, 0.0))
        return {
            **self._of_rows(run.b, slack[np.newaxis], classes),
            "intercept_": b.astype(self.rows.X.dtype),
            "margin_": margin,
            "objective_": primal,
            "dual_gap_": np.maximum(primal - 2 * run.dual, 0.0),
            "n_iter_": np.array([run.n_steps], np.int32),
        }

    @property
    def _pairs(self) -> Any:
        return combinations(range(self.n_classes), 2)


def published_supports(rows: TrainingRows, support: NDArray[np.intp], a: Floats) -> dict[str, Any]:
    """Supports and their coefficients a (c, s), as scikit-learn publishes them."""
    matrix = rows.kernel is None
    X, dtype = rows.X, rows.X.dtype
    return {
        "support_": support.astype(np.int32),
        "support_vectors_": np.empty((0, 0), dtype) if matrix else X[support],
        "dual_coef_": (sp.csr_matrix(a) if sp.issparse(X) else a).astype(dtype),
        "gamma_": rows.gamma,
        "_sparse": sp.issparse(X),
    }
