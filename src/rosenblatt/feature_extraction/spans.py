"""Where the terms of a text are in the text as it was given."""

import re
from collections.abc import Callable, Iterator
from typing import Any

Span = tuple[int, int, str]  # start, stop, term


def spans_in(text: str, vectorizer: Any) -> list[Span]:
    """Start and stop of each term in a text, and what it is called, in the order of the text.

    Nothing is found where the vectorizer has an analyzer of its own.
    """
    if callable(vectorizer.analyzer) or vectorizer.tokenizer is not None:
        return []
    prepare = vectorizer.build_preprocessor()
    least, most = vectorizer.ngram_range
    if vectorizer.analyzer == "word":
        stopped = vectorizer.get_stop_words() or ()
        words = [one for one in _words(text, vectorizer, prepare) if one[2] not in stopped]
        return sorted(_joined(words, least, most))
    pattern = r"(?s).+" if vectorizer.analyzer == "char" else r"\S+"
    padding = "" if vectorizer.analyzer == "char" else " "
    return sorted(
        span
        for found in re.finditer(pattern, text)
        for span in _within(found, prepare, padding, range(least, most + 1))
    )


def _words(text: str, vectorizer: Any, prepare: Callable[[str], str]) -> Iterator[Span]:
    """The words of a text; one that is prepared to several has the place of all of them."""
    tokenize = vectorizer.build_tokenizer()
    for found in re.finditer(vectorizer.token_pattern, text):
        for word in tokenize(prepare(found[0])):
            yield *found.span(), word


def _joined(words: list[Span], least: int, most: int) -> Iterator[Span]:
    """All n-grams of words."""
    for n in range(least, most + 1):
        for i in range(len(words) - n + 1):
            some = words[i : i + n]
            yield some[0][0], some[-1][1], " ".join(word for _, _, word in some)


def _within(
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
