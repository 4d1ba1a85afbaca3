"""One model fitted to all rows of a table, with what is needed to use it on another."""

import hashlib
import warnings
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.data import Table, TableError
from rosenblatt.trace import Trace
from rosenblatt.workbench import targets

from .families import REGRESSION, Family
from .importance import certificate_of
from .known_columns import known_columns, knows_plain_labels
from .model_catalogue import class_of, families_named, family_named, named_families, settings_of
from .model_file import SavedModel
from .model_metadata import versions
from .pipelines import forget_texts, pipeline
from .problem import Problem, problem_of, smaller, with_types
from .row_view import first_of
from .scoring import USUAL

Settings = dict[str, Any]


def fit_table(
    table: Table,
    target: str,
    model: str,
    settings: list[str] | None = None,
    *,
    task: str | None = None,
    certificate: bool = True,
    clean_labels: bool = False,
) -> SavedModel:
    """Fit a model to all rows of a table that have a target.

    `model` is the name of a family or class, as `rosenblatt models` lists them, and `settings` are
    parameters such as "alpha=0.1". The task, "classification" or "regression", is told from the
    target and the model if None. `certificate` says whether to prove what can be proved of the fit,
    `clean_labels` whether labels that differ in case or blanks alone are one.
    """
    problem, family = _problem_and_family(table, target, model, task, clean_labels)
    fitted = unfitted(problem, family, settings_of(family, settings or []))
    unsuited = family.why_not(problem)
    if unsuited:
        warnings.warn(f"{family.name} {unsuited}.", stacklevel=2)
    fitted.fit(problem.X, problem.y)
    proved = certificate_of(problem, family, fitted, problem.train) if certificate else None
    return saved_model(problem, family.name, fitted, problem.train, certificate=proved)


def _problem_and_family(
    table: Table, target: str, model: str, task: str | None, clean_labels: bool = False
) -> tuple[Problem, Family]:
    """The problem, and the family of a name that is for its task, if there is one."""
    # A number can be predicted as such, even if there are so few that they might be classes.
    numbers_alone = all(family.task == REGRESSION for family in families_named(model))
    task = task or (REGRESSION if numbers_alone else None)
    problem = whole_problem(table, target, task, clean_labels)
    return problem, family_named(model, problem.task)


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
    forget_texts(model)
    kinds = getattr(first, "kinds", None) or (problem.used if table else {})
    return SavedModel(
        model,
        family,
        problem.target,
        problem.task,
        problem.name,
        len(rows),
        known_columns(problem.X, kinds, problem.notations) if table else (),
        0 if table else int(problem.X.shape[1]),
        split,
        None if split == "all rows" else problem.random_state,
        None if certificate is None else certificate.to_dict(),
        versions(),
        split_by,
        digest_of(problem.y[rows]),
        metric or USUAL[problem.task],
    )


def whole_problem(
    table: Table, target: str, task: str | None = None, clean_labels: bool = False
) -> Problem:
    """The problem of a table whose rows are all there to be learned from."""
    hints: list[str] = []
    frame, sparse, values = targets.with_target(table, target, hints)
    task = targets.checked_task(task) or targets.task_of(values)
    said = [table.hint] if table.hint else []
    if task == "classification":
        values = targets.with_plain_labels(values, clean_labels, said)
    y = targets.numbers_of(values, target) if task == "regression" else targets.labels_of(values)
    rows, none = np.arange(len(y)), np.arange(0)
    told = with_types(table, frame.drop(target), rows)
    for sentence in said + told.hints:
        warnings.warn(sentence, stacklevel=2)
    X = told.frame if sparse is None else sparse
    return Problem(
        table.name, target, task, X, y, rows, none, none, "all rows", None, 0, {}, tuple(hints),
        written=told.written,
    )  # fmt: skip


# One model fitted to a table under the eyes of a trace.


def trace_table(
    table: Table,
    target: str,
    model: str,
    settings: list[str] | None,
    trace: Trace,
    *,
    task: str | None = None,
) -> list[str] | None:
    """Fit a model to all rows of a table with a trace; return the names of its features, if any."""
    problem, family = _problem_and_family(table, target, model, task)
    if not _has_steps(family):
        able = first_of([class_of(one) for one in named_families() if _has_steps(one)])
        raise TypeError(
            f"{family.name} is fitted in one step and cannot be traced. Models that can: {able}."
        )
    first, last = (
        step for _, step in unfitted(problem, family, settings_of(family, settings or [])).steps
    )
    features = problem.X if first == "passthrough" else first.fit_transform(problem.X)
    # One after the other: the steps of a pipeline take no callbacks of their own.
    last.set_callbacks(trace).fit(features, problem.y)
    if not len(trace):
        raise TypeError(f"{family.name} told of no steps with these settings.")
    return list(map(str, first.get_feature_names_out())) if problem.is_table else None


def _has_steps(family: Family) -> bool:
    return hasattr(family.make(), "set_callbacks") and bool(class_of(family))


# The rows of a whole table that a model was fitted to, found again from what its file says.


ROWS_AT_A_TIME = 2**16


def digest_of(y: NDArray[Any]) -> str:
    """What tells targets (n,) in their order from any others."""
    found = hashlib.sha256()
    for start in range(0, len(y), ROWS_AT_A_TIME):
        some = y[start : start + ROWS_AT_A_TIME]
        if y.dtype.kind == "f":
            found.update(np.ascontiguousarray(some, np.float64).tobytes())
        else:
            found.update(("\n" * (start > 0) + "\n".join(map(str, some.tolist()))).encode())
    return found.hexdigest()


def learned_rows(saved: SavedModel, table: Table) -> tuple[Table, NDArray[Any]] | None:
    """The rows that a comparison fitted its model to, and their targets.

    The table is split again from the same seed. None if the model was fitted to all rows, or if
    what comes out is not as many rows with the same targets: then the table is another one.
    """
    if saved.split == "all rows" or saved.seed is None:
        return None
    by: dict[str, Any] = {
        "by time": {"time": saved.split_by},
        "by group": {"groups": saved.split_by},
    }
    try:
        problem = problem_of(
            table, saved.target, task=saved.task, random_state=saved.seed,
            clean_labels=knows_plain_labels(saved), **by.get(saved.split, {}),
        )  # fmt: skip
    except TableError:
        return None
    parts = [problem, *smaller(problem)]  # it may have had no time for all rows
    for rows in [r for p in parts for r in (np.concatenate([p.train, p.dev]), p.train)]:
        y = problem.y[rows]
        if len(y) == saved.n_rows and saved.digest in (None, digest_of(y)):
            X = problem.X[rows]
            if problem.is_table:
                return Table(X, table.name), y
            return Table(pl.DataFrame({saved.target: y}), table.name, X), y
    return None
