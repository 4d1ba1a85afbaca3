"""What each column of a table adds to a prediction, for one of its rows."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from rosenblatt.explanation import Explanation, explain, two_classes
from rosenblatt.workbench.model_file.files import SavedModel
from rosenblatt.workbench.preparation.features import TableFeatures, Words
from rosenblatt.workbench.preparation.texts import words_at

from .weights import names_of_matrix

LONGEST = 40  # characters of a value that are shown


def explain_row(saved: SavedModel, row: Any) -> Explanation:
    """What the model says of one row, and what each column adds to it.

    Parameters
    ----------
    saved : SavedModel
        The model.
    row : polars.DataFrame or CSR matrix of one row
        As `rows_for` gives it.
    """
    last = saved.model.steps[-1][1]
    if hasattr(last, "explain"):
        found = explain(saved.model, row)
    else:
        found = _of_weights(saved, row)
    return _by_column(saved.model, found, row)


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
        stop = start + len(part.names())
        parts = found.contributions[start:stop]
        value = f"{part.name} = {_value(row[part.name][0])}"
        words = words_at(range(stop - start), row[part.name]) if isinstance(part, Words) else {}
        added += [(f"{part.name}: {' and '.join(words[j])}", parts[j]) for j in words]
        absent = np.delete(parts, list(words)).sum()
        added += [(value if not words else f"{part.name}: words that are not in it", absent)]
        start = stop
    names, contributions = zip(*added, strict=True)
    return replace(found, contributions=np.array(contributions), names=names)


def _of_weights(saved: SavedModel, row: Any) -> Explanation:
    """A linear score: that of a row of zeros, and what each feature adds.

    Of features that are functions of one column, what they add to those of zero is its part.
    """
    last = saved.model.steps[-1][1]
    classes = getattr(last, "classes_", None)
    coef, intercept = getattr(last, "coef_", None), getattr(last, "intercept_", None)
    sources = _sources(saved.model)
    n_scores = 1 if classes is None or len(classes) == 2 else len(classes)
    shared = sources is not None and bool((sources < 0).any())
    if shared or coef is None or intercept is None or np.atleast_2d(coef).shape[0] != n_scores:
        raise TypeError(
            f"{saved.family} cannot say what each column adds: its prediction is no sum over "
            "columns. Naive Bayes, discriminants, logistic and linear regression are."
        )
    coef, intercept = np.atleast_2d(coef).astype(np.float64), np.ravel(intercept)
    z = saved.model[:1].transform(row)
    z = (z.toarray() if sp.issparse(z) else np.asarray(z, np.float64))[0]
    names = tuple(names_of_matrix(len(z)))
    if sources is None:
        added = coef * z  # to each score, by each feature
    else:
        start_z, z_here = saved.model.named_steps["expansion"].transform([0.0 * z, z])
        intercept = intercept + coef @ start_z
        added = np.zeros((len(coef), len(z)))
        np.add.at(added.T, sources, (coef * (z_here - start_z)).T)
    if classes is None:
        parts, start, who, word = added[0], intercept[0], (saved.target, None), "prediction"
    else:
        if n_scores == 1:  # two classes share a plane
            added, intercept = np.vstack([0 * added, added]), np.array([0.0, intercept[0]])
        first, second = two_classes(classes, added.sum(axis=1) + intercept)
        parts = added[first] - added[second]
        start, who = intercept[first] - intercept[second], (classes[first], classes[second])
        word = "log-odds" if hasattr(last, "predict_proba") else "lead"
    told = float(start) + float(parts.sum())
    return Explanation(*who, told, float(start), parts, names, ("intercept", word))


def _sources(model: Pipeline) -> Any:
    """Which of the table's numbers each feature of an expansion is a function of; None without."""
    expansion = model.named_steps.get("expansion")
    return None if expansion is None else expansion.source_columns()


def _value(value: Any) -> str:
    """A value as the table shows it."""
    if value is None:
        return "missing"
    word = f"{value:.6g}" if isinstance(value, float) else str(value)
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
