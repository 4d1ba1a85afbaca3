"""Pipelines over a source: each step is fitted by parts to what the steps before make of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from rosenblatt.data.source import Source

VECTORIZERS = ("CountVectorizer", "HashingVectorizer", "TfidfVectorizer")


class TransformedSource:
    """The features of a source as fitted steps make them."""

    named = False

    def __init__(self, source: Source, steps: list[Any]) -> None:
        self.source, self.steps = source, steps
        self.place, self.target, self.bad = source.place, source.target, source.bad
        self.listed, self.check_repeats = source.listed, source.check_repeats
        first = self._made(source.look())
        self.sparse, self.columns = sp.issparse(first), range(first.shape[1])

    def parts(self) -> Iterable[Any]:
        """The parts of the source."""
        return self.source.parts()

    def read(self, part: Any) -> Iterator[tuple[Any, Any]]:
        """Features and targets of a part, in batches."""
        for X, y in self.source.read(part):
            yield self._made(X), y

    def _made(self, X: Any) -> Any:
        if type(self.steps[0]).__name__ in VECTORIZERS:
            X = X.to_series()
        for step in self.steps:
            X = step.transform(X)
        return X


def fit_pipeline(model: Pipeline, source: Source, fit: Any, checkpoint: Any, **how: Any) -> Any:
    """Fit each step by the way it has."""
    steps = [(name, step) for name, step in model.steps if step not in (None, "passthrough")]
    if sum(type(step).__name__ != "HashingVectorizer" for _, step in steps) > 1:
        source.check_repeats("A pipeline whose steps learn one after the other")
    fitted: list[tuple[str, Any]] = []
    for name, step in steps:
        seen = TransformedSource(source, [one for _, one in fitted]) if fitted else source
        kept = None if checkpoint is None else Path(checkpoint) / name
        fitted.append((name, fit(step, seen, checkpoint=kept, **how)))
    return Pipeline(fitted)
