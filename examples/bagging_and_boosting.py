"""Bias and variance of bagging and boosting on three data sets (P8).

    python examples/bagging_and_boosting.py [picture.svg]

Bagging averages fully grown trees: their bias is low, and averaging reduces the variance. Boosting
adds up stumps: their variance is low, and boosting reduces the bias.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from rosenblatt import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    bias_variance,
)


def tables():
    """Return the features and labels of three data sets, by name."""
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(500, 6))
    digits = load_digits(return_X_y=True)
    some = np.isin(digits[1], (3, 8, 9))
    return {
        "breast cancer, 569 x 30": load_breast_cancer(return_X_y=True),
        "digits 3 or 8 and 9, 537 x 64": (digits[0][some], digits[1][some] == 3),
        "inside a sphere, 500 x 6": (sphere, (sphere**2).sum(axis=1) > 5.35),
    }


def models(n_estimators):
    """Return a stump and a tree, each alone and in ensembles."""
    stump = DecisionTreeClassifier(max_depth=1)
    return {
        "stump": stump,
        "bagged stumps": BaggingClassifier(stump, n_estimators, random_state=0),
        "boosted stumps": AdaBoostClassifier(n_estimators=n_estimators),
        "tree": DecisionTreeClassifier(),
        "bagged trees": BaggingClassifier(n_estimators=n_estimators, random_state=0),
    }


def measured(n_models=30, n_estimators=50, most_rows=None):
    """Return the `bias_variance` decomposition of each model on each data set."""
    return {
        table: {
            name: bias_variance(
                model, X[:most_rows], y[:most_rows], n_models=n_models, random_state=0
            )
            for name, model in models(n_estimators).items()
        }
        for table, (X, y) in tables().items()
    }


def main():
    found = measured()
    for table, each in found.items():
        print(table)
        for name, parts in each.items():
            print(
                f"    {name:<16} error {parts.error:.3f}  bias {parts.bias:.3f}  "
                f"variance {parts.variance:.3f}"
            )
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        from rosenblatt.plot import error_parts

        figure, ax = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
        error_parts(found, ax)
        figure.savefig(sys.argv[1])


if __name__ == "__main__":
    main()
