"""L3, L6, M8: objectives on published tables, beside LIBLINEAR and LIBSVM, to the certified gap."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import rosenblatt
from rosenblatt import certify

pytestmark = pytest.mark.usefixtures("unconverged")

TABLES = ["ionosphere", "sonar", "a9a", "letter", "mnist10k"]
MOST = 600  # rows


def two_classes(folder, name):
    """Some rows of a table, and the sign of each: of two classes, or of half of them."""
    if name == "a9a":
        X, y = load_svmlight_file(str(folder / name / "a9a.libsvm.gz"))
        return X[:MOST], y[:MOST]
    if name == "mnist10k":
        found = np.load(folder / name / "mnist10k.npz")
        X, y = found["X"][:MOST], found["y"][:MOST]
        return X.reshape(len(X), -1) / 255.0, np.where(y >= 5, 1.0, -1.0)
    path = folder / name / (f"{name}.csv.gz" if name == "letter" else f"{name}.csv")
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        cells = np.genfromtxt(lines, delimiter=",", dtype=str)[1 : MOST + 1]
    X = StandardScaler().fit_transform(cells[:, :-1].astype(float))
    y = np.unique(cells[:, -1], return_inverse=True)[1]
    return X, np.where(2 * y > y.max(), 1.0, -1.0)


def check(ours, theirs, X, y, objective):
    """Neither objective is further below the other than that one's certified gap."""
    gaps = [certify(model, X, y)["gap"] for model in (ours, theirs)]
    assert gaps[0].holds
    values = objective(ours), objective(theirs)
    rounding = 1e-9 * values[0]
    assert values[0] <= values[1] + gaps[0].value + rounding
    assert values[1] <= values[0] + gaps[1].value + rounding


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_objective_is_that_of_liblinear_to_the_certified_gap(data_folder, name, loss):
    X, y = two_classes(data_folder, name)

    def objective(model):
        w, b = np.ravel(model.coef_), float(model.intercept_[0])
        slack = np.maximum(0, 1 - y * (X @ w + b))
        return (w @ w + b * b) / 2 + 0.1 * np.sum(slack**2 if loss == "squared_hinge" else slack)

    settings = {"loss": loss, "C": 0.1, "random_state": 0, "max_iter": 5000}
    ours, theirs = (
        library.LinearSVC(**settings).fit(X, y) for library in (rosenblatt, sklearn.svm)
    )
    check(ours, theirs, X, y, objective)


@pytest.mark.parametrize("name", TABLES)
def test_the_objective_is_that_of_libsvm_to_the_certified_gap(data_folder, name):
    X, y = two_classes(data_folder, name)
    gamma = 1 / X.shape[1]

    def objective(model):
        a = np.ravel(model.dual_coef_.toarray() if sp.issparse(X) else model.dual_coef_)
        K = rbf_kernel(X[model.support_], gamma=gamma)
        return a @ K @ a / 2 + np.maximum(0, 1 - y * model.decision_function(X)).sum()

    ours, theirs = (library.SVC(gamma=gamma).fit(X, y) for library in (rosenblatt, sklearn.svm))
    check(ours, theirs, X, y, objective)
