"""A family as a whole model: from rows of the table to predictions."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from rosenblatt.capabilities import path_parameters
from rosenblatt.model_selection.additive_pipelines import is_additive

from .families import Family
from .features import DenseRows, TableColumns, TableFeatures
from .problem import Problem
from .row_view import n_bytes

MOST_AT_ONCE = 2**27  # bytes of a table whose features are made at once to fit the last time
ROWS_AT_A_TIME = 2**17
CODED = ("codes", "levels")  # what is read with a category as one number


def preparation(problem: Problem, family: Family) -> Any:
    """What stands before a model in its pipeline."""
    if family.takes == "rows":
        return "passthrough"
    if family.takes == "table":
        return TableColumns(problem.used_by_mixed, problem.single, _notations(problem))
    if family.takes in CODED and problem.is_table:
        kinds, how = _categories_first(problem), _notations(problem)
        return TableFeatures(kinds, True, problem.single, how, coded=True)
    if problem.is_table:
        kinds = problem.used if reads_texts(family) else problem.used_by_mixed
        how = _notations(problem)
        features = TableFeatures(kinds, family.takes != "numbers", problem.single, how)
        return features.share_counts(problem.texts)
    if family.takes == "levels":
        return DenseRows()
    return MaxAbsScaler() if family.takes == "numbers" else "passthrough"


def _categories_first(problem: Problem) -> dict[str, str]:
    """The kinds of the columns that are no texts, those of categories before the others."""
    kinds = problem.used_by_mixed.items()
    return dict(sorted(kinds, key=lambda pair: pair[1] != "categorical"))


def model_of(problem: Problem, family: Family) -> Any:
    """A family's model, with the kinds of the columns set where it reads them."""
    model = family.make()
    if family.takes == "table":
        model.set_params(**TableColumns(problem.used_by_mixed).parameters_for(model))
    if family.takes == "levels" and problem.is_table:
        n_categorical = list(problem.used_by_mixed.values()).count("categorical")
        model.set_params(categorical_features=list(range(n_categorical)) or None)
    return model


def _notations(problem: Problem) -> dict[str, str] | None:
    """How numbers and dates of the columns in use are written, if not plainly."""
    return {n: how for n, how in problem.notations.items() if n in problem.used} or None


def reads_texts(family: Family) -> bool:
    """Whether texts, if there are any, are among what a family learns from."""
    return family.takes in ("numbers", "counts")


def pipeline(problem: Problem, family: Family, parameters: dict[str, Any]) -> Pipeline:
    """The whole model, from rows of the table to predictions."""
    model, first = model_of(problem, family).set_params(**parameters), preparation(problem, family)
    between = [] if family.before is None else [("expansion", family.before())]
    return Pipeline([("features", first), *between, ("model", model)])


def forget_texts(model: Pipeline) -> None:
    """Let a model count the words of later tables without keeping them."""
    if isinstance(model[0], TableFeatures):
        model[0].share_counts(None)


def fitted_to(
    problem: Problem,
    family: Family,
    parameters: dict[str, Any],
    rows: NDArray[np.int64],
    before: Pipeline | None = None,
) -> Pipeline:
    """A family at some setting, fitted to some rows of the table.

    What descends may begin where a model of some of these rows ended.
    """
    return fitted_with_features(problem, family, parameters, rows, before)[0]


def fitted_with_features(
    problem: Problem,
    family: Family,
    parameters: dict[str, Any],
    rows: NDArray[np.int64],
    before: Pipeline | None = None,
) -> tuple[Pipeline, Any]:
    """The same, and what its last step was fitted to: None of a large table.

    There, what learns by sums is shown some rows at a time.
    """
    model = pipeline(problem, family, parameters)
    X, y, last = problem.some(rows), problem.y[rows], model[-1]
    streams = is_additive(last) and hasattr(last, "partial_fit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not streams or n_bytes(problem.X) <= MOST_AT_ONCE:
            features = model[:-1].fit_transform(X, y)
            if before is not None and may_begin_at(before[-1], last, features, y):
                fit_from(before[-1], last, features, y)
            else:
                last.fit(features, y)
            return model, features
        front = model[:-1].fit(X, y)
        n_blocks = -(-len(y) // ROWS_AT_A_TIME)
        for first in range(n_blocks):  # each is a fair sample, whatever the rows are sorted by
            block = np.arange(first, len(y), n_blocks)
            last.partial_fit(front.transform(X[block]), y[block])
    return model, None


def may_begin_at(before: Any, model: Any, X: Any, y: Any) -> bool:
    """Whether a model finds the same wherever it begins, and another has weights to begin at.

    A path over C is one of fits with a single best answer.
    """
    return (
        all("C" in path_parameters(one) and hasattr(one, "warm_start") for one in (model, before))
        and type(before) is type(model)
        and before.coef_.shape[1] == X.shape[1]
        and np.array_equal(before.classes_, np.unique(y))
    )


def fit_from(before: Any, model: Any, X: Any, y: Any) -> None:
    """Fit a model, beginning where another ended."""
    model.coef_, model.intercept_ = before.coef_, before.intercept_
    asked, model.warm_start = model.warm_start, True
    model.fit(X, y)
    model.warm_start = asked
