"""Logistic regressions on the folds of a search, at one C after the other."""

import copy
import inspect
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from rosenblatt.base import GroupedWarnings

from .centred_rows import Centred
from .logistic import LogisticRegression
from .penalty_search import ROUNDS, WORTH_A_DECADE, decades, search

Array = NDArray[np.float64]

# In units of one over the largest variation of a column: a C that leaves hardly any coefficient,
# and one beyond which a penalty has hardly any effect.
SMALLEST, LARGEST = 0.1, 1e7


class Fit(NamedTuple):
    """What one fit to the training rows of a fold has found."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)
    score: float
    n_iter: int


@dataclass(eq=False)
class FoldFits:
    """The fits so far, of each fold and l1 ratio by their C."""

    model: LogisticRegression
    rows: tuple[Any, NDArray[Any], Array | None]  # X (n, d), labels (n,), weights (n,)
    folds: list[Any]  # pairs of training and test rows
    ratios: list[float]
    scorer: Any
    to_scorer: dict[str, Any]
    warned: GroupedWarnings = field(default_factory=GroupedWarnings)  # fifty fits may agree
    found: dict[tuple[int, int], dict[float, Fit]] = field(default_factory=dict)

    def mean_scores(self, Cs: Array) -> Array:
        """Fit these values of C; return how each does on average over the folds, (C, ratios)."""
        for f, (train, test) in enumerate(self.folds):
            X, labels, weight = self.rows
            given = _check_method_params(X, self.to_scorer, indices=test)
            training = X[train], labels[train], None if weight is None else weight[train]
            for r, ratio in enumerate(self.ratios):
                known = self.found.setdefault((f, r), {})
                self.model.set_params(l1_ratio=ratio)
                self._begin(known, Cs[0])
                for C in Cs:
                    with self.warned.collecting():
                        self.model.set_params(C=C).fit(*training)
                    score = self.scorer(self.model, X[test], labels[test], **given)
                    known[float(C)] = self._fitted(float(score))
                    self.model.set_params(warm_start=True)  # the next begins where this one ended
        return np.asarray(self._table(Cs, "score").mean(axis=0))

    def by_decades(self) -> Array:
        """Search powers of ten, then closer around the best; return the values of C tried."""
        X, labels, weight = self.rows
        with np.errstate(over="ignore", invalid="ignore"):  # the first fit refuses such numbers
            about = Centred(X, np.zeros((len(labels), 1)), weight, self.model.fit_intercept)
            varies = float(about.squares().max(initial=0.0))
        varies = varies if 0 < varies < np.inf else 1.0
        grid = decades(SMALLEST / varies, LARGEST / varies)
        return search(self.mean_scores, grid, ROUNDS, grow=True, worth=WORTH_A_DECADE).penalties

    def tables(self, Cs: Array) -> tuple[Array, Array, NDArray[np.int32]]:
        """Coefficients with intercept last, (K, folds, C, ratios, d + 1), scores and iterations."""
        paths = np.concatenate(
            [self._table(Cs, "coef"), self._table(Cs, "intercept")[..., None]], axis=-1
        )
        n_iter = self._table(Cs, "n_iter").astype(np.int32)
        return np.moveaxis(paths, 3, 0), self._table(Cs, "score"), n_iter

    def _begin(self, known: dict[float, Fit], C: float) -> None:
        """Start from the fit at the next smaller C, if there is one."""
        below = [before for before in known if before <= C]
        self.model.set_params(warm_start=bool(below))
        if below:
            nearest = known[max(below)]
            self.model.coef_, self.model.intercept_ = nearest.coef, nearest.intercept

    def _fitted(self, score: float) -> Fit:
        model = self.model
        return Fit(model.coef_, model.intercept_, score, int(model.n_iter_[0]))

    def _table(self, Cs: Array, name: str) -> Array:
        """One entry of all fits, (folds, C, ratios, ...)."""
        R = range(len(self.ratios))
        return np.array(
            [
                [[getattr(self.found[f, r][float(C)], name) for r in R] for C in Cs]
                for f in range(len(self.folds))
            ]
        )


# A model that is chosen and judged by a score, with what the splitter and the scorer ask for.


class Scored:
    """A classifier with parameters `scoring`, accuracy by default, and `cv`."""

    # The weights of `score` are the scorer's to ask for.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    scoring: Any
    cv: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """Return the score of `scoring` on X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        score_params : dict
            With metadata routing, what the scorer asks for.
        """
        _, to_scorer = self._routed("score", sample_weight, score_params)
        return float(self._scorer()(self, X, y, **to_scorer))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what goes where when metadata routing is enabled.

        Returns
        -------
        routing : MetadataRouter
        """
        fit_and_score = MethodMapping().add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(
                scorer=self._scorer(),
                method_mapping=fit_and_score.add(caller="fit", callee="score"),
            )
        )

    def _routed(
        self, caller: str, weight: Any, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the splitter and the scorer are given besides the rows."""
        _raise_for_params(params, self, caller)
        given = {} if weight is None else {"sample_weight": weight}
        if not _routing_enabled():
            return {}, given
        routed = process_routing(self, caller, **given, **params)
        splitter = routed.splitter.split if caller == "fit" else {}
        return splitter, routed.scorer.score

    def _scorer(self) -> Any:
        scoring = None if isinstance(self.scoring, str) and self.scoring == "warn" else self.scoring
        return get_scorer("accuracy" if scoring is None else scoring)


def with_labels(scorer: Any, classes: NDArray[Any]) -> Any:
    """The scorer, with the classes (K,) for a metric that takes them: a fold may miss some."""
    metric = getattr(scorer, "_score_func", None)
    takes = inspect.signature(metric).parameters if metric else {}
    if "labels" not in takes:
        return scorer
    given = {"labels": classes}
    if len(classes) == 2 and "pos_label" in takes:
        given["pos_label"] = classes[1]
    scorer = copy.copy(scorer)
    scorer._kwargs = {**given, **scorer._kwargs}
    return scorer
