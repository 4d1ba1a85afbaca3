"""A model just read is tried out: one whose numbers do not fit each other fails now, and here."""

import warnings
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import is_classifier

from rosenblatt.data import Table

from .about import Damaged, KnownColumn, SavedModel
from .features import TableFeatures
from .known_columns import rows_for, wanted_dtype


def try_out(saved: SavedModel) -> None:
    """Predict two rows of nothing in particular; raise if what comes out is no prediction."""
    _check_agreement(saved)
    X = rows_for(saved, _two_rows(saved))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        told = np.asarray(saved.model.predict(X))
        if told.shape != (2,):
            raise Damaged("its predictions are not one for each row")
        if saved.task == "regression":
            if told.dtype.kind != "f" or np.isnan(told).any():
                raise Damaged("its predictions are no numbers")
        elif hasattr(saved.model, "predict_proba"):
            probabilities = np.asarray(saved.model.predict_proba(X))
            if probabilities.shape != (2, len(saved.model.classes_)):
                raise Damaged("its probabilities are not one for each class")
            if probabilities.dtype.kind != "f" or np.isnan(probabilities).any():
                raise Damaged("its probabilities are no numbers")


def _check_agreement(saved: SavedModel) -> None:
    """What the file says of the model must be what the model is."""
    if is_classifier(saved.model) != (saved.task == "classification"):
        raise Damaged(f"it is said to be for {saved.task}, and its model is not")
    if saved.task == "classification":
        classes = np.asarray(saved.model.classes_)
        if classes.ndim != 1 or not 2 <= len(classes) == len(np.unique(classes)):
            raise Damaged("its classes are no list of two or more that differ")
    first = saved.model.steps[0][1]
    kinds = getattr(first, "kinds", None)
    if kinds is None:
        if saved.columns:
            raise Damaged("it names columns, and its model reads none by name")
    elif kinds != {column.name: column.kind for column in saved.columns}:
        raise Damaged("the columns it names are not those that its model reads")
    if isinstance(first, TableFeatures):
        _check_widths(saved, first)


def _check_widths(saved: SavedModel, features: TableFeatures) -> None:
    """A number that is too large would fill the memory before it shows that it is wrong."""
    if [part.name for part in features.parts_] != list(features.kinds):
        raise Damaged("the columns it learned of are not those that its model reads")
    width = sum(len(part.names()) for part in features.parts_)
    if width != features.n_features_out_:
        raise Damaged(f"its columns make {width:,} numbers, and should {features.n_features_out_}")
    expansion = saved.model.named_steps.get("expansion")
    if expansion is not None:
        made = sum(basis.count(len(columns)) for columns, basis in expansion._fitted)
        taken = np.shape(saved.model[-1].coef_)[-1]
        if made + bool(expansion.include_bias) != taken:
            raise Damaged(f"its expansion makes {made:,} numbers, and its model reads {taken:,}")


def _two_rows(saved: SavedModel) -> Table:
    if not saved.columns:
        labels = pl.DataFrame({saved.target: [0, 1]})
        return Table(labels, "two rows", sp.csr_matrix((2, saved.width)))
    return Table(pl.DataFrame([_two_values(column) for column in saved.columns]), "two rows")


def _two_values(known: KnownColumn) -> Any:
    wanted = wanted_dtype(known)
    if wanted == pl.String:
        return pl.Series(known.name, ["0", "1"])
    return pl.Series(known.name, [0, 1]).cast(wanted)
