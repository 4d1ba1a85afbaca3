"""The steps of a trace as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.trace.run import Run, Step

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 100  # more weights than this come as one array per step


def frame_of(runs: Sequence[Run]) -> pd.DataFrame:
    """One row per step of each run."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'A trace becomes a frame through pandas: pip install "rosenblatt[tables]".'
        ) from error
    rows = [_row(run, step) for run in runs for step in run.steps]
    frame = pd.DataFrame(rows, columns=_columns(rows))
    kinds = {"step": "int64", "epoch": "int64", "n_updates": "Int64"}
    kinds |= {"row": "Int64", "mistake": "boolean"}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def _columns(rows: Sequence[dict[str, Any]]) -> list[str]:
    first = ["run", "step", "epoch", "objective", "error", "n_updates"]
    return list(dict.fromkeys(first + [name for row in rows for name in row]))


def _row(run: Run, step: Step) -> dict[str, Any]:
    measures = run.measures(step)
    row = {"run": step.run, "step": step.step, "epoch": step.epoch, **measures._asdict()}
    row["n_updates"] = step.n_updates
    if run.single:
        row |= {"row": step.row, "score": step.score, "mistake": step.mistake}
    return row | _weights(step.estimator)


def _weights(estimator: Any) -> dict[str, Any]:
    """``intercept, coef_0, ...`` for one plane; ``intercept_k, coef_k_j`` for plane k of many."""
    if not hasattr(estimator, "coef_"):
        return {}
    coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    if coef.size > MOST_COLUMNS:
        return {"intercept": intercept, "coef": coef}
    if len(coef) == 1:
        return {"intercept": intercept[0], **{f"coef_{j}": w for j, w in enumerate(coef[0])}}
    return {f"intercept_{k}": b for k, b in enumerate(intercept)} | {
        f"coef_{k}_{j}": w for k, row in enumerate(coef) for j, w in enumerate(row)
    }
