"""Logistic regression along a path of penalties, with cross-validation."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.registry.row import Contract, Row

from .logistic import LogisticRegression
from .logistic_folds import FoldFits, Scored, with_labels
from .logistic_warnings import deprecated, warn_of_changing_defaults

Array = NDArray[np.float64]


class LogisticRegressionCV(Scored, LogisticRegression):
    """`LogisticRegression` whose `C`, and `l1_ratio` if wanted, are chosen by cross-validation.

    In each fold the values of C are fitted one after the other, each from where the last ended; the
    best on average over the folds is then fitted to all rows, from the mean of the folds'
    coefficients, or from zero with ``solver="liblinear"``. Defaults that scikit-learn is to change
    have their values of today, with a FutureWarning that says which and what to set.

    Parameters
    ----------
    Cs : int, sequence of floats or "decades"
        Values of C; a number means so many from 1e-4 to 1e4, evenly on a logarithmic scale.
        "decades" tries powers of ten, from hardly any coefficient to hardly any penalty and
        further while the end is best, then looks closer around the best.
    l1_ratios : sequence of floats or None
        Values of `l1_ratio`; None is L2 alone.
    fit_intercept, dual, penalty, solver, tol, max_iter, class_weight, n_jobs, verbose, \
    intercept_scaling, random_state
        As in `LogisticRegression`; "balanced" weights are those of all rows, in every fold.
    cv : int, splitter or iterable
        The folds: five stratified ones by default.
    scoring : str, callable or None
        What is best; accuracy by default.
    refit : bool
        False averages the coefficients of each fold's own best C instead of fitting all rows.
    use_legacy_attributes : bool
        True gives dictionaries by class, as scikit-learn did until 1.9; False arrays.

    Attributes
    ----------
    coef_, intercept_, classes_, n_parameters_ : as in `LogisticRegression`.
    Cs_, l1_ratios_ : the values tried.
    C_, l1_ratio_ : the values chosen: arrays, or with ``use_legacy_attributes=False`` numbers.
    scores_ : the scores, (folds, l1 ratios, Cs); or by class, all alike, (folds, Cs, l1 ratios).
    coefs_paths_ : coefficients and, last, intercept, (folds, l1 ratios, Cs, K, d + 1); or by class
        (folds, Cs, l1 ratios, d + 1).
    n_iter_ : iterations of each fit, (folds, l1 ratios, Cs); or (1, folds, Cs, l1 ratios).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.linear_model import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(
    ...     Cs=[0.01, 1, 100], l1_ratios=(0,), scoring="accuracy", use_legacy_attributes=False
    ... ).fit(X, y)
    >>> model.C_, model.scores_.shape
    (100.0, (5, 1, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: values
            for name, values in LogisticRegression._parameter_constraints.items()
            if name not in ("C", "l1_ratio", "warm_start", "softmax", "eta0")
        },
        "Cs": [
            Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"decades"}),
        ],
        "l1_ratios": ["array-like", None, Hidden(StrOptions({"warn"}))],
        "cv": ["cv_object"],
        "scoring": [
            StrOptions(set(get_scorer_names())), callable, None, Hidden(StrOptions({"warn"})),
        ],
        "refit": ["boolean"],
        "use_legacy_attributes": ["boolean", Hidden(StrOptions({"warn"}))],
    }  # fmt: skip

    Cs_: Array

    def path_parameters(self) -> tuple[str, ...]:
        """Return no parameter: the search follows its own path over C."""
        return ()

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] | Literal["decades"] = 10,
        l1_ratios: Sequence[float] | Literal["warn"] | None = "warn",
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: Literal["l1", "l2", "elasticnet", "deprecated"] = "deprecated",
        scoring: Any = "warn",
        solver: str = "auto",
        tol: float | None = 1e-4,
        max_iter: int = 100,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool | Literal["warn"] = "warn",
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    @property
    def set_callbacks(self) -> Any:
        """Not to be had: a search is no descent to follow step by step."""
        raise AttributeError(
            "LogisticRegressionCV is a search over many fits, which callbacks and traces cannot "
            "follow. Attach them to LogisticRegression(C=search.C_[0]), the fit that it chose."
        )

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **params: Any
    ) -> "LogisticRegressionCV":
        """Choose C by cross-validation, and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            What each row counts, in fitting and in scoring.
        params : dict
            With metadata routing, what the splitter and the scorer ask for.
        """
        self._validate_params()
        table, classes, codes = self._check(X, y)
        self.classes_ = classes
        grid = self._grid()
        ratios = self._ratios()
        warn_of_changing_defaults(self)
        weight = checks.weights(sample_weight, table.shape[0], dtype=None, negative=True)
        labels = classes[codes]
        to_splitter, to_scorer = self._routed("fit", sample_weight, params)
        folds = list(check_cv(self.cv, labels, classifier=True).split(table, labels, **to_splitter))
        model = self._one(classes, labels, weight)
        rows = table, labels, weight
        scorer = with_labels(self._scorer(), classes)
        fits = FoldFits(model, rows, folds, ratios, scorer, to_scorer)
        if grid is None:
            self.Cs_ = fits.by_decades()
        else:
            self.Cs_ = grid
            fits.mean_scores(grid)
        paths, scores, n_iter = fits.tables(self.Cs_)
        if not self.fit_intercept:
            paths = paths[..., :-1]
        with fits.warned.collecting():
            self._choose(table, labels, weight, model, ratios, paths, scores)
        self._publish(ratios, paths, scores, n_iter)
        fits.warned.report()
        return self

    def _grid(self) -> Array | None:
        """The values of C to try, None if they are to be searched for."""
        if isinstance(self.Cs, str):
            return None
        grid = np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, Integral) else np.array(self.Cs)
        if not len(grid) or not grid.min() > 0:
            raise ValueError(f"Cs must hold one value or more, all above 0; got {self.Cs!r}.")
        return grid

    def _ratios(self) -> list[float]:
        """The shares of L1 to try."""
        if self.penalty != "deprecated":
            deprecated(
                "'penalty'",
                f"Got penalty={self.penalty!r}. Leave it out, and use l1_ratios=[0] for L2, "
                "l1_ratios=[1] for L1, numbers between for both, and Cs=[np.inf] for no penalty.",
            )
        fixed = {"l1": [1.0], "l2": [0.0]}.get(str(self.penalty))
        if fixed is not None:
            return fixed
        if self.penalty == "elasticnet" and self.l1_ratios is None:
            raise ValueError("l1_ratios must be specified when penalty is elasticnet.")
        if self.l1_ratios is None or isinstance(self.l1_ratios, str):
            return [0.0]
        ratios = [float(ratio) for ratio in self.l1_ratios]
        if not ratios or not all(0 <= ratio <= 1 for ratio in ratios):
            raise ValueError(
                "l1_ratios must be an array-like of numbers between 0 and 1; "
                f"got {self.l1_ratios!r}."
            )
        return ratios

    def _one(
        self, classes: NDArray[Any], labels: NDArray[Any], weight: Array | None
    ) -> LogisticRegression:
        """The model of a single C; balanced classes are so by the weights of all rows."""
        by_class: Any = self.class_weight
        if isinstance(by_class, str):
            values = compute_class_weight(by_class, classes=classes, y=labels, sample_weight=weight)
            by_class = dict(zip(classes.tolist(), values, strict=True))
        model = LogisticRegression(
            tol=self.tol, fit_intercept=self.fit_intercept, class_weight=by_class,
            random_state=self.random_state, solver=self.solver, max_iter=self.max_iter,
            verbose=max(0, self.verbose - 1),
        )  # fmt: skip
        model._names_of_search = getattr(self, "feature_names_in_", None)
        model._classes_of_search = classes
        return model

    def _flat(self, model: LogisticRegression) -> Array:
        """Weights and, last, intercepts (K, d + 1)."""
        if not self.fit_intercept:
            return np.asarray(model.coef_)
        return np.hstack([model.coef_, model.intercept_[:, None]])

    def _choose(
        self,
        X: Any,
        labels: NDArray[Any],
        weight: Array | None,
        model: LogisticRegression,
        ratios: list[float],
        paths: Array,
        scores: Array,
    ) -> None:
        """Set the coefficients, by a fit of the best C or as a mean over folds."""
        d = X.shape[1]
        if self.refit:
            best = np.unravel_index(np.argmax(scores.sum(axis=0)), scores.shape[1:])
            self._chosen = (float(self.Cs_[best[0]]), ratios[best[1]])
            start = paths[:, :, best[0], best[1]].mean(axis=1)
            model.coef_ = start[:, :d]
            model.intercept_ = start[:, d] if self.fit_intercept else np.zeros(len(start))
            # As in scikit-learn, "liblinear" begins at zero: it is the fit of `LogisticRegression`.
            warm = self.solver != "liblinear"
            model.set_params(C=self._chosen[0], l1_ratio=self._chosen[1], warm_start=warm)
            model.fit(X, labels, weight)
            flat = self._flat(model)
            for name in ("objective_", "dual_gap_", "gradient_norm_", "stop_reason_"):
                setattr(self, name, getattr(model, name))
        else:
            flats = scores.reshape(len(scores), -1).argmax(axis=1)
            at = [np.unravel_index(i, scores.shape[1:]) for i in flats]
            flat = np.mean([paths[:, f, k, r] for f, (k, r) in enumerate(at)], axis=0)
            C = float(np.mean([self.Cs_[k] for k, _ in at]))
            self._chosen = (C, float(np.mean([ratios[r] for _, r in at])))
        self.coef_ = np.ascontiguousarray(flat[:, :d], dtype=X.dtype)
        intercept = flat[:, d] if self.fit_intercept else np.zeros(len(flat))
        self.intercept_ = intercept.astype(X.dtype)

    def _publish(
        self, ratios: list[float], paths: Array, scores: Array, n_iter: NDArray[np.int32]
    ) -> None:
        """Set what was tried and found, in the form asked for."""
        (C, ratio), K = self._chosen, len(paths)
        del self._chosen
        self.l1_ratios_ = np.array(ratios)
        # As arrays they have the l1 ratios before the Cs, and the classes last but one.
        self.scores_: Any = scores.swapaxes(1, 2)
        self.coefs_paths_: Any = np.moveaxis(paths, (0, 1, 3), (3, 0, 1))
        self.n_iter_ = n_iter.swapaxes(1, 2)
        self.C_: Any = C
        self.l1_ratio_: Any = ratio
        if self.use_legacy_attributes is False:
            return
        none = self.l1_ratios is None or isinstance(self.l1_ratios, str)
        cut = (slice(None), slice(None), 0) if none else (slice(None),) * 3
        names = self.classes_[1:] if K == 1 else self.classes_
        self.scores_ = dict.fromkeys(names, scores[cut])
        self.coefs_paths_ = {label: paths[k][cut] for k, label in enumerate(names)}
        self.n_iter_ = n_iter[None][(slice(None), *cut)]
        self.C_, self.l1_ratio_ = np.full(K, C), np.full(K, ratio)
        if none:
            self.l1_ratios_ = np.array([None])
            self.l1_ratio_ = np.full(K, None)


ROW = Row(
    "LogisticRegressionCV",
    page="logistic_regression.md",
    certificate="logistic_regression",
    contract=Contract(
        settings=(
            {
                "Cs": [0.01, 1.0],
                "tol": 1e-08,
                "l1_ratios": (0,),
                "scoring": "accuracy",
                "use_legacy_attributes": False,
            },
            {
                "Cs": [0.1, 1.0],
                "cv": 3,
                "l1_ratios": [0.0, 0.5],
                "scoring": "accuracy",
                "use_legacy_attributes": False,
            },
        ),
        checked=(
            {
                "Cs": 3,
                "cv": 3,
                "l1_ratios": (0,),
                "scoring": "accuracy",
                "use_legacy_attributes": False,
            },
        ),
    ),
    warm=None,
    slow_peer_tests=("linear_model/tests/test_logistic.py",),
)
