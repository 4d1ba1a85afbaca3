"""``python tools/certify_costs.py``: CPU seconds of `certify` at 100,000 x 50, at both efforts.

Every estimator that has a verifier and can be fitted at that size is fitted once; those with a
matrix of all pairs of rows cannot. Wanted: below 1 second at effort 0 and 3 at effort 1; the exit
code is 1 if one takes longer. ``--only NAME`` (again for more), ``--rows N``, ``--limits A,B`` in
seconds for other limits, ``--profile`` for where the time goes.
"""

import argparse
import cProfile
import pstats
import sys
import time
import warnings

import numpy as np

import rosenblatt as rb
from rosenblatt import certify
from rosenblatt.registry import ROWS

PAIRS = {"SVC", "SVR", "KernelPerceptron", "KernelLogisticRegression", "KernelRidge",
         "AgglomerativeClustering", "ConsensusClustering"}  # fmt: skip
SETTINGS = {
    "RandomForestClassifier": [{"n_estimators": 20}, {"n_estimators": 100, "max_depth": 8}],
    "RandomForestRegressor": [{"n_estimators": 10}],
    "ExtraTreesClassifier": [{"n_estimators": 20}],
    "ExtraTreesRegressor": [{"n_estimators": 10}],
    "DecisionTreeClassifier": [{}, {"max_depth": 6}],
    "KMeans": [{"n_clusters": 8}],
    "MiniBatchKMeans": [{"n_clusters": 8}],
    "GaussianMixture": [{"n_components": 4}],
    "LogisticRegression": [{}, {"C": np.inf}],
    "PCA": [{"n_components": 10}],
    "LinearSVC": [{}, {"dual": False}],
}


def data(name, task, kind):
    """Rows (n, 50) and targets as the estimator reads them; `kind` says how classes lie."""
    n = OPTIONS.rows
    draw = np.random.RandomState(0)
    X = draw.standard_normal((n, 50))
    score = X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1]
    if name in ("MultinomialNB", "ComplementNB"):
        X = draw.poisson(np.exp(X / 2)).astype(float)
    elif name in ("BernoulliNB", "CategoricalNB", "TreeAugmentedNB"):
        X = (X > 0).astype(float) if name == "BernoulliNB" else np.floor(3 * draw.random((n, 50)))
    elif name in ("ConjunctionClassifier", "MofNClassifier"):
        X = (X > 0).astype(float)
        return X, (X[:, 0] * X[:, 1] > 0).astype(int)
    if task == "regression" or name.endswith("Regressor") or name == "LinearSVR":
        return X, score + draw.standard_normal(n)
    if kind == "separable":
        far = np.abs(X[:, :10].sum(axis=1)) > 1
        return X[far], (X[far, :10].sum(axis=1) > 0).astype(int)
    return X, (score + 2 * draw.standard_normal(n) > 0).astype(int)


def cases():
    for row in ROWS:
        if not row.certificate or row.name in PAIRS:
            continue
        if OPTIONS.only and row.name not in OPTIONS.only:
            continue
        for settings in SETTINGS.get(row.name, [{}]):
            yield row, settings, "mixed"
        if "Perceptron" in row.name or row.name == "LogisticRegression":
            settings = {"C": np.inf} if row.name == "LogisticRegression" else {}
            yield row, settings, "separable"


def measured(model, X, y, effort):
    """CPU seconds of one certificate, and whether it holds."""
    profile = cProfile.Profile()
    start = time.process_time()
    if OPTIONS.profile:
        profile.enable()
    certificate = certify(model, X, y, effort=effort)
    seconds = time.process_time() - start
    if OPTIONS.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(12)
    return seconds, certificate.holds


def main():
    """Print the list; return how many cases are over their limit."""
    n_over, limits = 0, [float(word) for word in OPTIONS.limits.split(",")]  # by effort
    print(f"{'model':<52} {'fit':>7} {'effort 0':>9} {'effort 1':>9}")
    for row, settings, kind in cases():
        X, y = data(row.name, row.task, kind)
        words = ", ".join(f"{k}={v}" for k, v in settings.items())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(rb, row.name)(**settings)
            start = time.process_time()
            model.fit(X, y)
            fit = time.process_time() - start
            certify(
                getattr(rb, row.name)(**settings).fit(X[:500], y[:500]), X[:500], y[:500]
            )  # warm
            found = [measured(model, X, y, effort) for effort in (0, 1)]
        over = any(s > limit for (s, _), limit in zip(found, limits, strict=True))
        n_over += over
        cells = " ".join(f"{s:>9.2f}" for s, _ in found)
        holds = "" if all(h for _, h in found) else "  a claim does not hold"
        name = f"{row.name}({words}), {kind}"
        print(f"{name:<52} {fit:>7.2f} {cells}{'  over' if over else ''}{holds}", flush=True)
    return n_over


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", action="append")
    parser.add_argument("--limits", default="1,3")
    parser.add_argument("--profile", action="store_true")
    OPTIONS = parser.parse_args()
    sys.exit(bool(main()))
