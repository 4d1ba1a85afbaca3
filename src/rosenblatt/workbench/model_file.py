"""Models in files: a fitted pipeline, and what is needed to use it on another table.

A file is that of skops, a ZIP archive of plain numbers and names, with one member more:
``rosenblatt.json`` says what the model was fitted to. Reading runs no code from it.
"""

import io
import json
import os
import warnings
import zipfile
from typing import Any

from sklearn.pipeline import Pipeline

from rosenblatt.data import TableError
from rosenblatt.data.files import whole_file
from rosenblatt.data.table import existing

from .about import FORMAT, Damaged, checked_about
from .about import KnownColumn as KnownColumn
from .about import SavedModel as SavedModel
from .archive import ABOUT, TREE, check_members, is_large
from .trust import Untrusted, check_tree, trusted_types
from .trying import try_out

LONGEST = 120  # characters of an error of others that are shown
STEPS = (("features", "model"), ("features", "expansion", "model"))  # of a pipeline


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
    with zipfile.ZipFile(content) as archive:
        if is_large(archive, len(content.getvalue())):
            warnings.warn(
                f"{path} takes much more memory than its size says, as files do that are made to "
                "fill it: to read it, say that it is large (--large, load_model(path, "
                "large=True)).",
                stacklevel=2,
            )


def load_model(path: Any, *, large: bool = False) -> SavedModel:
    """Read a model file; nothing in it is run.

    Parameters
    ----------
    path : str or path
        A file that `save_model` wrote. One that is damaged, of a newer format or with anything in
        it that is not on our list is refused.
    large : bool
        Whether it may take more memory than 1 GiB and ten times its own size; else such a file,
        which may have been made to fill the memory, is refused before it is inflated.

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
            check_members(archive)
            about = _about(archive, name)
            if not large and (needed := is_large(archive, os.path.getsize(found))):
                raise _too_large(name, os.path.getsize(found), needed)
            check_tree(json.loads(archive.read(TREE)))
        saved = SavedModel(_pipeline(found), **checked_about(about))
        try_out(saved)
    except Untrusted as error:
        raise TableError(
            f"{name} holds {error}, which no model of ours is made of; it was not loaded."
        ) from None
    except TableError:
        raise
    except Exception as error:  # there are as many of these as ways to break a file
        raise damaged(name, error) from error
    return saved


def _too_large(name: str, size: int, needed: int) -> TableError:
    return TableError(
        f"{name} has {size:,} bytes and would take over {needed / 2**30:,.1f} GiB of memory, which "
        "no model of that size should; it was not loaded. If you know where it comes from, say "
        "that it is large (--large, load_model(path, large=True))."
    )


def damaged(name: str, error: Exception) -> TableError:
    """What to say of a file whose model failed in a way that no model of ours does.

    >>> damaged("m.skops", Damaged("it lacks 'target'"))
    TableError("m.skops is damaged (it lacks 'target'): fit the model again.")
    """
    why = str(error) if isinstance(error, Damaged) else in_short(error)
    return TableError(f"{name} is damaged ({why}): fit the model again.")


def in_short(error: Exception) -> str:
    """An error of others, for the brackets of a sentence of ours."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said[:LONGEST]}" if said else type(error).__name__


def _about(archive: zipfile.ZipFile, name: str) -> Any:
    """What the file says of the model; refused if this program cannot know what it means."""
    if ABOUT not in archive.namelist():
        raise TableError(
            f"{name} was not written by rosenblatt: it does not say which columns the model reads."
        )
    about = json.loads(archive.read(ABOUT))
    form = about.get("format") if isinstance(about, dict) else None
    if type(form) is not int or form < 1:
        raise Damaged(f"it should say its format, and says {form!r}")
    if form > FORMAT:
        versions = about.get("versions")
        written = versions.get("rosenblatt") if isinstance(versions, dict) else None
        raise TableError(
            f"{name} has format {form} (rosenblatt {written or 'of a newer version'}), and formats "
            f"up to {FORMAT} are read here: update rosenblatt, or fit the model again."
        )
    return about


def _pipeline(path: str) -> Pipeline:
    """The model, of types on our list alone."""
    import skops.io

    model = skops.io.load(path, trusted=trusted_types())
    if not isinstance(model, Pipeline) or tuple(model.named_steps) not in STEPS:
        raise Damaged("it holds no pipeline of features and a model")
    return model
