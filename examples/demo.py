"""Compare all models on a table, certify perceptrons, add and forget rows, replay one learning.

Run it with `make demo`; it needs the package with its extras `cli` and `tables`, and scikit-learn's
bundled data.
"""

import re
import tempfile
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV as TheirGridSearchCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from rosenblatt import Certificate, GaussianNB, GridSearchCV, Perceptron, Trace, certify, compare

PAGE = Path("run.html")
REPORT = Path("report.html")


def main() -> None:
    """Print the table and write the page."""
    console = Console()
    console.print("\nAll families of models on one table, breast_cancer:\n")
    for line in compare_all():
        console.print(line, markup=False, highlight=False)
    console.print("\nThe report, which shows why:")
    console.print(str(REPORT.absolute()), markup=False, highlight=False, soft_wrap=True)
    console.print("\nA perceptron on four tables, a quarter of the rows held out:\n")
    table = Table("data", "test", "train", "mistakes", "certificate")
    for column in table.columns[1:4]:
        column.justify = "right"
    for name, load in {
        "iris": load_iris,
        "wine": load_wine,
        "breast cancer": load_breast_cancer,
        "digits": load_digits,
    }.items():
        cells, certificate = learn(*load(return_X_y=True))
        table.add_row(name, *cells)
        if name == "breast cancer":
            longest = certificate
    console.print(table)
    console.print(
        "\nOn iris every test row may be right while some training rows are wrong. That is no "
        "fault of the fit: it is proved that no perceptron gets all its training rows right.",
        highlight=False,
    )
    console.print("\nThe certificate of breast cancer, whole:\n")
    for line in str(longest).splitlines():
        print_hanging(console, line)
    console.print("\nCounting models add and subtract what they have learned. On digits:\n")
    for line in add_and_forget():
        print_hanging(console, line)
    steps = replay()
    console.print(f"\nA page replays {steps} corrections of a perceptron finding its line. Open")
    console.print(str(PAGE.absolute()), markup=False, highlight=False, soft_wrap=True)


def compare_all() -> list[str]:
    """The leaderboard of a comparison and its test score; the report is written."""
    with tempfile.TemporaryDirectory() as folder:  # a demonstration leaves no ledger behind
        found = compare("breast_cancer", target="diagnosis", ledger=Path(folder) / "ledger.jsonl")
    found.report(REPORT)
    return str(found).splitlines()


def print_hanging(console: Console, line: str) -> None:
    """Print a line of a table; where it is too long, it goes on below its last column."""
    gaps = [gap.end() for gap in re.finditer(r"(?<=\S)  +", line)]
    indent = gaps[-1] if gaps and gaps[-1] <= console.width // 2 else 4
    text = textwrap.fill(line, console.width, subsequent_indent=" " * indent)
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def learn(X: NDArray[Any], y: NDArray[Any]) -> tuple[list[str], Certificate]:
    """Fit to three quarters of the rows; a row of the table, and the certificate."""
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    model = Perceptron(tol=None, max_iter=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says it better
        model.fit(X, y)
    # Ten classes of 64 columns are many: one pass is effort enough when every row is right.
    certificate = certify(model, X, y, effort=0 if model.converged_ else 1)
    finding = certificate.claims[1]
    verdict = {
        "margin": f"separated, margin {finding.value:.2g}",
        "separability": "no scores separate all rows" if finding.holds else "not finished",
    }[finding.name]
    return [
        f"{model.score(X_test, y_test):.1%}",
        f"{model.score(X, y):.1%}",
        f"{model.n_updates_:,}",
        f"{verdict} ({finding.grade})",
    ], certificate


def add_and_forget() -> list[str]:
    """Merge two models, forget some rows, and cross-validate in one read of the rows."""
    X, y = load_digits(return_X_y=True)
    first, second = (GaussianNB().fit(X[part], y[part]) for part in (slice(900), slice(900, None)))
    whole = GaussianNB().fit(X, y)
    merged = first.merge(second)
    apart = float(np.abs(merged.theta_ - whole.theta_).max())
    left = merged.forget(X[:500], y[:500])
    refit = GaussianNB().fit(X[500:], y[500:])
    off = float(np.abs(left.theta_ - refit.theta_).max())
    grid = {"var_smoothing": np.logspace(-9, 0, 10)}
    ours, theirs = (S(GaussianNB(), grid, cv=10) for S in (GridSearchCV, TheirGridSearchCV))
    seconds = [median_seconds(search, X, y) for search in (ours, theirs)]
    equal = np.allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9
    )
    return [
        f"  merge   two models of 900 and 897 rows are one fit on all, up to {apart:.1g}",
        f"  forget  500 rows taken out leave a fit on the others, up to {off:.1g}",
        f"  search  10 smoothings, 10 folds: {ours.best_score_:.1%} at best in {seconds[0]:.2f} s; "
        f"refitted for each fold {'the same scores' if equal else 'other scores'} "
        f"in {seconds[1]:.2f} s (both warm, median of three)",
    ]


def median_seconds(search: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """The median time of three fits, after one that compiles or loads what they run."""
    search.fit(X, y)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        search.fit(X, y)
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))


def replay() -> int:
    """Watch a perceptron tell two irises apart by their sepals; the number of corrections."""
    iris = load_iris()
    setosa_or_versicolor = iris.target < 2
    X = iris.data[setosa_or_versicolor, :2]  # length and width of the sepals
    y = iris.target_names[iris.target[setosa_or_versicolor]]
    trace = Trace(every="update")
    model = Perceptron(tol=None).set_callbacks(trace).fit(X, y)
    trace.save(PAGE, feature_names=["sepal length (cm)", "sepal width (cm)"])
    return model.n_updates_


if __name__ == "__main__":
    main()
