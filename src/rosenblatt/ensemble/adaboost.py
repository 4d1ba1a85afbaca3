"""AdaBoost: weak learners in rounds, each on the rows that those before it got wrong."""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.base import clone, is_regressor
from sklearn.callback import CallbackSupportMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, fitting, warn
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.explanation import Explanation, one_row, two_classes
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.tree import DecisionTreeClassifier
from rosenblatt.tree.routing import mean_values
from rosenblatt.tree.text import path_contributions

from .weak_learners import weak_learner

Floats = NDArray[np.float64]
LEAST_WEIGHT = np.finfo(np.float64).eps  # of a row, as in scikit-learn
NO_BETTER = 1e-12  # than chance: how near to it an error counts as it


class AdaBoostClassifier(CallbackSupportMixin, ensemble.AdaBoostClassifier):  # type: ignore[misc]
    """A weighted vote of weak learners, each trained on what those before it got wrong.

    The rows begin with equal weights D. In each round a learner h is trained on them; with e the
    weight of its mistakes and ``alpha = 1/2 ln((1 - e) / e)``, every row is multiplied by
    ``exp(-alpha y h(x))`` and D is scaled to sum to one, by Z. The vote is the sign of
    ``sum alpha h(x)``. Its training error is at most the product of the Z, which is at most
    ``exp(-2 sum (1/2 - e)**2)``: it falls exponentially while learners beat chance [1]_. With K
    classes ``ln(K - 1)`` is added to ``ln((1 - e) / e)`` [2]_.

    Parameters
    ----------
    estimator : classifier or None
        The weak learner; None for a stump, `DecisionTreeClassifier` of depth one. One that takes
        no `sample_weight` is trained on rows drawn by their weights.
    n_estimators : int
        The most rounds. A learner without mistakes ends the fit, and so does one that is no
        better than chance.
    learning_rate : float
        What each learner's weight is multiplied by.
    random_state : int, RandomState or None
        Of the seeds of the learners, and of the draws.
    alpha_cap : float or None
        The largest alpha, such as 2 or 3; that of a learner without mistakes would be infinite.
        None: such a learner gets the weight 1, as in scikit-learn.
    flip : bool
        Of two classes: whether a learner that is worse than chance is kept with a negative
        weight, which is the vote of its opposite. Without it, such a learner ends the fit.

    Attributes
    ----------
    estimators_ : list of the learners.
    estimator_weights_, estimator_errors_ : ndarrays of shape (n_estimators,)
        Twice alpha, and e, of each round; 0 and 1 after the last.
    alphas_ : ndarray of shape (rounds,)
    train_errors_, error_bounds_ : ndarrays of shape (rounds,)
        The error of the vote on the training rows after each round, and the product of the Z,
        which is the mean exponential loss that the rounds descend.
    objective_ : the last of `error_bounds_`.
    edge_bounds_ : ndarray of shape (rounds,)
        ``exp(-2 sum (1/2 - e)**2)``; infinite for more classes, or where alpha is not the best one.
    estimator_, classes_, n_classes_, n_features_in_, feature_names_in_ : as in scikit-learn.
    n_iter_, stop_reason_ : how many rounds there were, and why they ended.

    Examples
    --------
    >>> from rosenblatt import AdaBoostClassifier
    >>> X, y = [[-1], [0], [1]], ["in", "out", "in"]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.predict(X).tolist(), model.alphas_.round(3).tolist()
    (['in', 'out', 'in'], [0.347, 0.549, 0.805])

    References
    ----------
    .. [1] Y. Freund, R. Schapire (1997), A decision-theoretic generalization of on-line learning
       and an application to boosting. *J. Computer and System Sciences* 55.
    .. [2] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), Multi-class AdaBoost. *Statistics and its
       Interface* 2.
    """

    estimators_: list[Any]
    classes_: NDArray[Any]
    estimator_weights_: Floats
    estimator_errors_: Floats

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ensemble.AdaBoostClassifier._parameter_constraints,
        "alpha_cap": [Interval(Real, 0, None, closed="neither"), None],
        "flip": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        alpha_cap: float | None = None,
        flip: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            random_state=random_state,
        )
        self.alpha_cap = alpha_cap
        self.flip = flip

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the boosted classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        rows, labels, codes, D = self._check_fit(X, y, sample_weight)
        learner = weak_learner(self, rows, labels, codes, D)
        weightless = np.flatnonzero(D == 0)
        rng, record = check_random_state(self.random_state), Record(codes, D, self.n_classes_)

        passes = Passes(self, X, y, sample_weight, self.n_estimators)
        passes.attributes = lambda: self._watched(record)
        for _ in passes:
            model, predicted = learner.fit(D, rng)
            wrong = predicted != codes
            error = min(float(D[wrong].sum() / D.sum()), 1.0)
            weight = self._weight(error)
            if not weight:
                self._refuse_useless(record, error)
                passes.stop("no_progress")
                continue
            record.add(model, predicted, weight, error, D)
            if error in (0.0, 1.0) or passes.n_iter == self.n_estimators:
                passes.stop("converged")
                continue
            with np.errstate(over="ignore"):
                D = D * np.where(wrong, np.exp(weight), 1.0)
                total = D.sum()
            if not np.isfinite(total):
                warn(
                    f"Sample weights have reached infinite values, at iteration {passes.n_iter - 1}"
                    ", causing overflow. Iterations stopped. Try lowering the learning rate."
                )
                passes.stop("diverged")
                continue
            D = np.maximum(D / total, LEAST_WEIGHT)
            D[weightless] = 0.0

        self.__dict__.update(self._so_far(record))
        self.n_iter_, self.stop_reason_ = passes.n_iter, passes.stop_reason
        return self

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Floats]:
        """The rows, labels, class codes (n,) and weights (n,), which sum to one."""
        checks.no_times(X)
        with checks.naming_columns(X):
            X, y = checks.validate_data(
                self, X, y, accept_sparse=["csr", "csc"], allow_nd=True, dtype=None
            )
        check_classification_targets(y)
        weight = checks.scaled_weights(sample_weight, X.shape[0])
        self._validate_estimator()
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        return X, y, codes, weight / weight.sum()

    def _validate_estimator(self) -> None:
        """Set `estimator_`; a learner without weights is trained on drawn rows, not refused."""
        self.estimator_ = self.estimator
        if self.estimator is None:
            self.estimator_ = DecisionTreeClassifier(max_depth=1)
        if is_regressor(self.estimator_):
            raise ValueError(
                f"estimator must be a classifier; {type(self.estimator_).__name__} is a regressor."
            )

    def _weight(self, error: float) -> float:
        """Twice alpha of a learner with this weighted error; 0 if it is no better than chance."""
        K, cap = self.n_classes_, self.alpha_cap
        flipped = self.flip and K == 2 and error > 0.5
        if error <= 0 or (flipped and error >= 1):
            of_perfect = 2.0 * cap if cap else 1.0
            return -of_perfect if flipped else of_perfect
        chance = 1.0 - 1.0 / K
        if error >= chance - NO_BETTER and not flipped:
            return 0.0
        if flipped and error <= chance + NO_BETTER:
            return 0.0
        weight = float(self.learning_rate * (np.log((1.0 - error) / error) + np.log(K - 1.0)))
        return weight if cap is None else float(np.clip(weight, -2.0 * cap, 2.0 * cap))

    def _refuse_useless(self, record: "Record", error: float) -> None:
        """Raise if the first learner of a fit is no better than chance."""
        if not record.models:
            K = self.n_classes_
            worse = error > 0.5 + NO_BETTER and K == 2 and not self.flip
            hint = " or flip=True, which keeps its opposite" if worse else ""
            raise ValueError(
                f"The first learner is no better than chance, or worse than random: its error is "
                f"{error:.4g}, that of chance {1 - 1 / K:.4g}. Choose a stronger estimator{hint}."
            )

    def _so_far(self, record: "Record") -> dict[str, Any]:
        """The attributes after the rounds of a record."""
        attributes = record.attributes(self.n_estimators)
        if self.n_classes_ != 2 or self.alpha_cap is not None or self.learning_rate != 1.0:
            attributes["edge_bounds_"] = np.full(len(record.models), np.inf)
        return attributes

    def _watched(self, record: "Record") -> dict[str, Any] | None:
        """What callbacks see of the rounds so far; nothing before there is a learner."""
        if not record.models:
            return None
        return self._so_far(record) | {"_row_weights": record.row_weights}

    def decision_function(self, X: Any) -> Floats:
        """Return the weighted vote: (n,) from -2 to 2, or (n, K) from -1 / (K - 1) to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        X = self._check_X(X)
        if self.n_classes_ == 1:
            return np.zeros((X.shape[0], 1))
        weights = self.estimator_weights_[: len(self.estimators_)]
        if self._votes_by_trees():
            votes = self._mean_votes(X.astype(np.float64, copy=False))[:, 0] * len(weights)
            return _as_scores(votes, float(np.abs(weights).sum()))
        *_, scores = self._staged_scores(X)
        return np.asarray(scores)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        yield from self._staged_scores(self._check_X(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        for scores in self.staged_decision_function(X):
            best = scores > 0 if self.n_classes_ == 2 else scores.argmax(axis=1)
            yield np.asarray(self.classes_.take(best))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy, after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        for labels in self.staged_predict(X):
            yield float(accuracy_score(y, labels, sample_weight=sample_weight))

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        """The scores of checked rows after each round."""
        votes, all_votes = np.zeros((X.shape[0], self.n_classes_)), 0.0
        for model, weight in zip(self.estimators_, self.estimator_weights_, strict=False):
            voted = np.asarray(model.predict(X))[:, np.newaxis] == self.classes_
            votes += weight * voted
            all_votes += abs(weight)
            yield _as_scores(votes, all_votes)

    def _votes_by_trees(self) -> bool:
        """Whether all learners are trees of ours."""
        return all(type(model) is DecisionTreeClassifier for model in self.estimators_)

    def _mean_votes(self, X: Any) -> Floats:
        """Return the mean over the trees of their weighted votes (n, 1, K)."""
        trees = [model.tree_ for model in self.estimators_]
        return mean_values(trees, X, self.estimator_weights_[: len(trees)])

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each column: the mean over the trees, by their weights."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self.estimators_[0]).__name__} has no feature_importances_, so their vote "
                "has none."
            )
        weights = np.abs(self.estimator_weights_[: len(self.estimators_)])
        each = [model.feature_importances_ for model in self.estimators_]
        return np.asarray(weights @ np.array(each) / weights.sum())

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: how much each column adds to the lead in the vote.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second best if None.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self)
        if not self._votes_by_trees():
            kind = type(self.estimators_[0]).__name__
            raise TypeError(f"{kind} cannot say what each column adds, and so its vote cannot.")
        row = one_row(self, x, self._check_X)
        row = np.asarray(row.toarray() if sp.issparse(row) else row, np.float64)
        votes = self._mean_votes(row)[0, 0]
        winner, second = two_classes(self.classes_, votes, rival)
        weights = self.estimator_weights_[: len(self.estimators_)]
        start, parts = 0.0, np.zeros(self.n_features_in_)
        for model, weight in zip(self.estimators_, weights, strict=True):
            votes = model.tree_.votes[:, 0]
            lead = weight / np.abs(weights).sum() * (votes[:, winner] - votes[:, second])
            start += float(lead[0])
            parts += path_contributions(model.tree_, int(model.tree_.apply(row)[0]), lead)
        words = ("at the roots", "lead in the vote")
        return Explanation.of(self, winner, second, start, parts, feature_names, words)

    @property
    def objective_(self) -> float:
        """The mean exponential loss of the vote, which the rounds made small."""
        return float(self.error_bounds_[-1])

    def path_parameters(self) -> tuple[str, ...]:
        """Return the parameters that boosting has a path over: the number of rounds."""
        return ("n_estimators",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> "RoundsPath":
        """Fit with many numbers of rounds, by one fit with the largest.

        Parameters
        ----------
        data : tuple (X, y) or (X, y, sample_weight)
        parameter : "n_estimators"
        values : sequence of int
            The numbers of rounds.
        """
        values = checks.path_values(self, parameter, values)
        whole = clone(self).set_params(n_estimators=max(values)).fit(*rows_of(data))
        return RoundsPath([whole.after(k) for k in values])

    def after(self, n_rounds: int) -> Self:
        """Return the model as it was after some rounds; no row is read again.

        Parameters
        ----------
        n_rounds : int
            How many, up to `n_estimators`.

        Returns
        -------
        model : AdaBoostClassifier
            As if fitted with ``n_estimators=n_rounds``.
        """
        check_is_fitted(self)
        model: Self = clone(self).set_params(n_estimators=n_rounds)
        model._validate_params()
        if n_rounds > self.n_estimators:
            raise ValueError(
                f"n_rounds must be at most n_estimators, {self.n_estimators}; got {n_rounds}."
            )
        published = {name: value for name, value in vars(self).items() if name.endswith("_")}
        model.__dict__.update(published)
        for name in ("estimators_", "estimator_weights_", "estimator_errors_", *RECORDED):
            setattr(model, name, published[name][:n_rounds])
        if n_rounds < self.n_iter_:
            model.n_iter_, model.stop_reason_ = n_rounds, "converged"
        return model

    def trace_view(self) -> dict[str, Any]:
        """Return how many learners vote, the last one's error, and the weights of the rows."""
        t = len(self.estimators_)
        news = f"error {self.estimator_errors_[t - 1]:.4f}, alpha {self.alphas_[-1]:.4f}"
        view: dict[str, Any] = {"votes": np.array([t]), "unit": "round", "news": news}
        if "_row_weights" in vars(self):
            view["row_weights"] = self._row_weights
        return view


RECORDED = ("alphas_", "train_errors_", "error_bounds_", "edge_bounds_")


class Record:
    """Rounds of a fit: learners, votes, errors and bounds."""

    def __init__(self, codes: NDArray[np.int64], D: Floats, n_classes: int) -> None:
        self.codes, self.initial, self.K = codes, D, n_classes
        self.votes = np.zeros((n_classes, len(codes)))
        self.margin = np.zeros(len(codes))  # votes for the class less those against it, in alphas
        self.row_weights = D  # that the last learner was trained on
        self.models: list[Any] = []
        self.rounds: list[tuple[float, ...]] = []  # weight, error, error of the vote, bound

    def add(
        self, model: Any, predicted: NDArray[np.int64], weight: float, error: float, D: Floats
    ) -> None:
        """Append a round: its learner, trained on D (n,), which predicts some classes (n,)."""
        self.models.append(model)
        self.row_weights = D
        for k, votes in enumerate(self.votes):
            votes += weight * (predicted == k)
        guess = self.votes[1] > self.votes[0] if self.K == 2 else self.votes.argmax(axis=0)
        wrong = guess != self.codes
        # The product of Z = (1 - e) exp(-alpha) + e exp(alpha) is the mean exponential loss; D has
        # a floor, with which the product of its Z would be another.
        self.margin += np.where(predicted == self.codes, weight, -weight) / 2.0
        with np.errstate(over="ignore"):
            # Not a product by BLAS, whose last bits depend on its number of threads.
            bound = float(np.sum(self.initial * np.exp(-self.margin)))
        self.rounds.append((weight, error, float(self.initial[wrong].sum()), bound))

    def attributes(self, n_estimators: int) -> dict[str, Any]:
        """The attributes that follow, those of scikit-learn as long as `n_estimators`."""
        if not self.rounds:
            return {}
        weights, errors, train_errors, bounds = np.array(self.rounds).T
        missing = n_estimators - len(weights)
        return {
            "estimators_": list(self.models),
            "estimator_weights_": np.append(weights, np.zeros(missing)),
            "estimator_errors_": np.append(errors, np.ones(missing)),
            "alphas_": weights / 2.0,
            "train_errors_": train_errors,
            "error_bounds_": bounds,
            "edge_bounds_": np.exp(-2.0 * np.cumsum((0.5 - errors) ** 2)),
        }


class RoundsPath(ModelPath):
    """Models of one fit after different numbers of rounds."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions (len, n) of all models; each learner predicts once."""
        rounds = [len(model.estimators_) for model in self.models]
        longest = self.models[int(np.argmax(rounds))]
        stages = list(longest.staged_predict(X))
        return np.stack([stages[t - 1] for t in rounds])


def _as_scores(votes: Floats, all_votes: float) -> Floats:
    """Votes (n, K) as scores: a class's share less the mean share of the others.

    Of two classes: twice the second's share less the first's. Equal votes stay equal.
    """
    if votes.shape[1] == 2:
        return np.asarray(2.0 * (votes[:, 1] - votes[:, 0]) / all_votes)
    share = votes / all_votes
    return np.asarray(share - (1.0 - share) / max(votes.shape[1] - 1, 1))


SETTINGS = {"n_estimators": 6, "random_state": 0}
ROW = Row(
    "AdaBoostClassifier",
    page="boosting.md",
    certificate="adaboost",
    compare=(
        Candidate(
            "AdaBoost",
            "classes that depend on many simple tests of single columns",
            {"n_estimators": (25, 50, 100, 200)},
            reads="columns",
            settings={"random_state": 0},
            limits=("columns beside texts",),
            short_names=("ada", "boosted stumps"),
            order=110,
            rank=4,
        ),
    ),
    contract=Contract(
        settings=(
            SETTINGS,
            SETTINGS | {"alpha_cap": 2.0, "flip": True, "learning_rate": 0.5},
        ),
        checked=(SETTINGS, SETTINGS | {"alpha_cap": 3.0, "flip": True}),
        endless={"n_estimators": 100000},
    ),
    warm=Warm(({"n_estimators": 2},)),
    file_types=("tree.structure.Tree",),
    slow_peer_tests=("ensemble/tests/test_weight_boosting.py",),
)
