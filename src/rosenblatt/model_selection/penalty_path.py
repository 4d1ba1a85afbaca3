"""Candidates that differ in their penalty, or in how many passes they make: one path a split.

A lasso or logistic regression at one penalty begins where that at the next larger ended; of
perceptrons with several `max_iter` there is one run. Of tall tables a lasso reads the rows once:
the Gram matrix of a training set is the sum of those of the other folds. Steps before the model,
such as a scaler, are fitted once for each split, and not for each penalty.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from rosenblatt.linear_model.elastic_net_base import PenalisedRegressor, models_along
from rosenblatt.linear_model.gram_folds import training_squares
from rosenblatt.linear_model.gram_problem import Squares
from rosenblatt.linear_model.lasso_fit import Rows as CheckedRows
from rosenblatt.linear_model.lasso_fit import check_rows
from rosenblatt.statistics.folds import Split

from .additive_pipelines import plain_steps
from .evaluation import Job, Parameters, Result, _fit_in_full, _print
from .scoring import Rows, Scoring, scores_of
from .warm_starts import fitted_along, has_stations


def has_path(estimator: Any, fit_params: Mapping[str, Any] | None = None) -> bool:
    """Whether an estimator's fits at several penalties are one path, alone or after other steps."""
    if has_stations(estimator, fit_params):
        return True
    steps = plain_steps(estimator)
    model, takes = (steps[-1] if steps else None), "sample_weight"
    if type(estimator) is Pipeline:
        if len(estimator.steps) < 2:
            return False
        takes = f"{estimator.steps[-1][0]}__sample_weight"
    return (
        isinstance(model, PenalisedRegressor)
        and type(model).fit.__module__.startswith("rosenblatt.")
        and set(fit_params or {}) <= {takes}
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
        if type(self.estimator) is Pipeline or has_stations(self.estimator):
            # What the model gets to see differs by split, or is read by each fit itself.
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
                for intercept in _intercepts(self.estimator, self.candidates)
            }
        except Exception:  # which rows are to blame, and on which splits, shows when each is fitted
            return [(None, {})] * len(splits)
        checked = (rows, template)
        return [
            (checked, {intercept: squares[s] for intercept, squares in problems.items()})
            for s in range(len(splits))
        ]


def _intercepts(model: Any, candidates: Iterable[Parameters]) -> set[bool]:
    """Whether candidates have an intercept; both may occur."""
    return {bool((p or {}).get("fit_intercept", model.fit_intercept)) for p in candidates}


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
    if has_stations(estimator):
        fitted = _fitted_at_stations(estimator, jobs, rows)
    elif type(estimator) is Pipeline:
        fitted = _fitted_behind(estimator, jobs, rows)
    else:
        candidates = {c: job.parameters for c, job in enumerate(jobs)}
        fitted = {} if checked is None else _fitted(estimator, candidates, checked, problems)
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


def _fitted_behind(pipeline: Pipeline, jobs: list[Job], rows: Rows) -> dict[int, Any]:
    """As `_fitted`, for a model behind other steps: these are fitted once for all penalties."""
    name, model = pipeline.steps[-1]
    behind: dict[str, tuple[dict[str, Any], dict[int, dict[str, Any]]]] = {}
    for c, job in enumerate(jobs):
        given = dict(job.parameters or {})
        prefix = f"{name}__"
        own = {k.removeprefix(prefix): given.pop(k) for k in list(given) if k.startswith(prefix)}
        if all("__" in k for k in given):  # no step itself is exchanged
            behind.setdefault(repr(sorted(given.items())), (given, {}))[1][c] = own
    X, y, _ = rows.train
    weights = rows.scoring.fit_params.get(f"{name}__sample_weight")
    weights = None if weights is None else _safe_indexing(weights, rows.split.train)
    found: dict[int, Any] = {}
    for given, candidates in behind.values():
        front, template = clone(pipeline[:-1]), clone(model)
        try:
            front.set_params(**clone(given, safe=False))
            checked = check_rows(template, front.fit_transform(X, y), y, weights)
            problems = {
                intercept: Squares.of(
                    checked.X, checked.targets, checked.weights, fit_intercept=intercept, path=True
                )
                for intercept in _intercepts(model, candidates.values())
            }
        except Exception:  # the same is said when each is fitted
            continue
        for c, last in _fitted(model, candidates, (checked, template), problems).items():
            found[c] = clone(pipeline)
            found[c].steps = [*front.steps, (name, last)]
    return found


def _fitted(
    estimator: Any,
    candidates: Mapping[int, Parameters],
    checked: tuple[CheckedRows, Any],
    problems: dict[bool, Squares],
) -> dict[int, Any]:
    """The fitted candidates by their number, without those that have to be fitted by themselves."""
    rows, template = checked
    groups: dict[str, dict[int, Any]] = {}
    for c, parameters in candidates.items():
        model = clone(estimator)
        try:
            model.set_params(**clone(dict(parameters or {}), safe=False))
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


def _fitted_at_stations(estimator: Any, jobs: list[Job], rows: Rows) -> dict[int, Any]:
    """The same of logistic regressions, and of perceptrons that differ in `max_iter`."""
    scoring, train = rows.scoring, rows.split.train
    X, y, _ = rows.train
    fit_params = _check_method_params(scoring.X, params=scoring.fit_params, indices=train)
    return fitted_along(estimator, [job.parameters for job in jobs], X, y, fit_params)
