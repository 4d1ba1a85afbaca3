"""Grid search at the price of about one fit."""

import re
import time
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn import model_selection as theirs
from sklearn.base import clone, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._validation import (
    _insert_error_scores,
    _warn_or_raise_about_fit_failures,
)
from sklearn.utils import indexable
from sklearn.utils.validation import _check_method_params

from rosenblatt.base import warn
from rosenblatt.folds import Split
from rosenblatt.registry.row import Row

from .additive_pipelines import is_additive
from .evaluation import Evaluation
from .paths import has_path, last_step
from .scoring import Scoring, splits_of, splitter_of


class GridSearchCV(theirs.GridSearchCV):  # type: ignore[misc]
    """Search over a grid of parameters by cross-validation.

    Parameters, attributes and results are those of `sklearn.model_selection.GridSearchCV`. For an
    additive model, alone or directly after a `StandardScaler` or `Standardizer`, the rows are read
    once for training: each training set is a sum of statistics, and candidates that differ only in
    what is concluded from it (smoothing, shrinkage, priors) share it, the refit included. Penalties
    of `Lasso` and `ElasticNet`, and of `LogisticRegression` also as the last step of a `Pipeline`,
    are followed along one path on each split. Behind other steps, such as a `ColumnTransformer`,
    the rows of a split are transformed once, and these models searched on what comes out. For all
    other estimators the search is scikit-learn's own.

    Of candidates with the same best score the simplest is taken: fewest parameters
    (``n_parameters_``), then the most smoothing or shrinkage, then the first in the grid. Of
    estimators that are not additive it is the first, as in scikit-learn.

    What many fits warn of is told once for each kind, with how often it came and one in full; what
    other processes say stays theirs.

    Parameters
    ----------
    estimator : estimator
        What to train and score.
    param_grid : dict or list of dicts
        Values to try for each parameter.
    scoring : str, callable, list, tuple, dict or None
        One score or several; the estimator's own if None.
    n_jobs : int or None
        Processes to score in; rows are measured in this one.
    refit : bool, str or callable
        Whether to fit the best candidate to all rows; by which score it is the best, or a function
        of ``cv_results_`` that says.
    cv : int, splitter, iterable or None
        The splits; five folds if None.
    verbose : int
        How much to print.
    pre_dispatch : int or str
        How many jobs to hand out ahead.
    error_score : "raise" or number
        The score of a fit that fails.
    return_train_score : bool
        Whether to score the training rows as well.

    Attributes
    ----------
    cv_results_ : dict of arrays, a place for each candidate.
    best_estimator_, best_score_, best_params_, best_index_ : the best candidate.
    scorer_, n_splits_, refit_time_, multimetric_ : how it was found.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.model_selection import GridSearchCV
    >>> from rosenblatt.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"var_smoothing": [1e-9, 1e-3, 1e-1]}
    >>> search = GridSearchCV(GaussianNB(), grid).fit(X, y)
    >>> search.best_params_, search.cv_results_["mean_test_score"].round(3)
    ({'var_smoothing': 0.001}, array([0.953, 0.953, 0.933]))
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Try every candidate on every split, and fit the best to all rows; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,) or None
            Their labels.
        params : dict
            For the estimator's `fit`, the splitter (``groups``) and the scorer.
        """
        self._evaluation: Evaluation | None = None
        try:
            with EachKindOnce():
                if not self._has_shared_work():
                    super().fit(X, y, **params)
                else:
                    self._validate_params()
                    self._search(X, y, params)
        finally:
            del self._evaluation
        return self

    def _has_shared_work(self) -> bool:
        """Whether a candidate follows from statistics or a path, and no callback needs its fit."""
        if getattr(self, "_skl_callbacks", None) or (
            type(self)._run_search is not theirs.GridSearchCV._run_search
        ):
            return False
        try:
            for candidate in ParameterGrid(self.param_grid):
                estimator = clone(self.estimator).set_params(**clone(candidate, safe=False))
                if is_additive(estimator) or has_path(estimator):
                    return True
        except Exception:  # scikit-learn's own search says what is wrong
            return False
        return False

    def _search(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        """What scikit-learn's `fit` does, on statistics."""
        scorer, metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        cv = splitter_of(self.cv, y, is_classifier(self.estimator))
        self._checked_cv_orig = cv
        splits = self._splits(cv, X, y, routed.splitter.split)
        candidates = list(ParameterGrid(self.param_grid))
        if self.verbose > 0:
            n = len(candidates), len(splits)
            print(
                f"Fitting {n[1]} folds for each of {n[0]} candidates, totalling {n[0] * n[1]} fits"
            )
        how = Scoring(
            X, y, scorer, routed.estimator.fit, routed.scorer.score,
            self.error_score, self.return_train_score, False, self.verbose,
        )  # fmt: skip
        self._evaluation = Evaluation(self.estimator, candidates, how)
        results = self._evaluation.run(splits, self.n_jobs, self.pre_dispatch)
        _warn_or_raise_about_fit_failures(results, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(results, self.error_score)
        found = self._format_results(candidates, len(splits), results)
        self._publish(found, results[0]["test_scores"], metric)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        self.scorer_ = scorer._scorers if isinstance(scorer, _MultimetricScorer) else scorer
        self.cv_results_ = found

    def _splits(self, cv: Any, X: Any, y: Any, params: Any) -> list[Split]:
        """The splits, as many as the splitter promised."""
        self.n_splits_ = cv.get_n_splits(X, y, **params)
        splits = splits_of(cv, X, y, params)
        if len(splits) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(splits)}"
            )
        if not splits:
            raise ValueError("No fits were performed. Was the CV iterator empty?")
        return splits

    def _publish(self, found: dict[str, Any], first_score: Any, metric: Any) -> None:
        """Set the attributes of the best candidate."""
        self.multimetric_ = isinstance(first_score, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first_score)
            metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, found)
            if not callable(self.refit):
                self.best_score_ = found[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = found["params"][self.best_index_]

    def _refit(self, X: Any, y: Any, fit_params: Any) -> None:
        """Fit the best candidate to all rows: by the sum of what was measured, if it can be."""
        assert self._evaluation is not None
        start = time.perf_counter()
        best = self._evaluation.whole(self.best_index_)
        if best is None:
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            best.fit(X, **fit_params) if y is None else best.fit(X, y, **fit_params)
        else:  # a fit would have said what it has to say of the rows
            last_step(best).report_warnings()
        self.best_estimator_ = best
        self.refit_time_ = time.perf_counter() - start
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _select_best_index(self, refit: Any, refit_metric: Any, results: Any) -> int:
        """The place of the best candidate; of several as good as it, of the simplest."""
        best: int = super()._select_best_index(refit, refit_metric, results)
        if callable(refit):
            return best
        means = results[f"mean_test_{refit_metric}"]
        # Equal but for rounding: means of the same scores in another order of folds are tied.
        tied = np.flatnonzero(np.isclose(means, means[best], rtol=1e-12, atol=0.0)).tolist()
        if len(tied) <= 1:
            return best
        place = simplest([self._tied(c, results["params"][c]) for c in tied])
        return int(tied[place])

    def _tied(self, c: int, parameters: Any) -> Any:
        """Candidate c, fitted to all rows if statistics say how."""
        fitted = None if self._evaluation is None else self._evaluation.whole(c)
        if fitted is not None:
            return fitted
        return clone(self.estimator).set_params(**clone(parameters, safe=False))


# The warnings of the many fits of a search, each kind told once.


# What differs between two warnings of a kind: numbers, names in quotes, and lists of them.
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_LISTED = re.compile(r"#(?:(?:, | and |,? or )#)+")


class EachKindOnce:
    """Hold warnings back, and at the end tell of each kind how often it came, with one in full.

    What is to be ignored, or raised as an error, still is; what would be shown once is counted.
    """

    def __enter__(self) -> None:
        self._catching = warnings.catch_warnings(record=True)
        self._heard: Any = self._catching.__enter__()
        warnings.filters[:] = [  # type: ignore[index]
            (action if action in ("error", "ignore") else "always", *rest)
            for action, *rest in warnings.filters
        ]
        warnings.simplefilter("always", append=True)

    def __exit__(self, *error: Any) -> None:
        self._catching.__exit__(*error)
        kinds: dict[tuple[type[Warning], str], list[Warning]] = {}
        for message in [record.message for record in self._heard]:
            kinds.setdefault((type(message), kind_of(str(message))), []).append(message)
        for messages in kinds.values():
            last = messages[-1]
            if len(messages) > 1:
                # Behind what it says, for filters look at how a message begins.
                last.args = (f"{last} ({len(messages)} times in this search; this is the last.)",)
            warn(last)


def kind_of(text: str) -> str:
    """A warning without its particulars: numbers, names in quotes and lists of these.

    >>> kind_of("Columns 1, 2 and 'age' are off by 3.5e-07.")
    'Columns # are off by #.'
    """
    return _LISTED.sub("#", _PARTICULAR.sub("#", text))


# Which of several models is the simplest.


def simplest(estimators: Sequence[Any]) -> int:
    """The place of the simplest of some estimators; the first if it cannot be said."""
    # It is the one with the fewest parameters, ``n_parameters_``, where all say how many they have;
    # then the one with the largest of the parameters that its class calls smoothing or shrinkage.
    # Models of different classes are compared by the number of their parameters alone.
    models = [last_step(estimator) for estimator in estimators]
    left = _least(range(len(models)), [getattr(m, "n_parameters_", None) for m in models])
    if len({type(models[i]) for i in left}) == 1:
        for name in getattr(models[0], "simpler_when_larger", ()):
            left = _least(left, [_strength(getattr(m, name, None)) for m in models])
    return left[0]


def _strength(value: Any) -> float | None:
    """Minus the value of a smoothing parameter, no value being zero; None if it is no number."""
    if value is None:
        return 0.0
    return -float(value) if isinstance(value, Real) and not np.isnan(float(value)) else None


def _least(places: Sequence[int], values: Sequence[Any]) -> Sequence[int]:
    """Those of the places that have the least value; all, if one has none."""
    if any(values[i] is None for i in places):
        return places
    least = min(values[i] for i in places)
    return [i for i in places if values[i] == least]


ROW = Row("GridSearchCV", page="model_selection.md", contract=None, warm=None)
