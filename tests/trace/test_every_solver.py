"""Objective, gap and gradient norm of each step, by every solver of every model that descends."""

import numpy as np
import pytest

from rosenblatt import (
    ElasticNet,
    KernelLogisticRegression,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    Trace,
)
from tests.contract.estimators import name_of

pytestmark = pytest.mark.usefixtures("unconverged")

OURS = ("auto", "newton", "lbfgs", "gradient", "sgd", "coordinate")
THEIRS = ("newton-cg", "newton-cholesky", "liblinear", "sag", "saga")
SPARSE = ("auto", "gradient", "coordinate", "saga")  # solvers that leave weights at zero

CLASSIFIERS = [
    *(LogisticRegression(solver=name, random_state=0) for name in OURS + THEIRS),
    *(LogisticRegression(C=np.inf, solver=name, random_state=0) for name in OURS + THEIRS),
    *(LogisticRegression(l1_ratio=r, solver=name) for r in (0.5, 1) for name in SPARSE),
    *(LogisticRegression(softmax="reference", solver=name, random_state=0) for name in OURS),
    *(KernelLogisticRegression(solver=name, random_state=0) for name in (*OURS, "newton-cg")),
]
REGRESSORS = [
    *(Ridge(alpha, solver=name) for alpha in (0, 1.0)
      for name in ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga")),
    *(Ridge(alpha, positive=True, solver="lbfgs") for alpha in (0, 1.0)),
    LinearRegression(), LinearRegression(positive=True),
    *(kind(0.1, selection=name, positive=positive) for kind in (Lasso, ElasticNet)
      for name in ("cyclic", "random") for positive in (False, True)),
]  # fmt: skip


PROOFS = ("objective", "dual_gap", "gradient_norm")


def told(model, X, y):
    """The three numbers of each step."""
    trace = Trace()
    model.set_callbacks(trace).fit(X, y)
    frame = trace.to_frame()
    return frame[[name for name in PROOFS if name in frame]]


def check(frame):
    """Gaps bound what later steps have gained, and all numbers become small."""
    assert len(frame) > 1
    assert np.isfinite(frame.to_numpy()).all()
    least = frame["objective"].min()
    rounding = 1e-12 * frame["objective"].iloc[0]
    first, last = frame.iloc[0], frame.iloc[-1]
    assert last["objective"] < first["objective"]
    if "dual_gap" in frame:
        assert (frame["dual_gap"] >= frame["objective"] - least - rounding).all()
        assert last["dual_gap"] < 1e-2 * first["objective"]  # single rows come no nearer
    assert last["gradient_norm"] < 0.05 * first["gradient_norm"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_classifiers(model, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    score = X @ [1.0, -1.0, 0.5] + 2 * rng.normal(size=90)  # so that no plane parts the classes
    frame = told(model, X, np.digitize(score, [0] if n_classes == 2 else [-1, 1]))
    assert "dual_gap" in frame
    check(frame)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_regressors(model, n_targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 1
    y = X @ rng.uniform(0.2, 1, (4, n_targets)) + rng.normal(size=(60, n_targets))
    frame = told(model, X, y[:, 0] if n_targets == 1 else y)
    assert ("dual_gap" in frame) == (getattr(model, "alpha", 0) > 0)  # no bound without a penalty
    check(frame)
