"""Draw the pictures of these pages: `python docs/figures.py` writes them into docs/_static.

The data are those of the examples on the pages, whose text has the numbers printed here.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import (
    AveragedPerceptron,
    FisherDiscriminant,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    PocketPerceptron,
    Trace,
)
from rosenblatt.plot import boundary
from rosenblatt.plot.palette import COLOURS, INK, colour, marker, pyplot

STATIC = Path(__file__).parent / "_static"
N_RUNS = 10

Data = tuple[NDArray[Any], NDArray[Any]]


def main() -> None:
    """Draw them all."""
    pyplot().switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the data are noisy on purpose
        which_line(STATIC / "which_line.png")
        curved(STATIC / "kernels.png")
        projected(STATIC / "fisher.png")
        dragged(STATIC / "least_squares.png")
        descending(STATIC / "logistic_regression.png")


def overlapping(n: int, seed: int) -> Data:
    """Two round clouds around (1, 0.5) and (-1, -0.5); the best line is x1 + x2 / 2 = 0."""
    rng = np.random.RandomState(seed)
    y = rng.randint(2, size=n)
    return rng.normal(size=(n, 2)) + np.outer(2 * y - 1, [1, 0.5]), y


def which_line(path: Path) -> None:
    """Lines of several runs over one table, and their errors on new rows."""
    X, y = overlapping(200, seed=0)
    new = overlapping(20_000, seed=1)
    kinds: dict[str, list[Any]] = {"plain": [], "averaged": [], "pocket": []}
    for seed in range(N_RUNS):
        kinds["plain"].append(Perceptron(tol=None, max_iter=20, random_state=seed).fit(X, y))
        mean = AveragedPerceptron(tol=None, max_iter=20, random_state=seed)
        kinds["averaged"].append(mean.fit(X, y))
        kinds["pocket"].append(PocketPerceptron(max_iter=20, random_state=seed).fit(X, y))
    inks = {"plain": "#8a8f98", "averaged": COLOURS[2], "pocket": COLOURS[3]}

    plt = pyplot()
    figure, (plane, errors) = plt.subplots(
        1, 2, figsize=(9.4, 4.6), width_ratios=[1.15, 1], layout="constrained"
    )
    for k in (0, 1):
        plane.scatter(*X[y == k].T, s=16, c=colour(k), marker=marker(k), alpha=0.45, linewidths=0)
    for name, models in kinds.items():
        thin = name == "plain"
        for i, model in enumerate(models):
            a, b, c = (*model.coef_[0], model.intercept_[0])
            label = {"plain": "ten plain runs", "averaged": "their averages"}.get(name, "pockets")
            plane.plot(
                [-4, 4], [(4 * a - c) / b, (-4 * a - c) / b], color=inks[name],
                linewidth=0.9 if thin else 2.6, alpha=0.9 if thin else 0.55,
                label=None if i else label,
            )  # fmt: skip
    plane.set(xlim=(-4, 4), ylim=(-3.6, 3.6), xlabel="x1", ylabel="x2", aspect="equal")
    plane.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)

    for place, (name, models) in enumerate(kinds.items()):
        wrong = np.array([1 - model.score(*new) for model in models])
        train = np.array([1 - model.score(X, y) for model in models])
        spread = np.linspace(-0.18, 0.18, N_RUNS)
        errors.scatter(place + spread, 100 * wrong, s=30, color=inks[name], zorder=3)
        print(f"{name:9} train {train.mean():.3f}, test {wrong.mean():.3f}, "
              f"{wrong.min():.3f} to {wrong.max():.3f}")  # fmt: skip
    best = 100 * float(np.mean((new[0] @ [1, 0.5] > 0) != new[1]))
    print(f"the best line: {best:.2f}%")
    errors.axhline(best, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    errors.annotate("the best line of all", (2.4, best), (0, -4), textcoords="offset points",
                    ha="right", va="top", fontsize="small")  # fmt: skip
    errors.set_xticks(range(3), list(kinds))
    errors.set(ylim=(0, None), xlim=(-0.5, 2.5))
    errors.set_title("error on 20,000 new rows, %", loc="left", fontsize="medium")
    for ax in (plane, errors):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def curved(path: Path) -> None:
    """Boundaries of kernel perceptrons: rings, and moons learned by heart or not."""
    rings = make_circles(200, noise=0.08, factor=0.45, random_state=0)
    moons = make_moons(300, noise=0.4, random_state=0)
    new = make_moons(5000, noise=0.4, random_state=1)
    heart = KernelPerceptron(gamma=20, tol=None)
    capped = KernelPerceptron(gamma=20, tol=None, max_updates=200)
    plt = pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 4.4), layout="constrained")
    cases = [
        ("rings, gamma=1", KernelPerceptron(gamma=1), rings, None),
        ("moons, gamma=20, until a clean pass", heart, moons, new),
        ("moons, gamma=20, 200 corrections", capped, moons, new),
    ]
    for ax, (title, model, (X, y), test) in zip(axes, cases, strict=True):
        boundary(model.fit(X, y), X, y, ax=ax)
        ax.get_legend().remove()
        error = "" if test is None else f"\n{1 - model.score(*test):.1%} of new rows wrong"
        ax.set_title(f"{title}\n{len(model.support_)} supports{error}", fontsize="medium")
        print(title, model.n_updates_, len(model.support_), 1 - model.score(X, y), error.strip())
    figure.savefig(path, dpi=130, bbox_inches="tight")


def slanted(n: int = 160, seed: int = 3) -> Data:
    """Two long clouds side by side: they differ most along x1, and vary most there too."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) @ np.array([[2.2, 1.5], [0.0, 0.45]])
    return X + np.outer(y, [2.0, -0.4]), y


def projected(path: Path) -> None:
    """Two directions through one table, and what each makes of the rows."""
    X, y = slanted()
    fisher = FisherDiscriminant().fit(X, y)
    apart = fisher.means_[1] - fisher.means_[0]
    cases = {"mean difference": apart, "Fisher's direction": fisher.direction_}
    plt = pyplot()
    figure = plt.figure(figsize=(9.4, 4.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1.1, 1])
    plane = figure.add_subplot(grid[:, 0])
    for k in (0, 1):
        plane.scatter(*X[y == k].T, s=16, c=colour(k), marker=marker(k), alpha=0.6, linewidths=0)
    middle = fisher.means_.mean(axis=0)
    for i, (name, w) in enumerate(cases.items()):
        unit, ink = w / np.linalg.norm(w), COLOURS[2 + i]
        line = X @ unit
        means = [line[y == k].mean() for k in (0, 1)]
        scatter = sum(((line[y == k] - means[k]) ** 2).sum() for k in (0, 1))
        J = (means[1] - means[0]) ** 2 / scatter
        print(f"{name:18} J {J:.4f}, wrong {np.mean((line > np.mean(means)) != y):.3f}")
        ends = np.array([middle - 4.5 * unit, middle + 4.5 * unit]).T
        plane.plot(*ends, color=ink, linewidth=2.2, label=name)
        side = figure.add_subplot(grid[i, 1])
        bins = np.linspace(line.min(), line.max(), 31)
        for k in (0, 1):
            side.hist(line[y == k], bins, color=colour(k), alpha=0.6)
        side.set_title(f"{name}, J = {J:.3f}", loc="left", fontsize="medium", color=ink)
        side.axvline(np.mean(means), color=INK, linewidth=1, linestyle=(0, (4, 3)))
        side.set_yticks([])
        side.spines[["top", "right", "left"]].set_visible(False)
    plane.set(xlabel="x1", ylabel="x2", aspect="equal")
    plane.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    plane.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def dragged(path: Path) -> None:
    """Six points and the least-squares line, without and with a far, easy point."""
    X = np.array([[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]], dtype=float)
    y = np.array([0, 0, 0, 1, 1, 1])
    far = np.vstack([X, [60, 50]]), np.append(y, 1)
    alone, with_far = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(*far)
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained", sharey=True)
    x2 = np.array([0.0, 10.0])
    for ax, model, title in zip(
        axes, (alone, with_far), ("six points", "and one far, easy point"), strict=True
    ):
        wrong = model.predict(X) != y
        print(title, model.coef_[0], model.intercept_, "wrong:", X[wrong].tolist())
        for k in (0, 1):
            ax.scatter(*X[y == k].T, s=50, c=colour(k), marker=marker(k), zorder=3)
        ax.scatter(*X[wrong].T, s=190, facecolors="none", edgecolors=INK, zorder=4)
        for line, width in ((alone, 1.2), (model, 2.4)):
            (a, b), c = line.coef_[0], line.intercept_[0]
            dashes = "-" if line is model else (0, (4, 3))
            # x1 as a function of x2: the line stands upright
            ax.plot(-(b * x2 + c) / a, x2, color=COLOURS[2], linewidth=width, linestyle=dashes)
        ax.set(xlim=(0, 10), ylim=(0, 10), xlabel="x1", aspect="equal")
        ax.set_title(title, loc="left", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("x2")
    axes[1].annotate("(60, 50)", (9.9, 9.6), (-70, -4), textcoords="offset points",
                     arrowprops={"arrowstyle": "->", "color": INK}, fontsize="small")  # fmt: skip
    figure.savefig(path, dpi=130, bbox_inches="tight")


def descending(path: Path) -> None:
    """Probabilities in the plane, and the duality gap of each solver after every iteration."""
    plt = pyplot()
    X, y = overlapping(200, seed=0)
    figure, (plane, curves) = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
    model = LogisticRegression().fit(X, y)
    for k in (0, 1):
        plane.plot(*X[y == k].T, marker(k), color=colour(k), markersize=4, linestyle="none")
    reach = np.linspace(-4.5, 4.5, 200)
    grid = np.stack(np.meshgrid(reach, reach), axis=-1)
    P = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
    lines = plane.contour(reach, reach, P, [0.1, 0.5, 0.9], colors=INK, linewidths=(0.8, 1.6, 0.8))
    plane.clabel(lines, fmt=lambda level: f"P = {level:g}", fontsize="small")
    plane.set(xlabel="x1", ylabel="x2", aspect="equal")
    for k, solver in enumerate(("newton", "lbfgs", "gradient", "sgd")):
        trace = Trace()
        LogisticRegression(solver=solver, tol=1e-12, max_iter=40, random_state=0).set_callbacks(
            trace
        ).fit(X, y)
        gaps = np.maximum([step.estimator.dual_gap_ for step in trace], 1e-12)
        curves.semilogy(gaps, color=colour(k), label=solver)
        print(f"{solver}: gap {gaps[-1]:.1e} after {len(gaps) - 1} iterations")
    curves.set(xlabel="iteration", title="duality gap", ylim=(1e-10, None))
    curves.spines[["top", "right"]].set_visible(False)
    curves.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
