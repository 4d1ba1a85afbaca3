"""Logistic regression along a path of penalties, with cross-validation."""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter
from sklearn.utils.validation import _check_method_params

from rosenblatt import checks
from rosenblatt.base import GroupedWarnings, all_or_nothing, warn
from rosenblatt.registry.row import Contract, Row

from .centered_rows import CenteredRows
from .logistic_regression import LogisticRegression, deprecated
from .penalty_search import ROUNDS, WORTH_A_DECADE, decades, routed, router, search

Array = NDArray[np.float64]

# In units of one over the largest variation of a column: a C that leaves hardly any coefficient,
# and one beyond which a penalty has hardly any effect.
SMALLEST, LARGEST = 0.1, 1e7

# Defaults that scikit-learn changes: the change, and the setting that avoids the warning.
CHANGING_DEFAULTS = {
    "use_legacy_attributes": (
        "of use_legacy_attributes will change from True to False in scikit-learn 1.10",
        "use_legacy_attributes=False",
    ),
    "l1_ratios": ("for l1_ratios will change from None to (0.0,) in 1.10", "l1_ratios=(0,)"),
    "scoring": (
        "of the parameter 'scoring' will change from accuracy to 'neg_log_loss' in 1.11",
        "scoring='accuracy' or 'neg_log_loss'",
    ),
}


class LogisticRegressionCV(LogisticRegression):
    """`LogisticRegression` with `C`, and optionally `l1_ratio`, chosen by cross-validation.

    In each fold the values of C are fitted in turn, each from the fit before. The value with the
    best mean score is then fitted to all rows, from the mean of the folds' coefficients, or from
    zero with ``solver="liblinear"``. For defaults that scikit-learn changes, the present values are
    used, with a FutureWarning.

    Parameters
    ----------
    Cs : int, sequence of floats or "decades"
        Values of C, or their number from 1e-4 to 1e4 on a logarithmic scale. "decades" tries powers
        of ten from hardly any coefficient to hardly any penalty, further while the end is best,
        then looks closer around the best.
    l1_ratios : sequence of floats or None
        Values of `l1_ratio`; None is L2.
    fit_intercept, dual, penalty, solver, tol, max_iter, class_weight, n_jobs, verbose, \
    intercept_scaling, random_state
        As for `LogisticRegression`; "balanced" weights are computed from all rows for every fold.
    cv : int, splitter or iterable
        Folds; five stratified ones by default.
    scoring : str, callable or None
        Score to maximize; accuracy by default.
    refit : bool
        Whether to fit all rows; False averages the coefficients of the best C of each fold.
    use_legacy_attributes : bool
        Whether attributes are dictionaries by class, as in scikit-learn until 1.9, or arrays.

    Attributes
    ----------
    coef_, intercept_, classes_, n_parameters_ : as for `LogisticRegression`.
    Cs_, l1_ratios_ : values tried.
    C_, l1_ratio_ : best values: arrays, or with ``use_legacy_attributes=False`` numbers.
    scores_ : scores (folds, l1 ratios, Cs); or equal ones by class, (folds, Cs, l1 ratios).
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

    # The scorer requests the weights of `score`.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

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
        """Not available: a search has no iterations to follow."""
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
            Weights of the rows, in fitting and in scoring.
        params : dict
            With metadata routing, what the splitter and the scorer request.
        """
        self._validate_params()
        rows, self.classes_, codes = self._check(X, y)
        grid, ratios = self._grid(), self._ratios()
        self._warn_of_changing_defaults()
        weight = checks.weights(sample_weight, rows.shape[0], dtype=None, negative=True)
        labels = self.classes_[codes]
        to_splitter, to_scorer = routed(self, sample_weight, params)
        folds = list(check_cv(self.cv, labels, classifier=True).split(rows, labels, **to_splitter))

        data = (rows, labels, weight)
        scorer = with_labels(self._scorer(), self.classes_)
        fits = FoldFits(self._single_fit(labels, weight), data, folds, ratios, scorer, to_scorer)
        self.Cs_ = fits.search_decades() if grid is None else grid
        if grid is not None:
            fits.mean_scores(grid)
        paths, scores, n_iter = fits.tables(self.Cs_)
        with fits.warned.collecting():
            chosen = (
                self._refit(fits, paths, scores) if self.refit else self._mean(fits, paths, scores)
            )
        self._set_attributes(chosen, ratios, paths, scores, n_iter)
        fits.warned.report()
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """Return the score of `scoring` on X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        score_params : dict
            With metadata routing, what the scorer requests.
        """
        _, to_scorer = routed(self, sample_weight, score_params, "score")
        return float(self._scorer()(self, X, y, **to_scorer))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata that the splitter and the scorer request."""
        return router(self, self.cv, self._scorer(), ("fit", "score"))

    def _scorer(self) -> Any:
        is_default = self.scoring is None or self._is_default("scoring")
        return get_scorer("accuracy" if is_default else self.scoring)

    def _is_default(self, name: str) -> bool:
        """Whether a parameter has a default that is to change."""
        value = getattr(self, name)
        return isinstance(value, str) and value == "warn"

    def _warn_of_changing_defaults(self) -> None:
        """Warn once of all defaults that scikit-learn is to change and that were not set."""
        changing = [row for name, row in CHANGING_DEFAULTS.items() if self._is_default(name)]
        if changing:
            changes = "; ".join(f"The default value {change}" for change, _ in changing)
            settings = ", ".join(setting for _, setting in changing)
            warn(
                f"{changes}. The values of today are used. To avoid this warning, set {settings}.",
                FutureWarning,
            )
        if self.l1_ratios is None and self.penalty == "deprecated":
            deprecated("'l1_ratios=None'", "Use numbers from 0 to 1, such as l1_ratios=(0,).")

    def _grid(self) -> Array | None:
        """Return the values of C to try; None if they are searched for."""
        if isinstance(self.Cs, str):
            return None
        grid = np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, Integral) else np.array(self.Cs)
        if not len(grid) or not grid.min() > 0:
            raise ValueError(f"Cs must hold one value or more, all above 0; got {self.Cs!r}.")
        return grid

    def _ratios(self) -> list[float]:
        """Return the values of `l1_ratio` to try."""
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

    def _single_fit(self, labels: NDArray[Any], weight: Array | None) -> LogisticRegression:
        """Return the model of one C; balanced classes are so by the weights of all rows."""
        by_class: Any = self.class_weight
        if isinstance(by_class, str):
            values = compute_class_weight(
                by_class, classes=self.classes_, y=labels, sample_weight=weight
            )
            by_class = dict(zip(self.classes_.tolist(), values, strict=True))
        model = LogisticRegression(
            tol=self.tol, fit_intercept=self.fit_intercept, class_weight=by_class,
            random_state=self.random_state, solver=self.solver, max_iter=self.max_iter,
            verbose=max(0, self.verbose - 1),
        )  # fmt: skip
        model._names_of_search = getattr(self, "feature_names_in_", None)
        model._classes_of_search = self.classes_
        return model

    def _refit(self, fits: "FoldFits", paths: Array, scores: Array) -> tuple[float, float]:
        """Fit the best C and `l1_ratio` to all rows, from the mean of the folds; return both."""
        k, r = np.unravel_index(np.argmax(scores.sum(axis=0)), scores.shape[1:])
        chosen = (float(self.Cs_[k]), fits.ratios[r])
        start, model = paths[:, :, k, r].mean(axis=1), fits.model
        model.coef_, model.intercept_ = start[:, :-1], start[:, -1]
        # As in scikit-learn, "liblinear" starts at zero: it is the fit of `LogisticRegression`.
        warm = self.solver != "liblinear"
        model.set_params(C=chosen[0], l1_ratio=chosen[1], warm_start=warm).fit(*fits.data)
        names = ("coef_", "intercept_", "objective_", "dual_gap_", "gradient_norm_", "stop_reason_")
        for name in names:
            setattr(self, name, getattr(model, name))
        return chosen

    def _mean(self, fits: "FoldFits", paths: Array, scores: Array) -> tuple[float, float]:
        """Average the coefficients, C and `l1_ratio` of the best fit of each fold."""
        best = scores.reshape(len(scores), -1).argmax(axis=1)
        places = [np.unravel_index(i, scores.shape[1:]) for i in best]
        flat = np.mean([paths[:, f, k, r] for f, (k, r) in enumerate(places)], axis=0)
        dtype = fits.data[0].dtype
        self.coef_ = np.ascontiguousarray(flat[:, :-1], dtype=dtype)
        self.intercept_ = flat[:, -1].astype(dtype)
        C = float(np.mean([self.Cs_[k] for k, _ in places]))
        return C, float(np.mean([fits.ratios[r] for _, r in places]))

    def _set_attributes(
        self, chosen: tuple[float, float], ratios: list[float], paths: Array, scores: Array,
        n_iter: NDArray[np.int32],
    ) -> None:  # fmt: skip
        """Set what was tried and found, as arrays or in scikit-learn's older form."""
        (C, ratio), K = chosen, len(paths)
        paths = paths if self.fit_intercept else paths[..., :-1]
        self.l1_ratios_ = np.array(ratios)
        # As arrays they have the l1 ratios before the Cs, and the classes last but one.
        self.scores_: Any = scores.swapaxes(1, 2)
        self.coefs_paths_: Any = np.moveaxis(paths, (0, 1, 3), (3, 0, 1))
        self.n_iter_ = n_iter.swapaxes(1, 2)
        self.C_: Any = C
        self.l1_ratio_: Any = ratio
        if self.use_legacy_attributes is False:
            return
        no_ratios = self.l1_ratios is None or isinstance(self.l1_ratios, str)
        cut = (slice(None), slice(None), 0) if no_ratios else (slice(None),) * 3
        names = self.classes_[1:] if K == 1 else self.classes_
        self.scores_ = dict.fromkeys(names, scores[cut])
        self.coefs_paths_ = {label: paths[k][cut] for k, label in enumerate(names)}
        self.n_iter_ = n_iter[None][(slice(None), *cut)]
        self.C_, self.l1_ratio_ = np.full(K, C), np.full(K, ratio)
        if no_ratios:
            self.l1_ratios_ = np.array([None])
            self.l1_ratio_ = np.full(K, None)


class Fit(NamedTuple):
    """A fit to the training rows of a fold."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)
    score: float
    n_iter: int


@dataclass(eq=False)
class FoldFits:
    """The fits so far, of each fold and l1 ratio by their C."""

    model: LogisticRegression
    data: tuple[Any, NDArray[Any], Array | None]  # X (n, d), labels (n,), weights (n,)
    folds: list[Any]  # pairs of training and test rows
    ratios: list[float]
    scorer: Any
    to_scorer: dict[str, Any]
    warned: GroupedWarnings = field(default_factory=GroupedWarnings)
    fits: dict[tuple[int, int], dict[float, Fit]] = field(default_factory=dict)

    def mean_scores(self, Cs: Array) -> Array:
        """Fit these values of C; return their mean scores over the folds, (C, ratios)."""
        X, labels, weight = self.data
        for f, (train, test) in enumerate(self.folds):
            to_scorer = _check_method_params(X, self.to_scorer, indices=test)
            training = X[train], labels[train], None if weight is None else weight[train]
            for r, ratio in enumerate(self.ratios):
                known = self.fits.setdefault((f, r), {})
                self.model.set_params(l1_ratio=ratio)
                self._start_from(known, Cs[0])
                for C in Cs:
                    with self.warned.collecting():
                        model = self.model.set_params(C=C).fit(*training)
                    score = float(self.scorer(model, X[test], labels[test], **to_scorer))
                    n_iter = int(model.n_iter_[0])
                    known[float(C)] = Fit(model.coef_, model.intercept_, score, n_iter)
                    model.set_params(warm_start=True)  # the next starts where this one ended
        return np.asarray(self._table(Cs, "score").mean(axis=0))

    def search_decades(self) -> Array:
        """Search powers of ten, then closer around the best; return the values of C tried."""
        X, labels, weight = self.data
        with np.errstate(over="ignore", invalid="ignore"):  # the first fit refuses such numbers
            rows = CenteredRows(X, np.zeros((len(labels), 1)), weight, self.model.fit_intercept)
            varies = float(rows.squares().max(initial=0.0))
        varies = varies if 0 < varies < np.inf else 1.0
        grid = decades(SMALLEST / varies, LARGEST / varies)
        return search(self.mean_scores, grid, ROUNDS, grow=True, worth=WORTH_A_DECADE).penalties

    def tables(self, Cs: Array) -> tuple[Array, Array, NDArray[np.int32]]:
        """Return weights and intercepts (K, folds, C, ratios, d + 1), scores and iterations."""
        paths = np.concatenate(
            [self._table(Cs, "coef"), self._table(Cs, "intercept")[..., None]], axis=-1
        )
        n_iter = self._table(Cs, "n_iter").astype(np.int32)
        return np.moveaxis(paths, 3, 0), self._table(Cs, "score"), n_iter

    def _start_from(self, known: dict[float, Fit], C: float) -> None:
        """Start from the fit at the next smaller C, if there is one."""
        below = [before for before in known if before <= C]
        self.model.set_params(warm_start=bool(below))
        if below:
            nearest = known[max(below)]
            self.model.coef_, self.model.intercept_ = nearest.coef, nearest.intercept

    def _table(self, Cs: Array, name: str) -> Array:
        """Return one field of all fits, (folds, C, ratios, ...)."""
        F, R = range(len(self.folds)), range(len(self.ratios))
        return np.array(
            [[[getattr(self.fits[f, r][float(C)], name) for r in R] for C in Cs] for f in F]
        )


def with_labels(scorer: Any, classes: NDArray[Any]) -> Any:
    """Pass the classes (K,) to a metric that takes labels: a fold may miss some."""
    metric = getattr(scorer, "_score_func", None)
    takes = inspect.signature(metric).parameters if metric else {}
    if "labels" not in takes:
        return scorer
    given = {"labels": classes}
    if len(classes) == 2 and "pos_label" in takes:
        given["pos_label"] = classes[1]
    scorer = copy.copy(scorer)
    scorer._kwargs = {**given, **scorer._kwargs}
    return scorer


# Values of today for defaults that scikit-learn changes.
EXPLICIT = {"scoring": "accuracy", "use_legacy_attributes": False}

ROW = Row(
    "LogisticRegressionCV",
    page="logistic_regression.md",
    certificate="logistic_regression",
    contract=Contract(
        settings=(
            {"Cs": [0.01, 1.0], "tol": 1e-08, "l1_ratios": (0,), **EXPLICIT},
            {"Cs": [0.1, 1.0], "cv": 3, "l1_ratios": [0.0, 0.5], **EXPLICIT},
        ),
        checked=({"Cs": 3, "cv": 3, "l1_ratios": (0,), **EXPLICIT},),
    ),
    warm=None,
    slow_peer_tests=("linear_model/tests/test_logistic.py",),
)
