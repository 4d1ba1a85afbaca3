"""Recorded models in other clothes: with the weights of their run, or without column names."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels import KernelPerceptron


def running(estimator: Any) -> Any:
    """The model with the weights of its run in place of a mean or a pocket; None for others."""
    if not hasattr(estimator, "last_coef_"):
        return None
    model = copy.copy(estimator)
    model.coef_, model.intercept_ = estimator.last_coef_, estimator.last_intercept_
    return model


def published(estimator: Any) -> str:
    """What a learner publishes of its run, in a word; nothing if that is the run itself."""
    if not hasattr(estimator, "last_coef_"):
        return ""
    return "pocket" if hasattr(estimator, "pocket_error_") else "mean"


def nameless(estimator: Any, X: Any) -> Any:
    """The model, or a copy that expects no column names where X is a bare array."""
    if not hasattr(estimator, "feature_names_in_") or hasattr(X, "columns"):
        return estimator
    model = copy.copy(estimator)
    del model.feature_names_in_
    return model


# The supports of a kernel model: the examples it consists of, and how much each counts.


def has_supports(estimator: Any) -> bool:
    """Whether the model is a weighted sum over examples."""
    return hasattr(estimator, "dual_coef_") and hasattr(estimator, "support_")


def coefficients(estimator: Any, rows: Sequence[int]) -> NDArray[np.float64]:
    """How much some rows of X count: (1, m) or (K, m), 0 for those that are no supports."""
    dual = np.atleast_2d(np.asarray(estimator.dual_coef_, dtype=np.float64))
    place = {int(row): i for i, row in enumerate(estimator.support_)}
    values = np.zeros((len(dual), len(rows)))
    for j, row in enumerate(rows):
        if row in place:
            values[:, j] = dual[:, place[row]]
    return values


def heaviest(estimator: Any, most: int) -> list[int]:
    """The rows of at most so many supports, those that count most, in order."""
    dual = np.atleast_2d(np.asarray(estimator.dual_coef_, dtype=np.float64))
    first = np.argsort(-np.abs(dual).max(axis=0), kind="stable")[:most]
    return sorted(int(row) for row in np.asarray(estimator.support_)[first])


# Scores of many kernel models on the same rows, with each kernel value computed once.


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
