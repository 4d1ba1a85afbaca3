"""Compare models on a table, certify fits, merge and forget rows, and record a training run.

`make demo` runs this file. It uses data sets bundled with scikit-learn and writes report.html and
run.html into the current folder.
"""

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from rosenblatt import Comparison, GaussianNB, GridSearchCV, Perceptron, Trace, certify, compare

PAGE = Path("run.html")
REPORT = Path("report.html")
N_SHOWN = 5
DATA_SETS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


def main() -> None:
    """Run the four parts and print their results."""
    print(
        "This demo compares models on a table of 569 tumors, certifies four fits, merges\n"
        "and forgets rows, and records a training run. It takes about 20 seconds. The\n"
        "first run takes one to two minutes, because the inner loops are compiled once.",
        flush=True,
    )
    print("\n1. Which model predicts best whether a tumor is malignant?\n", flush=True)
    found = compare_models()
    print(answer(found), *leaderboard(found), sep="\n")
    print(f"\nFull report: {REPORT.absolute()}")

    print("\n2. What is certain about a fit? Certificates of four perceptrons\n", flush=True)
    print(f"{'data':<14}{'training':>9}{'test':>9}{'updates':>9}   certificate")
    for name, load in DATA_SETS.items():
        print(f"{name:<14}{fit_and_certify(*load(return_X_y=True))}", flush=True)
    print(
        "\nA certificate checks the model against the data, without the training code. On\n"
        "iris it proves that no perceptron classifies all training rows correctly."
    )
    print(
        "\n3. Can a model be updated without refitting? Gaussian naive Bayes on digits\n",
        flush=True,
    )
    print(*merge_and_forget(), sep="\n")

    print("\n4. How does a perceptron learn?\n", flush=True)
    n_updates = record_run()
    print(f"This page replays the {n_updates:,} updates of a fit: {PAGE.absolute()}")

    print(
        "\nNext, with your own table (CSV, TSV, Parquet, Excel and others):\n\n"
        "  .venv/bin/rosenblatt compare your_table.csv --target your_column\n"
        "  .venv/bin/rosenblatt compare your_table.csv    # lists the columns\n"
        "  .venv/bin/rosenblatt --help                    # lists the other commands"
    )


def compare_models() -> Comparison:
    """Compare all model families on the breast cancer table and write the report."""
    with tempfile.TemporaryDirectory() as folder:  # the demo keeps no record of test evaluations
        found = compare("breast_cancer", target="diagnosis", ledger=Path(folder) / "ledger.jsonl")
    found.report(REPORT)
    return found


def answer(found: Comparison) -> str:
    """Return the best model and its test score, with interval and baseline."""
    test, best = found.findings.opening, found.findings.contestants[0]
    interval = test.intervals[0]
    return (
        f"Best model: {best.family}.\n"
        f"Accuracy on {len(test.y)} test rows: {test.score:.3f} "
        f"(95% interval {interval.low:.3f} to {interval.high:.3f}).\n"
        f"Accuracy of always predicting the most frequent class: {test.baseline_score:.3f}.\n"
    )


def leaderboard(found: Comparison) -> list[str]:
    """Return a line for each of the best families and the baseline: cross-validated scores."""
    board = found.leaderboard
    lines = [f"{'cross-validation':<38}{'accuracy':>8}   compared with the best"]
    for i in [*range(N_SHOWN), int(np.flatnonzero(board["baseline"])[0])]:
        line = board.iloc[i]
        verdict = "no significant difference" if line.alike else "significantly worse"
        lines.append(f"{line.family:<38}{line.score:>8.3f}   {verdict if i else 'best'}")
    n_models = int((~board["baseline"]).sum())
    lines.insert(-1, f"... and {n_models - N_SHOWN} more")
    return lines


def fit_and_certify(X: NDArray[Any], y: NDArray[Any]) -> str:
    """Fit a perceptron to three quarters of the rows; return its accuracies and certificate."""
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    model = Perceptron(tol=None, max_iter=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate reports it
        model.fit(X, y)
    claim = certify(model, X, y, effort=0 if model.converged_ else 1).claims[1]
    result = {
        "margin": f"separable, margin {claim.value:.2g}",
        "separability": "not separable" if claim.holds else "not converged",
    }[claim.name]
    return (
        f"{model.score(X, y):>9.1%}{model.score(X_test, y_test):>9.1%}{model.n_updates_:>9,}"
        f"   {result} ({claim.grade})"
    )


def merge_and_forget() -> list[str]:
    """Merge two models, forget rows, and search a parameter from additive statistics."""
    X, y = load_digits(return_X_y=True)
    first, second = (GaussianNB().fit(X[part], y[part]) for part in (slice(900), slice(900, None)))
    merged = first.merge(second)
    merge_error = np.abs(merged.theta_ - GaussianNB().fit(X, y).theta_).max()
    smaller = merged.forget(X[:50], y[:50])
    forget_error = np.abs(smaller.theta_ - GaussianNB().fit(X[50:], y[50:]).theta_).max()
    grid = {"var_smoothing": np.logspace(-9, 0, 10)}
    ours, theirs = (S(GaussianNB(), grid, cv=10) for S in (GridSearchCV, SklearnGridSearchCV))
    seconds = [median_seconds(search, X, y) for search in (ours, theirs)]
    equal = np.allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9
    )
    return [
        f"Merge two models: means differ from one fit to all rows by {merge_error:.1g}.",
        f"Remove 50 rows: means differ from a new fit to the other rows by {forget_error:.1g}.",
        f"Grid search with 10 values and 10 folds: {seconds[0]:.2f} s; "
        f"scikit-learn's GridSearchCV: {seconds[1]:.2f} s "
        f"({'the same scores' if equal else 'different scores'}).",
    ]


def median_seconds(search: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the median time of three fits after a first one, which may compile."""
    search.fit(X, y)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        search.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def record_run() -> int:
    """Record a perceptron on the sepals of two iris species; return its number of updates."""
    iris = load_iris()
    two_species = iris.target < 2
    X = iris.data[two_species, :2]
    y = iris.target_names[iris.target[two_species]]
    trace = Trace(every="update")
    model = Perceptron(tol=None).set_callbacks(trace).fit(X, y)
    trace.save(PAGE, feature_names=["sepal length (cm)", "sepal width (cm)"])
    return model.n_updates_


if __name__ == "__main__":
    main()
