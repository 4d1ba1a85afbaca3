"""The peers that do not speak scikit-learn's language: Vowpal Wabbit and River, on two classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.scenario import Contender, Data

VW_OPTIONS = "--sgd --loss_function hinge -l 1 --power_t 0 -b 18 --holdout_off"
VW_PASSES = 5
# VW's index of the constant feature: `constant` in its constant.h.
VW_CONSTANT = 11650396
RIVER_ROWS = 2000


@dataclass
class Plane:
    """A fitted plane that predicts classes 0 and 1."""

    coef: Any  # (d,)
    intercept: float

    def predict(self, X):
        return (X @ self.coef + self.intercept > 0).astype(np.int64)


@dataclass
class VWFiles:
    """The rows as Vowpal Wabbit's text, the binary cache of it, and how many columns there are."""

    text: Path
    cache: Path
    d: int


def vowpal_wabbit(wanted: float | None = None, more: str = "") -> Contender:
    """A cached pass of plain SGD on the hinge loss at a constant rate of 1.

    That is the perceptron's update, made whenever y (w.x + b) < 1; VW has none nearer to it.
    """
    return Contender(
        name="Vowpal Wabbit",
        settings=(
            f"{VW_OPTIONS} {more}".strip() + ", in order; a cached "
            f"pass = (time of {1 + VW_PASSES} passes - time of 1 pass) / {VW_PASSES}, all from a "
            "binary cache file made before; CPU time includes its own parser thread, which "
            "cannot be turned off; quality, memory and cold call: one pass from text"
        ),
        package="vowpalwabbit",
        wanted=wanted,
        prepare=_vw_files,
        run=lambda files, seed: _vw(files, more, 1 + VW_PASSES, cached=True),
        baseline=lambda files, seed: _vw(files, more, 1, cached=True),
        jobs=VW_PASSES,
        full=lambda files, seed: _vw(files, more, 1, cached=False),
    )


def _vw_files(data: Data) -> VWFiles:
    """Write the rows as text, once for all processes; the cache is made by the first cached run."""
    files = VWFiles(data.folder / "rows.vw", data.folder / "rows.cache", data.X.shape[1])
    if not files.text.exists():
        scratch = files.text.with_suffix(".part")
        with open(scratch, "w") as text:
            text.writelines(_vw_lines(data.X, data.y))
        scratch.replace(files.text)
    return files


def _vw_lines(X, y):
    for i, (columns, values) in enumerate(_rows(X)):
        cells = " ".join([f"{j}:{x:.6g}" for j, x in zip(columns, values, strict=True)])
        yield f"{1 if y[i] else -1} | {cells}\n"


def _vw(files: VWFiles, more: str, passes: int, cached: bool) -> Plane:
    import vowpalwabbit

    options = f"{VW_OPTIONS} {more} --quiet"
    cache = f"--cache_file {files.cache}" if cached else ""
    workspace = vowpalwabbit.Workspace(f"{options} --data {files.text} --passes {passes} {cache}")
    if cached:  # timed: nobody asks for the weights
        workspace.finish()
        return Plane(None, 0.0)
    coef = np.array([workspace.get_weight(j) for j in range(files.d)])
    plane = Plane(coef, 0.0 if "--noconstant" in more else workspace.get_weight(VW_CONSTANT))
    workspace.finish()
    return plane


def river(n: int, wanted: float | None = None) -> Contender:
    """`learn_one` over rows as dicts, timed on the first of n rows."""
    return Contender(
        name="River",
        settings=(
            f"linear_model.Perceptron(), learn_one over dicts made before, in order; timed on "
            f"{min(RIVER_ROWS, n):,} rows and scaled to {n:,}; quality, memory and cold call: "
            "the whole pass, dicts made on the way"
        ),
        package="river",
        wanted=wanted,
        prepare=lambda data: (data, list(_river_rows(data, RIVER_ROWS))),
        run=lambda prepared, seed: _river_learn(prepared[1], prepared[0].X.shape[1]),
        jobs=min(RIVER_ROWS, n) / n,
        full=lambda prepared, seed: _river_learn(_river_rows(prepared[0]), prepared[0].X.shape[1]),
    )


def _river_rows(data: Data, n: int | None = None):
    for i, (columns, values) in enumerate(_rows(data.X[:n])):
        yield dict(zip(columns, values, strict=True)), bool(data.y[i])


def _river_learn(rows, d: int) -> Plane:
    from river import linear_model

    model = linear_model.Perceptron()
    for x, y in rows:
        model.learn_one(x, y)
    coef = np.zeros(d)
    for j, weight in model.weights.items():
        coef[j] = weight
    return Plane(coef, model.intercept)


def _rows(X):
    """Each row as (columns, values), in Python's own numbers."""
    if not sparse.issparse(X):
        columns = range(X.shape[1])
        for row in X:
            yield columns, row.tolist()
        return
    for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
        yield X.indices[start:stop].tolist(), X.data[start:stop].tolist()
