"""How far fits by parts lie from fits in memory: `python -m benchmarks.part_fits`.

Real rows, standardised, in eight parts; four fifths of them to learn from, the rest to score by.
"""

import warnings

import numpy as np

import rosenblatt
from rosenblatt.data import Source, read_table
from rosenblatt.distributed import fit

from .scenarios.workbench import TABLES, WHICH

PARTS = 8
CLASSES = {
    "perceptron, 20 passes, accuracy": ("Perceptron", {"max_iter": 20, "random_state": 0}),
    "averaged perceptron, 20 passes, accuracy": (
        "AveragedPerceptron", {"max_iter": 20, "random_state": 0},
    ),
}  # fmt: skip
GROUPS = {
    "k-means, 8 clusters, loss a row": ("KMeans", {"n_clusters": 8, "random_state": 0}),
    "mixture of 4, log-likelihood a row": (
        "GaussianMixture", {"n_components": 4, "random_state": 0},
    ),
}  # fmt: skip
TREES = {
    "boosting, 5 rounds of 8 leaves": (
        "HistGradientBoosting", {"max_iter": 5, "max_leaf_nodes": 8, "early_stopping": False},
    ),
    "forest, 20 trees of depth 8": (
        "RandomForest", {"n_estimators": 20, "max_depth": 8, "random_state": 0},
    ),
}  # fmt: skip


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a set, standardised, in random order, and their targets."""
    path, target = WHICH[name]
    frame = read_table(TABLES / path).frame.drop_nulls()
    numbers = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    X = frame.select([column for column in numbers if column != target]).to_numpy().astype(float)
    X, y = X[:, X.std(axis=0) > 0], frame[target].to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    return ((X - X.mean(axis=0)) / X.std(axis=0))[order], y[order]


def both(kind: str, settings: dict, X: np.ndarray, y: np.ndarray | None) -> tuple[float, float]:
    """The score of a model on the last fifth: fitted in memory, fitted by parts."""
    n = 4 * len(X) // 5
    batches = np.array_split(X[:n], PARTS)
    targets = None if y is None else np.array_split(y[:n], PARTS)
    source = Source(batches if targets is None else list(zip(batches, targets, strict=True)))
    model = getattr(rosenblatt, kind)
    known, test = (X[:n], None if y is None else y[:n]), (X[n:], None if y is None else y[n:])
    per_row = n - len(X) if kind == "KMeans" else 1  # its score is minus the loss of all rows
    fitted = model(**settings).fit(*known), fit(model(**settings), source)
    return tuple(one.score(*test) / per_row for one in fitted)


def main() -> None:
    warnings.simplefilter("ignore")
    print("| data | model and measure | in memory | by parts |\n|---|---|---|---|", flush=True)
    for name in ("letter", "covertype", "california housing"):
        X, y = table(name)
        numbers = name.startswith("california")
        rows = {what: (kind, s, y > np.median(y) if numbers else y)
                for what, (kind, s) in CLASSES.items()}  # fmt: skip
        rows |= {what: (kind, settings, None) for what, (kind, settings) in GROUPS.items()}
        ending, measure = ("Regressor", "R²") if numbers else ("Classifier", "accuracy")
        rows |= {f"{what}, {measure}": (kind + ending, s, y) for what, (kind, s) in TREES.items()}
        for what, (kind, settings, targets) in rows.items():
            here, parts = both(kind, settings, X, targets)
            print(f"| {name} | {what} | {here:.4f} | {parts:.4f} |", flush=True)


if __name__ == "__main__":
    main()
