"""Candidates by splits: each is trained on the rows of each split and scored on the others.

The rows are measured once; what each candidate would have learned from each training set follows
from sums. Where that cannot be, scikit-learn fits and scores as ever.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection._validation import _fit_and_score
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from rosenblatt.folds import Block, Split, blocks
from rosenblatt.runtime import deadline
from rosenblatt.statistics import Statistic

from .additive_pipelines import Measurement, Recipe
from .paths import PathGroup, behind, fitted_along, last_step, path_groups
from .pipeline_fronts import FrontGroup, behind_front, front_groups
from .scoring import Rows, Scoring, accuracies, is_accuracy, scores_of

Parameters = Mapping[str, Any] | None
Result = dict[str, Any]

# Statistics of folds may take this much memory at a time; more folds are taken in several reads.
MOST_BYTES = 2**30
TOGETHER = 8  # candidates that are scored in one read of the rows, if they can be
FEW_SPLITS = 64  # never too many, unless their training sets overlap


@dataclass(frozen=True, eq=False)
class Job:
    """One candidate on one split: its parameters, and its recipe with what was measured."""

    parameters: Parameters
    recipe: Recipe | None
    statistics: list[Any]
    test: Any  # the statistic of the test rows, if it is known
    seconds: float  # its share of the time that measuring took
    progress: tuple[int, int]  # number of the candidate, and of all


@dataclass(eq=False)
class Evaluation:
    """Estimators with each candidate's parameters, evaluated on each split.

    After `run`, `whole` gives what a candidate learns from all rows.
    """

    estimator: Any
    candidates: Sequence[Parameters]
    scoring: Scoring
    measurements: list[Measurement] = field(default_factory=list)
    trials: list[Any] = field(default_factory=list)  # the estimators, not fitted
    recipes: list[Recipe | None] = field(default_factory=list)
    totals: list[Statistic | None] = field(default_factory=list)  # of all rows, by measurement

    def __post_init__(self) -> None:
        scoring = self.scoring
        for parameters in self.candidates:
            trial = clone(self.estimator)
            if parameters is not None:
                trial.set_params(**clone(parameters, safe=False))
            self.trials.append(trial)
            self.recipes.append(Recipe.of(trial, scoring.X, scoring.fit_params, self.measurements))

    def run(self, splits: Sequence[Split], n_jobs: Any, pre_dispatch: Any) -> list[Result]:
        """The results as scikit-learn makes them: all splits of the first candidate first."""
        shared = self.fronts, self._paths
        tasks = (
            delayed(_run_split)(self.estimator, split, (s, len(splits)), jobs, shared, self.scoring)
            for s, (split, jobs) in enumerate(self._jobs(splits))
        )
        by_split = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch)(tasks)
        return [results[c] for c in range(len(self.candidates)) for results in by_split]

    def whole(self, c: int) -> Any | None:
        """Candidate c fitted to all rows; None if statistics do not say how."""
        recipe = self.recipes[c]
        if recipe is None or not self.totals:
            return None
        return recipe.fitted([self.totals[i] for i in recipe.sources])

    def _jobs(self, splits: Sequence[Split]) -> Iterator[tuple[Split, list[Job]]]:
        """Each split with a job for each candidate, measured as they are asked for."""
        most = self._most_groups(splits)
        for block in blocks(splits, _num_samples(self.scoring.X), most, most):
            measured = [self._measured(block, m) for m in self.measurements]
            self.totals = [whole for _, _, whole, _ in measured]
            for s, split in enumerate(block.splits):
                yield split, [self._job(c, s, measured) for c in range(len(self.candidates))]

    def _job(self, c: int, s: int, measured: list[Any]) -> Job:
        """The job of candidate c on split s of a block."""
        recipe = self.recipes[c]
        sources = () if recipe is None else recipe.sources
        return Job(
            self.candidates[c],
            recipe,
            statistics=[measured[i][0][s] for i in sources],
            test=measured[sources[0]][1][s] if sources else None,
            seconds=sum(measured[i][3] / self._users[i] for i in sources),
            progress=(c, len(self.candidates)),
        )

    @cached_property
    def fronts(self) -> list[FrontGroup]:
        """Candidates whose pipelines share the steps before the model, unless a scaler alone."""
        without = {c: self.trials[c] for c, recipe in enumerate(self.recipes) if recipe is None}
        return front_groups(without, self.candidates, self.scoring)

    @cached_property
    def _users(self) -> list[int]:
        """How many candidates share each measurement."""
        users = [0] * len(self.measurements)
        for recipe in self.recipes:
            for i in recipe.sources if recipe is not None else ():
                users[i] += 1
        return users

    def _measured(
        self, block: Block, measurement: Measurement
    ) -> tuple[list[Statistic | None], list[Statistic | None], Statistic | None, float]:
        """Statistics of the training and test sets of a block, of all rows, and seconds a set."""
        # A row that cannot be measured spoils only the training sets it is in. Which these are, and
        # what is to be said of them, shows when each is fitted in the ordinary way.
        start = time.perf_counter()
        model, X, y = measurement.model, self.scoring.X, self.scoring.y
        try:
            if not (measurement.additive or block.leaves_each_row_out_once):
                raise ValueError("Only folds are sums of few statistics.")
            parts = model.measure_groups(X, y, measurement.weights, block.groups, block.n_groups)
            trained, whole = block.training_sets(parts, in_order=not measurement.additive)
        except Exception:
            nothing: list[Statistic | None] = [None] * len(block.splits)
            return nothing, nothing, None, 0.0
        tests: list[Any] = block.test_sets(parts) if self._paths else [None] * len(block.splits)
        return trained, tests, whole, (time.perf_counter() - start) / len(block.splits)

    @cached_property
    def _paths(self) -> list[PathGroup]:
        """Candidates that differ in a model's path parameter alone."""
        # One candidate is a group if its path follows from a statistic, and it alone does not.
        scoring = self.scoring
        wants_models = scoring.return_estimator or scoring.return_train_score
        groups = []
        for group in path_groups(self.trials, self.candidates, scoring.fit_params):
            recipe = self.recipes[group.first]
            if group.is_additive:
                wanted = len(group.trials) > 1 and not wants_models and self._weighs_alike(recipe)
            else:
                wanted = len(group.trials) > 1 or recipe is not None
            if wanted:
                groups.append(group)
        return groups

    def _weighs_alike(self, recipe: Recipe | None) -> bool:
        """Whether scores weigh the rows as their statistic does, and ask for nothing else."""
        weights = None if recipe is None else self.measurements[recipe.sources[0]].weights
        params = self.scoring.score_params
        if weights is None:
            return not params
        return list(params) == ["sample_weight"] and params["sample_weight"] is weights

    def _most_groups(self, splits: Sequence[Split]) -> int:
        """How many groups of rows may be measured at a time, for the sake of memory."""
        X, y = self.scoring.X, self.scoring.y
        n_rows = int(_num_samples(X))
        left_out = sum(len(split.left_out) for split in splits)
        if not self.measurements or (len(splits) <= FEW_SPLITS and left_out <= n_rows):
            return FEW_SPLITS
        try:
            size = sum(_size(measurement, X, y) for measurement in self.measurements)
        except Exception:  # a model that finds a row of zeros unlikely; nothing is known then
            return n_rows + 1
        # A group's own statistic, and the sums of those before and after it.
        return max(FEW_SPLITS, MOST_BYTES // (3 * size))


def _size(measurement: Measurement, X: Any, y: Any) -> int:
    """The bytes of a statistic with all classes: of a row of zeros, as X shall not be read here."""
    zeros = (sp.csr_matrix if sp.issparse(X) else np.zeros)((1, X.shape[1]))
    statistic = measurement.model.measure(zeros, _safe_indexing(y, [0]))
    return int(statistic.nbytes) * len(np.unique(np.asarray(y)))


def _run_split(
    estimator: Any,
    split: Split,
    progress: tuple[int, int],
    jobs: list[Job],
    shared: tuple[list[FrontGroup], list[PathGroup]],
    scoring: Scoring,
) -> list[Result]:
    """The results of all candidates on one split."""
    rows = Rows(split, scoring)
    fronts, paths = shared
    found: dict[int, Result] = {}
    for front in fronts:
        found |= _search_behind(front, rows, progress)
    for group in paths:
        if group.first not in found:
            found |= _follow(group, jobs[group.first], rows)
    if scoring.verbose > 1:
        for c, result in found.items():
            _print(jobs[c], progress, result)
    left = [c for c in range(len(jobs)) if c not in found]
    for start in range(0, len(left), TOGETHER):
        deadline.check()
        some = left[start : start + TOGETHER]
        for c, fitted in zip(some, _fitted([jobs[c] for c in some], rows, scoring), strict=True):
            found[c] = _conclude(jobs[c], fitted, rows, progress, scoring) or _fit_in_full(
                estimator, split, progress, jobs[c], scoring
            )
    return [found[c] for c in range(len(jobs))]


def _search_behind(group: FrontGroup, rows: Rows, progress: tuple[int, int]) -> dict[int, Result]:
    """The results of pipelines with the same steps before their models, by number."""
    # empty if these steps fail on this split: what is wrong shows when each is fitted.
    start = time.perf_counter()
    try:
        cut = behind_front(group, rows)
    except Exception:
        return {}
    if cut is None:
        return {}
    seconds = (time.perf_counter() - start) / len(group.trials)
    model = last_step(next(iter(group.trials.values())))
    inner = Evaluation(model, group.candidates, cut.scoring)
    ((split, jobs),) = inner._jobs([cut.split])
    shared = inner.fronts, inner._paths
    results = _run_split(model, split, progress, jobs, shared, cut.scoring)
    for (_, trial), result in zip(group.trials.items(), results, strict=True):
        result["fit_time"] += seconds
        if "estimator" in result and result["estimator"] is not None:
            result["estimator"] = behind(cut.steps, trial, result["estimator"])
    return dict(zip(group.trials, results, strict=True))


def _follow(group: PathGroup, job: Job, rows: Rows) -> dict[int, Result]:
    """The results of the candidates along a path, by number; `job` is that of the first."""
    # empty if there is no path for these rows: what is wrong shows when each is fitted.
    start = time.perf_counter()
    path = test = None
    try:
        if job.recipe is not None:
            path, test = job.recipe.path(group.parameter, group.values, job.statistics, job.test)
        if path is None:
            fitted = fitted_along(group, rows)
        elif hasattr(path, "scores"):
            scores = None if test is None else path.scores(test, rows.scoring.scorer)
            return {} if scores is None else _known(group, job, rows, scores.tolist(), start)
        else:
            fitted = {c: path[i] for i, c in enumerate(group.trials)}
        known = _answered(fitted, path, test, rows)
    except Exception:
        return {}
    seconds = job.seconds + (time.perf_counter() - start) / len(fitted)
    scores = {c: scores_of(model, rows, "test") for c, model in known.items()}
    return {c: _scored(model, rows, seconds, scores.get(c)) for c, model in fitted.items()}


def _answered(fitted: dict[int, Any], path: Any, test: Any, rows: Rows) -> dict[int, Any]:
    """Copies of models whose predictions for the test rows are known, by number."""
    in_order = np.array_equal(rows.split.test, rows.split.left_out)
    if test is None or not hasattr(path, "answers") or not in_order:
        return {}
    known = {}
    for (c, model), answers in zip(fitted.items(), path.answers(test), strict=True):
        known[c] = copy(model)
        known[c].predict = _recalling(model, rows.test[0], answers)
    return known


def _recalling(model: Any, X_test: Any, answers: Any) -> Any:
    """The `predict` of a model that recalls its answers for the test rows."""

    def predict(X: Any) -> Any:
        return answers.copy() if np.array_equal(X, X_test) else model.predict(X)

    return predict


def _known(
    group: PathGroup, job: Job, rows: Rows, scores: list[float], start: float
) -> dict[int, Result]:
    """The results of candidates whose scores follow from statistics."""
    seconds = job.seconds + (time.perf_counter() - start) / len(scores)
    rest = {
        "fit_error": None, "n_test_samples": rows.n_test, "fit_time": seconds, "score_time": 0.0,
    }  # fmt: skip
    return {
        c: {**rest, "test_scores": score} for c, score in zip(group.trials, scores, strict=True)
    }


def _scored(estimator: Any, rows: Rows, fit_time: float, scores: Any = None) -> Result:
    """The result of a fitted estimator, whose scores may be known."""
    start = time.perf_counter()
    if scores is None:
        scores = scores_of(estimator, rows, "test")
    result: Result = {"fit_error": None, "test_scores": scores, "fit_time": fit_time}
    result["score_time"] = time.perf_counter() - start
    if rows.scoring.return_train_score:
        result["train_scores"] = scores_of(estimator, rows, "train")
    result["n_test_samples"] = rows.n_test
    if rows.scoring.return_estimator:
        result["estimator"] = estimator
    return result


@dataclass(frozen=True, eq=False)
class Fitted:
    """What follows from a job's statistics, and how long it took to draw; scores if known."""

    estimator: Any  # None if nothing follows
    seconds: float
    test_scores: Any = None
    scoring_seconds: float = 0.0


def _fitted(jobs: list[Job], rows: Rows, scoring: Scoring) -> list[Fitted]:
    """The estimators of some jobs on one split, scored together if they can be."""
    fitted = []
    for job in jobs:
        start = time.perf_counter()
        estimator = None if job.recipe is None else job.recipe.fitted(job.statistics)
        fitted.append(Fitted(estimator, time.perf_counter() - start))
    models = [one.estimator for one in fitted]
    if scoring.score_params or not all(is_accuracy(scoring.scorer, m) for m in models):
        return fitted
    start = time.perf_counter()
    shares = accuracies(models, scoring.X, rows.order, rows.test_labels)
    if None in shares:
        return fitted
    seconds = (time.perf_counter() - start) / len(jobs)
    return [
        replace(one, test_scores=share, scoring_seconds=seconds)
        for one, share in zip(fitted, shares, strict=True)
    ]


def _fit_in_full(
    estimator: Any, split: Split, progress: tuple[int, int], job: Job, scoring: Scoring
) -> Result:
    """Fit and score in the ordinary way."""
    result: Result = _fit_and_score(
        clone(estimator),
        scoring.X,
        scoring.y,
        scorer=scoring.scorer,
        train=split.train,
        test=split.test,
        verbose=scoring.verbose,
        parameters=job.parameters,
        fit_params=scoring.fit_params,
        score_params=scoring.score_params,
        return_train_score=scoring.return_train_score,
        return_n_test_samples=True,
        return_times=True,
        return_estimator=scoring.return_estimator,
        split_progress=progress,
        candidate_progress=job.progress,
        error_score=scoring.error_score,
    )
    return result


def _conclude(
    job: Job, fitted: Fitted, rows: Rows, progress: tuple[int, int], scoring: Scoring
) -> Result | None:
    """Score the conclusions of what was measured; None if there are none."""
    # A model that cannot be concluded is fitted in the ordinary way, which may need the rows
    # themselves, or say why it fails.
    if fitted.estimator is None:
        return None
    seconds = job.seconds + fitted.seconds
    result = _scored(fitted.estimator, rows, seconds, fitted.test_scores)
    result["score_time"] += fitted.scoring_seconds
    if scoring.verbose > 1:
        _print(job, progress, result)
    return result


def _print(job: Job, progress: tuple[int, int], result: Result) -> None:
    """Say that a candidate is done on a split."""
    parameters = ", ".join(f"{k}={v}" for k, v in sorted((job.parameters or {}).items()))
    seconds = result["fit_time"] + result["score_time"]
    print(
        f"[CV {progress[0] + 1}/{progress[1]}] END {parameters}; "
        f"score={result['test_scores']} total time={seconds:6.3f}s"
    )
