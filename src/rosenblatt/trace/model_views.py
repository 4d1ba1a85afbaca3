"""Recorded models in other clothes: with the weights of their run, or without column names."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view


def running(estimator: Any) -> Any:
    """The model with the weights of its run in place of a mean or a pocket; None for others."""
    view = trace_view(estimator)
    if "last_weights" not in view:
        return None
    model = copy.copy(estimator)
    model.coef_, model.intercept_ = view["last_weights"], view["last_intercept"]
    return model


def published(estimator: Any) -> str:
    """What a learner publishes of its run, in a word; nothing if that is the run itself."""
    return str(trace_view(estimator).get("published", ""))


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
    return {"supports", "support_weights"} <= trace_view(estimator).keys()


def coefficients(estimator: Any, rows: Sequence[int]) -> NDArray[np.float64]:
    """How much some rows of X count: (1, m) or (K, m), 0 for those that are no supports."""
    supports, dual = _supports(estimator)
    place = {row: i for i, row in enumerate(supports)}
    values = np.zeros((len(dual), len(rows)))
    for j, row in enumerate(rows):
        if row in place:
            values[:, j] = dual[:, place[row]]
    return values


def heaviest(estimator: Any, most: int) -> list[int]:
    """The rows of at most so many supports, those that count most, in order.

    Many count as much, at the bound C: of these the classes are taken in turn.
    """
    supports, dual = _supports(estimator)
    size, place = np.abs(dual).max(axis=0), np.abs(dual).argmax(axis=0)
    alike: Counter[tuple[float, int, bool]] = Counter()
    turns = []
    for j, k in enumerate(place):
        same = float(size[j]), int(k), bool(dual[k, j] > 0)
        turns.append(alike[same])
        alike[same] += 1
    first = np.lexsort((turns, -size))[:most]
    return sorted(supports[i] for i in first)


def _supports(estimator: Any) -> tuple[list[int], NDArray[np.float64]]:
    """The rows that count, and how much: (1, m) or (K, m)."""
    view = trace_view(estimator)
    dual = np.atleast_2d(np.asarray(view["support_weights"], dtype=np.float64))
    return [int(row) for row in view["supports"]], dual


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
        view = trace_view(nameless(estimator, self.X))
        rows, dual = [int(row) for row in view["supports"]], view["support_weights"]
        new = [i for i, row in enumerate(rows) if row not in self.places]
        if (len(self.places) + len(new)) * self.n > MOST_VALUES:
            return np.asarray(nameless(estimator, self.X).decision_function(self.X))
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            self._keep([rows[i] for i in some], view["kernel"](self.X, some))
        kernel = self.kernel[: len(self.places)]
        a = np.zeros((len(dual), len(kernel)), dual.dtype)
        a[:, [self.places[row] for row in rows]] = dual
        # Not by BLAS: on so few rows its threads wait for each other longer than they work.
        scores = np.einsum("ks,sn->nk", a, kernel) + view["intercept"]
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def _keep(self, rows: list[int], values: NDArray[Any]) -> None:
        """Keep the kernel values (m, n) of new supports."""
        known, wanted = len(self.places), len(self.places) + len(rows)
        if wanted > len(self.kernel):
            grown = np.empty((2 * wanted, self.n), values.dtype)
            grown[:known] = self.kernel[:known]
            self.kernel = grown
        self.kernel[known:wanted] = values
        self.places |= {row: known + j for j, row in enumerate(rows)}


def sums_over_supports(estimator: Any) -> bool:
    """Whether the scores of a model follow from kernel values and weights of its supports."""
    return "kernel" in trace_view(estimator)
