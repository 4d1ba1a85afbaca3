"""Texts in a source: terms are counted part by part, and their vocabularies united."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.data import TableError
from rosenblatt.feature_extraction import HashingVectorizer, TfidfTransformer
from rosenblatt.feature_extraction.vocabulary import inverse_document_frequency

from .passes import PartRows, Passes
from .sums import Sums, merged

ONE_PASS = True


def fit_parts(model: Any, passes: Passes) -> Any:
    """One pass for the counts of all terms; columns, limits and weights follow from their sum."""
    if isinstance(model, TfidfTransformer):
        return _fit_weights(model, passes)
    check_one_text_column(passes.source)
    if isinstance(model, HashingVectorizer):
        return model.fit([])  # learns nothing
    if model.vocabulary is not None:
        raise ValueError(
            f"{type(model).__name__} with a given vocabulary learns none from parts: call its fit "
            "with a few documents."
        )
    return model.fit_counts(passes.total(count_terms, model))


def count_terms(rows: PartRows, model: Any) -> Any:
    """The counts of all terms of one part."""
    return merged(model.measure(X.to_series()) for X, _ in rows)


def check_one_text_column(source: Any) -> None:
    """Raise unless a source has one column, of texts."""
    columns = source.columns
    if len(columns) != 1 or not source.named or source.sparse:
        found = ", ".join(map(str, columns[:8]))
        raise TableError(
            f"Documents are one column of texts; {source.place} has {len(columns)}: {found}. Name "
            "it, as in Source(..., columns=['text'])."
        )


def _fit_weights(model: Any, passes: Passes) -> Any:
    """The weights of terms whose counts are columns."""
    passes.publish_columns(model)
    if model.use_idf:
        found = passes.total(count_documents)
        dtype = np.dtype(np.float32 if found["wide"] == 0 else np.float64)
        n, documents = int(found["n"]), found["documents"]
        model.idf_ = inverse_document_frequency(documents, n, model.smooth_idf, dtype)
    return model


def count_documents(rows: PartRows) -> Any:
    """How many documents have each term, how many there are, and how many not in 32 bits."""

    def measure(X: Any, y: Any) -> Sums:
        counts = sp.csr_array(X)
        documents = np.bincount(counts.indices, minlength=counts.shape[1])
        n = counts.shape[0]
        return Sums(n=n, documents=documents, wide=n * (counts.dtype != np.float32))

    return rows.summed(measure)
