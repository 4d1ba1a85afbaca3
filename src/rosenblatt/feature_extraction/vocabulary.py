"""Which terms become columns: the conclusions drawn from counts of terms."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import warn
from rosenblatt.statistics import TermCounts

LONG = 20  # bytes of a word on average: English has five, Russian fourteen, Chinese thirty
ENOUGH_WORDS = 50  # to judge by


def kept_terms(vectorizer: Any, counts: TermCounts) -> NDArray[np.bool]:
    """Which terms (V,) are within the limits that a vectorizer sets."""
    n, documents = counts.n_documents, counts.documents
    most, least = (
        float(limit) if isinstance(limit, Integral) else limit * n
        for limit in (vectorizer.max_df, vectorizer.min_df)
    )
    if not len(documents):
        raise ValueError(
            "empty vocabulary; perhaps the documents only contain stop words. A word has two "
            'letters or more; analyzer="char_wb" finds shorter ones.'
        )
    if least > n:
        raise ValueError(
            f"min_df={vectorizer.min_df} asks for terms in at least {least:g} documents, and there "
            f"are {n}. Choose a min_df of at most {n}."
        )
    if most < least:
        raise ValueError(
            f"max_df corresponds to < documents than min_df: at most {most:g} and at least "
            f"{least:g} of {n}."
        )
    kept: NDArray[np.bool] = (documents <= most) & (documents >= least)
    if vectorizer.max_features is not None and kept.sum() > vectorizer.max_features:
        kept = _most_frequent(vectorizer, counts, kept)
    if not kept.any():
        raise ValueError(
            "After pruning, no terms remain. Try a lower min_df or a higher max_df: "
            f"{len(documents)} terms are in 1 to {documents.max()} of {n} documents, and the "
            f"limits are {least:g} to {most:g}."
        )
    return kept


def _most_frequent(vectorizer: Any, counts: TermCounts, kept: NDArray[np.bool]) -> NDArray[np.bool]:
    """The `max_features` most frequent of the terms kept so far."""
    often = counts.documents if vectorizer.binary else counts.occurrences
    # Ties fall as they do in scikit-learn, whose sort this is, of sums in whole numbers of 64 bits
    # or in the floats asked for.
    dtype = np.dtype(vectorizer.dtype)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    first = np.negative(often[kept].astype(dtype)).argsort()[: vectorizer.max_features]
    chosen = np.zeros_like(kept)
    chosen[np.flatnonzero(kept)[first]] = True
    return chosen


def numbered(terms: list[Any], kept: NDArray[np.bool]) -> dict[Any, int]:
    """The column of each term that is kept."""
    if not kept.all():
        terms = [terms[j] for j in np.flatnonzero(kept)]
    return dict(zip(terms, range(len(terms)), strict=True))


def inverse_document_frequency(documents: Any, n: int, smooth: bool, dtype: Any) -> NDArray[Any]:
    """log(n / documents) + 1, one document more with every term if smooth."""
    found = documents.astype(dtype) + dtype.type(smooth)
    logs: NDArray[Any] = np.log(np.full_like(found, n + int(smooth)) / found)
    return np.asarray(logs + dtype.type(1))


def suggest_characters(vectorizer: Any, counts: TermCounts) -> None:
    """Warn of words so long that they may be sentences of a language without spaces."""
    if vectorizer.analyzer != "word" or vectorizer.ngram_range != (1, 1):
        return
    n_words = int(counts.occurrences.sum())
    n_bytes = int(counts.occurrences @ np.diff(counts.limits))
    if n_words >= ENOUGH_WORDS and n_bytes > LONG * n_words:
        warn(
            f"Words have {n_bytes / n_words:.0f} bytes on average, as in a language that puts no "
            'spaces between them: try analyzer="char" with ngram_range=(1, 3).'
        )
