"""The circle and the diamond: why absolute weights are penalised to zero and squares are not.

Minimising RSS plus a penalty is minimising RSS over the weights whose penalty is at most that of
the answer. In the plane of two weights that region is a circle for ridge and a diamond for the
lasso, and the answer is where an ellipse of equal RSS touches it: a corner of the diamond, often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from .drawing import COLOURS, INK, PALE, labelled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

N_ANGLES = 720  # of the edge; a multiple of 4, so that the diamond's corners are among them
RINGS = (0.33, 0.67, 1.0, 1.33, 1.67, 2.0, 2.33, 2.67)  # of equal RSS; 1 goes through the answer


def constraint(
    model: Any,
    X: Any,
    y: Any,
    columns: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights that a penalty allows, and the ellipse of equal error that touches them.

    The shaded region holds all weights whose penalty is at most that of the fitted model: a circle
    for `Ridge`, a diamond for `Lasso`, a diamond with bent sides for `ElasticNet`. Around the
    answer of least squares lie ellipses of equal error; the smallest that reaches the region
    touches it at the model's own weights. Where that is a corner, a weight is zero.

    Parameters
    ----------
    model : a `Ridge`, `Lasso` or `ElasticNet`, ours or scikit-learn's. A clone is fitted.
    X : the rows, shape (n, d); standardised columns have penalties that mean the same.
    y : the targets, shape (n,).
    columns : the two columns whose weights are drawn; the only two if None. The weights of the
        others are held where the model has them.
    names : of these two; those of the columns if None, or x0, x1, ...
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import Lasso, Standardizer
    >>> from rosenblatt.plot import constraint
    >>> X, t = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = Standardizer().set_output(transform="pandas").fit_transform(X[["s5", "s4"]])
    >>> ax = constraint(Lasso(alpha=17), X, t, ax=plt.figure().gca())
    >>> [text.get_text() for text in ax.texts]
    ['least squares', 'Lasso, s4 = 0']
    """
    known = _get_feature_names(X)
    X, y = check_array(X, dtype=np.float64), np.asarray(y, np.float64).ravel()
    i, j = _pair(X, columns)
    if names is None:
        names = [f"x{k}" if known is None else str(known[k]) for k in (i, j)]
    fitted = clone(model).fit(X, y)
    w = np.ravel(fitted.coef_).astype(np.float64)
    squares = _squares_around(X, y, w, (i, j), bool(fitted.get_params().get("fit_intercept", True)))
    return _draw(type(model).__name__, w[[i, j]], _share(fitted), *squares, names, ax)


def edge_of_region(w: Array, share: float) -> Array:
    """Weights (N_ANGLES + 1, 2) whose penalty is that of w (2,), once around.

    The penalty is share |w|_1 + (1 - share) / 2 |w|^2; along each direction u it is
    b r + a r^2 of the distance r, which is solved for r.
    """
    level = share * np.abs(w).sum() + (1 - share) / 2 * (w @ w)
    angles = np.linspace(0, 2 * np.pi, N_ANGLES + 1)
    u = np.column_stack([np.cos(angles), np.sin(angles)])
    a, b = (1 - share) / 2, share * np.abs(u).sum(axis=1)
    radius: Array = 2 * level / (b + np.sqrt(b**2 + 4 * a * level))
    return u * radius[:, np.newaxis]


def _pair(X: Array, columns: Sequence[int] | None) -> tuple[int, int]:
    """The two columns to draw."""
    d = X.shape[1]
    pair = tuple(range(d)) if columns is None else tuple(columns)
    if len(pair) != 2 or len(set(pair)) != 2 or not all(0 <= k < d for k in pair):
        raise ValueError(
            f"columns must be two different numbers from 0 to {d - 1}, or None where X has two "
            f"columns; got {columns!r}."
        )
    return pair[0], pair[1]


def _share(model: Any) -> float:
    """The share of absolute weights in a model's penalty: 0 for ridge, 1 for the lasso."""
    if not (hasattr(model, "alpha") and hasattr(model, "coef_")):
        raise ValueError(
            "A region is drawn for a penalty alpha on coef_, and "
            f"{type(model).__name__} has none. Pass Ridge, Lasso or ElasticNet."
        )
    return float(getattr(model, "l1_ratio", 0.0))


def _squares_around(
    X: Array, y: Array, w: Array, pair: tuple[int, int], fit_intercept: bool
) -> tuple[Array, Array]:
    """The minimum (2,) and curvature (2, 2) of RSS in two weights, the others held at w."""
    if fit_intercept:
        X, y = X - X.mean(axis=0), y - y.mean()
    Z = X[:, pair]
    rest = y - X @ w + Z @ w[list(pair)]
    least: Array = np.linalg.lstsq(Z, rest, rcond=None)[0].astype(np.float64)
    return least, Z.T @ Z


def _draw(
    name: str,
    w: Array,
    share: float,
    least: Array,
    curvature: Array,
    names: Sequence[str],
    ax: Axes | None,
) -> Axes:
    """Region, ellipses and the point where they touch, on axes of equal scale."""
    if not w.any():
        raise ValueError(
            f"Both weights of {name} are zero, so that the region is a point: lower alpha."
        )
    ax = labelled_axes(ax, f"weight of {names[0]}", f"weight of {names[1]}")
    edge = edge_of_region(w, share)
    ax.fill(*edge.T, facecolor=COLOURS[0], alpha=0.16, zorder=1)
    ax.plot(*edge.T, color=COLOURS[0], linewidth=1.8, zorder=3)
    points = np.vstack([edge, least])
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.18 * (high - low).max()
    _draw_rings(ax, w, least, curvature, (low - 4 * room, high + 4 * room))
    for ruler in (ax.axhline, ax.axvline):
        ruler(0, color=INK, linewidth=0.6, zorder=0)
    _label_least_squares(ax, least, up=bool(least[1] >= 0))
    zeros = [f", {column} = 0" for column, weight in zip(names, w, strict=True) if weight == 0]
    _label_answer(ax, w, name + "".join(zeros))
    (x, z), (x_end, z_end) = low - room, high + room
    ax.set(xlim=(x, x_end), ylim=(z, z_end), aspect="equal")
    return ax


def _draw_rings(
    ax: Axes, w: Array, least: Array, curvature: Array, window: tuple[Array, Array]
) -> None:
    """Ellipses of equal RSS around its minimum, that through w in a colour of its own."""
    touching = float(np.sqrt((w - least) @ curvature @ (w - least)))
    if touching == 0:
        return
    x, z = np.linspace(*window, 600).T
    away = np.stack(np.meshgrid(x, z), axis=-1) - least
    rings = np.sqrt(np.einsum("...i,ij,...j", away, curvature, away))
    shades = [COLOURS[1] if ring == 1 else PALE for ring in RINGS]
    widths = [2.0 if ring == 1 else 1.0 for ring in RINGS]
    levels = [touching * ring for ring in RINGS]
    ax.contour(x, z, rings, levels, colors=shades, linewidths=widths, zorder=2)


def _label_least_squares(ax: Axes, point: Array, up: bool) -> None:
    """A dot at the minimum of RSS, and its name above or below it."""
    from matplotlib.patheffects import withStroke

    ax.plot(*point, "o", color=INK, markersize=6, zorder=5)
    ax.annotate(
        "least squares", (float(point[0]), float(point[1])), (0, 7 if up else -7),
        textcoords="offset points", ha="center", va="bottom" if up else "top", color=INK, zorder=6,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def _label_answer(ax: Axes, w: Array, text: str) -> None:
    """A dot where the region is touched, and its name inside the region."""
    ax.plot(*w, "o", color=COLOURS[1], markersize=7, zorder=5, markeredgecolor="white")
    right, up = np.sign(w)  # of the origin; 0 at a corner, where there is less room
    place = (-12 * right, -6 * up) if right and up else (-26 * right, -24 * up if up else 4)
    ax.annotate(
        text, (float(w[0]), float(w[1])), place,
        textcoords="offset points", color=COLOURS[1], zorder=6,
        ha={1: "right", -1: "left"}.get(int(right), "center"),
        va={1: "top", -1: "bottom"}.get(int(up), "bottom"),
    )  # fmt: skip
