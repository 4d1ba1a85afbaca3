"""Draw the pictures of these pages: `python docs/figures.py` writes them into docs/_static.

The data are those of the examples on the pages, whose text has the numbers printed here.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    AveragedPerceptron,
    BasisExpansion,
    FisherDiscriminant,
    GaussianMixture,
    GaussianNB,
    KernelPerceptron,
    KMeans,
    KNeighborsClassifier,
    Lasso,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    PocketPerceptron,
    Ridge,
    RidgeCV,
    Standardizer,
    Trace,
    enet_path,
    lasso_path,
    ridge_path,
)
from rosenblatt.plot import (
    bias_variance,
    boundaries_by_k,
    boundary,
    cluster_steps,
    constraint,
    lifted,
    linkages,
    margins,
    mixture_density,
    neighbours,
    separating_lines,
    two_views,
    voronoi,
)
from rosenblatt.plot.drawing import COLOURS, INK, PALE, colour, marker, pyplot
from rosenblatt.statistics import Moments

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
        lifted(*make_circles(200, noise=0.08, factor=0.45, random_state=0)).savefig(
            STATIC / "lifted.png", dpi=90
        )
        projected(STATIC / "fisher.png")
        dragged(STATIC / "least_squares.png")
        added(STATIC / "statistics.png")
        taken_apart(STATIC / "bias_variance.png")
        shrinking(STATIC / "ridge_path.png")
        shrunk(STATIC / "lasso.png")
        touching(STATIC / "circle_and_diamond.png")
        descending(STATIC / "logistic_regression.png")
        moving(STATIC / "curve.png")
        voting(STATIC / "neighbours.png")
        linked(STATIC / "linkages.png")
        streets(STATIC / "margins.png")
        centring(STATIC)
        settling(STATIC)
        striped(STATIC / "zebra.png")


def centring(folder: Path) -> None:
    """k-means from a good start, and from one where it is stuck."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, (60, 2)) for c in ((0, 0), (4, 0), (2, 3))])
    starts = {"good": [[0, 0], [1, 0], [2, 2]], "stuck": [[2, 2.7], [2, 3.4], [2, 0]]}
    for name, start in starts.items():
        trace = Trace()
        KMeans(3, init=np.array(start, float), tol=0).set_callbacks(trace).fit(X)
        cluster_steps(trace, X).savefig(folder / f"kmeans_{name}.png", dpi=90)


def settling(folder: Path) -> None:
    """The ellipses of EM, and a mixture in one dimension."""
    rng, trace = np.random.default_rng(1), Trace()
    wide = rng.normal(size=(80, 2)) @ [[1.5, 0.9], [0, 0.4]]
    X = np.concatenate([wide, rng.normal(size=(80, 2)) @ [[0.4, 0], [-0.3, 1.2]] + [3, 1]])
    model = GaussianMixture(2, means_init=[[1.0, 0], [1.5, 0]], tol=1e-5, random_state=0)
    model.set_callbacks(trace).fit(X)
    cluster_steps(trace, X).savefig(folder / "mixture_steps.png", dpi=90)
    x = np.concatenate([rng.normal(-2, 0.6, 60), rng.normal(1, 1, 90)])[:, None]
    figure = pyplot().figure(figsize=(6, 3), layout="constrained")
    mixture_density(GaussianMixture(2, random_state=0).fit(x), x, figure.gca())
    figure.savefig(folder / "mixture_density.png", dpi=90)


def striped(path: Path) -> None:
    """Zebras and horses: their densities, and the class given the stripes (W11)."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) < 140, "horse", "zebra")
    X = np.where(y == "horse", rng.normal(2, 1, 200), rng.normal(6, 1.2, 200))[:, None]
    two_views(GaussianNB().fit(X, y), LogisticRegression().fit(X, y), X, y).savefig(path, dpi=110)


def voting(path: Path) -> None:
    """Cells, the votes on a place, and boundaries as k grows."""
    figure, axes = pyplot().subplots(1, 5, figsize=(20, 4.4), layout="constrained")
    X, y = make_moons(60, noise=0.3, random_state=1)
    labels = np.array(["ham", "spam"])[y]
    voronoi(X, labels, axes[0])
    neighbours(KNeighborsClassifier(7).fit(X, labels), X, labels, [0.6, 0.2], axes[1])
    boundaries_by_k(X, labels, (1, 5, 25), axes[2:])
    figure.savefig(path, dpi=90)


def streets(path: Path) -> None:
    """Lines that separate and the widest one; a hard and two soft margins; losses of the margin."""
    figure, axes = pyplot().subplots(1, 4, figsize=(19, 4.6), layout="constrained")
    X, y = make_blobs(40, centers=[[0, 0], [4.2, 3.4]], cluster_std=1.0, random_state=2)
    labels = np.array(["ham", "spam"])[y]
    separating_lines(X, labels, ax=axes[0])
    margins(LinearSVC(C=np.inf, penalize_intercept=False).fit(X, labels), X, labels, axes[1])
    X[0], labels[0] = (2.6, 2.4), "ham"
    for C, ax in zip((10.0, 0.05), axes[2:], strict=True):
        soft = LinearSVC(loss="hinge", C=C, penalize_intercept=False).fit(X, labels)
        margins(soft, X, labels, ax)
        ax.set_title(f"C = {C:g}: {ax.get_title()}")
    figure.savefig(path, dpi=90)


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
    towards = np.array([60.0, 50.0]) - X[5]
    tail, head = (X[5] + step * towards / np.linalg.norm(towards) for step in (0.6, 2.4))
    axes[1].annotate("", head, tail, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.6})
    axes[1].text(9.9, 6.2, "to (60, 50)", ha="right", color=INK, fontsize="small")
    figure.savefig(path, dpi=130, bbox_inches="tight")


def added(path: Path) -> None:
    """Two batches, their sum, one taken out again; and the training sets of five folds as sums."""
    rng = np.random.default_rng(3)
    first, second = rng.normal(2.0, 0.8, (12, 1)), rng.normal(5.0, 1.2, (24, 1))
    a, b = Moments.of(first), Moments.of(second)
    lines = [
        ("S(A)", a, [(first, 0)]),
        ("+  S(B)", b, [(second, 1)]),
        ("=  S(A, B)", a + b, [(first, 0), (second, 1)]),
        ("\N{MINUS SIGN}  S(B)", b, [(second, 1)]),
        ("=  S(A)", a + b - b, [(first, 0)]),
    ]
    plt = pyplot()
    figure, (rows, folds) = plt.subplots(
        1, 2, figsize=(9.8, 4.3), width_ratios=[1.5, 1], layout="constrained"
    )
    for i, (name, moments, batches) in enumerate(lines):
        _draw_line(rows, -i, name, moments, batches)
    rows.axhline(-2.5, color=PALE, linewidth=1)
    rows.set(xlim=(-3.2, 15), ylim=(-4.6, 0.8))
    for x, word in ((9.6, "rows"), (11.4, "mean"), (13.6, "scatter")):
        rows.text(x, 0.62, word, ha="center", color=INK, fontsize="small", style="italic")
    rows.set_title("batches add up, and can be taken out again", loc="left", fontsize="medium")
    rows.axis("off")
    _draw_folds(folds, 5)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def taken_apart(path: Path) -> None:
    """Bias and variance of polynomials, and the curves they are means over."""
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, (40, 1))
    truth = np.sin(3 * x[:, 0])
    t = truth + 0.3 * rng.standard_normal(40)
    model = make_pipeline(BasisExpansion("powers"), LinearRegression())
    figure, axes = pyplot().subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    grid = np.linspace(-1, 1, 200)[:, np.newaxis]
    for ax, degree in zip(axes, (1, 7), strict=False):
        model.set_params(basisexpansion__degree=degree)
        for seed in range(20):
            drawn = np.random.RandomState(seed).randint(40, size=40)
            ax.plot(grid, model.fit(x[drawn], t[drawn]).predict(grid), color=COLOURS[1], alpha=0.3)
        ax.plot(grid, np.sin(3 * grid), color=INK, linewidth=1.8)
        ax.plot(x, t, "o", color=PALE, markersize=3, zorder=0)
        ax.set(ylim=(-2, 2), xlabel="x", title=f"degree {degree}")
        ax.spines[["top", "right"]].set_visible(False)
    degrees = list(range(1, 8))
    bias_variance(
        model, x, t, "basisexpansion__degree", degrees, truth=truth, random_state=0, ax=axes[2]
    )
    axes[2].set(xlabel="degree", xticks=degrees, ylim=(0, 0.6))
    figure.savefig(path, dpi=140)


def _draw_line(
    ax: Any, y: float, name: str, moments: Moments, batches: list[tuple[NDArray[Any], int]]
) -> None:
    """One statistic: its rows as points, mean and deviation above them, and its numbers."""
    n, mean, scatter = len(moments), moments.mean[0, 0], moments.scatter[0, 0]
    print(f"{name:12} rows {n}, mean {mean!r}, scatter {scatter!r}")
    ax.text(-3.1, y, name, va="center", fontsize="large", color=INK)
    for values, k in batches:
        ax.scatter(
            values[:, 0], np.full(len(values), y - 0.14), s=26, c=colour(k), marker=marker(k),
            alpha=0.75, linewidths=0,
        )  # fmt: skip
    deviation = np.sqrt(scatter / n)
    ax.plot([mean - deviation, mean + deviation], [y + 0.14] * 2, color=INK, linewidth=2)
    ax.plot([mean] * 2, [y + 0.02, y + 0.26], color=INK, linewidth=2)
    for x, words in ((9.6, f"{n}"), (11.4, f"{mean:.3f}"), (13.6, f"{scatter:.3f}")):
        ax.text(x, y, words, ha="center", va="center", color=INK, family="monospace")


def _draw_folds(ax: Any, k: int) -> None:
    """Which folds each training set is the sum of: those before the one left out, and after it."""
    for i in range(k):
        for j in range(k):
            shade = "white" if i == j else COLOURS[2] if j < i else COLOURS[4]
            cell = {"facecolor": shade, "edgecolor": PALE if i == j else "white", "linewidth": 2}
            ax.add_patch(pyplot().Rectangle((j, -i), 0.94, 0.86, **cell))
            ax.text(
                j + 0.47, -i + 0.43, "test" if i == j else f"F{j + 1}", ha="center", va="center",
                color="white" if j < i else INK, fontsize="small",
            )  # fmt: skip
    ax.text(0, -k + 0.55, "sums from the left", color=COLOURS[2], fontsize="small", va="top")
    ax.text(
        k, -k + 0.55, "sums from the right", color="#a87200", fontsize="small", va="top", ha="right"
    )
    ax.set(xlim=(0, k), ylim=(-k, 1))
    ax.set_title("training sets are sums of folds", loc="left", fontsize="medium")
    ax.axis("off")


def shrinking(path: Path) -> None:
    """Ridge coefficients of 50 rows of diabetes along the penalty, and the error on the others."""
    X, y = load_diabetes(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    few, others = order[:50], order[50:]
    alphas = np.geomspace(1e-4, 1e2, 200)
    new = X[others], y[others]
    X, y = X[few], y[few]
    _, coefs, intercepts = ridge_path(X, y, alphas)
    errors = {
        name: np.sqrt(((t[:, None] - Z @ coefs - intercepts) ** 2).mean(axis=0))
        for name, (Z, t) in {"the 50 rows": (X, y), "other rows": new}.items()
    }
    search = RidgeCV(alphas).fit(X, y)
    plt = pyplot()
    figure, (top, low) = plt.subplots(
        2, 1, figsize=(8.6, 6.2), height_ratios=[2, 1], sharex=True, layout="constrained"
    )
    names = load_diabetes().feature_names
    lines = plt.get_cmap("tab10")(np.arange(len(coefs)))
    for coef, ink in zip(coefs, lines, strict=True):
        top.semilogx(alphas, coef, color=ink, linewidth=1.6)
    order = np.argsort(coefs[:, 0])
    heights = np.linspace(coefs[:, 0].min(), coefs[:, 0].max(), len(order))
    for j, height in zip(order, heights, strict=True):
        top.annotate(
            names[j], (alphas[0], coefs[j, 0]), (alphas[0] / 1.7, height), color=lines[j],
            ha="left", va="center", arrowprops={"arrowstyle": "-", "color": lines[j], "lw": 0.6},
        )  # fmt: skip
    top.set_xlim(alphas[-1], alphas[0] / 5)  # falling, as `plot.path` draws it
    for (name, error), ink in zip(errors.items(), (COLOURS[2], COLOURS[3]), strict=True):
        low.semilogx(alphas, error, color=ink, linewidth=2, label=name)
    low.legend(frameon=False)
    for ax in (top, low):
        ax.axvline(search.alpha_, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        ax.spines[["top", "right"]].set_visible(False)
    print("penalty by leaving out", search.alpha_, "best", alphas[errors["other rows"].argmin()])
    top.set_title("coefficients", loc="left", fontsize="medium")
    low.set_title("root mean squared error", loc="left", fontsize="medium")
    low.set_xlabel("penalty alpha")
    figure.savefig(path, dpi=130, bbox_inches="tight")


def shrunk(path: Path) -> None:
    """The weights of the diabetes table as the penalty falls: lasso, and squares alone."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    names, X, y = list(X.columns), X.to_numpy(), y.to_numpy() - y.mean()
    alphas = np.geomspace(2.2, 2e-3, 200)  # squares pull less on small weights: a longer way
    cases = [
        ("absolute weights: they wait at zero, then set out", lasso_path(X, y, alphas=alphas)),
        (
            "squared weights: all leave zero at once",
            enet_path(X, y, l1_ratio=0.0, alphas=np.geomspace(1, 1e-6, 200), tol=1e-9),
        ),
    ]
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.4), layout="constrained", sharey=True)
    shown = np.argsort(-np.abs(cases[0][1][1][:, -1]))[:6]
    for ax, (title, (penalties, weights, _)) in zip(axes, cases, strict=True):
        for j in range(X.shape[1]):
            place = np.flatnonzero(shown == j)
            ink = COLOURS[int(place[0]) % len(COLOURS)] if len(place) else "#b7bbc2"
            ax.plot(penalties, weights[j], color=ink, linewidth=2 if len(place) else 1)
            if len(place) and ax is axes[0]:
                ax.annotate(names[j], (penalties[-1], weights[j, -1]), (6, 0), fontsize="small",
                            textcoords="offset points", va="center", color=ink)  # fmt: skip
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set_xscale("log")
        ax.set_xlim(penalties[0], penalties[-1])
        ax.set_xlabel("alpha, falling")
        ax.set_title(title, loc="left", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        print(title, "used:", [int((w != 0).sum()) for w in weights.T[::40]])
    axes[0].set_ylabel("weight")
    figure.savefig(path, dpi=130, bbox_inches="tight")


def touching(path: Path) -> None:
    """The circle of ridge and the diamond of the lasso, each touched by an ellipse of equal RSS."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = Standardizer().set_output(transform="pandas").fit_transform(X[["s5", "s4"]])
    figure, axes = pyplot().subplots(
        1, 2, figsize=(10.4, 5.2), layout="constrained", sharex=True, sharey=True
    )
    cases = [
        ("squared weights: a circle, touched anywhere", Ridge(alpha=320)),
        ("absolute weights: a diamond, touched at a corner", Lasso(alpha=17)),
    ]
    for ax, (title, model) in zip(axes, cases, strict=True):
        constraint(model, X, y, ax=ax)
        ax.set_title(title, loc="left", fontsize="medium")
        print(title, model.fit(X, y).coef_.round(2))
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


def linked(path: Path) -> None:
    """Two rings and their trees by the four linkages (V10)."""
    X, _ = make_circles(300, factor=0.5, noise=0.04, random_state=0)
    linkages(X, 2).savefig(path, dpi=130)


def moving(path: Path) -> None:
    """The curve of a lasso on bumps, pass by pass."""
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, (15, 1))
    t = np.sin(3 * x[:, 0]) + 0.2 * rng.standard_normal(15)
    trace = Trace()
    bumps = BasisExpansion("gaussian", n_functions=6)
    make_pipeline(bumps, Lasso(0.003)).set_callbacks(trace).fit(x, t)
    figure = trace.plot(feature_names=["x"])
    figure.savefig(path, dpi=110)
    pyplot().close(figure)


if __name__ == "__main__":
    main()
