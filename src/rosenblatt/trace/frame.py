"""The steps of a trace as a pandas DataFrame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt import checks, losses
from rosenblatt.capabilities import trace_view
from rosenblatt.trace.run import Run, Step

from .model_views import (
    SupportScores,
    nameless,
    published,
    running,
    sums_over_supports,
)
from .plot_columns import Data

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
    return int(np.count_nonzero(np.any(trace_view(estimator)["weights"], axis=0)))


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
    if "supports" in trace_view(run.last):
        supports = trace_view(step.estimator).get("supports")
        row["n_support"] = None if supports is None else len(supports)
    if searches_penalty(run):
        row |= {"alpha": step.estimator.alpha_, "n_kept": kept(step.estimator)}
    if run.single:
        row |= {"row": step.row, "score": step.score, "mistake": step.mistake}
    return row | _weights(step.estimator, names)


def _weights(estimator: Any, names: Sequence[str]) -> dict[str, Any]:
    """Intercepts and weights (K, d) by name, the intercepts first; as arrays if nameless."""
    view = trace_view(estimator)
    if "weights" not in view:
        return {}
    coef, intercept = view["weights"], np.atleast_1d(view["intercept"])
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
    coef = trace_view(run.last).get("weights")
    if coef is None or coef.size > MOST_COLUMNS:
        return []
    K, d = coef.shape
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


# What recorded models are worth on their training data.


class Measures(NamedTuple):
    """Numbers of one model; what it does not offer is NaN."""

    objective: float
    error: float
    last_objective: float = math.nan  # of the run's own weights, where others are published
    last_error: float = math.nan
    dual_gap: float = math.nan  # as the model published them itself
    gradient_norm: float = math.nan


class Ruler:
    """Measures many models on the same data.

    Checking the data takes far longer than scoring a few hundred rows, so for our linear models
    it is done once: their scores are then one product each, by the operations of their own
    `decision_function`, and lead to the same bits. Of kernel models the kernel values are kept.
    Other models are asked themselves, those that judge by their scores once for everything.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self._X: Any = None
        self._classes: Any = None
        self._codes: NDArray[np.intp] = np.empty(0, np.intp)
        self._supports: SupportScores | None = None
        self._latest: tuple[Any, NDArray[Any]] = (None, np.empty(0))

    def measure(self, estimator: Any) -> Measures:
        """The model's own objective, and its share of wrong answers; the same of its run."""
        if estimator is None or self.data.X is None:
            return Measures(math.nan, math.nan)
        run = running(estimator)
        both = Measures(*self._both(estimator), *(() if run is None else self._both(run)))
        return both._replace(
            # Several targets are problems of their own: what is minimised is the sum.
            dual_gap=float(np.sum(getattr(estimator, "dual_gap_", math.nan))),
            gradient_norm=float(np.linalg.norm(getattr(estimator, "gradient_norm_", math.nan))),
        )

    def _both(self, estimator: Any) -> tuple[float, float]:
        """Objective, and the weighted share of training rows whose class is predicted wrongly."""
        wrong = self.wrong(estimator)
        error = math.nan if wrong is None else np.average(wrong, weights=self.data.weights())
        return self._objective(estimator), float(error)

    def wrong(self, estimator: Any) -> NDArray[np.bool_] | None:
        """Which rows (n,) get another class than their own; None unless the model classifies."""
        if self.data.X is None or self.data.y is None or not hasattr(estimator, "classes_"):
            return None
        view = trace_view(estimator)
        if "decide" in view:
            codes = self._codes_among(estimator.classes_)
            return np.asarray(view["decide"](self._scores(estimator)) != codes)
        model = nameless(estimator, self.data.X)
        return np.asarray(model.predict(self.data.X) != self.data.labels())

    def tied(self, estimator: Any) -> NDArray[np.bool_]:
        """Which rows (n,) are predicted right by a tie that learning counts as a mistake."""
        view = trace_view(estimator)
        if view.get("ties") != "mistake" or not hasattr(estimator, "classes_"):
            return np.zeros(len(self.data.labels()), np.bool_)
        scores, codes = self._scores(estimator), self._codes_among(estimator.classes_)
        right = view["decide"](scores) == codes
        return np.asarray(right & (view["margins"](scores, codes) == 0))

    def _scores(self, estimator: Any) -> NDArray[Any]:
        """The model's `decision_function`: (n,), or (n, K) for K > 2 classes."""
        if self._latest[0] is not estimator:
            self._latest = (estimator, self._fresh_scores(estimator))
        return self._latest[1]

    def _fresh_scores(self, estimator: Any) -> NDArray[Any]:
        model = nameless(estimator, self.data.X)
        if sums_over_supports(estimator):
            if self._supports is None:
                X = self.data.X
                self._supports = SupportScores(X if hasattr(X, "shape") else np.asarray(X))
            return self._supports.of(estimator)
        view = trace_view(estimator)
        if not view.get("linear"):
            return np.asarray(model.decision_function(self.data.X))
        if self._X is None:
            self._X = checks.validate_data(model, self.data.X, accept_sparse="csr", reset=False)
        scores = safe_sparse_dot(self._X, view["weights"].T, dense_output=True)
        scores = scores + view["intercept"]
        return np.asarray(scores.ravel() if scores.shape[1] == 1 else scores)

    def _codes_among(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """The number of each row's class; the models of a run share their `classes`."""
        if self._classes is not classes:
            self._classes, self._codes = classes, np.searchsorted(classes, self.data.labels())
        return self._codes

    def _objective(self, estimator: Any) -> float:
        """``estimator.objective(X, y, sample_weight)``, or what it published as `objective_`."""
        if hasattr(estimator, "objective_"):
            return float(np.sum(estimator.objective_))
        if not hasattr(estimator, "objective"):
            return math.nan
        data, weight = self.data, self.data.weights()
        view = trace_view(estimator)
        if "margins" in view and hasattr(estimator, "classes_"):
            codes = self._codes_among(estimator.classes_)
            loss = losses.perceptron(view["margins"](self._scores(estimator), codes))
            return float((np.ones(len(loss)) if weight is None else weight) @ loss)
        y = None if data.y is None else data.labels()
        return float(nameless(estimator, data.X).objective(data.X, y, sample_weight=weight))
