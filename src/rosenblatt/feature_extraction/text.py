"""Texts to rows of counts, of hashes or of tf-idf, as in `sklearn.feature_extraction.text`."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.feature_extraction import text as peer
from sklearn.preprocessing import normalize
from sklearn.utils import murmurhash3_32
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.registry.row import Row, Warm
from rosenblatt.statistics import TermCounts
from rosenblatt.term_table import TermTable, joined

from . import text_loops
from .analysis import analysis_of, spans_of_terms, why_python
from .counting import (
    Counted,
    count_hashes,
    count_in_python,
    count_known,
    count_new,
    with_columns,
)
from .documents import are_few, items_of, refuse_tables
from .vocabulary import inverse_document_frequency, kept_terms, numbered, suggest_characters

MUCH_TEXT = 2**20  # characters from which on it matters who reads them
POWERS = {None: 0, "l1": 1, "l2": 2}  # of the norms that rows are scaled by
MOST_HASHES = 2**26  # columns that a place each is kept for

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]


class CountVectorizer(peer.CountVectorizer):  # type: ignore[misc]
    """Counts of the words, or of n-grams of words or characters, of documents.

    Parameters are scikit-learn's, and so are tokens, vocabulary and matrix. Words are found and
    counted by one compiled loop over UTF-8 bytes; a `token_pattern` of your own, a `tokenizer` or a
    callable `analyzer` is applied by Python, and large texts then take ten times as long.

    What is learned is additive: `partial_fit` reads more documents, `merge` takes over those of
    another vectorizer, `forget` takes documents back; limits of document frequency apply to the
    sum. The vocabulary, and with it the columns, may change each time.

    Parameters
    ----------
    input : what documents are: "content", "filename" or "file", which are read one at a time.
    encoding, decode_error : of bytes, and what is done with those that are not of it.
    strip_accents : "ascii", "unicode", a function, or None.
    lowercase : whether words are put into lower case first.
    preprocessor, tokenizer : functions in the place of ours, or None.
    stop_words : "english", a list of words that are left out, or None.
    token_pattern : what a word is; the default is two or more letters, digits or underscores.
    ngram_range : the least and the largest number of words, or characters, of a term.
    analyzer : "word", "char", "char_wb" (characters within words), or a function.
    max_df, min_df : in how many documents a term is at most and at least; a share if a fraction.
    max_features : how many terms are kept, the most frequent ones; None for all.
    vocabulary : the terms, if they are not to be learned.
    binary : whether all counts above zero are one.
    dtype : of the counts.

    Attributes
    ----------
    vocabulary_ : the column of each term.
    fixed_vocabulary_ : whether it was given.
    statistics_ : in how many documents each term is and how often, before limits; with + and -.

    Examples
    --------
    >>> from rosenblatt import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["to be or not to be", "to do"]).toarray()
    array([[2, 0, 1, 1, 2],
           [0, 1, 0, 0, 1]])
    >>> vectorizer.get_feature_names_out()
    array(['be', 'do', 'not', 'or', 'to'], dtype=object)
    """

    statistics_: TermCounts
    _made_table: tuple[dict[Any, int], int, TermTable | TermCounts]  # of this vocabulary

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary of documents, an iterable or a column; return self."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary of documents; return their counts (n, V) as a CSR matrix."""
        refuse_tables(raw_documents)
        if self.vocabulary is not None:
            self.__dict__.pop("statistics_", None)  # of a vocabulary that was learned before
            return super().fit_transform(raw_documents)
        self._check_settings()
        return as_configured(self._publish(self._counted(raw_documents)))

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn from more documents, as if all had been given to `fit`; return self."""
        self._check_settings()
        self._refuse_given()
        found = self.measure(raw_documents)
        known = getattr(self, "statistics_", None)
        self._conclude(found if known is None else known + found)
        return self

    def merge(self, other: Self) -> Self:
        """Learn what another vectorizer has learned, as if fitted on the documents of both."""
        self._check_additive(), other._check_additive()
        if type(other) is not type(self) or not _same(self.get_params(), other.get_params()):
            raise ValueError("Vectorizers must have the same class and parameters to be merged.")
        self._conclude(self.statistics_ + other.statistics_)
        return self

    def forget(self, raw_documents: Any) -> Self:
        """Take documents back, as if they had never been given; return self."""
        self._check_additive()
        left = self.statistics_ - self.measure(raw_documents)
        if not len(left):
            raise ValueError("These are all documents that were learned: nothing would be left.")
        self._conclude(left)
        return self

    def measure(self, raw_documents: Any) -> TermCounts:
        """Return the counts of all terms of documents; those of two batches add up."""
        found = self._counted(raw_documents)
        return TermCounts.counted(found.X.shape[0], found.terms, *found[2:])

    def fit_counts(self, counts: TermCounts) -> Self:
        """Become the vectorizer of documents that have these counts; return self."""
        self._check_settings()
        self._refuse_given()
        self._conclude(counts)
        return self

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where terms of the vocabulary are in a text: start, stop and column of each.

        In the order of the text. Positions are those of the text as it is given.
        """
        self._check_vocabulary()
        return [
            (start, stop, int(self.vocabulary_[term]))
            for start, stop, term in spans_of_terms(text, self)
            if term in self.vocabulary_
        ]

    def _check_settings(self) -> None:
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        self._validate_vocabulary()

    def _refuse_given(self) -> None:
        if self.vocabulary is not None:
            raise ValueError(
                "The vocabulary is given, so that nothing is learned: call fit or transform."
            )

    def _check_additive(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "statistics_"):
            raise ValueError(
                "A vocabulary that is given, or whose terms are not strings, has no counts: learn "
                "it from documents to merge and forget."
            )

    def _counted(self, documents: Any) -> Counted:
        """The counts of all terms of documents, in the order in which terms come."""
        refuse_tables(documents)
        analyze = self.build_analyzer()  # which checks the stop words
        analysis = analysis_of(self)
        if analysis is not None:
            return count_new(documents, analysis, self.dtype)
        reader = SlowReader(documents)
        found = count_in_python(reader, analyze, None, self.dtype)
        reader.report(why_python(self))
        return found

    def _publish(self, found: Counted) -> Any:
        """Draw the vocabulary from counts of terms; return the matrix with its columns."""
        order = np.array(sorted(range(len(found.terms)), key=found.terms.__getitem__), np.int64)
        terms = [found.terms[j] for j in order.tolist()]
        tallies = found.X.shape[0], found.documents[order], found.occurrences[order]
        if all(type(term) is str for term in terms):
            kept = self._conclude(TermCounts(*tallies, *joined(terms)), terms)
        else:  # of an analyzer of the user's own: there is no statistic of such
            nothing = np.empty(0, np.uint8), np.zeros(len(terms) + 1, np.int64)
            kept = kept_terms(self, TermCounts(*tallies, *nothing))
            self.__dict__.pop("statistics_", None)
            self.vocabulary_ = numbered(terms, kept)
        columns = np.full(len(terms), -1, np.int32)
        columns[order[kept]] = np.arange(kept.sum(), dtype=np.int32)
        if self.binary:
            found.X.data.fill(1)
        return with_columns(found.X, columns, int(kept.sum()))

    def _conclude(self, counts: TermCounts, terms: list[str] | None = None) -> NDArray[np.bool]:
        """Set the vocabulary that counts imply; return which terms are in it."""
        kept = kept_terms(self, counts)
        self.vocabulary_ = numbered(counts.terms() if terms is None else terms, kept)
        self.statistics_ = counts
        if kept.all():  # then its terms are the columns: the table need not be made of strings
            self._made_table = self.vocabulary_, len(kept), counts
        suggest_characters(self, counts)
        return kept

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> Any:
        """Where scikit-learn counts terms that are known."""
        if are_few(raw_documents):
            return super()._count_vocab(raw_documents, fixed_vocab)
        refuse_tables(raw_documents)
        analyze, analysis, known = self.build_analyzer(), analysis_of(self), self.vocabulary_
        if analysis is not None and (table := self._table()) is not None:
            return known, count_known(raw_documents, analysis, table, self.dtype)
        reader = SlowReader(raw_documents)
        X = count_in_python(reader, analyze, known, self.dtype).X
        reader.report(why_python(self))
        return known, X

    def _table(self) -> TermTable | None:
        """The vocabulary as the loops read it, made once; None if terms are no strings."""
        known = self.vocabulary_
        made = self.__dict__.get("_made_table")
        if made is None or made[0] is not known or made[1] != len(known):
            if not all(isinstance(term, str) for term in known):
                return None
            table = TermTable.of(sorted(known, key=known.__getitem__))
        elif isinstance(made[2], TermTable):
            return made[2]
        else:
            table = TermTable.of_bytes(made[2].text, made[2].limits, made[2].occurrences)
        self._made_table = known, len(known), table
        return table

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_made_table"}


class TfidfTransformer(peer.TfidfTransformer, auto_wrap_output_keys=None):  # type: ignore
    """Counts weighted by how rare a term is: tf x idf, rows of length one.

    ``idf = log((1 + n) / (1 + documents)) + 1``, without the ones inside if not `smooth_idf`.

    Parameters
    ----------
    norm : "l2" or "l1", the length that rows are given, or None.
    use_idf : whether counts are multiplied by idf.
    smooth_idf : whether to count as if one more document had every term.
    sublinear_tf : whether a count becomes 1 + log(count).

    Attributes
    ----------
    idf_ : the weight of each term, shape (V,).
    n_features_in_, feature_names_in_ : the number of terms, and their names if known.

    Examples
    --------
    >>> from rosenblatt import TfidfTransformer
    >>> TfidfTransformer().fit_transform([[1, 1], [0, 1]]).toarray().round(2)
    array([[0.81, 0.58],
           [0.  , 1.  ]])
    """

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Return tf-idf (n, V) of counts X, as a CSR matrix; in the place of X without `copy`."""
        check_is_fitted(self)
        X = checks.validate_data(
            self, X, accept_sparse="csr", dtype=list(checks.FLOATS), copy=copy, reset=False
        )
        if not sp.issparse(X):
            X = sp.csr_array(X, dtype=X.dtype)
        idf = getattr(self, "idf_", np.empty(0))
        idf = np.ascontiguousarray(idf, X.dtype)
        endless = np.isinf(idf)
        if endless.any() and endless[X.indices[X.data != 0]].any():
            raise ValueError(
                "A term of these documents is in none of those that were learned, so that its idf "
                "is infinity: smooth_idf=True gives it a number."
            )
        text_loops.weigh(X.data, X.indices, X.indptr, idf, self.sublinear_tf, POWERS[self.norm])
        return as_configured(X)


class TfidfVectorizer(peer.TfidfVectorizer, CountVectorizer):  # type: ignore[misc]
    """Texts to tf-idf: `CountVectorizer`, then `TfidfTransformer`.

    Parameters and fitted attributes are those of the two; tokens, vocabulary and matrix those of
    scikit-learn. `partial_fit`, `merge` and `forget` revise the document frequencies as well.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, \
stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype :
        as in `CountVectorizer`.
    norm, use_idf, smooth_idf, sublinear_tf : as in `TfidfTransformer`.

    Attributes
    ----------
    vocabulary_, fixed_vocabulary_, statistics_ : as in `CountVectorizer`.
    idf_ : the weight of each term, shape (V,).

    Examples
    --------
    >>> from rosenblatt import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer().fit(["to be", "not to be", "to do"])
    >>> vectorizer.transform(["do be"]).toarray().round(2)
    array([[0.61, 0.8 , 0.  , 0.  ]])
    """

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn vocabulary and document frequencies; return self."""
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn vocabulary and document frequencies; return tf-idf (n, V) as a CSR matrix."""
        X = self._learn(raw_documents)
        return self._tfidf.transform(X, copy=False)

    def _learn(self, raw_documents: Any) -> Any:
        """The counts of documents, once their vocabulary and frequencies are learned."""
        self._check_params()
        before = self.__dict__.get("_tfidf")
        X = CountVectorizer.fit_transform(self, raw_documents)
        if self.__dict__.get("_tfidf") is before:  # no counts of terms told of the frequencies
            self._tfidf = self._weights().fit(X)
        return X

    def _conclude(self, counts: TermCounts, terms: list[str] | None = None) -> NDArray[np.bool]:
        kept = super()._conclude(counts, terms)
        weights = self._weights()
        weights.n_features_in_ = int(kept.sum())
        if self.use_idf:
            dtype = np.dtype(self.dtype if self.dtype in checks.FLOATS else np.float64)
            documents, n = counts.documents[kept], counts.n_documents
            weights.idf_ = inverse_document_frequency(documents, n, self.smooth_idf, dtype)
        self._tfidf = weights
        return kept

    def _weights(self) -> TfidfTransformer:
        return TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
        )


class HashingVectorizer(peer.HashingVectorizer, auto_wrap_output_keys=None):  # type: ignore
    """Counts of terms in columns that follow from their hashes: no vocabulary, nothing to learn.

    The hash is MurmurHash3 with a sign, as in scikit-learn, and so is the matrix.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, binary, dtype : as in `CountVectorizer`.
    n_features : how many columns there are; terms may share one.
    norm : "l2" or "l1", the length that rows are given, or None.
    alternate_sign : whether the hash's sign is that of the count, so that terms that share a column
        cancel on average.

    Examples
    --------
    >>> from rosenblatt import HashingVectorizer
    >>> HashingVectorizer(n_features=4, norm=None).transform(["to be or not to be"]).toarray()
    array([[ 1.,  0., -2.,  3.]])
    """

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where terms are in a text: start, stop and column of each.

        In the order of the text. Positions are those of the text as it is given.
        """
        return [
            (start, stop, abs(murmurhash3_32(term)) % self.n_features)
            for start, stop, term in spans_of_terms(text, self)
        ]

    def transform(self, X: Any) -> Any:
        """Return the counts (n, n_features) of documents as a CSR matrix."""
        if are_few(X):
            return super().transform(X)
        refuse_tables(X)
        self._validate_ngram_range()
        analysis = analysis_of(self) if self.n_features <= MOST_HASHES else None
        if analysis is None:
            reader = SlowReader(X)
            found = super().transform(reader)
            reader.report(why_python(self) or "n_features")
            return found
        self.build_analyzer()  # which checks the stop words
        plain = not self.binary and self.norm is not None
        found = count_hashes(
            X, analysis, self.n_features, bool(self.alternate_sign),
            POWERS[self.norm] if plain else 0, self.dtype,
        )  # fmt: skip
        if self.binary:
            found.data.fill(1)
        if self.norm is not None and not (plain and found.dtype == np.float64):
            found = self._scaled(found)
        return as_configured(found)

    def _scaled(self, X: Any) -> Any:
        """Rows of length one."""
        if X.dtype not in checks.FLOATS:
            return normalize(X, norm=self.norm, copy=False)
        nothing, power = np.empty(0, X.dtype), POWERS[self.norm]
        text_loops.weigh(X.data, X.indices, X.indptr, nothing, False, power)
        return X


class SlowReader:
    """Documents as they are, and how long they were together."""

    def __init__(self, documents: Any) -> None:
        self.documents, self.n_characters = documents, 0

    def __iter__(self) -> Any:
        for document in items_of(self.documents):
            self.n_characters += len(document) if isinstance(document, str | bytes) else 0
            yield document

    def report(self, why: str) -> None:
        """Warn if there was much to read."""
        if self.n_characters >= MUCH_TEXT:
            warn(
                f"Texts were read by Python because of {why}: about ten times slower than the "
                "compiled loop, which serves the default token_pattern and the analyzers word, "
                "char and char_wb."
            )


def as_configured(X: Any) -> Any:
    """A CSR matrix, or array if scikit-learn is set to that."""
    arrays = get_config()["sparse_interface"] == "sparray"
    kind = sp.csr_array if arrays else sp.csr_matrix
    return X if isinstance(X, kind) else kind(X)


def _same(mine: dict[str, Any], others: dict[str, Any]) -> bool:
    return all(np.array_equal(value, others[name]) for name, value in mine.items())


COMMON: dict[str, Any] = {
    "page": "text.md",
    "contract": None,
    "parts": "text",
    "peer_tests": ("feature_extraction/tests/test_text.py",),
}
ROWS = (
    Row("CountVectorizer", warm=Warm(({}, {"stop_words": "english"}), sparse=False), **COMMON),
    Row("HashingVectorizer", warm=Warm(sparse=False), **COMMON),
    Row("TfidfTransformer", **COMMON),
    Row("TfidfVectorizer", warm=Warm(sparse=False), **COMMON),
)
