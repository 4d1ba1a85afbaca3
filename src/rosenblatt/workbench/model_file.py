"""Models in files: a fitted pipeline, and what is needed to use it on another table.

A file is that of skops, a ZIP archive of plain numbers and names, with one member more:
``rosenblatt.json`` says what the model was fitted to. Reading runs no code from it.
"""

import io
import json
import zipfile
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from sklearn.pipeline import Pipeline

from ..data import TableError
from ..data.table import existing
from ..data.writing import whole_file
from .trust import Untrusted, check_tree, trusted_types

FORMAT = 1  # the one that is written; all from 1 on are read
ABOUT = "rosenblatt.json"
TREE = "schema.json"
STEPS = (("features", "model"), ("features", "expansion", "model"))  # of a pipeline


@dataclass(frozen=True)
class KnownColumn:
    """A column as the model met it."""

    name: str
    kind: str  # "numeric", "categorical", "boolean", "text" or "date"
    dtype: str  # as polars calls it


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model and what it was fitted to.

    Attributes
    ----------
    model : Pipeline
        From rows of a table to predictions.
    family, target, task, source : str
        What kind of model, what it predicts, "classification" or "regression", and the name of the
        table it was fitted to.
    n_rows : int
        How many rows it was fitted to.
    columns : tuple of KnownColumn
        Those that it reads; none if it was fitted to a matrix of `width` columns without names.
    split, seed : str, int or None
        How rows were split off before the fit, and from which seed; "all rows" and None if not.
    split_by : str or None
        The column that rows were split by, if by time or by group.
    digest : str or None
        SHA-256 of the targets it was fitted to, so that its rows are known again.
    certificate : dict or None
        What was proved of the fit.
    versions : dict
        Of the packages that wrote the file.
    """

    model: Pipeline
    family: str
    target: str
    task: str
    source: str
    n_rows: int
    columns: tuple[KnownColumn, ...] = ()
    width: int = 0
    split: str = "all rows"
    seed: int | None = None
    certificate: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    split_by: str | None = None
    digest: str | None = None

    def about(self) -> dict[str, Any]:
        """All but the model, in plain JSON types."""
        plain = {name: getattr(self, name) for name in ABOUT_FIELDS}
        return {"format": FORMAT, **plain, "columns": [asdict(known) for known in self.columns]}


# Came later: files of the same format need not say them.
LATER_FIELDS = ("split_by", "digest")
ABOUT_FIELDS = [entry.name for entry in fields(SavedModel) if entry.name != "model"]


def save_model(saved: SavedModel, path: Any) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    saved : SavedModel
        A fitted model of ours; one that could not be read again is refused.
    path : str or path
        Where to, such as "model.skops".

    Examples
    --------
    >>> import os, tempfile
    >>> from rosenblatt.data import read_table
    >>> from rosenblatt.workbench.fitting import fit_table
    >>> from rosenblatt.workbench.model_file import load_model, save_model
    >>> saved = fit_table(read_table("iris"), "species", "Gaussian naive Bayes")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(saved, os.path.join(folder, "iris.skops"))
    ...     again = load_model(os.path.join(folder, "iris.skops"))
    >>> again.target, again.columns[0].name
    ('species', 'sepal_length')
    """
    import skops.io

    try:
        content = io.BytesIO(skops.io.dumps(saved.model, compression=zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
            check_tree(json.loads(archive.read(TREE)))
            archive.writestr(ABOUT, json.dumps(saved.about(), indent=1))
    except Untrusted as error:
        raise ValueError(
            f"A model file cannot hold {error}: it holds models of rosenblatt with parameters that "
            "are numbers and words."
        ) from None
    with whole_file(path) as draft:
        draft.write_bytes(content.getvalue())


def load_model(path: Any) -> SavedModel:
    """Read a model file; nothing in it is run.

    Parameters
    ----------
    path : str or path
        A file that `save_model` wrote. One that is damaged, of a newer format or with anything in
        it that is not on our list is refused.

    Returns
    -------
    saved : SavedModel
        The model, and what it was fitted to.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = rosenblatt.compare("iris", "species", families=["Gaussian naive Bayes"],
    ...                                ledger=os.path.join(folder, "openings.jsonl"))
    ...     found.save(os.path.join(folder, "iris.skops"))
    ...     saved = rosenblatt.load_model(os.path.join(folder, "iris.skops"))
    >>> saved.family, saved.n_rows
    ('Gaussian naive Bayes', 120)
    >>> saved.model.predict([[5.1, 3.5, 1.4, 0.2]]).tolist()
    ['setosa']
    """
    name = str(path)
    found = existing(name)
    if not zipfile.is_zipfile(found):
        raise TableError(f"{name} is no model file, or is damaged: fit the model again.")
    try:
        with zipfile.ZipFile(found) as archive:
            about = _about(archive, name)
            check_tree(json.loads(archive.read(TREE)))
        return _saved(about, _pipeline(found))
    except Untrusted as error:
        raise TableError(
            f"{name} holds {error}, which no model of ours is made of; it was not loaded."
        ) from None
    except TableError:
        raise
    except Exception as error:  # there are as many of these as ways to break a file
        raise TableError(
            f"{name} is damaged ({type(error).__name__}): fit the model again."
        ) from error


def _about(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    """What the file says of the model; refused if this program cannot know what it means."""
    if ABOUT not in archive.namelist():
        raise TableError(
            f"{name} was not written by rosenblatt: it does not say which columns the model reads."
        )
    about = json.loads(archive.read(ABOUT))
    if not isinstance(about["format"], int) or about["format"] < 1:
        raise ValueError(f"format {about['format']!r}")
    if about["format"] > FORMAT:
        written = about.get("versions", {}).get("rosenblatt", "a newer version")
        raise TableError(
            f"{name} has format {about['format']} (rosenblatt {written}), and formats up to "
            f"{FORMAT} are read here: update rosenblatt, or fit the model again."
        )
    return dict(about)


def _pipeline(path: str) -> Pipeline:
    """The model, of types on our list alone."""
    import skops.io

    model = skops.io.load(path, trusted=trusted_types())
    if not isinstance(model, Pipeline) or tuple(model.named_steps) not in STEPS:
        raise ValueError("no pipeline of features and a model")
    return model


def _saved(about: dict[str, Any], model: Pipeline) -> SavedModel:
    known: dict[str, Any] = dict.fromkeys(LATER_FIELDS)
    known |= {name: about[name] for name in ABOUT_FIELDS if name in about or name not in known}
    known["columns"] = tuple(KnownColumn(**column) for column in known["columns"])
    return SavedModel(model, **known)
