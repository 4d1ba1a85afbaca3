"""The steps of a trace as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.trace.guises import published
from rosenblatt.trace.run import Run, Step
from rosenblatt.trace.supports import has_supports

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 100  # more weights than this come as one array per step
FIRST = ("run", "step", "epoch", "objective", "error", "mistakes", "n_updates")
OF_SOME = ("error", "mistakes", "n_updates")  # regressions have no errors, many count no mistakes
LAST = ("last_objective", "last_error")  # of learners with a mean or a pocket
PROOFS = ("dual_gap", "gradient_norm")  # of models that publish them
# Of kernel models; of lassos that look for their penalty; of single visits.
OTHER = ("n_support", "alpha", "n_kept", "row", "score", "mistake")


def frame_of(runs: Sequence[Run]) -> pd.DataFrame:
    """One row per step of each run."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'A trace becomes a frame through pandas: pip install "rosenblatt[tables]".'
        ) from error
    names = [_weight_names(run) for run in runs]
    rows = [
        _row(run, step, names_of_run)
        for run, names_of_run in zip(runs, names, strict=True)
        for step in run.steps
    ]
    frame = pd.DataFrame(rows, columns=_columns(rows))
    # Who makes no mistakes to count has no column for them.
    empty = [name for name in OF_SOME if name in frame and frame[name].isna().all()]
    frame = frame.drop(columns=empty)
    kinds = {"step": "int64", "epoch": "int64", "mistakes": "Int64", "n_updates": "Int64"}
    kinds |= {"row": "Int64", "n_support": "Int64", "mistake": "boolean"}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def has(run: Run, name: str) -> bool:
    """Whether the models of a run publish a number of this name, and know it in the end."""
    return bool(np.all(np.isfinite(getattr(run.last, f"{name}_", np.inf))))


def searches_penalty(run: Run) -> bool:
    """Whether the steps of a run differ in their penalty: it was searched for on the way."""
    return len({getattr(step.estimator, "alpha_", None) for step in run.steps}) > 1


def kept(estimator: Any) -> int:
    """How many features have a weight."""
    return int(np.count_nonzero(np.any(np.atleast_2d(estimator.coef_), axis=0)))


def _columns(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _row(run: Run, step: Step, names: Sequence[str]) -> dict[str, Any]:
    measures = run.measures(step)
    row = {"run": step.run, "step": step.step, "epoch": step.epoch, **measures._asdict()}
    if not published(run.last):
        row = {name: value for name, value in row.items() if name not in LAST}
    row = {name: value for name, value in row.items() if name not in PROOFS or has(run, name)}
    if not run.single:  # a visit says itself whether it was a mistake
        row["mistakes"] = run.mistakes(step)
    row["n_updates"] = step.n_updates
    if has_supports(run.last):
        row["n_support"] = None if step.estimator is None else len(step.estimator.support_)
    if searches_penalty(run):
        row |= {"alpha": step.estimator.alpha_, "n_kept": kept(step.estimator)}
    if run.single:
        row |= {"row": step.row, "score": step.score, "mistake": step.mistake}
    return row | _weights(step.estimator, names)


def _weights(estimator: Any, names: Sequence[str]) -> dict[str, Any]:
    """Intercepts and weights (K, d) by name, the intercepts first; as arrays if nameless."""
    if not hasattr(estimator, "coef_"):
        return {}
    coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    if not names:
        return {"intercept": intercept, "coef": coef}
    if len(intercept) < len(coef):  # a single 0 stands for all where none is learnt
        intercept = np.broadcast_to(intercept, len(coef))
    values = np.concatenate([intercept, coef.ravel()])
    return dict(zip(names, values.tolist(), strict=True))


def _weight_names(run: Run) -> list[str]:
    """Names for intercepts and weights: of the features, and of the classes if several.

    ``intercept, length, width`` for one plane, ``oak: intercept, ..., oak: width`` for several;
    nameless features are ``coef_0`` or, in plane k, ``coef_k_0``. None for very many weights.
    """
    coef = getattr(run.last, "coef_", None)
    if coef is None or np.size(coef) > MOST_COLUMNS:
        return []
    K, d = np.atleast_2d(coef).shape
    features = _feature_names(run.last, d)
    if K == 1:
        return ["intercept", *(features or [f"coef_{j}" for j in range(d)])]
    if features:
        names = [f"{label}: " for label in getattr(run.last, "classes_", range(K))]
        return [f"{label}intercept" for label in names] + [
            f"{k}{j}" for k in names for j in features
        ]
    return [f"intercept_{k}" for k in range(K)] + [
        f"coef_{k}_{j}" for k in range(K) for j in range(d)
    ]


def _feature_names(estimator: Any, d: int) -> list[str]:
    """The model's names of its features; one that is a column's already becomes ``coef_name``."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    taken = {*FIRST, *LAST, *PROOFS, *OTHER, "intercept"}
    names = [f"coef_{name}" if name in taken else name for name in names]
    return names if len(names) == len(set(names)) == d else []
