"""What scikit-learn's C, l1_ratio and penalty ask for."""

import warnings
from typing import Any, NamedTuple

import numpy as np


class Strengths(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2 + C times the loss``; without a penalty C is 1."""

    l1: float
    l2: float
    C: float


def strengths(model: Any) -> Strengths:
    """The penalty of a model, from the parameters of today or from the deprecated one."""
    kind = model.penalty
    if kind == "deprecated":
        if model.l1_ratio is None:
            _deprecated("l1_ratio=None", "Use a number from 0 to 1.")
        kind = {0: "l2", 1: "l1"}.get(model.l1_ratio or 0, "elasticnet")
        kind = None if np.isinf(model.C) else kind
    else:
        _deprecated(
            f"penalty={kind!r}",
            "Leave it out, and use l1_ratio=0 for L2, l1_ratio=1 for L1, a number between for "
            "both, and C=np.inf for no penalty.",
        )
        _warn_of_contradictions(model, kind)
    if kind is None or np.isinf(model.C):
        return Strengths(0.0, 0.0, 1.0)
    if kind == "elasticnet" and model.l1_ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    l1 = {"l1": 1.0, "l2": 0.0}.get(kind)
    l1 = float(model.l1_ratio) if l1 is None else l1
    return Strengths(l1, 1.0 - l1, float(model.C))


def _warn_of_contradictions(model: Any, kind: str | None) -> None:
    """scikit-learn's warnings about parameters that do not go together."""
    ratio = model.l1_ratio
    if kind != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warnings.warn(
            f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={kind})",
            stacklevel=5,
        )
    if (kind == "l2" and ratio != 0) or (kind == "l1" and ratio != 1):
        warnings.warn(
            f"Inconsistent values: penalty={kind} with l1_ratio={ratio}. penalty is deprecated. "
            "Please use l1_ratio only.",
            stacklevel=5,
        )
    if kind is None and model.C != 1.0:
        warnings.warn(
            "Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=5
        )


def _deprecated(what: str, instead: str) -> None:
    warnings.warn(
        f"{what} was deprecated in scikit-learn 1.8 and goes away in 1.10. {instead}",
        FutureWarning,
        stacklevel=6,
    )
