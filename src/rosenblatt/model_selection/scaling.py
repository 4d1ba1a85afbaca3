"""Scalers from statistics, and statistics of scaled rows: no row is read for either."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler
from sklearn.preprocessing._data import _handle_zeros_in_scale, _is_constant_feature
from sklearn.utils._set_output import _get_output_config

from rosenblatt.additive import Additive
from rosenblatt.statistics import Gram, Moments

Scaled = TypeVar("Scaled", Moments, Gram)


def can_follow(scaler: Any, X: Any, weighted: bool) -> bool:
    """Whether a scaler is an affine map that the moments of rows imply."""
    if _get_output_config("transform", scaler)["dense"] != "default":
        return False  # the model would see a data frame
    # The standardizer of our own, which is an additive model itself, has other methods, too.
    if type(scaler) is not StandardScaler and not (
        isinstance(scaler, Additive)
        and getattr(scaler, "method", None) == "z-score"
        and getattr(scaler, "missing", None) == "refuse"
    ):
        return False
    if sp.issparse(X) and scaler.with_mean:
        return False  # an error, which fitting will raise
    return bool(scaler.with_mean or scaler.with_std or not weighted)


def can_be_scaled(statistic: Any) -> bool:
    """Whether a statistic says what it would be for scaled rows, to the last few digits.

    Scaled rows of 32 bits are rounded to 32 bits, which no statistic of the rows themselves knows.
    """
    if type(statistic) not in (Gram, Moments) or statistic.dtype != np.float64:
        return False
    return type(statistic) is Gram or statistic.missing == "refuse"


def fit_scaler(scaler: Any, statistic: Moments | Gram) -> tuple[Any, Any]:
    """Fit a scaler to the rows that a statistic is of; return its shift and scale."""
    moments = statistic.features() if isinstance(statistic, Gram) else statistic
    together = moments.diagonal().total()
    if isinstance(scaler, Additive):
        scaler._become(together)
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
