"""Which estimators follow from statistics, and how."""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.preprocessing._data import _handle_zeros_in_scale, _is_constant_feature
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _is_arraylike, _num_samples

from rosenblatt.capabilities import is_additive_model, path_parameters
from rosenblatt.statistics import Gram, Moments


def is_additive(estimator: Any) -> bool:
    """Whether an estimator is an additive model, alone or after a scaler."""
    steps = plain_steps(estimator)
    return bool(steps) and is_additive_model(steps[-1])


def plain_steps(estimator: Any) -> list[Any]:
    """The steps of a pipeline that does nothing but call them; an estimator is its own one step."""
    if _heard(estimator):
        return []
    if type(estimator) is not Pipeline:
        return [estimator]
    if estimator.memory is not None or estimator.transform_input is not None or estimator.verbose:
        return []
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    return [] if estimator.steps[-1][1] not in steps or any(map(_heard, steps)) else steps


def _heard(estimator: Any) -> bool:
    """Whether callbacks wait for a fit."""
    return bool(getattr(estimator, "_skl_callbacks", None))


@dataclass(frozen=True, eq=False)
class Measurement:
    """What is measured of rows: a model's statistic, under some weights."""

    model: Any
    weights: Any

    @property
    def additive(self) -> bool:
        """Whether the model follows from its statistic by itself, not along a path alone."""
        return is_additive_model(self.model)

    def serves(self, model: Any, weights: Any) -> bool:
        """Whether another model's statistic is the same."""
        if type(model) is not type(self.model) or weights is not self.weights:
            return False
        names = model.measured_by
        if names is None:
            names = tuple(type(model)._get_param_names())
        return all(_same(getattr(self.model, name), getattr(model, name)) for name in names)


def _same(a: Any, b: Any) -> bool:
    """Whether two values of a parameter are equal for certain."""
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(np.array_equal(a, b))
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True, eq=False)
class Recipe:
    """How an estimator follows from statistics of its training rows."""

    estimator: Any  # not fitted
    model: Any  # the last step of it
    sources: tuple[int, ...]  # the measurements for the model, and for the scaler if there is one
    additive: bool  # whether the model follows from its statistic by itself, not along a path alone

    @classmethod
    def of(
        cls, estimator: Any, X: Any, fit_params: Any, measurements: list[Measurement]
    ) -> Self | None:
        """The recipe, with what it has to be measured added to a list; None if there is none."""
        steps, additive = plain_steps(estimator), is_additive(estimator)
        if not steps or len(steps) > (2 if additive else _measures_a_path(steps[-1])):
            return None
        weights = _weights_by_step(estimator, fit_params, _num_samples(X))
        if weights is None or (
            len(steps) == 2 and not can_follow(steps[0], X, weights[0] is not None)
        ):
            return None
        model = steps[-1]
        sources = tuple(_find(measurements, model, w) for w in reversed(weights))
        return cls(estimator, model, sources, additive)

    def fitted(self, statistics: list[Any]) -> Any | None:
        """The estimator as if fitted to the rows of statistics; None if they do not say."""
        # They do not when there are no rows, and when a model wants to see the rows themselves.
        if not self._suffice(statistics):
            return None
        if not self.additive:
            return self._along(statistics[0])
        estimator = clone(self.estimator)
        *scalers, model = plain_steps(estimator)
        try:
            statistic, _ = _scaled(scalers, statistics)
            model.fit_statistics(statistic)
        except Exception:
            return None
        return None if model.needs_rows() else estimator

    def _along(self, statistic: Any) -> Any | None:
        """The model as the one of a path, if the statistic says as much as the rows."""
        if not getattr(statistic, "can_refit", False):
            return None
        (name, *_) = self.model.path_parameters()
        try:
            return self.model.fit_path(statistic, name, [getattr(self.model, name)])[0]
        except Exception:
            return None

    def path(
        self, parameter: str, values: list[Any], statistics: list[Any], test: Any
    ) -> tuple[Any, Any]:
        """The path over values of a parameter, and the statistic of test rows behind the scaler."""
        # Both are None if the statistics do not say.
        if not self._suffice(statistics):
            return None, None
        *scalers, model = plain_steps(clone(self.estimator))
        training, test = _scaled(scalers, statistics, test)
        return model.fit_path(training, parameter, values), test

    def _suffice(self, statistics: list[Any]) -> bool:
        """Whether the statistics of the model and of its scaler say enough."""
        if statistics[0] is None:
            return False
        return len(statistics) == 1 or all(map(can_be_scaled, statistics))


def _scaled(scalers: list[Any], statistics: list[Any], test: Any = None) -> tuple[Any, Any]:
    """The statistics of training and test rows after the scalers, which are fitted."""
    training, *others = statistics
    for scaler, known in zip(scalers, others, strict=True):
        shift, scale = fit_scaler(scaler, known)
        training = scaled(training, shift, scale)
        test = None if test is None else scaled(test, shift, scale)
    return training, test


def _measures_a_path(model: Any) -> bool:
    """Whether the path of a model that is not additive follows from sums of statistics."""
    return hasattr(model, "measure_groups") and bool(path_parameters(model))


def _find(measurements: list[Measurement], model: Any, weights: Any) -> int:
    """The place of a measurement in a list, at the end if it is new."""
    for i, measurement in enumerate(measurements):
        if measurement.serves(model, weights):
            return i
    measurements.append(Measurement(clone(model), weights))
    return len(measurements) - 1


def _weights_by_step(estimator: Any, fit_params: Any, n_rows: int) -> list[Any] | None:
    """The weights that each step is given; None if anything else is given to one."""
    fit_params = dict(fit_params or {})
    if type(estimator) is not Pipeline:
        given = [fit_params]
    else:
        routed = estimator._check_method_params(method="fit", props=fit_params)
        names = [name for name, step in estimator.steps if step not in (None, "passthrough")]
        methods = ["fit_transform"] * (len(names) - 1) + ["fit"]
        given = [dict(routed[name][how]) for name, how in zip(names, methods, strict=True)]
    weights = [params.pop("sample_weight", None) for params in given]
    if any(given) or not all(w is None or _one_a_row(w, n_rows) for w in weights):
        return None
    return weights


def _one_a_row(weights: Any, n_rows: int) -> bool:
    return bool(_is_arraylike(weights)) and _num_samples(weights) == n_rows


# Scalers from statistics, and statistics of scaled rows: no row is read for either.


Scaled = TypeVar("Scaled", Moments, Gram)


def can_follow(scaler: Any, X: Any, weighted: bool) -> bool:
    """Whether a scaler is an affine map that the moments of rows imply."""
    if _get_output_config("transform", scaler)["dense"] != "default":
        return False  # the model would see a data frame
    # The standardizer of our own, which is an additive model itself, has other methods, too.
    if type(scaler) is not StandardScaler and not (
        is_additive_model(scaler)
        and getattr(scaler, "method", None) == "z-score"
        and getattr(scaler, "missing", None) == "refuse"
    ):
        return False
    if sp.issparse(X) and scaler.with_mean:
        return False  # an error, which fitting will raise
    return bool(scaler.with_mean or scaler.with_std or not weighted)


def can_be_scaled(statistic: Any) -> bool:
    """Whether a statistic says what it would be for scaled rows, to the last few digits."""
    # Scaled rows of 32 bits are rounded to 32 bits, which no statistic of the rows knows.
    if type(statistic) not in (Gram, Moments) or statistic.dtype != np.float64:
        return False
    return type(statistic) is Gram or statistic.missing == "refuse"


def fit_scaler(scaler: Any, statistic: Moments | Gram) -> tuple[Any, Any]:
    """Fit a scaler to the rows that a statistic is of; return its shift and scale."""
    moments = statistic.features() if isinstance(statistic, Gram) else statistic
    together = moments.diagonal().total()
    if is_additive_model(scaler):
        scaler.fit_statistics(together)
    else:
        _fit_standard_scaler(scaler, together)
    shift = scaler.mean_ if scaler.with_mean else 0.0
    return shift, scaler.scale_ if scaler.with_std else 1.0


def _fit_standard_scaler(scaler: Any, moments: Moments) -> None:
    """What scikit-learn's scaler sets when it is fitted to the rows that moments are of."""
    scaler._validate_params()
    scaler.n_features_in_ = moments.n_features
    if moments.feature_names is not None:
        scaler.feature_names_in_ = np.array(moments.feature_names, dtype=object)
    learns = scaler.with_mean or scaler.with_std
    scaler.n_samples_seen_ = moments.weight[0] if learns else moments.rows[0]
    mean, variance = moments.mean[0].copy(), moments.scatter[0] / moments.weight[0]
    scaler.mean_ = mean if learns else None
    scaler.var_ = scaler.scale_ = None
    if scaler.with_std:
        constant = _is_constant_feature(variance, mean, scaler.n_samples_seen_)
        scaler.var_ = variance
        scaler.scale_ = _handle_zeros_in_scale(np.sqrt(variance), constant_mask=constant)


def scaled(statistic: Scaled, shift: Any, scale: Any) -> Scaled:
    """The statistic of scaled rows, whose columns have lost their names."""
    return replace(statistic.rescaled(shift, scale), feature_names=None)
