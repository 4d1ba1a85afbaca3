"""Columns of numbers cut into bins."""

from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.information import information_cuts
from rosenblatt.registry.row import Contract, Row


class Discretizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cut columns of numbers into bins with the largest information about the classes.

    The cut that lowers the entropy of the classes most comes first, then the best cut of either
    part, while that shortens the description of the classes [1]_.

    Parameters
    ----------
    strategy : {"information", "quantile", "uniform"}
        Cuts by the classes, or into bins of equally many rows or of equal width.
    max_bins : int
        Largest number of bins of a column; for the other strategies their number, which is smaller
        if many values are equal.
    encode : {"ordinal", "onehot", "thresholds"}
        Whether the result has the number of the bin, an indicator of each bin, or for each cut an
        indicator of values above it.

    Attributes
    ----------
    cuts_ : list of d ndarrays, rising
        Cuts of each column: a value on a cut is in the bin below it.
    n_bins_ : ndarray of shape (d,)
        Number of bins of each column.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import Discretizer
    >>> X, y = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]] * 2, list("aaabbb") * 2
    >>> model = Discretizer(encode="thresholds").fit(X, y)
    >>> model.cuts_[0], model.get_feature_names_out(["size"]).tolist()
    (array([5.]), ['size > 5'])

    References
    ----------
    .. [1] U. Fayyad, K. Irani (1993), Multi-interval discretization of continuous-valued
       attributes for classification learning. *IJCAI*.
    """

    cuts_: list[NDArray[np.float64]]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "strategy": [StrOptions({"information", "quantile", "uniform"})],
        "max_bins": [Interval(Integral, 2, None, closed="left")],
        "encode": [StrOptions({"ordinal", "onehot", "thresholds"})],
    }

    def __init__(
        self, *, strategy: str = "information", max_bins: int = 8, encode: str = "ordinal"
    ) -> None:
        self.strategy = strategy
        self.max_bins = max_bins
        self.encode = encode

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cuts of each column.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or None
            Classes, which the strategy "information" needs.
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        X = validate_data(self, X, dtype=checks.FLOATS)
        weight = checks.scaled_weights(sample_weight, X.shape[0])
        if self.strategy == "information":
            _, codes = checks.labels(y, len(X))
            self.cuts_ = [
                information_cuts(x, codes, max_cuts=self.max_bins - 1, sample_weight=weight)
                for x in X.T
            ]
        else:
            self.cuts_ = [self._even_cuts(x.astype(np.float64), weight) for x in X.T]
        self.n_bins_ = np.array([len(cuts) + 1 for cuts in self.cuts_])
        return self

    def _even_cuts(
        self, x: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return cuts into bins of equal width, or of equal weight."""
        low, high = x[weight > 0].min(), x[weight > 0].max()
        shares = np.arange(1, self.max_bins) / self.max_bins
        if self.strategy == "uniform":
            cuts = 2 * (low / 2 + (high / 2 - low / 2) * shares)  # high - low may overflow
        else:
            order = np.argsort(x, kind="stable")
            below = np.cumsum(weight[order])
            cuts = x[order][np.searchsorted(below, shares * below[-1])]
        cuts = np.unique(cuts)
        return np.asarray(cuts[(cuts >= low) & (cuts < high)])

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the bins of the rows, encoded according to `encode`, in the precision of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=checks.FLOATS, reset=False)
        pairs = list(zip(self.cuts_, X.T, strict=True))
        if self.encode == "thresholds":
            parts = [x[:, np.newaxis] > cuts for cuts, x in pairs]
        else:
            parts = [np.searchsorted(cuts, x)[:, np.newaxis] for cuts, x in pairs]
        if self.encode == "onehot":
            parts = [p == np.arange(m) for p, m in zip(parts, self.n_bins_, strict=True)]
        return np.hstack(parts).astype(X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the new columns, such as ``"size > 5"`` of a threshold.

        Parameters
        ----------
        input_features : array-like of shape (d,) or None
            Names of the columns.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.encode == "ordinal":
            return np.asarray(names, object)
        made: list[str] = []
        for name, cuts in zip(names, self.cuts_, strict=True):
            made += _names(str(name), cuts, self.encode)
        return np.array(made, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.strategy == "information"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _names(name: str, cuts: NDArray[np.float64], encode: str) -> list[str]:
    """Return the names of the columns that encode one column."""
    if encode == "thresholds":
        return [f"{name} > {cut:.6g}" for cut in cuts]
    if not len(cuts):
        return [name]
    inner = [f"{a:.6g} < {name} <= {b:.6g}" for a, b in pairwise(cuts)]
    return [f"{name} <= {cuts[0]:.6g}", *inner, f"{name} > {cuts[-1]:.6g}"]


ROW = Row(
    "Discretizer",
    page="rules.md",
    contract=Contract(
        settings=(
            {},
            {"strategy": "quantile", "max_bins": 4, "encode": "onehot"},
            {"strategy": "uniform", "encode": "thresholds"},
        ),
        checked=({}, {"strategy": "quantile", "max_bins": 4, "encode": "onehot"}),
    ),
    warm=None,
)
