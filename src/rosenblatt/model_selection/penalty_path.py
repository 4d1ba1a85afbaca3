"""Candidates that differ in their penalty alone: one path for all of them on each split.

A lasso or logistic regression at one penalty begins where that at the next larger ended. Of tall
tables a lasso reads the rows once: the Gram matrix of a training set is the sum of those of the
other folds.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from rosenblatt.linear_model.fold_squares import training_squares
from rosenblatt.linear_model.penalised import PenalisedRegressor, check_rows, models_along
from rosenblatt.linear_model.penalised import Rows as CheckedRows
from rosenblatt.linear_model.squares import Squares
from rosenblatt.statistics.folds import Split

from .evaluation import Job, Parameters, Result, _fit_in_full, _print
from .scoring import Rows, Scoring, scores_of
from .warm_starts import fitted_along, starts_warm


def has_path(estimator: Any, fit_params: Mapping[str, Any] | None = None) -> bool:
    """Whether an estimator's fits at several penalties are one path."""
    return starts_warm(estimator, fit_params) or (
        isinstance(estimator, PenalisedRegressor)
        and type(estimator).fit.__module__.startswith("rosenblatt.")
        and not getattr(estimator, "_skl_callbacks", None)
        and set(fit_params or {}) <= {"sample_weight"}
    )


@dataclass(eq=False)
class PathEvaluation:
    """As `Evaluation`, for estimators with a path."""

    estimator: Any
    candidates: Sequence[Parameters]
    scoring: Scoring

    def run(self, splits: Sequence[Split], n_jobs: Any, pre_dispatch: Any) -> list[Result]:
        """The results as scikit-learn makes them: all splits of the first candidate first."""
        n = len(self.candidates)
        jobs = [Job(p, None, [], None, 0.0, (c, n)) for c, p in enumerate(self.candidates)]
        problems = self._problems(splits)
        tasks = (
            delayed(_run_split)(self.estimator, split, (s, len(splits)), jobs, self.scoring, *given)
            for s, (split, given) in enumerate(zip(splits, problems, strict=True))
        )
        by_split = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch)(tasks)
        return [results[c] for c in range(n) for results in by_split]

    def whole(self, c: int) -> Any | None:
        """Candidate c fitted to all rows: not known; it is fitted in the ordinary way."""
        return None

    def _problems(self, splits: Sequence[Split]) -> Any:
        """The checked rows and the problem of each training set; neither, if rows do not pass."""
        if starts_warm(self.estimator):
            return [(None, {})] * len(splits)
        scoring, template = self.scoring, clone(self.estimator)
        folds = [(split.train, split.test) for split in splits]
        try:
            rows = check_rows(
                template, scoring.X, scoring.y, scoring.fit_params.get("sample_weight")
            )
            problems = {
                intercept: list(
                    training_squares(rows.X, rows.targets, rows.weights, folds, intercept)
                )
                for intercept in self._intercepts()
            }
        except Exception:  # which rows are to blame, and on which splits, shows when each is fitted
            return [(None, {})] * len(splits)
        checked = (rows, template)
        return [
            (checked, {intercept: squares[s] for intercept, squares in problems.items()})
            for s in range(len(splits))
        ]

    def _intercepts(self) -> set[bool]:
        """Whether candidates have an intercept; both may occur."""
        default = self.estimator.fit_intercept
        return {bool((p or {}).get("fit_intercept", default)) for p in self.candidates}


def _run_split(
    estimator: Any,
    split: Split,
    progress: tuple[int, int],
    jobs: list[Job],
    scoring: Scoring,
    checked: tuple[CheckedRows, Any] | None,
    problems: dict[bool, Squares],
) -> list[Result]:
    """The results of all candidates on one split."""
    rows = Rows(split, scoring)
    start = time.perf_counter()
    if starts_warm(estimator):
        fitted = _fitted_warm(estimator, jobs, rows)
    else:
        fitted = {} if checked is None else _fitted(estimator, jobs, checked, problems)
    seconds = (time.perf_counter() - start) / max(1, len(fitted))
    found = []
    for c, job in enumerate(jobs):
        if c not in fitted:
            found.append(_fit_in_full(estimator, split, progress, job, scoring))
            continue
        start = time.perf_counter()
        result: Result = {
            "fit_error": None,
            "test_scores": scores_of(fitted[c], rows, "test"),
            "n_test_samples": rows.n_test,
            "fit_time": seconds,
        }
        result["score_time"] = time.perf_counter() - start
        if scoring.return_train_score:
            result["train_scores"] = scores_of(fitted[c], rows, "train")
        if scoring.return_estimator:
            result["estimator"] = fitted[c]
        if scoring.verbose > 1:
            _print(job, progress, result)
        found.append(result)
    return found


def _fitted(
    estimator: Any,
    jobs: list[Job],
    checked: tuple[CheckedRows, Any],
    problems: dict[bool, Squares],
) -> dict[int, Any]:
    """The fitted candidates by their number, without those that have to be fitted by themselves."""
    rows, template = checked
    groups: dict[str, dict[int, Any]] = {}
    for c, job in enumerate(jobs):
        model = clone(estimator)
        try:
            model.set_params(**clone(dict(job.parameters or {}), safe=False))
            model._validate_params()
        except Exception:  # scikit-learn says what is wrong, or scores it as an error
            continue
        if model.selection == "random" or model.warm_start or getattr(model, "n_features", None):
            continue
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(template, name):
                setattr(model, name, getattr(template, name))
        others = {k: v for k, v in model.get_params().items() if k != "alpha"}
        groups.setdefault(repr(sorted(others.items())), {})[c] = model
    found: dict[int, Any] = {}
    for group in groups.values():
        models = list(group.values())
        try:
            models_along(models, problems[bool(models[0].fit_intercept)], rows)
        except ValueError:  # the same is said when each is fitted
            continue
        found |= group
    return found


def _fitted_warm(estimator: Any, jobs: list[Job], rows: _Rows) -> dict[int, Any]:
    """The same of logistic regressions."""
    scoring, train = rows.scoring, rows.split.train
    X, y, _ = rows.train
    fit_params = _check_method_params(scoring.X, params=scoring.fit_params, indices=train)
    return fitted_along(estimator, [job.parameters for job in jobs], X, y, fit_params)
