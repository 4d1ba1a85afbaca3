"""Folds of a search over the penalties of kernel ridge regression, from one kernel matrix."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from rosenblatt.capabilities import ModelPath
from rosenblatt.runtime.interrupts import interruptible
from rosenblatt.solvers.folded_systems import FoldedSystems

LEAST_ROWS, MOST_GROUPS = 500, 10


def refuse_folds(kernel: Any, X: Any, sample_weight: Any, n_groups: int) -> None:
    """Raise for rows whose folds are solved one by one."""
    if kernel == "precomputed" or sample_weight is not None or sp.issparse(X):
        raise ValueError("Folds share a kernel matrix of dense rows without weights.")
    if np.shape(X)[0] < LEAST_ROWS or n_groups > MOST_GROUPS:
        raise ValueError(f"Folds share the matrix of {LEAST_ROWS} rows, in {MOST_GROUPS} groups.")


class SharedKernel:
    """The kernel matrix of all rows, sorted by group, and solutions for the penalties asked for."""

    def __init__(
        self, model: Any, X: NDArray[Any], y: NDArray[Any], groups: NDArray[Any], n_groups: int
    ) -> None:
        self.X, self.y = X, y
        self.order = np.argsort(groups, kind="stable")
        self.bounds = np.searchsorted(groups[self.order], np.arange(n_groups + 1))
        self.seen = {name: v for name, v in vars(model).items() if name.endswith("_in_")}
        rows = X[self.order].astype(np.float64)
        self.K = np.asarray(interruptible(lambda: model._get_kernel(rows)), np.float64)
        t = y.reshape(len(y), -1)[self.order].astype(np.float64)
        self.systems = FoldedSystems(self.K, t, self.bounds)
        self.known: dict[float, tuple[NDArray[np.float64], ...]] = {}  # by penalty, of each system
        self.lock = threading.Lock()

    def solutions(self, g: int, alphas: Sequence[float]) -> list[NDArray[np.float64]]:
        """c (m, k) for each penalty, without the rows of group g, or of all rows if g is none."""
        with self.lock:
            new = [alpha for alpha in alphas if alpha not in self.known]
            if new:
                found = interruptible(lambda: self.systems.solve(new))
                self.known |= dict(zip(new, zip(*found, strict=True), strict=True))
        return [self.known[alpha][g] for alpha in alphas]


@dataclass(frozen=True, eq=False)
class KernelFolds:
    """Some groups of rows; their sum is the groups of both."""

    shared: SharedKernel
    groups: frozenset[int]

    can_refit = True  # a sum of all groups gives the models of all rows

    def __add__(self, other: "KernelFolds") -> "KernelFolds":
        return KernelFolds(self.shared, self.groups | other.groups)

    def __reduce__(self) -> Any:
        return type(None), ()  # another process fits its fold by itself

    @property
    def system(self) -> int:
        """The system of these rows: that without the one group that is missing, or that of all."""
        n_groups = len(self.shared.bounds) - 1
        missing = set(range(n_groups)) - self.groups
        if len(missing) > 1:
            raise ValueError(f"At most one of {n_groups} groups may be left out; got {missing}.")
        return missing.pop() if missing else n_groups


class FoldPath(ModelPath):
    """The models at some penalties, fitted to all groups of rows but one, or to all."""

    def __init__(self, model: Any, data: KernelFolds, values: Sequence[Any]) -> None:
        shared, self.data = data.shared, data
        self.solutions = shared.solutions(data.system, [float(value) for value in values])
        places = shared.systems.rows(data.system)
        rows = shared.order[places]
        back = np.argsort(rows)
        X, y = shared.X[rows[back]], shared.y[rows[back]]
        super().__init__([clone(model).set_params(alpha=value) for value in values])
        for fitted, c in zip(self.models, self.solutions, strict=True):
            vars(fitted).update(shared.seen)
            fitted._publish(X, y, c[back])

    def answers(self, test: KernelFolds) -> list[NDArray[Any]]:
        """What each model predicts for the rows of the group that was left out."""
        shared, (g,) = self.data.shared, test.groups
        places = slice(shared.bounds[g], shared.bounds[g + 1])
        K = shared.K[places][:, shared.systems.rows(self.data.system)]
        shape, dtype = shared.y[shared.order[places]].shape, shared.X.dtype
        return [(K @ c).reshape(shape).astype(dtype) for c in self.solutions]
