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

REBUILT = (
    "The model file has the rows with their clusters, not the tree of {family}, so the tree was "
    "built again from this table. A new row is assigned to the cluster of the nearest training row."
)
TRAINING_ROWS = (
    "The model was fitted to {n:,} of these {n_read:,} rows ({split}): the certificate is about "
    "these training rows."
)
OTHER_ROWS = (
    "The model was fitted to {n:,} rows of {source}{split}, but the table has {n_read:,} other "
    "rows: the certificate is about these rows. Claims about the fit need the training rows."
)


def run(args: Namespace) -> int:
    """Print the certificate; return 0 if it holds, else 1."""
    model, table, tol = args.model, args.table, args.tol
    if tol == math.inf:
        raise ValueError(f"tol must be a finite number >= 0; got {tol}.")
    saved = load_model(model, large=args.large)
    has_target = saved.task != "clustering"
    read = Reading.of(args).for_model(table, saved, args.target if has_target else None)
    rows, y = targets_of(saved, read) if has_target else (read, None)
    n, n_read, note = saved.n_rows, len(rows), ""
    if n not in (0, n_read):
        if has_target and (learned := learned_rows(saved, read)):
            rows, y = learned
            print_note(TRAINING_ROWS.format(n=n, n_read=n_read, split=_split(saved)))
        else:
            split = f" ({_split(saved)})" if has_target else ""
            note = OTHER_ROWS.format(n=n, n_read=n_read, source=saved.source, split=split)
            note += _to_find_them(saved, read)
    X = rows_for(saved, rows)
    with blaming(model, table):
        if hasattr(saved.model[-1], "n_samples_fit_") and not has_target:  # linkage
            found = _tree_again(saved, X, tol)
            note = note or REBUILT.format(family=saved.family)
        else:
            found = certificate_of(saved.model, X, y, tol=tol)
    with printed_to(args.out, table, model) as print_lines:
        print_lines(found)
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
