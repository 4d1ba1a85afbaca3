"""What the chosen model learned: its weights; without any, what each column is worth to it."""

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.certificates import certify
from rosenblatt.explanation import Explanation, explain
from rosenblatt.plot.drawing import clipped

from .clock import Clock
from .column_parts import Terms
from .families import Family
from .features import TableFeatures
from .model_file import SavedModel
from .problem import Problem
from .row_view import n_bytes
from .scoring import score_of
from .search import FoldedProblem
from .splines import Bends
from .weights import names_of_matrix, note_on_weights, weights_of, with_plain_marks

MOST_ROWS = 2_000  # of the development part
LEAST_ROWS = 100  # that say something
SHUFFLES = 2  # of each column, whose falls are averaged: more change less than other rows would
MOST_SECONDS = 2.0
NO_TIME = " There was no time to see what each column is worth to it."


def what_it_learned(
    folded: FoldedProblem,
    family: Family,
    model: Pipeline,
    learned_from: NDArray[np.int64],
    clock: Clock,
) -> dict[str, Any]:
    """The fields of `Findings` that say so."""
    if family.takes == "rows":
        return {}
    problem, of_training_part = folded.problem, folded.fitted(family)
    weights, n_weights = weights_of(model)
    note = note_on_weights(model)
    said = {"learned": weights, "n_weights": n_weights, "learned_note": note}
    if weights or not problem.is_table or len(problem.used) < 2:
        return said
    worth: list[tuple[str, float]] = []
    if of_training_part is not None and clock.stopped != "interrupt":
        most = min(MOST_SECONDS, clock.left / 2)
        worth = clock.attempt(
            partial(worth_of_columns, problem, folded.metric, of_training_part, most),
            clock.left,
            [],
        )
    if not worth:
        return {**said, "learned_note": note + NO_TIME}
    note = (
        f"{note} Shown is how far the score on rows of the development part falls, "
        "on average, when a column is shuffled among them; near zero, the model does without it, "
        "or finds the same in another column."
    )
    return {
        "learned": worth, "n_weights": len(worth), "learned_note": note, "learned_as": "worth",
    }  # fmt: skip


def worth_of_columns(
    problem: Problem, metric: str, model: Pipeline, seconds: float = MOST_SECONDS
) -> list[tuple[str, float]]:
    """The columns of a table with the fall of the score when they are shuffled, greatest first.

    The model must not have learned from the development part, whose rows are scored: a column that
    was learned by heart is worth nothing then. Where it would take longer than some seconds, fewer
    rows are scored; nothing is said where they would be too few.
    """
    rng = np.random.default_rng(problem.random_state)
    rows = problem.dev
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    # The features are made once: to shuffle a column is to shuffle its own features together.
    first, rest, score = model.steps[0][1], model[1:], score_of(metric)
    X, y = first.transform(problem.some(rows)), problem.y[rows]
    start = time.perf_counter()
    whole = score(rest, X, y)
    rounds = seconds / (len(problem.used) * max(time.perf_counter() - start, 1e-9))
    if rounds < 1:
        some = np.sort(rng.choice(len(y), int(rounds * len(y)), replace=False))
        if len(some) < LEAST_ROWS:
            return []
        X, y = X[some], y[some]
        whole = score(rest, X, y)

    def fall(features: Any) -> float:
        orders = (rng.permutation(len(y)) for _ in range(min(SHUFFLES, max(1, int(rounds)))))
        return float(whole - np.mean([score(rest, _shuffled(X, features, o), y) for o in orders]))

    of_column = _features_of_columns(first)
    falls = [(name, fall(of_column[name]) if name in of_column else 0.0) for name in problem.used]
    return sorted(falls, key=lambda pair: -pair[1])


def _features_of_columns(first: Any) -> dict[str, Any]:
    """The features of each column that a model reads: some of a matrix, or one of a table."""
    if not isinstance(first, TableFeatures):
        return {name: name for name in first.get_feature_names_out()}
    ends = np.cumsum([len(part.names()) for part in first.parts_]).tolist()
    starts = [0, *ends[:-1]]
    return {
        part.name: slice(start, end)
        for part, start, end in zip(first.parts_, starts, ends, strict=True)
    }


def _shuffled(X: Any, features: Any, order: NDArray[np.int64]) -> Any:
    """The rows of X, some features of theirs in another order."""
    if isinstance(X, pl.DataFrame):
        return X.with_columns(X[features][order])
    if sp.issparse(X):
        before, after = X[:, : features.start], X[:, features.stop :]
        return sp.hstack([before, X[:, features][order], after], format="csr")
    X = X.copy()
    X[:, features] = X[order, features]
    return X


# What can be proved of a model on the rows that it was fitted to, or why nothing is.


MOST_BYTES_TO_CERTIFY = 2**27
NO_TIME_TO_PROVE = "There was no time to prove anything of the fit."


class Proof(NamedTuple):
    """A certificate, or a sentence on why there is none."""

    certificate: Any
    why_not: str = ""


def proof_of(problem: Problem, family: Family, model: Pipeline, rows: NDArray[np.int64]) -> Proof:
    """What can be proved of a model of a family.

    Proofs take several times the memory of what they are about: of large tables there are none.
    """
    if max(n_bytes(problem.X), 8 * len(rows) * problem.X.shape[1]) > MOST_BYTES_TO_CERTIFY:
        most = MOST_BYTES_TO_CERTIFY // 2**20
        return Proof(
            None,
            "A proof takes several times the memory of the rows it is about: of tables of more "
            f"than {most} MB none is made here; `rosenblatt certify` makes one of any.",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = problem.some(rows), problem.y[rows]
            proved = certify(model, X, y, effort=0)
            # Hinges and hard margins need a search for multipliers: none fails without one.
            failed = not all(claim.holds for claim in proved.claims)
            return Proof(certify(model, X, y, effort=1) if failed else proved)
    except TypeError:
        whose = "" if family.package == "rosenblatt" else f" It is a model of {family.package}."
        return Proof(
            None,
            f"{family.name[0].upper()}{family.name[1:]} publishes nothing that could be proved "
            f"from the data: there is no certificate of such fits.{whose}",
        )
    except ValueError as error:
        return Proof(None, f"The proof could not be made: {str(error).splitlines()[0]}")


def certificate_of(
    problem: Problem, family: Family, model: Pipeline, rows: NDArray[np.int64]
) -> Any:
    """The certificate alone; None if there is none."""
    return proof_of(problem, family, model, rows).certificate


# What each column of a table adds to a prediction, for one of its rows.


LONGEST = 40  # characters of a value that are shown


def explain_row(saved: SavedModel, row: Any) -> Explanation:
    """What the model says of one row, as `rows_for` gives it, and what each column adds to it."""
    has_own = hasattr(saved.model.steps[-1][1], "explain")
    found = explain(saved.model, row) if has_own else _of_weights(saved, row)
    path = tuple(with_plain_marks(saved.model, line) for line in found.path)
    return _by_column(saved.model, replace(found, path=path), row)


def _by_column(model: Pipeline, found: Explanation, row: Any) -> Explanation:
    """The same, the features of one column added up and named with the value they stand for.

    Of a text each word stands by itself.
    """
    if not isinstance(row, pl.DataFrame):
        return found
    first, added, start = model.steps[0][1], [], 0
    if not isinstance(first, TableFeatures):
        return replace(
            found, names=tuple(f"{name} = {_value(row[name][0])}" for name in row.columns)
        )
    for part in first.parts_:
        stop = start + part.width()
        parts = found.contributions[start:stop]
        value = f"{part.name} = {_value(row[part.name][0])}"
        words: list[int] = []
        if isinstance(part, Terms):
            words = part.transform(row[part.name]).indices.tolist()
        names_of_words = part.names() if words else []
        added += [(names_of_words[j], parts[j]) for j in words]
        absent = np.delete(parts, words).sum()
        added += [(value if not words else f"{part.name}: words that are not in it", absent)]
        start = stop
    names, contributions = zip(*added, strict=True)
    return replace(found, contributions=np.array(contributions), names=names)


def _of_weights(saved: SavedModel, row: Any) -> Explanation:
    """Explain a linear score by its weights; splines of a column add what they add beside zero."""
    expansion = saved.model.named_steps.get("expansion")
    try:
        if not isinstance(expansion, Bends | None):
            raise TypeError  # its features are products of columns, or landmarks
        n_features = saved.model[-1].n_features_in_
        found = explain(saved.model, row, feature_names=names_of_matrix(n_features))
    except TypeError:
        raise TypeError(
            f"{saved.family} cannot say what each column adds: its prediction is no sum over "
            "columns. Those of naive Bayes, discriminants, perceptrons, LinearSVC, LinearSVR, "
            "logistic and linear regression, trees and forests are."
        ) from None
    if saved.task == "regression":
        found = replace(found, winner=saved.target)
    if expansion is None:
        return found
    n_columns = saved.model[0].n_features_out_
    at_zero = explain(saved.model[-1], expansion.transform(np.zeros((1, n_columns))))
    added = found.contributions - at_zero.contributions
    names = tuple(names_of_matrix(n_columns))
    parts: Any = np.bincount(expansion.source_columns(), added, n_columns)
    return replace(found, start=at_zero.log_odds, contributions=parts, names=names)


def _value(value: Any) -> str:
    """A value as the table shows it."""
    if value is None:
        return "missing"
    return clipped(f"{value:.6g}" if isinstance(value, float) else value, LONGEST)
