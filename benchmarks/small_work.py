"""Small work next to scikit-learn: ``python -m benchmarks.small_work [NAME]...``

Predictions of 1 to 6,000 rows and fits of 300 rows, on a 2,000 x 15 table. Peer and ours run in
turns in one process, on one thread; a cell is the least CPU time of scikit-learn divided by the
least of ours. Rows end with probabilities, float32 and CSR predictions of 300 rows where the model
has them.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ROSENBLATT_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402

ROWS = (1, 5, 30, 300, 1_500, 6_000)
FIT_ROWS = 300
LEAST_SECONDS = 0.002  # of one timing: shorter calls are repeated
SECONDS_A_CELL = 0.3
MODELS: dict[str, tuple[str, ...]] = {
    "linear_model": (
        "Perceptron", "LogisticRegression", "LinearRegression", "Ridge", "Lasso", "ElasticNet",
    ),
    "svm": ("LinearSVC", "SVC", "SVR"),
    "naive_bayes": ("GaussianNB", "BernoulliNB"),
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "neighbors": ("KNeighborsClassifier", "KNeighborsRegressor"),
    "tree": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "ensemble": (
        "RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier",
        "BaggingClassifier", "AdaBoostClassifier", "HistGradientBoostingClassifier",
    ),
    "cluster": ("KMeans",),
    "mixture": ("GaussianMixture",),
    "decomposition": ("PCA",),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_work")
    parser.add_argument("names", nargs="*", help="classes; all if none is named")
    names = parser.parse_args(arguments).names
    warnings.simplefilter("ignore")
    X, y = make_classification(
        2_000, 15, n_informative=8, n_redundant=0, n_classes=3, random_state=0
    )
    below, cells = [], 0
    for package, classes in MODELS.items():
        for name in classes:
            if names and name not in names:
                continue
            found = ratios(package, name, X, y)
            print(f"{name:30}", *(f"{cell} {r:.2f}x" for cell, r in found.items()), flush=True)
            below += [(name, cell, r) for cell, r in found.items() if r < 1]
            cells += len(found)
    print(f"{len(below)} of {cells} cells below 1x:")
    for name, cell, ratio in sorted(below, key=lambda entry: entry[2]):
        print(f"  {name} {cell}: {ratio:.2f}x")


def ratios(package: str, name: str, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the ratio of each cell of one class."""
    peer_class = getattr(import_module(f"sklearn.{package}"), name)
    our_class = getattr(import_module("rosenblatt"), name)
    seeded = "random_state" in peer_class().get_params()
    settings = {"random_state": 0} if seeded else {}

    def made(kind: type) -> object:
        return kind(**settings)

    peer, ours = made(peer_class).fit(X, y), made(our_class).fit(X, y)
    many = np.vstack([X] * 3)
    method = "predict" if hasattr(peer, "predict") else "transform"
    calls = {f"{n}": (method, many[:n]) for n in ROWS}
    if hasattr(peer, "predict_proba"):
        calls["300 probabilities"] = ("predict_proba", X[:300])
    calls["300 float32"] = (method, X[:300].astype(np.float32))
    tags = [model.__sklearn_tags__().input_tags for model in (peer, ours)]
    if all(tag.sparse for tag in tags):
        calls["300 CSR"] = (method, sp.csr_matrix(np.where(X > 1, X, 0.0)))
    if package == "cluster":  # the peer takes the precision of the fit only
        del calls["300 float32"]
    found = {}
    for cell, (call, rows) in calls.items():
        if sp.issparse(rows):
            peer.fit(rows, y)
            ours.fit(rows, y)
            rows = rows[:300]
        found[cell] = ratio(lambda m=call, R=rows: getattr(peer, m)(R),
                            lambda m=call, R=rows: getattr(ours, m)(R))  # fmt: skip
    some, labels = X[:FIT_ROWS], y[:FIT_ROWS]
    found[f"fit {FIT_ROWS}"] = ratio(
        lambda: made(peer_class).fit(some, labels), lambda: made(our_class).fit(some, labels)
    )
    return found


def ratio(peer: Callable[[], object], ours: Callable[[], object]) -> float:
    """Return the least CPU time of one call of the peer, divided by the least of ours."""
    least, repeats = [np.inf, np.inf], [1, 1]
    begin = time.process_time()
    for _ in range(200):
        for side, call in enumerate((peer, ours)):
            start = time.process_time()
            for _ in range(repeats[side]):
                call()
            seconds = time.process_time() - start
            least[side] = min(least[side], seconds / repeats[side])
            if seconds < LEAST_SECONDS:
                repeats[side] *= 2
        if time.process_time() - begin > SECONDS_A_CELL:
            break
    return least[0] / least[1]


if __name__ == "__main__":
    main()
