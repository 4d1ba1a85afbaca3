"""Cross-validation at the price of about one fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection as theirs
from sklearn.base import is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.model_selection._validation import (
    _aggregate_score_dicts,
    _check_groups_routing_disabled,
    _insert_error_scores,
    _normalize_score_results,
    _warn_or_raise_about_fit_failures,
)
from sklearn.utils import indexable
from sklearn.utils._param_validation import validate_params
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _manual_routing,
    _routing_enabled,
    process_routing,
)

from .additive_pipelines import is_additive
from .evaluation import Evaluation
from .paths import has_path
from .scoring import Scoring, splits_of, splitter_of


@validate_params(
    theirs.cross_validate._skl_parameter_constraints, prefer_skip_nested_validation=False
)  # type: ignore[untyped-decorator]
def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: Any = None,
    verbose: Any = 0,
    params: Any = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Score an estimator on each fold after training on the others.

    Arguments and results are those of `sklearn.model_selection.cross_validate`. An additive model,
    alone or directly after a `StandardScaler` or `Standardizer`, reads the rows once for training,
    whatever the number of folds: the statistic of each training set is the sum of those of the
    other folds. All others are handed to scikit-learn.

    Parameters
    ----------
    estimator : estimator
        What to train and score.
    X : array-like or sparse matrix of shape (n, d)
        The rows.
    y : array-like of shape (n,) or None
        Their labels.
    groups : array-like of shape (n,) or None
        For splitters that keep groups of rows together.
    scoring : str, callable, list, tuple, dict or None
        One score or several; the estimator's own if None.
    cv : int, splitter, iterable or None
        The splits; five folds if None.
    n_jobs : int or None
        Processes to score in; rows are measured in this one.
    verbose : int
        How much to print.
    params : dict or None
        For the estimator's `fit`, such as `sample_weight`, and with metadata routing also for the
        scorer and the splitter.
    pre_dispatch : int or str
        How many jobs to hand out ahead.
    return_train_score, return_estimator, return_indices : bool
        Whether to return these as well.
    error_score : "raise" or number
        The score of a fit that fails.

    Returns
    -------
    scores : dict of arrays
        ``test_score`` (or one for each name), ``fit_time`` with its share of the time that the one
        reading took, ``score_time``, and what else was asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.model_selection import cross_validate
    >>> from rosenblatt.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_validate(GaussianNB(), X, y, cv=5)["test_score"].round(3)
    array([0.933, 0.967, 0.933, 0.933, 1.   ])
    """
    given = dict(locals())
    if not (is_additive(estimator) or has_path(estimator)):
        return dict(theirs.cross_validate(**given))
    _check_groups_routing_disabled(groups)
    X, y = indexable(X, y)
    cv = splitter_of(cv, y, is_classifier(estimator))
    scorer = check_scoring(estimator, scoring=scoring, raise_exc=(error_score == "raise"))
    routed = _routed(estimator, cv, scorer, groups, params or {})
    splits = splits_of(cv, X, y, routed.splitter.split)
    how = Scoring(
        X, y, scorer, routed.estimator.fit, routed.scorer.score,
        error_score, return_train_score, return_estimator, verbose,
    )  # fmt: skip
    evaluation = Evaluation(estimator, [None], how)
    results = evaluation.run(splits, n_jobs, pre_dispatch)
    _warn_or_raise_about_fit_failures(results, error_score)
    if callable(scoring):
        _insert_error_scores(results, error_score)
    table = _aggregate_score_dicts(results)
    found = {"fit_time": table["fit_time"], "score_time": table["score_time"]}
    if return_estimator:
        found["estimator"] = table["estimator"]
    if return_indices:
        found["indices"] = {
            "train": tuple(split.train for split in splits),
            "test": tuple(split.test for split in splits),
        }
    tests = _normalize_score_results(table["test_scores"])
    trains = _normalize_score_results(table["train_scores"]) if return_train_score else {}
    for name, values in tests.items():
        found[f"test_{name}"] = values
        if return_train_score:
            found[f"train_{name}"] = trains[name]
    return found


@validate_params(
    theirs.cross_val_score._skl_parameter_constraints, prefer_skip_nested_validation=False
)  # type: ignore[untyped-decorator]
def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: Any = None,
    verbose: Any = 0,
    params: Any = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
) -> NDArray[Any]:
    """Return the scores on each fold after training on the others: those of `cross_validate`.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, error_score
        As in `cross_validate`.
    scoring : str, callable or None
        One score; the estimator's own if None.

    Returns
    -------
    scores : ndarray of shape (folds,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.model_selection import cross_val_score
    >>> from rosenblatt.naive_bayes import GaussianNB
    >>> cross_val_score(GaussianNB(), *load_iris(return_X_y=True)).round(3)
    array([0.933, 0.967, 0.933, 0.933, 1.   ])
    """
    given = dict(locals())
    scorer = check_scoring(estimator, scoring=given.pop("scoring"))
    scores: NDArray[Any] = cross_validate(**given, scoring={"score": scorer})["test_score"]
    return scores


def _routed(estimator: Any, cv: Any, scorer: Any, groups: Any, params: dict[str, Any]) -> Any:
    """Which of the parameters go to the splitter, the estimator and the scorer."""
    if not _routing_enabled():
        return _manual_routing(
            {"splitter": {"split": {"groups": groups}}, "estimator": {"fit": params}, "scorer": {}}
        )
    router = MetadataRouter(owner="cross_validate")
    for name, (consumer, method) in {
        "splitter": (cv, "split"),
        "estimator": (estimator, "fit"),
        "scorer": (scorer, "score"),
    }.items():
        mapping = MethodMapping().add(caller="fit", callee=method)
        router.add(method_mapping=mapping, **{name: consumer})
    try:
        return process_routing(router, "fit", **params)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace("cross_validate.fit", "cross_validate"),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from error
