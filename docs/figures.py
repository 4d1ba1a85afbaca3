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

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, PocketPerceptron
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


if __name__ == "__main__":
    main()
