"""Fits of many columns have the same bits, however many threads BLAS has."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rosenblatt import KernelLogisticRegression, LogisticRegression

RNG = np.random.default_rng(0)
X, NOISE = RNG.normal(size=(900, 400)), RNG.normal(size=900)
TWO = (X[:, :20].sum(axis=1) + NOISE > 0).astype(int)
THREE = np.digitize(X[:, :20].sum(axis=1) + NOISE, [-2, 2])


@pytest.mark.parametrize("y", [TWO, THREE])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(solver="newton-cholesky", tol=1e-8),
        LogisticRegression(solver="newton-cg", tol=1e-8),
        LogisticRegression(solver="lbfgs", max_iter=300),
        LogisticRegression(l1_ratio=0.5, C=0.1),
        KernelLogisticRegression(tol=1e-8),
    ],
    ids=repr,
)
def test_same_bits_on_one_and_on_many_threads_of_blas(model, y):
    if len(np.unique(y)) == 3:
        columns = slice(0, 60)  # of each class
    else:
        columns = slice(None)
    fits = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads, "blas"):
            model.fit(X[:, columns], y)
            fits.append(getattr(model, "coef_", getattr(model, "dual_coef_", None)))
    assert np.array_equal(*fits)
