"""L3, L6: objectives on published tables, beside LIBLINEAR's, to the certified gap."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as TheirLinearSVC

from rosenblatt import LinearSVC, certify

pytestmark = pytest.mark.usefixtures("unconverged")


@pytest.mark.parametrize("name", ["ionosphere", "sonar"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_no_objective_of_liblinear_is_below_the_certified_bound(data_folder, name, loss):
    cells = np.genfromtxt(data_folder / name / f"{name}.csv", delimiter=",", dtype=str)
    X = StandardScaler().fit_transform(cells[1:, :-1].astype(float))
    y = (cells[1:, -1] == np.unique(cells[1:, -1])[1]).astype(int)
    sign = 2 * y - 1
    ours = LinearSVC(loss=loss).fit(X, y)
    theirs = TheirLinearSVC(loss=loss, random_state=0, max_iter=5000).fit(X, y)

    def objective(model):
        w, b = np.ravel(model.coef_), float(model.intercept_[0])
        slack = np.maximum(0, 1 - sign * (X @ w + b))
        return (w @ w + b * b) / 2 + np.sum(slack**2 if loss == "squared_hinge" else slack)

    gap = certify(ours, X, y)["gap"]
    assert gap.holds
    assert objective(ours) <= objective(theirs) + gap.value
    assert objective(theirs) - objective(ours) <= certify(theirs, X, y)["gap"].value + 1e-9
