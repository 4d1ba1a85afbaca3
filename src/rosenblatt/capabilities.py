"""Three protocols of models that other parts of the package use.

- *additive*: the model follows from a statistic of its data that has ``+`` and ``-``;
- *path*: the models at many values of one parameter take about the time of one fit;
- *trace view*: the model names the states that traces and plots draw.

``docs/capabilities.md`` describes each with an example. A model, of this package or another, has a
capability if it has the methods; nothing is registered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class AdditiveModel(Protocol):
    """A model that follows from an additive statistic."""

    statistics_: Any  # has + and -; raw, never smoothed
    measured_by: tuple[str, ...] | None  # parameters the statistic depends on; None: perhaps all
    simpler_when_larger: tuple[str, ...]  # parameters that decide between models that score alike

    # `rosenblatt.additive.Additive` describes these methods.
    @classmethod
    def from_statistics(cls, statistics: Any, **parameters: Any) -> Self: ...
    def partial_fit(self, X: Any, y: Any) -> Self: ...
    def merge(self, other: Self) -> Self: ...
    def forget(self, X: Any, y: Any) -> Self: ...
    def measure(self, X: Any, y: Any, sample_weight: Any = None) -> Any: ...
    def measure_groups(self, X: Any, y: Any, weights: Any, groups: Any, n_groups: int) -> Any: ...
    def fit_statistics(self, statistics: Any) -> Self: ...
    def needs_rows(self) -> bool: ...
    def report_warnings(self) -> None: ...


class Path(Protocol):
    """The fitted models at some values of one parameter, in the order of the values."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> Any:
        """Return the fitted model at value i."""

    def predict(self, X: Any) -> Any:
        """Return the predictions of all models, one row or array for each."""


class PathModel(Protocol):
    """A model whose fits at many values of a parameter share their work."""

    def path_parameters(self) -> tuple[str, ...]:
        """Return the parameters that a model with these settings has a path over."""

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> Path:
        """Fit at each value; `data` is ``(X, y)``, ``(X, y, sample_weight)`` or a statistic."""


class TracedModel(Protocol):
    """A model that names the states that traces and plots draw."""

    def trace_view(self) -> Mapping[str, Any]:
        """Return what there is of these, by name.

        - ``weights`` (K, d) and ``intercept`` (K,); ``linear`` if they alone give the scores
        - ``last_weights``, ``last_intercept`` of the run, and what is ``published`` in their place
        - ``supports`` (m,), the rows that count, and ``support_weights`` (K, m); ``kernel``, a
          function of rows X (n, d) and some of the m places: kernel values (places, n)
        - ``ties``, ``decide`` and ``margins``, if the highest score decides: who gets a tie, the
          winning classes by scores, and the margins by scores and classes
        - ``splits`` (m, 3) of a tree: column, threshold and depth; ``votes``, the trees of a forest
        - ``centres`` (K, d), ``spreads`` and ``shares`` of clusters or mixture components
        - ``row_weights`` (n,), of the training rows in the last round of boosting
        - ``loss`` and ``held_out_loss`` of boosting, after each round
        - ``kept_start``, the number of the start that a fit with several kept
        - ``unit``, what a step adds, if it is no pass over the data, and ``news``, the last of them
          in words
        """


class ModelPath:
    """A path as a list of fitted models."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = list(models)

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, i: int) -> Any:
        return self.models[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of all models: shape (len, n), or (len, n, t) for t targets."""
        return np.stack([model.predict(X) for model in self.models])


def is_additive_model(model: Any) -> bool:
    """Return whether fitting a model is measuring its rows, so that statistics replace fits."""
    return hasattr(model, "fit_statistics") and _fits_as(model, "fit_statistics")


def path_parameters(model: Any) -> tuple[str, ...]:
    """Return the parameters that a model has a path over; none if it has no such capability."""
    if not hasattr(model, "fit_path") or not _fits_as(model, "fit_path"):
        return ()
    return tuple(model.path_parameters())


STATES = {
    "weights": "coef_",
    "intercept": "intercept_",
    "supports": "support_",
    "support_weights": "dual_coef_",
}  # in scikit-learn's attributes


def trace_view(model: Any) -> Mapping[str, Any]:
    """Return the states of a model by name, from scikit-learn's attributes if it names none."""
    if hasattr(model, "trace_view"):
        view: Mapping[str, Any] = model.trace_view()
        return view
    view = {name: getattr(model, at) for name, at in STATES.items() if hasattr(model, at)}
    return view | ({"weights": planes_of(view["weights"])} if "weights" in view else {})


def planes_of(coef: Any) -> NDArray[Any]:
    """Return weights (d,) or (K, d), dense or sparse, as an array (K, d)."""
    return np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)


def _fits_as(model: Any, method: str) -> bool:
    """Return whether `fit` is from the package of another method, not of a subclass elsewhere."""
    fit, other = (getattr(type(model), name).__module__ for name in ("fit", method))
    return str(fit).partition(".")[0] == str(other).partition(".")[0]


def rows_of(data: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return X, y and the weights of the rows that `fit_path` was given; None for no weights."""
    X, y, *weights = data
    return X, y, weights[0] if weights else None
