"""Many rows at once give what each gives alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.loops import rows as rows_loops
from rosenblatt.loops.rows import arrays


@pytest.fixture(params=["dense", "csr", "float32"])
def table(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 7)) * (rng.random((12, 7)) < 0.6)
    if request.param == "float32":
        X = X.astype(np.float32)
    return X, arrays(sp.csr_matrix(X) if request.param == "csr" else X)


@pytest.mark.parametrize("m", range(10))
def test_products_with_weights(table, m):
    (X, rows), rng = table, np.random.default_rng(m)
    w, scores = rng.normal(size=7), np.full(m, np.nan)
    rows_loops.dot_each(rows, 2, w, scores)
    np.testing.assert_allclose(scores, X[2 : 2 + m] @ w, atol=1e-14)


@pytest.mark.parametrize("m", range(10))
def test_sums_of_rows(table, m):
    (X, rows), rng = table, np.random.default_rng(m)
    steps, w = rng.normal(size=m), np.ones(7)
    rows_loops.add_each(rows, 2, steps, w)
    np.testing.assert_allclose(w, 1.0 + X[2 : 2 + m].T @ steps, atol=1e-14)
