"""Why a model decided as it did, in parts that add up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_SHOWN = 12


@dataclass(frozen=True)
class Explanation:
    """The log-odds of one class against another for one example, feature by feature.

    ``start + contributions.sum()`` is `log_odds`, up to the order of the sum.

    Attributes
    ----------
    winner, rival : the two classes.
    log_odds : log P(winner | x) - log P(rival | x).
    start : what the classes' shares alone say.
    contributions : what each feature adds, shape (d,).
    names : of the features.

    Examples
    --------
    >>> from rosenblatt import GaussianNB
    >>> model = GaussianNB().fit([[0.0, 1.0], [1.0, 0.0], [5.0, 1.0], [6.0, 0.0]], [0, 0, 1, 1])
    >>> explanation = model.explain([5.0, 0.5])
    >>> explanation.winner, explanation.contributions.round(3)
    (np.int64(1), array([40.,  0.]))
    """

    winner: Any
    rival: Any
    log_odds: float
    start: float
    contributions: NDArray[np.float64]
    names: tuple[str, ...]

    @staticmethod
    def of(
        model: Any, winner: int, rival: int, start: float, contributions: NDArray[np.float64]
    ) -> "Explanation":
        """Name the classes and features of a model's numbers."""
        return Explanation(
            winner=model.classes_[winner],
            rival=model.classes_[rival],
            log_odds=start + float(contributions.sum()),
            start=start,
            contributions=contributions,
            names=feature_names(model, len(contributions)),
        )

    def __str__(self) -> str:
        """A small table, the largest contributions first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        shown, left = order[:MOST_SHOWN], order[MOST_SHOWN:]
        lines = [("prior", self.start)]
        lines += [(self.names[j], float(self.contributions[j])) for j in shown]
        if len(left):
            lines.append((f"{len(left)} others", float(self.contributions[left].sum())))
        lines.append(("log-odds", self.log_odds))
        width = max(len(name) for name, _ in lines)
        head = f"{self.winner} rather than {self.rival}"
        return "\n".join([head, *(f"  {name:<{width}}  {value:+.4g}" for name, value in lines)])


def feature_names(model: Any, d: int) -> tuple[str, ...]:
    """The names of a model's features, x1, x2, ... where it has none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{j + 1}" for j in range(d))
    return tuple(str(name) for name in names)


def one_row(x: Any, check: Callable[[Any], Any]) -> Any:
    """One example, (d,) or (1, d), as a checked table (1, d)."""
    X = check(x if np.ndim(x) == 2 or hasattr(x, "toarray") else [x])
    if X.shape[0] != 1:
        raise ValueError(f"x must be one example; got {X.shape[0]} rows.")
    return X


def two_classes(classes: NDArray[Any], scores: NDArray[Any], rival: Any = None) -> tuple[int, int]:
    """The places of the class with the highest of the scores (K,), and of its rival or the next."""
    if len(classes) < 2:
        raise ValueError("There is nothing to explain: the model knows one class only.")
    order = np.argsort(-scores, kind="stable")
    winner, second = int(order[0]), int(order[1])
    if rival is not None:
        found = np.flatnonzero(classes == rival)
        if not len(found) or found[0] == winner:
            raise ValueError(
                f"rival must be a class other than the predicted {classes[winner]!r}; "
                f"got {rival!r}."
            )
        second = int(found[0])
    return winner, second
