"""Counts of terms in documents, for vocabularies."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.term_table import joined, split

from .batch import freeze
from .statistic import COUNTS, ArrayForm, Statistic

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class TermCounts(Statistic):
    """Number of documents with each term, and number of its occurrences.

    Terms are kept as bytes, one after the other: a vocabulary of a million words is one array.

    Attributes
    ----------
    n_documents : how many documents were read.
    documents : how many of them have each term, integers, shape (V,).
    occurrences : how often they have it, integers, shape (V,).
    text, limits : the terms in UTF-8, sorted, term j from ``limits[j]`` on.

    Examples
    --------
    >>> from rosenblatt.statistics import TermCounts
    >>> a = TermCounts.of([["to", "be", "or", "not", "to", "be"]])
    >>> b = TermCounts.of([["to", "do"]])
    >>> (a + b).terms(), (a + b).documents
    (['be', 'do', 'not', 'or', 'to'], array([1, 1, 1, 1, 2]))
    >>> a + b - b == a
    True
    """

    n_documents: int
    documents: Counts  # (V,)
    occurrences: Counts  # (V,)
    text: NDArray[np.uint8]
    limits: Counts  # (V + 1,)

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def zero(cls) -> Self:
        """Return the counts of no documents."""
        return cls.of([])

    @classmethod
    def of(cls, documents: Any) -> Self:
        """Return the counts of documents, each an iterable of its terms."""
        counts: dict[str, list[int]] = {}
        n = 0
        for terms in documents:
            held = list(terms)
            n += 1
            for term in held:
                counts.setdefault(term, [0, 0])[1] += 1
            for term in set(held):
                counts[term][0] += 1
        tallies = np.array(list(counts.values()), np.int64).reshape(-1, 2)
        return cls.counted(n, list(counts), tallies[:, 0], tallies[:, 1])

    @classmethod
    def counted(cls, n: int, terms: list[str], documents: Counts, occurrences: Counts) -> Self:
        """Return the counts of different terms, in any order."""
        order = sorted(range(len(terms)), key=terms.__getitem__)
        text, limits = joined([terms[j] for j in order])
        return cls(n, documents[order], occurrences[order], text, limits)

    def terms(self) -> list[str]:
        """Return all terms, sorted."""
        return split(self.text, self.limits)

    @property
    def classes(self) -> NDArray[Any]:
        """One class, 0."""
        return np.zeros(1, np.int64)

    @property
    def rows(self) -> int:
        """Number of documents."""
        return self.n_documents

    @property
    def weight(self) -> float:
        """Number of documents; they have no weights."""
        return float(self.n_documents)

    @property
    def n_features(self) -> int:
        """Number of different terms."""
        return len(self.documents)

    def _combined(self, other: Self, sign: int) -> Self:
        mine, others = self.terms(), other.terms()
        terms = sorted({*mine, *others})
        place = {term: j for j, term in enumerate(terms)}
        tallies = np.zeros((2, len(terms)), np.int64)
        tallies[:, [place[term] for term in mine]] = self.documents, self.occurrences
        pair = np.stack([other.documents, other.occurrences])
        tallies[:, [place[term] for term in others]] += sign * pair
        n = self.n_documents + sign * other.n_documents
        documents, times = tallies
        # A term is in no more documents than there are, and once at least in each that has it.
        wrong = (documents < 0) | (documents > n) | (times < documents)
        wrong |= (documents == 0) & (times != 0)
        if n < 0 or wrong.any():
            named = f": {terms[int(wrong.argmax())]!r} would be" if wrong.any() else ": they are"
            raise ValueError(
                "These documents were not all counted, so that they cannot be taken back from "
                f"{self.n_documents}{named} there too seldom, or in too many of those left."
            )
        kept = tallies[0] > 0
        text, limits = joined([term for term, keep in zip(terms, kept, strict=True) if keep])
        return type(self)(n, tallies[0, kept], tallies[1, kept], text, limits)

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {**super()._tables(), "text": self.text.astype(np.int64)}

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), "n_documents": self.n_documents}

    forms: ClassVar[dict[str, ArrayForm]] = {
        "documents": ArrayForm("V", COUNTS, 1),
        "occurrences": ArrayForm("V", COUNTS, 1),
        "text": ArrayForm("bytes", COUNTS, 0),
        "limits": ArrayForm("ends", COUNTS, 0),
    }

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        n, text, limits = about["n_documents"], tables["text"].astype(np.uint8), tables["limits"]
        documents, occurrences = tables["documents"], tables["occurrences"]
        if type(n) is not int or (documents > n).any() or (occurrences < documents).any():
            raise ValueError("terms are in more documents than there are")
        ends = len(limits) == len(documents) + 1 and limits[0] == 0 and limits[-1] == len(text)
        if not ends or (np.diff(limits) < 0).any():
            raise ValueError("limits of terms are not from 0 to the end of the text")
        if any(a >= b for a, b in pairwise(split(text, limits))):
            raise ValueError("terms are not sorted, or not different")
        return cls(n, documents, occurrences, text, limits)
