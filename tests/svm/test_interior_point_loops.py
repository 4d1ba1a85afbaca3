"""The steps of the interior point methods."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.loops.rows import arrays
from rosenblatt.svm.interior_point_loops import weighted_rows


@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_matrix])
def test_weighted_rows_leave_out_those_of_no_weight(storage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 7)) * (rng.random((12, 7)) < 0.6)
    X = storage(X)
    h, room = np.arange(12) % 3 / 2, np.full((9, 8), np.nan)
    kept = np.flatnonzero(h[1:10]) + 1
    m = weighted_rows(arrays(X), h, 1, 10, room)
    dense = X.toarray() if sp.issparse(X) else X
    expected = np.sqrt(h[kept, None]) * np.hstack([dense[kept], np.ones((len(kept), 1))])
    np.testing.assert_allclose(room[:m], expected, rtol=1e-15)
