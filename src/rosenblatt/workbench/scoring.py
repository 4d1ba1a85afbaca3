"""Which score a comparison goes by, and how it is taken where a class was never seen."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names, log_loss, make_scorer

from rosenblatt.data import TableError
from rosenblatt.data.errors import did_you_mean
from rosenblatt.model_selection.scoring import plain_score

from .problem import Problem

USUAL = {"classification": "accuracy", "regression": "r2"}
OF_NUMBERS = ("r2", "explained_variance", "d2_absolute_error_score")
OF_ERRORS = ("_error", "_deviance")  # how the names of the other scores of numbers end
OF_CLUSTERS = ("rand_score", "info_score", "_mallows_score", "ness_score", "geneity_score",
               "measure_score")  # fmt: skip
OF_ANY_CLASSES = ("accuracy",)  # which need not all be among the rows that are scored
OF_TWO_CLASSES = ("f1", "precision", "recall", "jaccard")  # and _macro, _micro, _weighted of more
POSITIVE = 1  # the class that these are of, as scikit-learn has it
NICKNAMES = {
    "rmse": "neg_root_mean_squared_error",
    "mse": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
    "auc": "roc_auc",
    "logloss": "neg_log_loss",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "mcc": "matthews_corrcoef",
    "r^2": "r2",
}
EXAMPLES = {
    "classification": "accuracy, balanced_accuracy, f1_macro, roc_auc or neg_log_loss",
    "regression": "r2, neg_mean_absolute_error, neg_mean_squared_error or "
    "neg_root_mean_squared_error",
}

Score = Callable[[Any, Any, Any], float]


OF = " of "  # between the name of a score and the class that it is of


def metric_for(problem: Problem, metric: str | None, positive: Any = None) -> str:
    """The score that was asked for, if it says something of the task; else the usual one.

    A score of one class beside another has the `positive` one in its name: "f1 of yes".
    """
    if positive is not None:
        return _of_class(problem, metric, positive)
    if metric is None:
        return USUAL[problem.task]
    if not isinstance(metric, str):
        raise TableError(f"metric takes the name of a scorer of scikit-learn; got {metric!r}.")
    names = get_scorer_names()
    if metric not in names:
        nick = NICKNAMES.get(metric.lower())
        near = f" Did you mean {nick}?" if nick else did_you_mean(metric, names)
        near = near or f" For {problem.task} take {_examples(problem)}."
        raise TableError(f"There is no metric {metric!r} in scikit-learn.{near}")
    if _task_of(metric) != problem.task:
        raise TableError(
            f"{metric} is a score of {_task_of(metric)}, and predicting {problem.target} is "
            f"{problem.task}: take {_examples(problem)}."
        )
    _check_classes(problem, metric)
    _check_folds(problem, metric)
    return metric


def _of_class(problem: Problem, metric: str | None, positive: Any) -> str:
    """The name of a score of one class beside another."""
    if metric not in (*OF_TWO_CLASSES, "average_precision"):
        raise TableError(
            f"A positive label is for the metrics {', '.join(OF_TWO_CLASSES)} and "
            f"average_precision; got {metric or USUAL[problem.task]}."
        )
    labels = np.unique(problem.y).tolist()
    if problem.task != "classification" or len(labels) != 2:
        raise TableError(f"A positive label is one of two, and {problem.target} has {len(labels)}.")
    if str(positive) not in map(str, labels):
        near = did_you_mean(str(positive), map(str, labels))
        near = near or f" It has {labels[0]} and {labels[1]}."
        raise TableError(f"{problem.target} has no label {str(positive)!r}.{near}")
    return f"{metric}{OF}{positive}"


def scorer_of(metric: str) -> Any:
    """The scorer of scikit-learn of a name, which may end with the class that it is of."""
    name, of, label = metric.partition(OF)
    return _ScoreOfClass(get_scorer(name), label) if of else get_scorer(metric)


class _ScoreOfClass:
    """A score of the class of some name beside the other one."""

    def __init__(self, plain: Any, label: str) -> None:
        self._plain, self._label = plain, label
        self._response_method = plain._response_method

    def __call__(self, model: Any, X: Any, y: Any, **rest: Any) -> float:
        classes = getattr(model, "classes_", y)
        positive = next((one for one in classes if str(one) == self._label), self._label)
        options = {**self._plain._kwargs, "pos_label": positive}
        own = make_scorer(self._plain._score_func, response_method=self._response_method, **options)
        return float(own(model, X, y, **rest))


def _examples(problem: Problem) -> str:
    """Scores that suit the task, and the number of classes."""
    of_more = "roc_auc" if problem.n_classes <= 2 else "roc_auc_ovr"
    return EXAMPLES[problem.task].replace("roc_auc", of_more)


def _task_of(metric: str) -> str:
    if metric in OF_NUMBERS or metric.endswith(OF_ERRORS):
        return "regression"
    return "clusters" if metric.endswith(OF_CLUSTERS) else "classification"


def _check_classes(problem: Problem, metric: str) -> None:
    """Raise if a score is of two classes, of which one is called 1, and these are others."""
    labels = np.unique(problem.y).tolist()
    averages = f"{metric}_macro, {metric}_micro or {metric}_weighted"
    if metric in OF_TWO_CLASSES and len(labels) != 2:
        raise TableError(
            f"{metric} scores one of two classes; {problem.target} has {len(labels)}: take "
            f"{averages}."
        )
    of_one = metric in (*OF_TWO_CLASSES, "average_precision") and len(labels) == 2
    if of_one and POSITIVE not in labels:
        instead = averages if metric in OF_TWO_CLASSES else "roc_auc"
        raise TableError(
            f"{metric} scores how well one class is found; {problem.target} has "
            f"{labels[0]} and {labels[1]}. Name that class (--positive {labels[1]}, "
            f"positive={labels[1]!r}), or take {instead}."
        )
    if metric == "roc_auc" and len(labels) > 2:
        raise TableError(
            f"roc_auc is of two classes, and {problem.target} has {len(labels)}: take roc_auc_ovr "
            "or roc_auc_ovo."
        )


def positive_class(y: Any, metric: str) -> Any:
    """The class of labels (n,) that a score of one beside another is of; None of other scores.

    >>> positive_class([2, 1, 2], "f1"), positive_class([2, 1, 2], "f1_macro")
    (1, None)
    """
    if metric not in (*OF_TWO_CLASSES, "average_precision"):
        return None
    labels = np.unique(y).tolist()
    return labels[labels.index(POSITIVE)] if len(labels) == 2 and POSITIVE in labels else None


def _check_folds(problem: Problem, metric: str) -> None:
    """Raise if a score needs rows of every class that was learned where there are none."""
    if not metric.startswith("roc_auc"):
        return
    y = problem.y[problem.train]
    for fold, (fitted, scored) in enumerate(problem.folds(every_class=True), 1):
        learned = np.unique(y[fitted])
        lacking = np.setdiff1d(learned, y[scored]).tolist()
        if len(learned) == 1 or lacking:
            what = f"no row of {lacking[0]}" if lacking else f"only {learned[0]} to learn from"
            raise TableError(
                f"{metric} needs rows of every {problem.target} in each fold, and fold {fold} has "
                f"{what} (split {problem.split}): take accuracy, balanced_accuracy or "
                "neg_log_loss, or split in another way."
            )


def lacking(model: Any, metric: str) -> str:
    """What a score needs and a model does not give, as a reason not to try it; else nothing.

    >>> from rosenblatt import GaussianNB, Perceptron
    >>> lacking(GaussianNB(), "neg_log_loss"), lacking(Perceptron(), "roc_auc")
    ('', '')
    >>> lacking(Perceptron(), "neg_log_loss")
    'gives no probabilities, which neg_log_loss needs'
    """
    asked = getattr(scorer_of(metric), "_response_method", "predict")
    asked = (asked,) if isinstance(asked, str) else asked  # any of several will do
    if any(hasattr(model, method) for method in asked):
        return ""
    also = "" if asked == ("predict_proba",) else " and no scores of classes"
    return f"gives no probabilities{also}, which {metric} needs"


def score_of(metric: str) -> Score:
    """A scorer that leaves rows of classes out that a model never saw, where it must.

    Of a class that no row learned from belongs to there is no probability. Shares of right answers
    count such rows as wrong; scores of probabilities are those of the other rows, or NaN if these
    do not suffice.
    """
    plain = scorer_of(metric)

    def score(model: Any, X: Any, y: Any) -> float:
        quick = plain_score(plain, model)
        if quick is not None and (found := quick(model, X, y)) is not None:
            return found
        try:
            with warnings.catch_warnings():
                # The precision of a class that is never said is 0, as that of the baseline may be.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                return float(plain(model, X, y))
        except ValueError:
            classes = getattr(model, "classes_", None)
            if classes is None or set(np.unique(y)) == set(classes):
                raise
            known = np.flatnonzero(np.isin(y, classes))
            return _among_known(metric, plain, model, X[known], y[known])

    return score


def _among_known(metric: str, plain: Score, model: Any, X: Any, y: Any) -> float:
    if not len(y):
        return np.nan
    try:
        if metric == "neg_log_loss":
            return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))
        return float(plain(model, X, y))
    except ValueError:
        return np.nan
