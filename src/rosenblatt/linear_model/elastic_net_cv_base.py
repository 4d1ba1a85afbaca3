"""Penalties chosen by cross-validation: what `LassoCV` and `ElasticNetCV` share."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)

from rosenblatt.base import LinearRegressor, all_or_nothing, warn
from rosenblatt.runtime.blas import one_blas_thread

from .elastic_net_base import warn_of_scales
from .gram_problem import Folds, Squares, training_squares
from .lasso_fit import Path, Rows, alpha_grid, check_rows, follow, given_alphas
from .penalty_search import ROUNDS, WORTH_A_DECADE, decades, search

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """The errors (A, F) on the held-out rows of each fold, for penalties (A,), falling."""

    alphas: Array
    errors: Array

    @property
    def best(self) -> int:
        """The place of the least error, mean over the folds."""
        return int(self.errors.mean(axis=1).argmin())


class PenalisedRegressorCV(LinearRegressor):
    """A lasso or elastic net whose penalty is chosen by the squared error on held-out rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eps": [Interval(Real, 0, None, closed="neither")],
        "alphas": [
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            StrOptions({"decades"}),
        ],
        "fit_intercept": ["boolean"],
        "precompute": [StrOptions({"auto"}), "array-like", "boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "copy_X": ["boolean"],
        "cv": ["cv_object"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "selection": [StrOptions({"cyclic", "random"})],
    }

    eps: float
    alphas: Any
    fit_intercept: bool
    precompute: Any
    max_iter: int
    tol: float
    cv: Any
    positive: bool
    random_state: Any
    selection: str

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit the model with it to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            The rows' weights, in fits and in errors; folds count alike whatever they weigh.
        params : dict
            For the splitter, with scikit-learn's metadata routing.
        """
        _raise_for_params(params, self, "fit")
        self._validate_params()
        rows = self._check(X, y, sample_weight)
        folds = self._folds(rows, sample_weight, params)
        ratios = np.atleast_1d(self._l1_ratios())
        with one_blas_thread():
            everything = Squares.of(
                rows.X, rows.targets, rows.weights, fit_intercept=self.fit_intercept, path=True
            )
            grids = [self._grid(everything, float(ratio)) for ratio in ratios]
            held_out = _HeldOut(self, rows, folds)
            look = held_out.searched if isinstance(self.alphas, str) else held_out.curve
            curves = [look(grid, float(ratio)) for grid, ratio in zip(grids, ratios, strict=True)]
        if held_out.shortfall:
            warn(held_out.shortfall, ConvergenceWarning)
        winner = self._publish(curves, ratios)
        self._warn_of_edge(curves[winner], everything.largest_alpha(1.0, self.positive))
        self._refit(everything, rows)
        return self

    def _l1_ratios(self) -> Any:
        """The shares of the absolute weights to try."""
        return 1.0

    def _model(self) -> Any:
        """The estimator of the chosen parameters, which fits all rows."""
        raise NotImplementedError

    def _of_each_fit(self) -> dict[str, Any]:
        """The parameters of a fit beside its penalty."""
        names = ("fit_intercept", "max_iter", "tol", "positive", "random_state", "selection")
        return {name: getattr(self, name) for name in names}

    def _check(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = check_rows(self, X, y, sample_weight)
        if rows.targets.shape[1] > 1:
            raise ValueError(
                f"y must be one target; got {rows.targets.shape[1]}. One penalty for all of them "
                "is not offered: fit once for each."
            )
        if not rows.flat:
            column_or_1d(y, warn=True)
        return rows

    def _folds(self, rows: Rows, sample_weight: Any, params: dict[str, Any]) -> Folds:
        """Rows to train and to test on."""
        cv, split = check_cv(self.cv), {}
        if _routing_enabled():
            split = process_routing(
                self, "fit", sample_weight=sample_weight, **params
            ).splitter.split
        folds = list(cv.split(rows.X, rows.targets[:, 0], **split))
        if rows.weights is not None:
            _refuse_without_weight(rows.weights, folds)
        return folds

    def _grid(self, squares: Squares, l1_ratio: float) -> Array:
        """The penalties to try first, falling."""
        if isinstance(self.alphas, str):
            largest = float(alpha_grid(squares, l1_ratio, self.positive, self.eps, 1)[0])
            return decades(largest * self.eps, largest)[::-1]
        if isinstance(self.alphas, Integral):
            return alpha_grid(squares, l1_ratio, self.positive, self.eps, int(self.alphas))
        return given_alphas(self.alphas)

    def _publish(self, curves: Sequence[Curve], ratios: Array) -> int:
        """Set what the search found; return the place of the best share."""
        winner = int(np.argmin([curve.errors.mean(axis=1).min() for curve in curves]))
        best = curves[winner]
        self.alpha_ = float(best.alphas[best.best])
        alike = all(np.array_equal(curve.alphas, curves[0].alphas) for curve in curves)
        same_size = len({len(curve.alphas) for curve in curves}) == 1
        given = not isinstance(self.alphas, Integral | str)
        alphas = [curve.alphas for curve in curves]
        one = len(curves) == 1 or (given and alike)
        self.alphas_ = alphas[0] if one else np.array(alphas) if same_size else alphas
        errors = [curve.errors for curve in curves]
        self.mse_path_ = np.squeeze(np.array(errors)) if same_size else errors
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = ratios[winner]
        return winner

    def _warn_of_edge(self, curve: Curve, largest: float) -> None:
        """Warn if the best penalty is an end of the grid beyond which there is more to try."""
        place, last = curve.best, len(curve.alphas) - 1
        if last < 2:
            return
        if place == last and self.alpha_ > 0:
            if isinstance(self.alphas, str):
                warn(
                    f"The smaller the penalty the better, down to {self.alpha_:.3g}: without any, "
                    "LinearRegression does as well."
                )
                return
            how = f"lower eps={self.eps:g}, or " if isinstance(self.alphas, Integral) else ""
            advice = f"Try smaller ones: {how}give alphas that reach further."
        elif place == 0 and self.alpha_ < largest:
            advice = "Try larger ones; at the largest useful penalty all weights are zero."
        else:
            return
        end = "smallest" if place else "largest"
        warn(f"The best alpha, {self.alpha_:.3g}, is the {end} that was tried. {advice}")

    def _refit(self, everything: Squares, rows: Rows) -> None:
        """Fit all rows with the chosen penalty, and take over what is known of the fit."""
        model = self._model()
        with one_blas_thread():
            shortfall = model._descend(everything, rows, (None, None, None))
        if shortfall:
            warn(shortfall, ConvergenceWarning)
        warn_of_scales(self, everything)
        for name in (
            "coef_", "intercept_", "dual_gap_", "n_iter_", "objective_", "gradient_norm_",
            "stop_reason_",
        ):  # fmt: skip
            setattr(self, name, getattr(model, name))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parameters go where: `sample_weight` here, all others to the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )


class _HeldOut:
    """Errors on the held-out rows of each fold."""

    def __init__(self, search: PenalisedRegressorCV, rows: Rows, folds: Folds) -> None:
        self.search, self.rows, self.folds = search, rows, folds
        self.squares = list(
            training_squares(rows.X, rows.targets, rows.weights, folds, search.fit_intercept)
        )
        self.shortfall = ""

    def curve(self, alphas: Array, ratio: float, finish: bool = False) -> Curve:
        """The errors at falling penalties; of fits that go all the way if `finish`."""
        columns = [
            self._errors(k, self._path(squares, alphas, ratio, finish), squares)
            for k, squares in enumerate(self.squares)
        ]
        return Curve(alphas, np.column_stack(columns))

    def searched(self, alphas: Array, ratio: float) -> Curve:
        """The errors at some penalties, and at others closer and closer around the best."""
        known: dict[float, Array] = {}

        def score(penalties: Array) -> Array:
            # A lone small penalty has no others on its way to begin near its minimum.
            falling = self.curve(penalties[::-1], ratio, finish=True)
            known.update(zip(falling.alphas.tolist(), falling.errors, strict=True))
            return np.asarray(-falling.errors.mean(axis=1)[::-1])

        falling = search(score, alphas, ROUNDS, grow=True, worth=WORTH_A_DECADE).penalties[::-1]
        return Curve(falling, np.array([known[alpha] for alpha in falling.tolist()]))

    def _path(self, squares: Squares, grid: Array, ratio: float, finish: bool) -> Path:
        search = self.search
        rng = check_random_state(search.random_state) if search.selection == "random" else None
        path = follow(
            squares.descents[0], grid, ratio, positive=search.positive, tol=search.tol,
            max_iter=search.max_iter, rng=rng, finish=finish,
        )  # fmt: skip
        self.shortfall = self.shortfall or path.shortfall()
        return path

    def _errors(self, k: int, path: Path, squares: Squares) -> Array:
        """Mean squared errors (A,) on the rows left out of fold k."""
        test = self.folds[k][1]
        intercepts = squares.mean_y[0] - path.coefs @ squares.mean_x
        residuals = self.rows.X[test] @ path.coefs.T + intercepts - self.rows.targets[test]
        weights = None if self.rows.weights is None else self.rows.weights[test]
        return np.asarray(np.average(residuals**2, axis=0, weights=weights))


def _refuse_without_weight(weights: Array, folds: Folds) -> None:
    """Raise if all rows to train or to test on count nothing, saying which."""
    for k, fold in enumerate(folds):
        for rows, what in zip(fold, ("train", "test"), strict=True):
            if not weights[rows].any():
                raise ValueError(
                    "Sample weights must contain at least one non-zero number in each split: all "
                    f"{what} rows of fold {k} have weight zero. Shuffle the folds."
                )
