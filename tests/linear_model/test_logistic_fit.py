"""What a descent refuses, and why."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import LogisticRegression


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_too_large_for_an_objective_are_named_with_their_column(sparse):
    X = np.random.default_rng(0).normal(size=(30, 3)) * (1, 1e200, 1)
    rows = sp.csr_matrix(X) if sparse else X
    with pytest.raises(ValueError, match=r"up to \d.*e\+200 \(column 1\) are too large"):
        LogisticRegression().fit(rows, np.arange(30) % 2)
