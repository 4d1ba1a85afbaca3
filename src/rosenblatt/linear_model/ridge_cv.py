"""Ridge regression that finds its penalty by cross-validation."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from rosenblatt import checks
from rosenblatt.base import LinearRegressor, all_or_nothing, warn
from rosenblatt.registry.row import Contract, Row

from .penalty_search import ROUNDS, Search, best_places, decades, search
from .ridge_validation import ByOneRow, BySplits

Array = NDArray[np.float64]

# What the fit to all rows says of itself; the last three only where there is no closed form.
TAKEN_OVER = (
    "coef_", "intercept_", "n_iter_", "solver_", "stop_reason_", "objective_", "dual_gap_",
    "gradient_norm_",
)  # fmt: skip


class RidgeCV(LinearRegressor):
    """Ridge regression with the penalty that does best on rows it was not trained on.

    Rows are taken apart once: leaving out one row at a time, for any number of penalties, follows
    from one decomposition; and with folds each training set is the sum of the products of the
    others.

    Parameters
    ----------
    alphas : array-like of shape (A,), float, or "decades"
        Penalties to try, > 0 (with `cv` also 0). "decades" tries powers of ten from hardly any
        effect to hardly any coefficient, further while the end is best, then looks closer twice.
    fit_intercept : bool
        Whether there is an intercept, which is free.
    scoring : str, callable or None
        What is best; if None, the least squared error without `cv`, and R² with it.
    cv : int, splitter, iterable or None
        The splits; None leaves out one row at a time.
    gcv_mode : {"auto", "svd", "eigen"} or None
        Accepted for scikit-learn's sake: rows themselves are decomposed where their products have
        lost too many digits.
    store_cv_results : bool
        Whether to keep what was found for each row and penalty; without `cv` only.
    alpha_per_target : bool
        Whether each target has a penalty of its own; without `cv` only.
    closer : int or None
        How many times to look closer around the best penalty, at nine between its neighbours; None
        is 2 for "decades" and else 0.

    Attributes
    ----------
    alpha_ : the best penalty, or one for each target.
    best_score_ : its score.
    alphas_, scores_ : the penalties that were tried, sorted, and the score of each.
    coef_, intercept_, n_iter_, solver_, stop_reason_, n_parameters_ : of the fit to all rows with
        it, as in `Ridge`; and `objective_`, `dual_gap_` and `gradient_norm_` where it has no
        closed form.
    cv_results_ : squared errors, or with `scoring` predictions, of rows left out, (n, A) or
        (n, t, A), penalties in the order given, sorted if "decades" or closer.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import RidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 4)
    (0.01, 0.5166)
    >>> round(RidgeCV("decades").fit(X, y).alpha_, 4)
    0.004
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alphas": [
            "array-like",
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"decades"}),
        ],
        "fit_intercept": ["boolean"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
        "closer": [Interval(Integral, 0, None, closed="left"), None],
    }

    _multi_output = True

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        closer: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.closer = closer

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit the model with it to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
            How often each row counts, in training and in scores that know weights.
        params : dict
            For the scorer and the splitter, with metadata routing.
        """
        _raise_for_params(params, self, "fit")
        self._validate_params()
        for name in ("store_cv_results", "alpha_per_target"):
            if self.cv is not None and getattr(self, name):
                raise ValueError(
                    f"cv!=None and {name}=True are incompatible: store_cv_results and "
                    "alpha_per_target need cv=None."
                )
        scorer = self._scorer()
        X = checks.rows(self, X, reset=True, order="C", finite=False, ensure_min_samples=2)
        y = checks.targets(self, y, X.shape[0])
        if self.gcv_mode == "svd" and self.cv is None and sp.issparse(X):
            warn(
                "The 'svd' mode is not supported for sparse X: it has no effect here, and is an "
                "error in scikit-learn 1.11. Use gcv_mode=None.",
                FutureWarning,
            )
        weights = sample_weight
        if weights is not None:
            weights = checks.weights(weights, X.shape[0])
            if not weights.all():  # sums leave such rows out, and would not find what is wrong
                checks.finite(X)
        routed = self._routed(sample_weight, params)
        kind: Any = ByOneRow if self.cv is None else BySplits
        try:
            chooser = kind(self, X, y, weights, scorer, routed)
        except ValueError:  # in scikit-learn's words, if it is that
            checks.finite(X)
            raise
        self._choose(chooser)
        if self.store_cv_results:
            self.cv_results_ = chooser.kept(checks.penalties(self._tried()), X.dtype)
        model = chooser.fitted(self.alpha_)
        for name in TAKEN_OVER:
            self.__dict__.pop(name, None)
            if name in vars(model):
                setattr(self, name, vars(model)[name])
        return self

    def _choose(self, chooser: Any) -> None:
        """Set the best penalty, and what led to it."""
        by_decades = isinstance(self.alphas, str)
        # A penalty ten times the largest variation of the rows leaves a tenth of any coefficient.
        largest = 10 * chooser.largest
        grid = (
            decades(1e-7 * largest, largest)
            if by_decades
            else checks.penalties(self.alphas, zero=self.cv is not None)
        )
        closer = (ROUNDS if by_decades else 0) if self.closer is None else self.closer
        found: Search = search(chooser.score, grid, closer, grow=by_decades)
        self.alphas_, self.scores_ = found.penalties, found.scores
        each = found.scores.ndim == 2
        # Of equals the first that was given, as in scikit-learn.
        order = np.arange(len(self.alphas_)) if by_decades or closer else _given_order(grid)
        best = order[best_places(found.scores[order])]
        self.alpha_ = self.alphas_[best] if each else float(self.alphas_[best])
        picked = found.scores[best, np.arange(len(best))] if each else float(found.scores[best])
        self.best_score_ = picked
        if np.isnan(picked).any():
            self._warn_of_undefined_scores()
        elif found.edge is not None and len(grid) > 2:
            self._warn_of_edge(found)

    def _warn_of_undefined_scores(self) -> None:
        warn(
            f"One or more of the test scores are non-finite; alpha_={self.alpha_} is the first. R² "
            "needs two test rows: use fewer folds, or scoring='neg_mean_squared_error'.",
            UndefinedMetricWarning,
        )

    def _warn_of_edge(self, found: Search) -> None:
        end = found.penalties[0 if found.edge == "smallest" else -1]
        ways = ["larger ones too" if found.edge == "largest" else "smaller ones too"]
        if not isinstance(self.alphas, str):
            ways.append("alphas='decades'")
        if found.edge == "smallest":
            ways.append("LinearRegression")
        advice = f"Try {', '.join(ways[:-1])} or {ways[-1]}." if ways[1:] else f"Try {ways[0]}."
        warn(
            f"The best penalty is the {found.edge} that was tried, {end:.3g}: a better one may "
            f"lie beyond. {advice}"
        )

    def _tried(self) -> Any:
        """The penalties in the order of `cv_results_`."""
        return self.alphas_ if isinstance(self.alphas, str) or self.closer else self.alphas

    def _scorer(self) -> Any:
        if _routing_enabled() and self.scoring is None:
            return get_scorer("r2").set_score_request(sample_weight=True)
        return check_scoring(estimator=self, scoring=self.scoring, allow_none=True)

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the scorer and the splitter are given."""
        if sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        if _routing_enabled():
            routed = process_routing(self, "fit", **params)
            splitting = getattr(routed, "splitter", None)
            return {
                "score": dict(routed.scorer.score),
                "split": dict(splitting.split) if splitting else {},
            }
        weighs = self.cv is None or self._scorer()._accept_sample_weight()
        return {"score": params if weighs else {}, "split": {}}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who asks for which metadata: this model, its scorer and its splitter."""
        mapping = MethodMapping()
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(scorer=self._scorer(), method_mapping=mapping.add(caller="fit", callee="score"))
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )


def _given_order(grid: Array) -> NDArray[np.intp]:
    """The places in the sorted grid of the penalties in the order given, each once."""
    places = np.searchsorted(np.unique(grid), grid)
    _, first = np.unique(places, return_index=True)
    return np.asarray(places[np.sort(first)])


ROW = Row(
    "RidgeCV",
    page="regression.md",
    certificate="linear_regression",
    contract=Contract(
        settings=({}, {"alphas": "decades", "cv": 3}, {"scoring": "r2", "fit_intercept": False}),
        checked=({}, {"alphas": "decades"}, {"alphas": [0.1, 1.0], "scoring": "r2"}),
    ),
    warm=None,
    slow_peer_tests=("linear_model/tests/test_ridge.py",),
)
