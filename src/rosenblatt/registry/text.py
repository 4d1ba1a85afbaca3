"""Vectorizers: from texts to rows of numbers."""

from typing import Any

from .row import Row, Warm, Without

NOTHING_PROVED = Without("it predicts nothing that could be proved; certify reads its output")
BY_DOCUMENTS = Without("merge and forget take documents, where additive models take rows")
NOTHING_LEARNED = Without("nothing is learned that could be added")

SHARED: dict[str, Any] = {  # cells of all rows
    "task": "transformation",
    "verifier": NOTHING_PROVED,
    "sklearn": NOTHING_PROVED,
    "path": Without("it has no penalty or number of steps to follow"),
    "trace": Without("it counts in one pass: no state moves"),
    "contract": Without("the contract's tables hold numbers; tests of its own hold texts"),
    "contestants": Without("compare tries models; this stands before one"),
    "page": "text.md",
    "parts": "text",
}

ROWS = (
    Row(
        name="CountVectorizer",
        module="feature_extraction.text",
        **SHARED,
        inputs=("text",),
        additive=BY_DOCUMENTS,
        warm=Warm(({}, {"stop_words": "english"}), sparse=False),
        file_types=("statistics.terms.TermCounts",),
        benchmark="CountVectorizer, 100k documents x 200 words",
    ),
    Row(
        name="HashingVectorizer",
        module="feature_extraction.text",
        **SHARED,
        inputs=("text",),
        additive=NOTHING_LEARNED,
        warm=Warm(sparse=False),
        file_types=(),
        benchmark="HashingVectorizer, 100k documents x 200 words",
    ),
    Row(
        name="TfidfTransformer",
        module="feature_extraction.text",
        **SHARED,
        inputs=("dense", "sparse"),
        additive=Without("its counts of documents are those of the vectorizer before it"),
        warm=Warm(),
        file_types=(),
        benchmark=Without("TfidfVectorizer's scenario times it, with the counting before it"),
    ),
    Row(
        name="TfidfVectorizer",
        module="feature_extraction.text",
        **SHARED,
        inputs=("text",),
        additive=BY_DOCUMENTS,
        warm=Warm(sparse=False),
        file_types=("feature_extraction.text.TfidfTransformer", "statistics.terms.TermCounts"),
        benchmark="TfidfVectorizer, 100k documents x 200 words",
    ),
)
