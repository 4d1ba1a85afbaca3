"""Scores of many kernel models on the same rows, with each kernel value computed once."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels import KernelPerceptron
from rosenblatt.trace.guises import nameless

MOST_VALUES = 1 << 25  # kernel values kept: 256 megabytes of them
AT_ONCE = 256  # supports whose kernel values are asked for in one call


class SupportScores:
    """Scores of rows X (n, d) by the kernel models of one run.

    From step to step few coefficients change, and the kernel not at all. So the values of the
    kernel with every support met so far are kept, as `kernel` (supports, n), and scores are one
    product. They are those of `decision_function` up to the order of its sum.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.n = X, int(X.shape[0])
        self.places: dict[int, int] = {}  # of supports, by their row in the training data
        self.kernel: NDArray[Any] = np.empty((0, self.n))

    def of(self, estimator: Any) -> NDArray[Any]:
        """What ``estimator.decision_function(X)`` is: (n,), or (n, K) for K > 2 classes."""
        rows = [int(row) for row in estimator.support_]
        new = [i for i, row in enumerate(rows) if row not in self.places]
        if (len(self.places) + len(new)) * self.n > MOST_VALUES:
            return np.asarray(nameless(estimator, self.X).decision_function(self.X))
        for start in range(0, len(new), AT_ONCE):
            self._keep(estimator, new[start : start + AT_ONCE])
        kernel = self.kernel[: len(self.places)]
        a = np.zeros((len(estimator.dual_coef_), len(kernel)), estimator.dual_coef_.dtype)
        a[:, [self.places[row] for row in rows]] = estimator.dual_coef_
        # Not by BLAS: on so few rows its threads wait for each other longer than they work.
        scores = np.einsum("ks,sn->nk", a, kernel) + estimator.intercept_
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def _keep(self, estimator: Any, new: list[int]) -> None:
        """Compute the kernel with new supports: a model that counts each alone scores just that."""
        probe = copy.copy(nameless(estimator, self.X))
        probe.support_ = estimator.support_[new]
        if estimator.kernel != "precomputed":
            probe.support_vectors_ = estimator.support_vectors_[new]
        probe.dual_coef_ = np.eye(len(new), dtype=estimator.dual_coef_.dtype)
        probe.intercept_ = np.zeros(len(new), estimator.dual_coef_.dtype)
        values = np.reshape(probe.decision_function(self.X), (self.n, len(new))).T
        known, wanted = len(self.places), len(self.places) + len(new)
        if wanted > len(self.kernel):
            grown = np.empty((2 * wanted, self.n), values.dtype)
            grown[:known] = self.kernel[:known]
            self.kernel = grown
        self.kernel[known:wanted] = values
        self.places |= {int(estimator.support_[i]): known + j for j, i in enumerate(new)}


def sums_over_supports(estimator: Any) -> bool:
    """Whether the model scores as our kernel models do, unaltered."""
    return (
        isinstance(estimator, KernelPerceptron)
        and type(estimator).decision_function is KernelPerceptron.decision_function
        and hasattr(estimator, "dual_coef_")
    )
