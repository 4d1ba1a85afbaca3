"""Models in files: a fitted pipeline, and what is needed to use it on another table.

A file is that of skops, a ZIP archive of plain numbers and names, with one member more:
``rosenblatt.json`` says what the model was fitted to. Reading runs no code from it.
"""

import inspect
import io
import json
import math
import os
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data import Table, TableError
from rosenblatt.data.files import whole_file
from rosenblatt.data.reading import existing
from rosenblatt.preprocessing import BasisExpansion

from .features import DenseRows, TableFeatures
from .known_columns import rows_for, wanted_dtype
from .model_metadata import FORMAT, Damaged, checked_about, versions
from .model_metadata import KnownColumn as KnownColumn
from .model_metadata import SavedModel as SavedModel
from .trusted_types import Untrusted, check_tree, nodes_of, trusted_types

LONGEST = 120  # characters of an error of others that are shown
PLAIN_TASKS = {
    "classifier": "classification", "regressor": "regression", "clusterer": "clustering",
}  # fmt: skip
STEPS = (("features", "model"), ("features", "expansion", "model"))  # of a pipeline


def save_model(model: Any, path: Any) -> None:
    """Write a model file such as "model.skops", whole or not at all.

    Parameters
    ----------
    model : estimator or SavedModel
        A fitted classifier, regressor or clustering of rosenblatt, or a model with what it was
        fitted to, as `load_model` returns it. One that could not be read again is refused: what
        rosenblatt does not know, and what reads words rather than numbers.
    path : str or path
        The file. `load_model` reads it again, and runs no code from it.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> model = rosenblatt.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rosenblatt.save_model(model, os.path.join(folder, "letters.skops"))
    ...     saved = rosenblatt.load_model(os.path.join(folder, "letters.skops"))
    >>> saved.model.predict([[4.5]]).tolist()
    ['b']
    """
    import skops.io

    saved = model if isinstance(model, SavedModel) else _plain_model(model)
    try:
        content = io.BytesIO(skops.io.dumps(saved.model, compression=zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
            check_tree(json.loads(archive.read(TREE)))
            archive.writestr(ABOUT, json.dumps(saved.about(), indent=1))
    except Untrusted as error:
        raise ValueError(
            f"A model file cannot hold {error}: it holds models of rosenblatt with parameters that "
            f"are numbers and words.{_way_out(str(error))}"
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


def _way_out(refused: str) -> str:
    """What to do instead of storing a type, where there is something."""
    if "CalibratedClassifierCV" not in refused:
        return ""
    return (
        " It comes of probability=True: fit without it, which leaves the scores of "
        "decision_function, or compare with models that have probabilities, such as "
        "LogisticRegression; in Python, put CalibratedClassifierCV around the model."
    )


def _plain_model(model: Any) -> SavedModel:
    """A fitted estimator of ours as the last step of a pipeline, and all that is known of it."""
    check_is_fitted(model)
    tags = get_tags(model)
    if inspect.isroutine(kernel := getattr(model, "kernel", None)):
        raise ValueError(
            f"A model file cannot hold a function, and kernel={kernel!r} is one. Fit with a kernel "
            "that has a name, with an object of rosenblatt.kernels, or with the matrix of its "
            'values and kernel="precomputed".'
        )
    if tags.estimator_type not in PLAIN_TASKS or not hasattr(model, "n_features_in_"):
        raise TypeError(
            "save_model takes a fitted classifier, regressor or clustering, or what load_model "
            f"returns; got {type(model).__name__}."
        )
    width = int(model.n_features_in_)
    dense = DenseRows().fit(np.empty((0, width)))
    steps = [("features", "passthrough" if tags.input_tags.sparse else dense), ("model", model)]
    saved = SavedModel(
        Pipeline(steps), type(model).__name__, "target", PLAIN_TASKS[tags.estimator_type],
        "an array", 0, width=width, versions=versions(),
    )  # fmt: skip
    try:
        try_out(saved)
    except Exception as error:
        why = str(error) if isinstance(error, Damaged) else in_short(error)
        raise ValueError(
            f"A model file holds models of rows of numbers with one answer each, and this "
            f"{type(model).__name__} could not be read again ({why})."
        ) from error
    return saved


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
    found = existing(name, or_bundled=False)
    if not zipfile.is_zipfile(found):
        raise TableError(f"{name} is not a model file or is damaged; fit the model again.")
    try:
        with zipfile.ZipFile(found) as archive:
            check_members(archive)
            size = os.path.getsize(found)
            if not large and (needed := is_large(archive, size)):
                raise TableError(
                    f"{name} has {size:,} bytes and would take over {needed / 2**30:,.1f} GiB of "
                    "memory, which no model of that size should; it was not loaded. If you know "
                    "where it comes from, say that it is large (--large, load_model(path, "
                    "large=True))."
                )
            about = _about(archive, name)
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


def damaged(name: str, error: Exception) -> TableError:
    """What to say of a file whose model failed in a way that no model of ours does."""
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
    if type(form) is not int:
        raise Damaged(f"it should say its format, and says {form!r}")
    if form != FORMAT:
        versions = about.get("versions")
        written = versions.get("rosenblatt") if isinstance(versions, dict) else None
        raise TableError(
            f"{name} has format {form} (rosenblatt {written or 'of another version'}), but this "
            f"version reads format {FORMAT}: update rosenblatt, or fit the model again."
        )
    return about


def _pipeline(file: str) -> Pipeline:
    """The model, of types on our list alone."""
    import skops.io

    model = skops.io.load(file, trusted=trusted_types())
    if not isinstance(model, Pipeline) or tuple(model.named_steps) not in STEPS:
        raise Damaged("it holds no pipeline of features and a model")
    return model


# The ZIP archive that a model file is, looked over before anything in it is inflated.
#
# A small file can claim to be a large one. What it would take in memory is added up from the
# sizes it declares, past which `zipfile` reads nothing; those of arrays that several nodes of the
# tree bring in count each time.


ABOUT = "rosenblatt.json"
TREE = "schema.json"
MEMBERS = re.compile(r"\d+\.np[yz]|" + "|".join(map(re.escape, (ABOUT, TREE))))
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_BYTES = 2**30  # that any file may take in memory; one that is large itself may take more
MOST_TIMES = 10  # its own size
OBJECTS_A_BYTE = 20  # bytes that a byte of JSON takes as objects


def check_members(archive: zipfile.ZipFile) -> None:
    """Raise unless each member is one that a model file of ours has, once."""
    entries = archive.infolist()
    for name, times in Counter(entry.filename for entry in entries).items():
        if not MEMBERS.fullmatch(name):
            raise Damaged(f"it holds {name[:60]!r}, which no model file has")
        if times > 1:
            raise Damaged(f"it holds {name!r} {times} times")
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in PACKED:
            raise Damaged(f"{entry.filename!r} is encrypted or packed in a way of others")


def is_large(archive: zipfile.ZipFile, size: int) -> int:
    """The bytes that a file of some size would take in memory, if that is too many; else 0."""
    most = max(MOST_BYTES, MOST_TIMES * size)
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    tree = OBJECTS_A_BYTE * (sizes.pop(TREE, 0) + sizes.pop(ABOUT, 0))
    needed = tree + sum(sizes.values())
    if needed > most:
        return needed
    needed = tree
    for member in _brought_in(json.loads(archive.read(TREE))):
        needed += 2 * sizes.get(member, 0)  # as bytes, and as an array
        if member.endswith(".npy") and member in sizes:
            _check_header(archive, member)
        elif member.endswith(".npz") and member in sizes:
            with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
                needed += sum(entry.file_size for entry in inner.infolist())
                if needed <= most:
                    for entry in inner.namelist():
                        _check_header(inner, entry)
        if needed > most:
            return needed
    return 0


def _check_header(archive: zipfile.ZipFile, member: str) -> None:
    """Raise unless an array has the bytes that its header declares, none of them for nothing.

    Values without width take memory that no byte of the file stands for.
    """
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        stored = archive.getinfo(member).file_size - file.tell()
    n_values = math.prod(shape)
    if min(shape, default=0) < 0 or n_values * dtype.itemsize != stored:
        raise Damaged(f"{member!r} holds {stored:,} bytes, and its header declares another number")
    if n_values and not dtype.itemsize:
        raise Damaged(f"{member!r} declares {n_values:,} values without width")


def _brought_in(tree: Any) -> Iterator[str]:
    """The arrays that a tree names, as often as they are read: once for each object."""
    seen = set()
    for node in nodes_of(tree):
        member, known = node.get("file"), node.get("__id__")
        if isinstance(member, str) and (not isinstance(known, int) or known not in seen):
            seen.add(known)
            yield member


# A model just read is tried out: one whose numbers do not fit each other fails now, and here.


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
        elif saved.task == "clustering":
            if told.dtype.kind not in "iu":
                raise Damaged("its clusters are no numbers")
        elif hasattr(saved.model, "predict_proba"):
            probabilities = np.asarray(saved.model.predict_proba(X))
            if probabilities.shape != (2, len(saved.model.classes_)):
                raise Damaged("its probabilities are not one for each class")
            if probabilities.dtype.kind != "f" or np.isnan(probabilities).any():
                raise Damaged("its probabilities are no numbers")


def _check_agreement(saved: SavedModel) -> None:
    """What the file says of the model must be what the model is."""
    by_neighbours = saved.task == "clustering"  # linkage assigns new rows so
    if is_classifier(saved.model) != (saved.task == "classification") and not by_neighbours:
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
    if isinstance(expansion, BasisExpansion):
        made = sum(basis.count(len(columns)) for columns, basis in expansion._fitted)
        taken = np.shape(saved.model[-1].coef_)[-1]
        if made + bool(expansion.include_bias) != taken:
            raise Damaged(f"its expansion makes {made:,} numbers, and its model reads {taken:,}")


def _two_rows(saved: SavedModel) -> Table:
    if not saved.columns:
        labels = pl.DataFrame({saved.target: [0, 1]})
        return Table(labels, "two rows", sp.csr_matrix((2, saved.width)))
    values = [pl.Series(known.name, [0, 1]).cast(wanted_dtype(known)) for known in saved.columns]
    return Table(pl.DataFrame(values), "two rows")


@contextmanager
def blaming(model: str, table: str) -> Iterator[None]:
    """An error that no model of ours raises is reported as the fault of the model file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError | TypeError) and _is_our_sentence(error):
            raise
        raise TableError(
            f"{model} does not go with {table} ({in_short(error)}): it may be damaged; fit the "
            "model again."
        ) from error


def _is_our_sentence(error: Exception) -> bool:
    """Whether it comes from our code, rather than from libraries that met odd numbers."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or trace.tb_frame.f_globals.get("__name__", "").startswith("rosenblatt.")
