"""Logistic regression on real tables: scikit-learn's answers, within the gap that is proved."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.preprocessing import StandardScaler

from rosenblatt import LogisticRegression
from rosenblatt.linear_model import SeparationWarning
from rosenblatt.prediction import log_probabilities


def spambase(folder):
    table = pd.read_csv(folder / "spambase" / "spambase.csv.gz").to_numpy(np.float64)
    return StandardScaler().fit_transform(table[:, :-1]), table[:, -1].astype(int)


def sonar(folder):
    table = pd.read_csv(folder / "sonar" / "sonar.csv")
    return table.iloc[:, :-1].to_numpy(np.float64), table.iloc[:, -1].to_numpy(str)


def a9a(folder):
    return load_svmlight_file(str(next((folder / "a9a").glob("*.gz"))), n_features=123)


def letters(folder):
    table = pd.read_csv(folder / "letter" / "letter.csv.gz")
    label = next(name for name in table if table[name].dtype.kind not in "if")
    X = table.drop(columns=label).to_numpy(np.float64)[:2000]
    return StandardScaler().fit_transform(X), table[label].to_numpy(str)[:2000]


def rcv1(folder):
    return load_svmlight_file(str(folder / "rcv1_small" / "rcv1_small.libsvm.gz"))


def objective(model, X, y):
    log_p = log_probabilities(model.decision_function(X))  # scikit-learn's own may be log(0)
    own = log_p[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return 0.5 * (model.coef_**2).sum() - own.sum()


@pytest.mark.parametrize(
    ("load", "solver"),
    [*((load, "auto") for load in (spambase, sonar, a9a, letters, rcv1)),
     (sonar, "lbfgs"), (letters, "lbfgs")],
)  # fmt: skip
def test_it_agrees_with_scikit_learn_to_the_gap(load, solver, data_folder):
    X, y = load(data_folder)
    theirs = Theirs(tol=1e-7, max_iter=20_000).fit(X, y)
    model = LogisticRegression(tol=1e-6, solver=solver, max_iter=5000).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-9)
    # Neither is further from the best than the gap says.
    assert model.objective_ - objective(theirs, X, y) <= model.dual_gap_
    scale = np.abs(theirs.coef_).max()
    # |w - w*| <= sqrt(2 gap), for the penalty is 1/2 |w|^2; scikit-learn is short of w* as well.
    reach = np.sqrt(2 * model.dual_gap_) + 0.02 * scale
    assert np.linalg.norm(model.coef_ - theirs.coef_) <= reach


def test_raw_spam_statistics_have_columns_that_separate_in_part_or_not(data_folder):
    """Without a penalty the 57 statistics of spambase have a finite optimum; sonar's have none."""
    X, y = spambase(data_folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeparationWarning)
        LogisticRegression(C=np.inf).fit(X, y)
    X, y = sonar(data_folder)
    with pytest.warns(SeparationWarning, match="completely") as told:
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert told[0].message.proof.verify(X, y)
    assert np.isfinite(model.coef_).all()
