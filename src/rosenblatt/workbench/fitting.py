"""One model fitted to all rows of a table, with what is needed to use it on another."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.data import Table
from rosenblatt.data.columns import words_among_numbers

from .families import REGRESSION, Family
from .known_columns import known_columns
from .learned_rows import digest_of
from .model_file import SavedModel
from .naming import family_named, settings_of
from .pipelines import pipeline
from .problem import Problem
from .proofs import certificate_of
from .repeating import versions
from .scoring import USUAL
from .targets import checked_task, labels_of, numbers_of, task_of, with_target

Settings = dict[str, Any]


def fit_table(
    table: Table,
    target: str,
    model: str,
    settings: list[str] | None = None,
    *,
    task: str | None = None,
    certificate: bool = True,
) -> SavedModel:
    """Fit a model to all rows of a table that have a target.

    Parameters
    ----------
    table : Table
        The rows.
    target : str
        The column to be predicted.
    model : str
        The name of a family or class, as `rosenblatt models` lists them.
    settings : list of str or None
        Parameters, such as "alpha=0.1".
    task : {"classification", "regression"} or None
        None tells it from the target and the model.
    certificate : bool
        Whether to prove what can be proved of the fit.

    Returns
    -------
    saved : SavedModel
        The model, and what it was fitted to.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> from rosenblatt.workbench.fitting import fit_table
    >>> saved = fit_table(read_table("diabetes"), "progression", "Ridge", ["alpha=10"])
    >>> saved.family, saved.n_rows, saved.model[-1].alpha
    ('ridge regression', 442, 10)
    """
    family = family_named(model)
    # A number can be predicted as such, even if there are so few that they might be classes.
    told = REGRESSION if family.task == REGRESSION else None
    problem = whole_problem(table, target, task or told)
    fitted = unfitted(problem, family, settings_of(family, settings or []))
    unsuited = family.suits(problem)
    if unsuited:
        warnings.warn(f"{family.name} {unsuited}.", stacklevel=2)
    fitted.fit(problem.X, problem.y)
    proved = certificate_of(problem, family, fitted, problem.train) if certificate else None
    return saved_model(problem, family.name, fitted, problem.train, certificate=proved)


def unfitted(problem: Problem, family: Family, settings: Settings) -> Pipeline:
    """The pipeline of a family that can do the task."""
    if family.task != problem.task:
        raise ValueError(
            f"{family.name} is for {family.task}, and {problem.target} asks for {problem.task}: "
            "take another model (`rosenblatt models` lists them), or give the task if it is not "
            "that."
        )
    return pipeline(problem, family, settings)


def saved_model(
    problem: Problem,
    family: str,
    model: Pipeline,
    rows: NDArray[np.int64],
    *,
    split: str = "all rows",
    split_by: str | None = None,
    certificate: Any = None,
    metric: str | None = None,
) -> SavedModel:
    """A model fitted to some rows, with all that its file is to say."""
    table = problem.is_table
    first = model.steps[0][1]
    kinds = getattr(first, "kinds", None) or (problem.used if table else {})
    return SavedModel(
        model,
        family,
        problem.target,
        problem.task,
        problem.name,
        len(rows),
        known_columns(problem.X, kinds) if table else (),
        0 if table else int(problem.X.shape[1]),
        split,
        None if split == "all rows" else problem.random_state,
        None if certificate is None else certificate.to_dict(),
        versions(),
        split_by,
        digest_of(problem.y[rows]),
        metric or USUAL[problem.task],
    )


def whole_problem(table: Table, target: str, task: str | None = None) -> Problem:
    """The problem of a table whose rows are all there to be learned from."""
    hints: list[str] = []
    frame, sparse, values = with_target(table, target, hints)
    task = checked_task(task) or task_of(values)
    y = numbers_of(values, target) if task == "regression" else labels_of(values)
    if table.guessed:
        features, commas = frame.drop(target), table.decimal_comma
        for sentence in words_among_numbers(features, table.frame, commas):
            warnings.warn(sentence, stacklevel=2)
    rows, none = np.arange(len(y)), np.arange(0)
    X = sparse if sparse is not None else frame.drop(target)
    return Problem(
        table.name, target, task, X, y, rows, none, none, "all rows", None, 0, {}, tuple(hints)
    )
