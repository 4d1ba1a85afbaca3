"""Fitting a model to a source, by the way that suits it."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from rosenblatt.capabilities import is_additive_model
from rosenblatt.data.source import Source
from rosenblatt.registry import ESTIMATORS, ROWS, row_of

from .passes import PartRows, Passes, Progress
from .sums import merged


def fit(
    model: Any,
    source: Source,
    client: Any = None,
    *,
    checkpoint: Any = None,
    progress: Callable[[Progress], None] | bool | None = None,
) -> Any:
    """Fit a model to all rows of a source, part by part; return the fitted model.

    Counts are those of a fit in memory to the bit, moments to rounding; convex models reach the
    same optimum, and `dual_gap_` is certified over all parts. Parts are merged in their own order,
    so that any number of workers gives the same bits. `docs/scale.md` describes each way.

    Parameters
    ----------
    model : an estimator that has a way by parts, or a pipeline of such; it is cloned.
    source : a `rosenblatt.data.Source`.
    client : None for this process, a `concurrent.futures` executor, or a Dask `Client`.
    checkpoint : a folder in which finished parts are kept; a fit that was killed goes on from there
        to the same bits.
    progress : called with a `Progress` after each part; True prints it.

    Examples
    --------
    >>> import tempfile, polars
    >>> from rosenblatt import GaussianNB
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import fit
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = polars.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", "b", "b"]})
    >>> table.write_parquet(folder.name + "/1.parquet")
    >>> model = fit(GaussianNB(), Source(folder.name, target="y", rows_per_part=2))
    >>> model.theta_.ravel()
    array([1.5, 8.5])
    >>> folder.cleanup()
    """
    way = way_of(model)
    if not hasattr(source, "parts"):
        raise TypeError(
            f"source must be a rosenblatt.data.Source; got {type(source).__name__}: make one with "
            "Source(place, target=...)."
        )
    if way == "pipelines":
        how: Any = {"client": client, "checkpoint": checkpoint, "progress": progress}
        return _fit_pipeline(clone(model), source, **how)
    module = None if way == "sums" else import_module(f".{way}", __package__)
    if module is not None and not getattr(module, "ONE_PASS", False):
        source.check_repeats(type(model).__name__)
    fitted = clone(model)
    fitted._validate_params()
    passes = Passes(fitted, source, client, checkpoint, progress)
    return _fit_sums(fitted, passes) if module is None else module.fit_parts(fitted, passes)


def fit_stream(model: Any, source: Source, **options: Any) -> Any:
    """Fit a model to a source larger than memory, in this process; options as for `fit`.

    Examples
    --------
    >>> import tempfile, polars
    >>> from rosenblatt import Ridge
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import fit_stream
    >>> table = polars.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_csv(folder + "/a.csv")
    ...     fit_stream(Ridge(alpha=0.0), Source(folder, target="y")).coef_.round(6)
    array([2.])
    """
    return fit(model, source, None, **options)


def way_of(model: Any) -> str:
    """Return how a model is fitted by parts, the cell of its row; others are refused with the list.

    >>> from rosenblatt import KMeans, Ridge
    >>> way_of(Ridge()), way_of(KMeans())
    ('sums', 'kmeans')
    """
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            if step not in (None, "passthrough"):
                way_of(step)
        return "pipelines"
    name = type(model).__name__
    way = row_of(name).way if name in ESTIMATORS else ""
    if way and (way != "sums" or is_additive_model(model)):
        return way
    able = ", ".join(row.name for row in ROWS if row.way)
    raise TypeError(f"{name} is not fitted by parts. Those that are: {able}.")


def _fit_sums(model: Any, passes: Passes) -> Any:
    """A model that follows from the sum of statistics: one pass."""
    model.fit_statistics(passes.total(measure_additive, model))
    model.report_warnings()
    return model


def measure_additive(rows: PartRows, model: Any) -> Any:
    """The statistic of one part, read in batches; None if it has no rows."""
    return merged(model.measure(X, y) for X, y in rows)


# Pipelines: each step is fitted by parts to what the steps before make of them.


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
        if _reads_text(self.steps[0]):
            X = X.to_series()
        for step in self.steps:
            X = step.transform(X)
        return X


def _reads_text(step: Any) -> bool:
    tags = get_tags(step).input_tags
    return tags.string and not tags.two_d_array


def _fit_pipeline(model: Pipeline, source: Any, checkpoint: Any, **how: Any) -> Any:
    """Fit each step by the way it has."""
    steps = [(name, step) for name, step in model.steps if step not in (None, "passthrough")]
    if sum(get_tags(step).requires_fit for _, step in steps) > 1:
        source.check_repeats("A pipeline whose steps learn one after the other")
    fitted: list[tuple[str, Any]] = []
    for name, step in steps:
        seen: Any = TransformedSource(source, [one for _, one in fitted]) if fitted else source
        kept = None if checkpoint is None else Path(checkpoint) / name
        fitted.append((name, fit(step, seen, checkpoint=kept, **how)))
    return Pipeline(fitted)
