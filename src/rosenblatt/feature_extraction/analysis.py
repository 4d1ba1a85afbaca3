"""How texts are cut into terms: by the compiled loops, and where a text has each term."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from rosenblatt.term_table import NO_TERMS, TermTable

from . import text_loops
from .documents import Batch, Reading, batches, is_ascii

WORD = r"(?u)\b\w\w+\b"  # the only pattern that is compiled
ANALYZERS = ("word", "char", "char_wb")  # in the order of the loops' numbers
N_CHARACTERS = 0x110000
CHARACTERS_AT_A_TIME = 2**14

Span = tuple[int, int, str]  # start, stop, term

# Methods that a subclass may have replaced: then Python calls the subclass.
OWN = ("build_analyzer", "build_tokenizer", "build_preprocessor", "decode", "get_stop_words")


class Analysis(NamedTuple):
    """What a vectorizer's parameters ask of texts."""

    reading: Reading
    of: int  # what the pieces are
    least: int  # pieces of a term
    most: int
    stopped: TermTable


def analysis_of(vectorizer: Any) -> Analysis | None:
    """The analysis of a vectorizer's parameters; None if it takes Python."""
    if why_python(vectorizer):
        return None
    least, most = vectorizer.ngram_range
    simple = vectorizer.preprocessor is None and vectorizer.strip_accents is None
    reading = Reading(
        vectorizer.decode,
        None if simple else vectorizer.build_preprocessor(),
        simple and vectorizer.lowercase,
        vectorizer.preprocessor is not None,
        vectorizer.input != "content",
    )
    words = vectorizer.get_stop_words() if vectorizer.analyzer == "word" else None
    stopped = TermTable.of(sorted(words)) if words else NO_TERMS
    return Analysis(reading, ANALYZERS.index(vectorizer.analyzer), least, most, stopped)


def why_python(vectorizer: Any) -> str:
    """Which parameter asks for what is not compiled; empty if none does."""
    kind = type(vectorizer)
    replaced = [name for name in OWN if getattr(kind, name) is not getattr(CountVectorizer, name)]
    if replaced:
        return f"the method {replaced[0]}"
    if callable(vectorizer.analyzer):
        return "a callable analyzer"
    if vectorizer.analyzer == "word" and vectorizer.tokenizer is not None:
        return "a tokenizer"
    if vectorizer.analyzer == "word" and vectorizer.token_pattern != WORD:
        return "token_pattern"
    if not all(isinstance(n, int) and n >= 1 for n in vectorizer.ngram_range):
        return "ngram_range"
    return ""


@cache
def _written(analyzer: int, lowercase: bool) -> NDArray[np.uint8]:
    """ASCII bytes (128,) as they are written; 0 between words, if words are looked for."""
    text = "".join(map(chr, range(128)))
    fold = np.frombuffer((text.lower() if lowercase else text).encode(), np.uint8).copy()
    if analyzer == text_loops.WORDS:
        fold[kinds_of(128) & text_loops.IS_WORD == 0] = 0
    return fold


@cache
def kinds_of(n_characters: int) -> NDArray[np.uint8]:
    """What each of the first characters of Unicode is: of a word, a space, or neither."""
    kinds = np.zeros(n_characters, np.uint8)
    for first in range(0, n_characters, CHARACTERS_AT_A_TIME):  # all at once took 100 MB
        some = kinds[first : first + CHARACTERS_AT_A_TIME]
        text = "".join(map(chr, range(first, first + len(some))))
        for pattern, bit in ((r"\w+", text_loops.IS_WORD), (r"\s+", text_loops.IS_SPACE)):
            for found in re.finditer(pattern, text):
                some[found.start() : found.end()] |= bit
    return kinds


class Scratch:
    """Room for the pieces and terms of any document of a batch, used again for the next."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self._room = analysis, -1

    def for_batch(self, batch: Batch) -> tuple[Any, ...]:
        """What `find_terms` reads and writes beside the documents."""
        analysis = self.analysis
        kinds = kinds_of(128 if is_ascii(batch) else N_CHARACTERS)
        fold = _written(analysis.of, analysis.reading.lowercase)
        longest = int(np.diff(batch.limits).max(initial=0))
        if longest > self._room:
            self._make_room(2 * longest if self._room >= 0 else longest)
        rules = (analysis.of, analysis.least, analysis.most, fold, kinds)
        return rules, self.pieces, self.terms, self.ends, analysis.stopped.arrays

    def _make_room(self, longest: int) -> None:
        """For documents of so many bytes."""
        from .text_loops import BLOCK

        words = self.analysis.of == text_loops.WORDS
        n_pieces = longest // 2 + 2 + text_loops.USUAL_WORDS if words else 2 * longest + 4
        self.pieces = (
            np.empty(2 * longest + 4 + BLOCK, np.uint8),
            np.empty(n_pieces, np.int64),
            np.empty(n_pieces, np.int64),
        )
        n_terms = n_pieces * (self.analysis.most - self.analysis.least + 1)
        self.terms = np.empty(n_terms, np.int64), np.empty(n_terms, np.int64)
        self.found = np.empty(n_terms, np.uint64), np.empty(n_terms, np.int64)
        self.tails = np.empty(n_terms, np.uint64)
        self.ends = np.empty(1 if words else longest + 2, np.int64)
        self._room = longest

    def most_terms(self, batch: Batch) -> int:
        """How many terms the documents of a batch can have together."""
        n_bytes, n = int(batch.limits[-1] - batch.limits[0]), len(batch.limits)
        words = self.analysis.of == text_loops.WORDS
        n_pieces = (n_bytes + n) // 2 + 2 * n if words else 2 * n_bytes + 4 * n
        return n_pieces * (self.analysis.most - self.analysis.least + 1)


def tokens(text: bytes, lowercase: bool = True) -> list[bytes]:
    """The words of UTF-8 bytes, of two letters or more, as the default analyzer finds them.

    >>> tokens(b"To be, or not 2 be")
    [b'to', b'be', b'or', b'not', b'be']
    """
    reading = Reading(bytes.decode, None, lowercase)
    [batch] = batches([text], reading)
    analysis = Analysis(reading, text_loops.WORDS, 1, 1, NO_TERMS)
    scan = Scratch(analysis).for_batch(batch)
    n = text_loops.find_terms(batch.text, *batch.limits, scan)
    clean, (starts, stops) = scan[1][0].tobytes(), scan[2]
    return [clean[a:b] for a, b in zip(starts[:n].tolist(), stops[:n].tolist(), strict=True)]


def spans_of_terms(text: str, vectorizer: Any) -> list[Span]:
    """Start, stop and term of each term in a text as it was given, in the order of the text.

    The list is empty if the vectorizer has a callable analyzer or a tokenizer.
    """
    if callable(vectorizer.analyzer) or vectorizer.tokenizer is not None:
        return []
    prepare = vectorizer.build_preprocessor()
    least, most = vectorizer.ngram_range
    if vectorizer.analyzer == "word":
        stopped = vectorizer.get_stop_words() or ()
        words = [one for one in _words(text, vectorizer, prepare) if one[2] not in stopped]
        return sorted(_word_ngrams(words, least, most))
    pattern = r"(?s).+" if vectorizer.analyzer == "char" else r"\S+"
    padding = "" if vectorizer.analyzer == "char" else " "
    return sorted(
        span
        for found in re.finditer(pattern, text)
        for span in _character_ngrams(found, prepare, padding, range(least, most + 1))
    )


def _words(text: str, vectorizer: Any, prepare: Callable[[str], str]) -> Iterator[Span]:
    """The words of a text; one that is prepared to several has the place of all of them."""
    tokenize, whole = vectorizer.build_tokenizer(), prepare(text)
    alike = len(whole) == len(text)  # so that places are the same in both
    for found in re.finditer(vectorizer.token_pattern, whole if alike else text):
        for word in tokenize(found[0] if alike else prepare(found[0])):
            yield *found.span(), word


def _word_ngrams(words: list[Span], least: int, most: int) -> Iterator[Span]:
    """All n-grams of words."""
    for n in range(least, most + 1):
        for i in range(len(words) - n + 1):
            some = words[i : i + n]
            yield some[0][0], some[-1][1], " ".join(word for _, _, word in some)


def _character_ngrams(
    found: re.Match[str], prepare: Callable[[str], str], padding: str, lengths: range
) -> Iterator[Span]:
    """All n-grams of the characters of a match, with padding around them."""
    piece, before = padding + found[0] + padding, len(padding)
    for n in lengths:
        for i in range(max(len(piece) - n, 0) + 1):
            start, stop = found.start() + i - before, found.start() + i - before + n
            yield max(start, found.start()), min(stop, found.end()), prepare(piece[i : i + n])
        if len(piece) <= n:
            break
