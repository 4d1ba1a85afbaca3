"""By how much the own class of each row leads each other class along a direction.

Rows of weight zero do not count. A pair is a row that counts and a class other than its own, by its
number in a table (n, K), or (n, 1) of two classes; the entries of own classes are no pairs.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.separation.exactly import ahead_exactly
from rosenblatt.separation.inputs import UNIT
from rosenblatt.separation.planes import TINY
from rosenblatt.solvers.problem import Problem
from rosenblatt.solvers.softmax import SoftmaxProblem

Array = NDArray[np.float64]


class Leads:
    """The leads of a problem; directions have the shape of its points."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.used = problem, np.flatnonzero(problem.c > 0)
        self.several = isinstance(problem, SoftmaxProblem)
        self.K = int(np.prod(problem.shape[1:]))  # classes that have weights
        if isinstance(problem, SoftmaxProblem):
            self.code = problem.code[self.used]
            self.n_classes = self.width = problem.n_classes
            self.own = np.arange(self.width) == self.code[:, None]
        else:
            self.code = (problem.y[self.used] > 0).astype(np.intp)  # type: ignore[attr-defined]
            self.n_classes, self.width = 2, 1
            self.own = np.zeros((len(self.used), 1), np.bool_)
        self.n_pairs = int(self.own.size - self.own.sum())

    def along(self, direction: Array) -> Array:
        """The leads of all pairs, and infinity in the place of own classes."""
        scores = self._scores(self.problem.X, direction)
        if not self.several:
            return np.where(self.code[:, None] == 1, scores, -scores)
        return np.where(self.own, np.inf, scores[self.own][:, None] - scores)

    def rounding(self, direction: Array) -> Array:
        """The most that rounding can change of each lead."""
        n_terms = 2 * np.count_nonzero(direction.reshape(self.problem.d + 1, -1).any(axis=1)) + 4
        sizes = np.vstack([self._scores(abs(X), np.abs(direction), False) for X in self._parts()])
        sizes = sizes[self.used]
        if self.several:
            sizes = sizes + sizes[self.own][:, None]
        return np.asarray(1.01 * n_terms * UNIT * sizes + TINY)

    def exactly(self, direction: Array) -> bool:
        """Whether, with the best biases, no lead is below zero and some are above, in integers."""
        W = direction.reshape(self.problem.d + 1, -1)[:-1].T
        if not self.several:
            W = np.vstack([0 * W, W])
        elif len(W) < self.n_classes:  # the last class is the reference
            W = np.vstack([W, 0 * W[:1]])
        X = self.problem.X
        X = X[self.used] if len(self.used) < self.problem.n else X
        return ahead_exactly(X, self.code, W, self.problem.fit_intercept) is not None

    def matrix(self, pairs: NDArray[np.intp]) -> Any:
        """The CSR matrix whose product with a flat direction are the leads of some pairs."""
        row, other = np.divmod(pairs, self.width)
        bias = np.full((len(row), 1), float(self.problem.fit_intercept))
        table = sp.csr_matrix(self.problem.X[self.used[row]], dtype=np.float64)
        Z = sp.hstack([table, bias]).tocsr()
        code = self.code[row]
        if not self.several:
            return (sp.diags(2.0 * code - 1.0) @ Z).tocsr()
        return against(Z, code, other, self.K)

    def total(self) -> Array:
        """The flat vector whose product with a flat direction is the sum of all leads."""
        push = 2.0 * self.code[:, None] - 1.0
        if self.several:
            push = (self.n_classes * self.own - 1.0)[:, : self.K]
        each = np.zeros((self.problem.n, push.shape[1]))
        each[self.used] = push
        bias = push.sum(axis=0, keepdims=True) * self.problem.fit_intercept
        return np.vstack([np.asarray(self.problem.X.T @ each), bias]).ravel()

    def sizes(self) -> Array:
        """The largest absolute value (d + 1,) of each column; one for a column of zeros."""
        largest = np.zeros(self.problem.d)
        for X in self._parts():
            part = abs(X).max(axis=0)
            largest = np.maximum(largest, part.toarray()[0] if sp.issparse(X) else part)
        return np.append(np.where(largest > 0, largest, 1.0), 1.0)

    def _parts(self) -> list[Any]:
        X = self.problem.X
        if sp.issparse(X):
            return [X]
        return [X[start:stop] for start, stop in self.problem._blocks(self.problem.d)]

    def _scores(self, X: Any, direction: Array, counting: bool = True) -> Array:
        """Scores of classes, for all rows of a table or those that count; zero of a reference."""
        table = direction.reshape(self.problem.d + 1, -1)
        moved = np.flatnonzero(table[:-1].any(axis=1))
        if 4 * len(moved) < self.problem.d:  # few columns need no product with all
            scores = np.asarray(X[:, moved] @ table[moved])
        else:
            scores = np.asarray(X @ table[:-1])
        scores = scores + table[-1] * self.problem.fit_intercept
        if counting and len(self.used) < self.problem.n:
            scores = scores[self.used]
        if scores.shape[1] < self.width:
            scores = np.hstack([scores, np.zeros((len(scores), 1))])
        return scores


def against(Z: Any, code: NDArray[Any], other: NDArray[Any], K: int) -> Any:
    """Scores of rows' own classes minus those of others; a class past K has none."""
    Z = Z.tocoo()
    parts = []
    for kind, sign in ((code[Z.row], 1.0), (other[Z.row], -1.0)):
        has = kind < K
        columns = Z.col[has] * K + kind[has]
        shape = (Z.shape[0], Z.shape[1] * K)
        parts.append(sp.csr_matrix((sign * Z.data[has], (Z.row[has], columns)), shape))
    return parts[0] + parts[1]
