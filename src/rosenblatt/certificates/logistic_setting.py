"""Which problem the parameters of a logistic regression pose."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .closed_form import ClassData
from .lasso import Penalty
from .rounded_matrix import Floats


@dataclass(frozen=True)
class Setting:
    """What the parameters of a model say of its objective."""

    C: float  # infinite without a penalty
    l1_ratio: float
    class_weight: Any
    weighted_counts: bool  # whether "balanced" counts rows by their weights
    one_against_rest: bool = False
    penalised_intercept: float | None = None  # the value of its column, if it has a penalty

    @property
    def penalty(self) -> Penalty:
        """Of the objective multiplied with C."""
        if np.isinf(self.C):
            return Penalty(0.0, 0.0, False)
        return Penalty(self.l1_ratio, 1 - self.l1_ratio, False)

    @property
    def factor(self) -> float:
        """What multiplies the weights of the losses: C, or one without a penalty."""
        return 1.0 if np.isinf(self.C) else self.C

    def words(self, weights: Floats) -> str:
        """The penalty and the weights of the losses, as the objective is printed."""
        parts = []
        if self.penalty.l1:
            parts.append(f"{self.penalty.l1:g} |w|_1" if self.penalty.l1 != 1 else "|w|_1")
        if self.penalty.l2:
            parts.append(f"{self.penalty.l2 / 2:g} |w|^2")
        low, high = float(weights.min()), float(weights.max())
        span = f"c_i = {low:.6g}" if low == high else f"c_i = {low:.6g} .. {high:.6g}"
        return " + ".join([*parts, f"sum c_i loss_i, {span}"])


def setting_of(model: Any, n_rows: int) -> Setting:
    """Read the parameters."""
    names = {base.__name__ for base in type(model).__mro__}
    class_weight = getattr(model, "class_weight", None)
    if "SGDClassifier" in names:
        if model.loss != "log_loss":
            raise TypeError(
                f"SGDClassifier(loss={model.loss!r}) cannot be certified; loss='log_loss' can."
            )
        alpha = 0.0 if model.penalty is None else float(model.alpha)
        ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
        C = 1 / (alpha * n_rows) if alpha > 0 else np.inf
        return Setting(C, float(ratio), class_weight, False, one_against_rest=True)
    C = float(np.ravel(getattr(model, "C_", getattr(model, "C", 1.0)))[0])
    ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 0.0))
    ratio = np.ravel(ratio)[0]
    ratio = 0.0 if ratio is None else float(ratio)  # a search without ratios has [None]
    penalty = getattr(model, "penalty", "deprecated")
    if penalty is None:
        C = np.inf
    elif penalty in ("l1", "l2"):
        ratio = float(penalty == "l1")
    column = None
    theirs = type(model).__module__.partition(".")[0] == "sklearn"
    if theirs and getattr(model, "solver", None) == "liblinear" and model.fit_intercept:
        column = float(model.intercept_scaling)
    return Setting(C, ratio, class_weight, True, penalised_intercept=column)


def weights_of_classes(data: ClassData, setting: Setting) -> Floats:
    """The weight of each class (K,)."""
    K, given = len(data.classes), setting.class_weight
    if given is None:
        return np.ones(K)
    if given == "balanced":
        counts = data.counts
        if not setting.weighted_counts:
            counts = np.array([float(len(rows)) for rows in data.members])
        return np.asarray(counts.sum() / (K * np.where(counts > 0, counts, 1.0)))
    weights = [float(given.get(label, 1.0)) for label in data.classes.tolist()]
    return np.array(weights)
