"""Text has many columns and few numbers: a fit takes the memory of the numbers."""

import subprocess
import sys

import pytest

FIT = """
import resource, sys, warnings
import numpy as np, scipy.sparse as sp
from rosenblatt import LogisticRegression

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n, d, per_row, K = 2000, 60_000, 60, 3

def table(n):
    columns = rng.integers(0, d, n * per_row)
    X = sp.csr_matrix((rng.random(n * per_row), columns, np.arange(n + 1) * per_row), (n, d))
    X.sum_duplicates()
    return X, np.arange(n) % K

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

models = [LogisticRegression(max_iter=3, **settings) for settings in eval(sys.argv[1])]
for model in models:
    model.fit(*table(20))  # compiles
X, y = table(n)
for model in models:
    before = peak()
    model.fit(X, y)
    print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in other units")
def test_several_classes_of_sparse_rows_are_never_made_dense():
    settings = [{}, {"solver": "lbfgs"}, {"l1_ratio": 1}]
    # X has 1.4 MB, a point (columns x classes) 1.4 MB; a dense copy of X would have 960 MB.
    done = subprocess.run(
        [sys.executable, "-c", FIT, repr(settings)], capture_output=True, text=True, check=True
    )
    assert all(float(megabytes) < 100 for megabytes in done.stdout.split()), done.stdout
