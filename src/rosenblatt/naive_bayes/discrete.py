"""What naive Bayes models of counts, presence and categories share."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.runtime.storage import summed_duplicates

from .base import NaiveBayes, checked_alpha, log_prior
from .linear_scores import (
    LinearScores,
    LinearWithGaps,
    Rough,
    decide_together,
    is_small,
    over_rows,
    why_not,
)

ALL = slice(None)

Comparison = Callable[[int, int], NDArray[np.float64]]
Decision = Callable[[int, int], NDArray[np.intp]]


class DiscreteNB(NaiveBayes):
    """Smoothed counts, and a class prior that is counted, given or uniform."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    n_parameters_: int

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), Options(Real, {np.inf}), "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """The weight of each class's rows, (K,)."""
        return self._by_class(self._known().weight)

    def _known(self) -> Any:
        """The statistic; an unfitted model has none, and so no counts."""
        known = getattr(self, "statistics_", None)
        if known is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it has no counts.")
        return known

    def _alpha(self) -> NDArray[np.float64]:
        return checked_alpha(self.alpha, self.force_alpha, self.n_features_in_)

    def _conclude_prior(self) -> None:
        """Set the classes' log shares; in the precision of the data."""
        prior = log_prior(
            self.class_prior, self.class_count_, len(self.classes_), not self.fit_prior
        )
        self.class_log_prior_ = prior.astype(self.statistics_.dtype)

    def _n_prior_parameters(self) -> int:
        """How many numbers of the prior were learned: K shares that sum to one, or none."""
        learned = self.class_prior is None and self.fit_prior
        return len(self.classes_) - 1 if learned else 0

    def _draw_classes(self, n_samples: int, rng: np.random.RandomState) -> NDArray[np.intp]:
        checks.integer("n_samples", n_samples, 1)
        codes: NDArray[np.intp] = super()._draw_classes(n_samples, rng)
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class LinearNB(DiscreteNB):
    """Log-probabilities that are linear in the numbers of a row, or in which are present."""

    missing: str
    feature_log_prob_: NDArray[Any]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "missing": [StrOptions({"refuse", "ignore"})],
    }

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """What was counted of each feature in each class, (K, d)."""
        return self._by_class(self._known().sums).astype(np.float64)

    @abstractmethod
    def _weights(
        self, dtype: Any = np.float64, features: Any = ALL
    ) -> tuple[NDArray[Any], NDArray[np.float64], float | None]:
        """Weights (d, K), what a row without any feature scores (K,), the threshold of presence.

        Weights are of `dtype`, laid out by rows, and of some features if not all are asked for.
        """

    def _check_X(self, X: Any, first: bool) -> Any:
        """Any numbers, in their own kind: the loops read integers without a copy."""
        X = checks.rows(self, X, reset=first, dtype="numeric", finite=False)
        # A number and NaN in one place are missing together.
        return summed_duplicates(X) if self.missing == "ignore" else X

    def _linear(self, X: Any, prior: Any) -> LinearScores:
        """The scores of checked rows, starting with a prior (K,)."""
        weights, start, threshold = self._weights()
        if self.missing == "ignore":
            return LinearWithGaps(X, weights, self._gap_weights(), start + prior, threshold)
        return LinearScores(X, weights, start + prior, threshold)

    def _gap_weights(self) -> NDArray[np.float64] | None:
        """What a missing feature adds beside an absent one, (d, K); None if nothing."""
        return None

    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        scores = np.concatenate(over_rows(self._linear(X, 0.0).scores, X))
        return scores.astype(self.feature_log_prob_.dtype, copy=False)

    def _compared(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        scores = np.concatenate(over_rows(self._comparison(X), X))
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return scores.astype(self.feature_log_prob_.dtype, copy=False)

    def _compared_row(self, X: Any) -> NDArray[Any]:
        scores = self._comparison(X)(0, 1)
        return np.array([0.0, scores[0]]) if scores.ndim == 1 else scores[0]

    def _comparison(self, X: Any) -> Comparison:
        """A function of a range of rows that gives their joint log-probabilities (m, K)."""
        # Of two classes the second's less the first's (m,): one product, not two.
        return self._linear(X, self._log_prior().astype(np.float64)).comparison()

    def _labels(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        decide = self._rough_decision(X) or decision(self._comparison(X))
        codes = np.concatenate(over_rows(decide, X))  # scores are never held for all rows
        impossible = codes < 0
        if impossible.any():
            self._warn_impossible(impossible)
            codes[impossible] = self._log_prior().argmax()
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _rough_decision(self, X: Any) -> Decision | None:
        """Decisions from fewer bits, and from all where these cannot tell; None if not possible."""
        rough = None if is_small(X) else Rough.of(self)
        if rough is None:
            return None

        def decide(first: int, last: int) -> NDArray[np.intp]:
            order = np.arange(first, last)
            return self._decided(rough.decide(X, order), X, order)

        return decide

    @staticmethod
    def predict_together(
        models: list[Any], X: Any, order: NDArray[np.intp]
    ) -> list[NDArray[Any]] | None:
        """What each of several models of one class predicts for rows `order` of X.

        Rows are neither copied nor checked again; None if they or the models must be looked at more
        closely.
        """
        several = [Rough.of(model) for model in models]
        first = several[0]
        if first is None or any(
            rough is None or rough.threshold != first.threshold for rough in several
        ):
            return None
        codes = decide_together(several, X, order)  # type: ignore[arg-type]
        pairs = zip(models, codes, strict=True)
        return [model.classes_[model._decided(found, X, order)] for model, found in pairs]

    def _decided(
        self, codes: NDArray[np.intp], X: Any, order: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Rough decisions about rows `order` of X, those left open decided in all bits."""
        left = codes < 0
        if left.any():
            rows = X[order[left]]
            # Only the features that occur: a few rows should not cost a pass over all weights.
            features, places = np.unique(rows.indices, return_inverse=True)
            rows = sp.csr_array((rows.data, places, rows.indptr), (rows.shape[0], len(features)))
            weights, start, threshold = self._weights(features=features)
            linear = LinearScores(rows, weights, start + self._log_prior(), threshold)
            codes[left] = decision(linear.comparison())(0, rows.shape[0])
        return codes

    def _known_row(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool]]:
        """One row (1, d) as doubles (d,), zero where missing; and where it is not."""
        X = X.toarray() if sp.issparse(X) else X
        row: NDArray[np.float64] = np.asarray(X[0], dtype=np.float64)
        known = ~np.isnan(row)
        if np.isinf(row).any() or (self.missing == "refuse" and not known.all()):
            raise ValueError(why_not(row))
        return np.where(known, row, 0.0), known


def decision(comparison: Comparison) -> Decision:
    """A function of a range of rows that gives their classes' places; -1 for the impossible."""

    def decide(first: int, last: int) -> NDArray[np.intp]:
        joint = comparison(first, last)
        if joint.ndim == 1:
            return (joint > 0).astype(np.intp)
        best: NDArray[np.intp] = joint.argmax(axis=1)
        best[joint[np.arange(len(best)), best] == -np.inf] = -1
        return best

    return decide
