"""`rosenblatt certify`: check a fitted model against its training table."""

import math
from argparse import Namespace
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from rosenblatt.certificates import Certificate
from rosenblatt.certificates import certify as certificate_of
from rosenblatt.certificates.claims import within
from rosenblatt.data import Table, TableError
from rosenblatt.workbench.fitting import learned_rows
from rosenblatt.workbench.known_columns import rows_for, targets_of
from rosenblatt.workbench.model_file import SavedModel, blaming

from .model_files import load_model
from .output import print_note
from .tables import Reading, printed_to


def run(args: Namespace) -> int:
    """Print the certificate; return 0 if it holds, else 1."""
    model, table, tol, out, reading = args.model, args.table, args.tol, args.out, Reading.of(args)
    if tol == math.inf:
        raise ValueError(f"tol must be a finite number >= 0; got {tol}.")
    saved = load_model(model, large=args.large)
    if saved.task == "clustering":
        return _certify_clusters(saved, model, table, tol, out, reading)
    read = reading.for_model(table, saved, args.target)
    rows, y = targets_of(saved, read)
    whole = len(y)
    others = whole != saved.n_rows
    if others and (learned := learned_rows(saved, read)):
        rows, y = learned
        others = False
        print_note(
            f"The model was fitted to {saved.n_rows:,} of these {whole:,} rows ({_split(saved)}): "
            "the certificate is about these training rows."
        )
    X = rows_for(saved, rows)
    with blaming(model, table):
        found = certificate_of(saved.model, X, y, tol=tol)
    with printed_to(out, table, model) as print_lines:
        print_lines(found)
    if others:
        print_note(
            f"The model was fitted to {saved.n_rows:,} rows of {saved.source} ({_split(saved)}), "
            f"but the table has {whole:,} other rows: the certificate is about these rows. Claims "
            f"about the fit need the training rows.{_to_find_them(saved, read)}"
        )
    return 0 if found.holds else 1


def _certify_clusters(
    saved: SavedModel, model: str, table: str, tol: float, out: str | None, reading: Reading
) -> int:
    """Certify a clustering, which has no target column."""
    read = reading.for_model(table, saved, None)
    X = rows_for(saved, read)
    with blaming(model, table):
        if hasattr(saved.model[-1], "n_samples_fit_"):  # linkage
            found = _tree_again(saved, X, tol)
            note = (
                f"The model file has the rows with their clusters, not the tree of {saved.family}, "
                "so the tree was built again from this table. A new row is assigned to the cluster "
                "of the nearest training row."
            )
        else:
            found = certificate_of(saved.model, X, tol=tol)
            note = ""
    with printed_to(out, table, model) as print_lines:
        print_lines(found)
    if saved.n_rows not in (0, len(read)):
        note = (
            f"The model was fitted to {saved.n_rows:,} rows of {saved.source}, but the table has "
            f"{len(read):,} other rows: the certificate is about these rows. Claims about the fit "
            "need the training rows."
        )
    if note:
        print_note(note)
    return 0 if found.holds else 1


def _tree_again(saved: SavedModel, rows: Any, tol: float) -> Certificate:
    """Build the tree of a linkage again, certify it, and compare its clusters with the file."""
    from rosenblatt.workbench.clustering import fitted  # a slow import

    features, neighbours = saved.model[:-1], saved.model[-1]
    X = features.transform(rows)
    X = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray())
    if len(X) != neighbours.n_samples_fit_:
        raise TableError(
            f"{saved.family} was fitted to {neighbours.n_samples_fit_:,} rows, but the table has "
            f"{len(X):,}; a tree can be certified only with its training rows."
        )
    k = len(neighbours.classes_)
    tree = fitted(saved.family, X, k, 0)
    counts = np.zeros((k, k), np.intp)  # rows by their clusters in the tree and in the file
    np.add.at(counts, (tree.cut(k), neighbours.predict(X)), 1)
    n_moved = len(X) - int(counts[linear_sum_assignment(-counts)].sum())
    words = f"{n_moved:,} rows are in another of the {k} clusters of the tree than in the file"
    found = certificate_of(tree, X, tol=tol)
    return replace(found, claims=(*found.claims, within("saved clusters", words, n_moved, 0)))


def _to_find_them(saved: SavedModel, table: Table) -> str:
    """Return advice if the table lacks the column that the rows were split by."""
    if saved.split_by is None or saved.split_by in table.frame.columns:
        return ""
    return (
        f" The rows were split by column {saved.split_by!r}, which {table.name} lacks: add this "
        "column and certify again."
    )


def _split(saved: SavedModel) -> str:
    """Describe how the training rows were chosen."""
    if saved.split == "all rows":
        return saved.split
    by = f" ({saved.split_by})" if saved.split_by else ""
    return f"the training part, split {saved.split}{by}, seed {saved.seed}"
