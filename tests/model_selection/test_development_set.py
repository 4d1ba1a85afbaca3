"""B2: fit on the training part, choose on the development part, refit on both, test once."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import PredefinedSplit

from rosenblatt import GaussianNB, train_dev_test_split
from rosenblatt.model_selection import GridSearchCV

X, Y = load_breast_cancer(return_X_y=True)
SMOOTHING = [1e-12, 1e-9, 1e-6, 1e-3]


def test_the_recipe_step_by_step():
    X_train, X_dev, X_test, y_train, y_dev, y_test = train_dev_test_split(
        X, Y, dev_size=0.2, test_size=0.2, stratify=Y, random_state=0
    )
    rows, labels = np.vstack([X_train, X_dev]), np.concatenate([y_train, y_dev])
    part = np.repeat([-1, 0], [len(X_train), len(X_dev)])  # -1: never held out
    search = GridSearchCV(GaussianNB(), {"var_smoothing": SMOOTHING}, cv=PredefinedSplit(part))
    search.fit(rows, labels)

    by_hand = [
        GaussianNB(var_smoothing=s).fit(X_train, y_train).score(X_dev, y_dev) for s in SMOOTHING
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    best = SMOOTHING[np.flatnonzero(np.array(by_hand) == max(by_hand))[-1]]  # of equals the simpler
    assert search.best_params_ == {"var_smoothing": best}

    refitted = GaussianNB(var_smoothing=best).fit(rows, labels)
    np.testing.assert_allclose(search.best_estimator_.theta_, refitted.theta_, rtol=1e-12)
    assert search.score(X_test, y_test) == refitted.score(X_test, y_test)
