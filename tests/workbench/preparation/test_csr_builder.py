"""Rows of a sparse table that follow each other are taken without a copy, others as ever."""

import numpy as np
import scipy.sparse as sp

from rosenblatt.workbench.preparation.texts import Uncopied


def test_every_key_gives_what_scipy_gives():
    plain = sp.random(40, 6, 0.4, "csr", random_state=0)
    ours = Uncopied(plain)
    rows, none = np.arange(5, 20), np.empty(0, np.int64)
    keys = [
        rows, rows[::2], none, 3, slice(2, 9), (rows, ...), (slice(None), np.array([1, 4])),
        (slice(None), none), (rows, np.arange(15) % 6), (rows, slice(1, 3)), (2, 3),
        np.arange(40) % 2 == 0,
    ]  # fmt: skip
    for key in keys:
        found, expected = ours[key], plain[key]
        if sp.issparse(expected):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)
    most = ours[np.arange(5, 40)]  # SciPy copies less than half of an array
    assert np.shares_memory(most.data, ours.data)
