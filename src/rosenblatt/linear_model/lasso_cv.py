"""Lasso and elastic net with the penalty chosen by cross-validation."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter

from rosenblatt.base import LinearRegressor, all_or_nothing, warn
from rosenblatt.folds import Split, blocks
from rosenblatt.registry.row import Contract, Row
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Gram

from .gram_problem import Rows, Squares, by_rows, check_rows, folds_have_grams
from .lasso import PEER_TESTS, ElasticNet, warn_of_scales
from .lasso_paths import alpha_grid, enet_path, follow, given_alphas, lasso_path
from .penalty_search import ROUNDS, WORTH_A_DECADE, decades, routed, router, search

Array = NDArray[np.float64]
Folds = Sequence[tuple[NDArray[Any], NDArray[Any]]]  # rows to train on, and to test on
ErrorCurve = tuple[Array, Array]  # penalties (A,), falling, and errors (A, F) on held-out rows

MOST_GROUPS = 64  # of rows, from which training sets are summed


class ElasticNetCV(LinearRegressor):
    """`ElasticNet` with its penalty chosen by cross-validation.

    On each fold the penalties are fitted in falling order, each from the fit before; tall tables
    are read once for all folds. The best penalty has the least mean squared error on held-out rows,
    averaged over the folds. A warning is issued if it is an end of the grid.

    Parameters
    ----------
    l1_ratio : float or list of float
        Share of the L1 penalty; of several the best is used.
    eps : float
        Smallest alpha as a share of the largest.
    alphas : int, array-like of shape (A,), or "decades"
        Number of penalties, or their values. "decades" tries powers of ten first, then looks
        closer around the best, twice.
    fit_intercept : bool
        Whether to fit the intercept; it is zero otherwise.
    precompute : "auto", bool or array-like of shape (d, d)
        Accepted for compatibility: the faster method is used.
    max_iter : int
        Maximum number of iterations of each fit.
    tol : float
        Largest duality gap of each fit, as a share of the mean square of y.
    cv : int, splitter, iterable or None
        Folds; five if None.
    copy_X : bool
        Accepted for compatibility; X is never changed.
    verbose : int
        Accepted for compatibility.
    n_jobs : int or None
        Accepted for compatibility; large sums use several threads in any case.
    positive : bool
        Whether to forbid weights below zero.
    random_state : int, RandomState instance or None
        Seed of the order of the weights with ``selection="random"``.
    selection : {"cyclic", "random"}
        Order in which a sweep visits the weights.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        Best penalty.
    alphas_ : ndarray of shape (A,) or (L, A)
        Penalties tried, falling; for each `l1_ratio` if they differ.
    mse_path_ : ndarray of shape (A, F) or (L, A, F)
        Mean squared error on each fold's held-out rows.
    coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_ :
        Attributes of the fit to all rows; see `ElasticNet`.
    n_parameters_, n_features_in_, feature_names_in_ :
        Number and names of the columns of X.

    See Also
    --------
    LassoCV : with the L1 penalty alone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, round(model.alpha_, 4)
    (np.float64(1.0), 0.0038)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
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

    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit all rows with it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Weights of the rows, in fits and in errors; all folds count the same.
        params : dict
            Metadata for the splitter, with scikit-learn's metadata routing.
        """
        self._validate_params()
        X, y, weights = rows = self._check(X, y, sample_weight)
        split, _ = routed(self, sample_weight, params)
        folds = list(check_cv(self.cv).split(X, y, **split))
        if weights is not None:
            _refuse_without_weight(weights, folds)
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0))  # LassoCV has no such parameter
        with one_blas_thread():
            everything = Squares.of(*rows, fit_intercept=self.fit_intercept, path=True)
            grids = [self._grid(everything, float(ratio)) for ratio in ratios]
            held_out = FoldErrors(self, rows, folds)
            curve = held_out.search_curve if isinstance(self.alphas, str) else held_out.curve
            curves = [curve(grid, float(ratio)) for grid, ratio in zip(grids, ratios, strict=True)]
        if held_out.shortfall:
            warn(held_out.shortfall, ConvergenceWarning)
        winner = self._publish(curves, ratios)
        self._warn_of_edge(curves[winner], everything.largest_alpha(1.0, self.positive))
        self._refit(everything)
        return self

    def _check(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X, y, weights = check_rows(self, X, y, sample_weight)
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(
                f"y must be one target; got {y.shape[1]}. One penalty for all of them "
                "is not offered: fit once for each."
            )
        return X, column_or_1d(y, warn=True), weights

    def _grid(self, squares: Squares, l1_ratio: float) -> Array:
        """Return the penalties to try first, falling."""
        if isinstance(self.alphas, str):
            largest = float(alpha_grid(squares, l1_ratio, self.positive, self.eps, 1)[0])
            return decades(largest * self.eps, largest)[::-1]
        if isinstance(self.alphas, Integral):
            return alpha_grid(squares, l1_ratio, self.positive, self.eps, int(self.alphas))
        return given_alphas(self.alphas)

    def _publish(self, curves: Sequence[ErrorCurve], ratios: Array) -> int:
        """Set the results of the search; return the place of the best l1_ratio."""
        grids, errors = [alphas for alphas, _ in curves], [errors for _, errors in curves]
        winner = int(np.argmin([table.mean(axis=1).min() for table in errors]))
        self.alpha_ = float(grids[winner][best_place(errors[winner])])
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = ratios[winner]
        same_size = len({len(grid) for grid in grids}) == 1
        are_given = not isinstance(self.alphas, Integral | str)
        one = len(curves) == 1 or (are_given and same_size)
        self.alphas_ = grids[0] if one else np.array(grids) if same_size else grids
        self.mse_path_ = np.squeeze(np.array(errors)) if same_size else errors
        return winner

    def _warn_of_edge(self, curve: ErrorCurve, largest: float) -> None:
        """Warn if the best penalty is an end of the grid beyond which there is more to try."""
        alphas, errors = curve
        place, last = best_place(errors), len(alphas) - 1
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

    def _refit(self, everything: Squares) -> None:
        """Fit all rows with the chosen penalty, and set the attributes of the fit."""
        names = ("fit_intercept", "max_iter", "tol", "positive", "random_state", "selection")
        parameters = {name: getattr(self, name) for name in names}
        l1_ratio = getattr(self, "l1_ratio_", 1.0)
        model = ElasticNet(self.alpha_, l1_ratio=l1_ratio, **parameters)
        with one_blas_thread():
            model._descend(everything, everything.zeros())
        warn_of_scales(self, everything)
        found = {name: value for name, value in vars(model).items() if name.endswith("_")}
        self.__dict__.update(found)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata this model and its splitter take."""
        return router(self, check_cv(self.cv))


class LassoCV(ElasticNetCV):
    """`Lasso` with its penalty chosen by cross-validation.

    On each fold the penalties are fitted in falling order, each from the fit before; tall tables
    are read once for all folds. The best penalty has the least mean squared error on held-out rows,
    averaged over the folds. A warning is issued if it is an end of the grid.

    Parameters
    ----------
    eps, alphas, fit_intercept, precompute, max_iter, tol, copy_X, cv, verbose, n_jobs, positive, \
    random_state, selection
        As for `ElasticNetCV`.

    Attributes
    ----------
    alpha_ : float
        Best penalty.
    alphas_ : ndarray of shape (A,)
        Penalties tried, falling.
    mse_path_ : ndarray of shape (A, F)
        Mean squared error on each fold's held-out rows.
    coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_ :
        Attributes of the fit to all rows; see `Lasso`.
    n_parameters_, n_features_in_, feature_names_in_ :
        Number and names of the columns of X.

    See Also
    --------
    ElasticNetCV : with both penalties.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LassoCV().fit(X, y)
    >>> round(model.alpha_, 4), model.mse_path_.shape
    (0.0038, (100, 5))
    >>> round(LassoCV(alphas="decades").fit(X, y).alpha_, 4)
    0.0038
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        k: v for k, v in ElasticNetCV._parameter_constraints.items() if k != "l1_ratio"
    }

    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class FoldErrors:
    """Errors on the held-out rows of each fold."""

    def __init__(self, search: ElasticNetCV, rows: Rows, folds: Folds) -> None:
        self.search, self.rows, self.folds = search, rows, folds
        self.squares = training_problems(rows, folds, search.fit_intercept)
        self.shortfall = ""

    def curve(self, alphas: Array, ratio: float, finish: bool = False) -> ErrorCurve:
        """Return the errors at falling penalties; `finish` fits to the last digits."""
        search, (X, y, weights) = self.search, self.rows
        errors = np.empty((len(alphas), len(self.folds)))
        for k, (squares, (_, test)) in enumerate(zip(self.squares, self.folds, strict=True)):
            rng = check_random_state(search.random_state) if search.selection == "random" else None
            path = follow(
                squares.descents[0], alphas, ratio, positive=search.positive, tol=search.tol,
                max_iter=search.max_iter, rng=rng, finish=finish,
            )  # fmt: skip
            self.shortfall = self.shortfall or path.shortfall()
            residuals = X[test] @ path.coefs.T + squares.intercepts(path.coefs) - y[test, None]
            errors[:, k] = np.average(
                residuals**2, axis=0, weights=None if weights is None else weights[test]
            )
        return alphas, errors

    def search_curve(self, alphas: Array, ratio: float) -> ErrorCurve:
        """Return the errors at these penalties and at others around the best."""
        known: dict[float, Array] = {}

        def score(penalties: Array) -> Array:
            # A single small penalty has no larger one to begin from.
            falling, errors = self.curve(penalties[::-1], ratio, finish=True)
            known.update(zip(falling.tolist(), errors, strict=True))
            return np.asarray(-errors.mean(axis=1)[::-1])

        falling = search(score, alphas, ROUNDS, grow=True, worth=WORTH_A_DECADE).penalties[::-1]
        return falling, np.array([known[alpha] for alpha in falling.tolist()])


def best_place(errors: Array) -> int:
    """Return the place of the least of errors (A, F), mean over the folds."""
    return int(errors.mean(axis=1).argmin())


def training_problems(rows: Rows, folds: Folds, fit_intercept: bool) -> list[Squares]:
    """Return the problem of each training set."""
    # Where every row is left out once, its products are summed once, and a training set is the sum
    # of the other folds. Else, and for wide tables, each training set is read by itself.
    X, y, weights = rows
    splits = [Split.of(train, test, X.shape[0]) for train, test in folds]
    first = blocks(splits, X.shape[0], MOST_GROUPS, MOST_GROUPS)[0]
    if first.leaves_each_row_out_once and folds_have_grams(X, first.groups, len(folds)):
        parts = Gram.by_group(by_rows(X), y, first.groups, len(folds), weights)
        sums, _ = first.training_sets(parts, in_order=True)
        return [Squares.of_gram(gram, fit_intercept) for gram in sums if gram is not None]
    found = []
    for train, _ in folds:
        some = None if weights is None else weights[train]
        found.append(Squares.of(X[train], y[train], some, fit_intercept=fit_intercept, path=True))
    return found


def _refuse_without_weight(weights: Array, folds: Folds) -> None:
    """Raise if all training rows or all test rows of a fold have weight zero."""
    for k, fold in enumerate(folds):
        for rows, what in zip(fold, ("train", "test"), strict=True):
            if not weights[rows].any():
                raise ValueError(
                    "Sample weights must contain at least one non-zero number in each split: all "
                    f"{what} rows of fold {k} have weight zero. Shuffle the folds."
                )


ROWS = (
    Row(
        "LassoCV",
        page="lasso.md",
        certificate="linear_regression",
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        warm=None,
        slow_peer_tests=PEER_TESTS,
    ),
    Row(
        "ElasticNetCV",
        page="lasso.md",
        certificate="linear_regression",
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        warm=None,
        slow_peer_tests=PEER_TESTS,
    ),
)
