"""Draw the pictures of the README: `make docs` writes them into docs/_static.

`overview.png` comes from a comparison and a traced fit, `speed.png` from benchmarks/results.jsonl.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from rosenblatt import Perceptron, Trace, compare
from rosenblatt.plot.drawing import COLOURS, INK, PALE, colour, marker, pyplot

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "docs" / "_static"

# Label in the chart and name of the row in benchmarks/results.jsonl.
JOBS = {
    "ridge, grid search, 100 penalties × 5 folds": (
        "grid search, Ridge, 100 penalties x 5 folds, 100k x 50"
    ),
    "linear regression, 1M × 50": "LinearRegression fit, 1M x 50",
    "logistic regression, 1M × 50": "logistic regression, dense 1M x 50",
    "lasso path, 100k × 500": "lasso path, 100 penalties, dense 100k x 500",
    "Gaussian naive Bayes, 1M × 50": "GaussianNB fit and predict, dense 1M x 50, 2 classes",
    "word counts, 100k documents": "CountVectorizer, 100k documents x 200 words",
    "decision tree, 100k × 30": "decision tree, dense 100k x 30, grown out",
    "random forest, 100 trees, 50k × 30": "random forest, dense 50k x 30, 100 trees",
    "gradient boosting, 100k × 30": "histogram boosting, dense 100k x 30",
    "nearest neighbors, 100k × 16": "nearest neighbours, 100k stored, 10k queries, 16 columns",
    "SVC, Gaussian kernel, 10k × 50": "SVC, Gaussian, noisy 10k x 50",
    "linear SVM, sparse 200k × 50k": "LinearSVC, CSR 200k x 50k",
    "k-means, 20 clusters, 1M × 16": "k-means, 1M x 16, 20 clusters",
    "PCA, 1M × 50": "PCA, 1M x 50",
    "k-means, 1,000 × 20": "k-means, small data 1,000 x 20",
    "linear SVR, 1,000 × 20": "LinearSVR, dense 1,000 x 20",
}
# Color and marker of each library.
PEERS = {
    "scikit-learn": (COLOURS[0], "o"),
    "scikit-learn-intelex": (COLOURS[5], "D"),
    "LightGBM": (COLOURS[2], "s"),
    "XGBoost": (COLOURS[4], "^"),
    "faiss": (COLOURS[3], "v"),
}


def main() -> None:
    """Draw both pictures."""
    pyplot().switch_backend("Agg")
    overview(STATIC / "overview.png")
    speed(STATIC / "speed.png")


def overview(path: Path) -> None:
    """Draw the leaderboard of a comparison next to the path of a perceptron."""
    figure, axes = pyplot().subplots(
        1, 2, figsize=(10.4, 4.6), width_ratios=[1.25, 1], layout="constrained"
    )
    draw_leaderboard(axes[0])
    draw_updates(axes[1])
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def draw_leaderboard(ax: Any) -> None:
    """Draw the cross-validated accuracy of each model family on digits, with 95% intervals."""
    with tempfile.TemporaryDirectory() as folder:
        found = compare("digits", target="digit", ledger=Path(folder) / "ledger.jsonl")
    board = found.leaderboard
    board = board[~board["baseline"]][::-1]
    for y, (_, line) in enumerate(board.iterrows()):
        ink = COLOURS[0] if line.alike else "#8a8f98"
        ax.plot([line.low, min(line.high, 1)], [y, y], color=ink, linewidth=1.4)
        ax.plot(line.score, y, "o", color=ink, markersize=5)
    ax.set_yticks(range(len(board)), board["family"], fontsize=8)
    ax.set_xlabel("accuracy in cross-validation, with 95% interval")
    ax.set_title(
        "rosenblatt compare digits --target digit", loc="left", fontsize="medium",
        family="monospace",
    )  # fmt: skip
    ax.text(
        0.02, 0.97, "blue: no significant difference\nfrom the best model",
        transform=ax.transAxes, va="top", fontsize="small", color=COLOURS[0],
    )  # fmt: skip


def draw_updates(ax: Any) -> None:
    """Draw the separating lines of a traced perceptron on the sepals of two iris species."""
    iris = load_iris()
    X, y = iris.data[iris.target < 2, :2], iris.target[iris.target < 2]
    trace = Trace(every="update")
    Perceptron(tol=None).set_callbacks(trace).fit(X, y)
    steps = [step.estimator for step in trace]
    x = np.array([4.0, 7.2])
    shown = np.unique(np.geomspace(2, len(steps), 40).astype(int)) - 1
    for i in shown:
        (a, b), c = steps[i].coef_[0], steps[i].intercept_[0]
        last = i == shown[-1]
        if b:
            ax.plot(
                x, -(a * x + c) / b, color=INK if last else PALE, linewidth=2.2 if last else 0.8,
                label=f"final line, after {i:,} updates" if last else None, zorder=2 if last else 1,
            )  # fmt: skip
    for k in (0, 1):
        ax.scatter(
            *X[y == k].T, s=22, c=colour(k), marker=marker(k), label=iris.target_names[k], zorder=3
        )
    ax.set(xlim=x, ylim=(1.9, 4.6), xlabel="sepal length (cm)", ylabel="sepal width (cm)")
    ax.set_title("Trace of a perceptron", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small", loc="upper left")


def speed(path: Path) -> None:
    """Draw the CPU time of each peer relative to rosenblatt, a row of dots for each job."""
    sys.path.insert(0, str(ROOT))
    from benchmarks import results
    from benchmarks.ratios import present, ratio

    by_name = results.load()
    ratios: dict[str, dict[str, float]] = {job: {} for job in JOBS}
    for job, name in JOBS.items():
        for peer in present(by_name[name]):  # of several settings of a library, the fastest one
            value, library = ratio(peer).median, library_of(peer)
            ratios[job][library] = min(value, ratios[job].get(library, value))
    jobs = sorted(JOBS, key=lambda job: min(ratios[job].values()))
    figure, ax = pyplot().subplots(figsize=(9.4, 5.6), layout="constrained")
    ax.axvline(1, color=INK, linewidth=1.2)
    for y, job in enumerate(jobs):
        heights = np.linspace(0.14, -0.14, len(ratios[job])) if len(ratios[job]) > 1 else [0]
        for (library, value), height in zip(ratios[job].items(), heights, strict=True):
            ink, shape = PEERS[library]
            ax.plot(value, y + height, shape, color=ink, markersize=7, alpha=0.9)
    for label, (ink, shape) in PEERS.items():
        ax.plot([], [], shape, color=ink, markersize=7, label=label)
    ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    ax.set_xscale("log")
    ax.set_xlim(0.55, 800)
    ax.set_xticks(ticks, [f"{tick}×" for tick in ticks])
    ax.minorticks_off()
    ax.set_yticks(range(len(jobs)), jobs)
    ax.grid(color=PALE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("CPU time of the other library divided by CPU time of rosenblatt")
    ax.text(1.06, len(JOBS) - 0.4, "rosenblatt is faster →", fontsize="small", color=INK)
    ax.legend(loc="lower right", framealpha=1, edgecolor=PALE, fontsize="small")
    figure.savefig(path, dpi=110)


def library_of(peer: dict[str, Any]) -> str:
    """Return the library of a peer, such as scikit-learn for its LIBLINEAR wrapper."""
    library = peer["package"].split(" ")[0]
    return {"lightgbm": "LightGBM", "xgboost": "XGBoost", "faiss-cpu": "faiss"}.get(
        library, library
    )


if __name__ == "__main__":
    main()
