"""Forests: samples, trees, out-of-bag estimates, means over the trees."""

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt.base import Passes, StopReason, fitting, store_parameters, warn
from rosenblatt.explanation import Explanation
from rosenblatt.runtime import threads
from rosenblatt.tree import DecisionTreeClassifier, DecisionTreeRegressor
from rosenblatt.tree.base import DecisionTree
from rosenblatt.tree.inputs import (
    SEEDS,
    TableInput,
    Targets,
    class_targets,
    class_weights,
    n_features_of,
    number_targets,
    refuse_other_classes,
    warn_of_friedman,
)
from rosenblatt.tree.routing import mean_values
from rosenblatt.tree.structure import Tree
from rosenblatt.tree.text import explain

from .forest_growth import ForestGrowth

TREES_BETWEEN_REPORTS = 4  # a thread, if callbacks are to be called
TREE_PARAMETERS = (
    "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "max_features", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "monotonic_cst",
    "categorical_features", "unknown", "missing",
)  # fmt: skip
OF_TARGETS = ("classes_", "n_classes_", "n_outputs_")
PUBLISHED = ("n_features_in_", "feature_names_in_", *OF_TARGETS)


class Forest(CallbackSupportMixin, TableInput, BaseEstimator):  # type: ignore[misc]
    """A forest of trees; see `RandomForestClassifier` for the parameters."""

    estimators_: list[Any]
    n_outputs_: int
    n_features_in_: int

    _tree: Callable[..., Any]
    _random_thresholds = False
    _targets: Callable[[Any, int], Targets]
    _all_weights: Callable[[Any, Any], Any]
    _publish_out_of_bag: Callable[..., None]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: rule
            for name, rule in DecisionTree._parameter_constraints.items()
            if name not in ("splitter", "pruning", "validation_fraction")
        },
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "max_samples": [
            None,
            Interval(RealNotInt, 0.0, None, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
    }

    @property
    def estimator(self) -> Any:
        """An unfitted tree of the kind that the forest grows."""
        return self._tree(splitter="random" if self._random_thresholds else "best")

    def _goes_on(self) -> bool:
        """Return whether a fit adds trees to existing ones."""
        return bool(self.warm_start and hasattr(self, "estimators_"))

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, o)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        warn_of_friedman(self.criterion)
        goes_on = self._goes_on()
        rows = self._check_rows(X, reset=not goes_on)
        before = {name: value for name, value in vars(self).items() if name in OF_TARGETS}
        targets = self._targets(y, rows.shape[0])
        if goes_on and (self.n_estimators > len(self.estimators_) or self.oob_score):
            refuse_other_classes(before.get("classes_"), self)
        if goes_on:
            self.__dict__.update(before)  # as in the existing trees
        weights = self._all_weights(y, self._weights(sample_weight, rows))
        self._grow(X, y, sample_weight, rows, targets, weights)
        return self

    def _grow(
        self, X: Any, y: Any, sample_weight: Any, rows: Any, targets: Targets, weights: Any
    ) -> None:
        """Grow the missing trees and set the fitted attributes."""
        if not self.bootstrap and self.oob_score:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if self.oob_score and targets.n_outputs > 1 and max(targets.n_classes) > 2:
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates: several outputs of "
                "more than two classes. Use oob_score=False."
            )
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                "`bootstrap=True` or set `max_sample=None`."
            )
        old = list(self.estimators_) if self._goes_on() else []
        if self.n_estimators < len(old):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(old)} when warm_start==True"
            )
        self._n_rows, self._sample_weight, self._part_rows = rows.shape[0], weights, None
        self._n_drawn = n_drawn(self.max_samples, self._n_rows, weights)
        rng = check_random_state(self.random_state)
        rng.randint(SEEDS, size=len(old))  # as in the existing trees
        seeds = [int(rng.randint(SEEDS)) for _ in range(self.n_estimators - len(old))]
        if old and not seeds:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        self.estimator_ = self._make_estimator()
        trees = self._trees(rows, targets, weights, y, seeds)
        self.estimators_ = self._report(X, y, sample_weight, old, trees, seeds)
        if self.oob_score and (seeds or not hasattr(self, "oob_score_")):
            self._score_out_of_bag(rows, targets, y)

    def _trees(
        self, rows: Any, targets: Targets, weights: Any, y: Any, seeds: list[int]
    ) -> Iterator[Tree]:
        """Yield the trees in order; several grow at a time."""
        growth = ForestGrowth(self, rows, targets, weights, y)
        listening = bool(getattr(self, "_skl_callbacks", ()))
        step = TREES_BETWEEN_REPORTS * threads.count() if listening else max(len(seeds), 1)
        most = self.n_jobs if isinstance(self.n_jobs, int) and self.n_jobs > 0 else threads.count()
        try:
            for i in range(0, len(seeds), step):
                with threads.limit(most):
                    found = growth.grow(seeds[i : i + step])
                yield from found
        finally:
            growth.stopped = True

    def _report(
        self, X: Any, y: Any, sample_weight: Any, old: list[Any], trees: Iterator[Tree],
        seeds: list[int],
    ) -> list[Any]:  # fmt: skip
        """Return the models of the trees; report each to the callbacks."""
        models = list(old)
        self.n_iter_ = max(len(seeds), 1)
        self.stop_reason_: StopReason | None = "converged"
        if not getattr(self, "_skl_callbacks", ()) or not seeds:
            models += [self._model(tree, s) for tree, s in zip(trees, seeds, strict=True)]
            return models
        passes = Passes(self, X, y, sample_weight, len(seeds))
        # Without a tree there is no model to report.
        passes.attributes = lambda: {"estimators_": list(models)} if models else None
        waiting = iter(zip(trees, seeds, strict=True))
        for _ in passes:
            models.append(self._model(*next(waiting)))
            if passes.n_iter == len(seeds):
                passes.stop("converged")
        self.n_iter_, self.stop_reason_ = passes.n_iter, passes.stop_reason
        return models

    def _make_estimator(self) -> Any:
        """Return an unfitted tree with the parameters of the forest."""
        tree = self._tree(**{name: getattr(self, name) for name in TREE_PARAMETERS})
        tree.max_features_ = n_features_of(self.max_features, self.n_features_in_)
        return tree

    def _model(self, tree: Tree, seed: int) -> Any:
        """Return a grown tree as a fitted estimator."""
        model = self._make_estimator()
        model.random_state, model.tree_ = seed, tree
        if self._random_thresholds:
            model.splitter = "random"
        for name in (*PUBLISHED, "categories_"):
            if name in vars(self):
                setattr(model, name, getattr(self, name))
        return model

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each tree drew, as often as it drew them."""
        return [self._sample(model.random_state).astype(np.int32) for model in self.estimators_]

    def _sample(self, seed: int) -> NDArray[np.int64]:
        """Return the rows that the tree of a seed draws."""
        if not self.bootstrap:
            return np.arange(self._n_rows)
        parts: Any = vars(self).get("_part_rows")
        if parts is not None:  # of a fit by parts
            share = self._n_drawn / self._n_rows
            times = [drawn_in_part(seed, k, n, share) for k, n in parts.tolist()]
            return np.repeat(np.arange(self._n_rows), np.concatenate(times))
        rng, weights = np.random.RandomState(seed), self._sample_weight
        if weights is None:
            return np.asarray(rng.randint(0, self._n_rows, self._n_drawn), np.int64)
        drawn = rng.choice(self._n_rows, self._n_drawn, replace=True, p=weights / weights.sum())
        return np.asarray(drawn, np.int64)

    def _score_out_of_bag(self, rows: Any, targets: Targets, y: Any) -> None:
        """Predict each row with the trees whose sample does not contain it."""
        K = max(targets.n_classes)
        total = np.zeros((self._n_rows, self.n_outputs_, K))
        seen_by = np.zeros(self._n_rows, np.int64)
        rows = rows.tocsr() if sp.issparse(rows) else rows
        for model in self.estimators_:
            out = np.ones(self._n_rows, bool)
            out[self._sample(model.random_state)] = False
            left = np.flatnonzero(out)
            if len(left):
                total[left] += model.tree_.predict(rows[left])
                seen_by[left] += 1
        if (seen_by == 0).any():
            warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates."
            )
        value = total / np.maximum(seen_by, 1)[:, np.newaxis, np.newaxis]
        self._publish_out_of_bag(value, targets)
        if callable(self.oob_score):
            truth = np.asarray(y)
            if targets.classes is not None:
                named = value.argmax(axis=2)
                per_output = self.classes_ if self.n_outputs_ > 1 else [self.classes_]
                columns = [known[named[:, k]] for k, known in enumerate(per_output)]
                guess = np.transpose(columns) if self.n_outputs_ > 1 else columns[0]
            else:
                guess = value[:, :, 0] if self.n_outputs_ > 1 else value[:, 0, 0]
            self.oob_score_ = self.oob_score(truth, guess)

    def _mean_values(self, X: Any) -> NDArray[np.float64]:
        """Return the mean over the trees of the values (n, o, K) of the leaves."""
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        most = self.n_jobs if isinstance(self.n_jobs, int) and self.n_jobs > 0 else threads.count()
        with threads.limit(most):
            return mean_values([model.tree_ for model in self.estimators_], rows)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row in each tree, shape (n, n_trees).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        return np.column_stack([model.tree_.apply(rows) for model in self.estimators_])

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes (sparse), and where the nodes of each tree begin.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        trees = [model.tree_ for model in self.estimators_]
        paths = sp.hstack([tree.decision_path(rows) for tree in trees])
        return paths.tocsr(), np.cumsum([0, *(tree.node_count for tree in trees)])

    def trace_view(self) -> dict[str, Any]:
        """Return how many trees vote, with the leaves and depth of the last."""
        tree = self.estimators_[-1].tree_
        news = f"{tree.n_leaves} leaves, depth {tree.max_depth}"
        return {"votes": np.array([len(self.estimators_)]), "unit": "tree", "news": news}

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: how much the splits on each column add to it.

        For classes they add to the lead of the predicted class.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second best if None. Numbers have no rivals.
        feature_names : array-like of shape (d,) or None
        """
        return explain(self, x, rival, feature_names)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column (d,) in the impurity decrease, averaged over the trees."""
        check_is_fitted(self)
        each = [
            model.tree_.compute_feature_importances()
            for model in self.estimators_
            if model.tree_.node_count > 1
        ]
        if not each:
            return np.zeros(self.n_features_in_)
        mean = np.mean(each, axis=0)
        return np.asarray(mean / mean.sum() if mean.sum() > 0 else mean)

    def permutation_importances(
        self, X: Any, y: Any, n_repeats: int = 5, random_state: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how much the score decreases when the values of a column are shuffled.

        Unlike `feature_importances_` it is not biased towards columns of many values; on test rows
        it measures the importance for new data.

        Parameters
        ----------
        X, y : rows and their targets.
        n_repeats : how often each column is shuffled.
        random_state : of the shuffles.

        Returns
        -------
        mean, spread : ndarrays of shape (d,)
            Mean and standard deviation over the shuffles.
        """
        from sklearn.inspection import permutation_importance

        found = permutation_importance(self, X, y, n_repeats=n_repeats, random_state=random_state)
        return found.importances_mean, found.importances_std

    def to_sklearn(self) -> Any:
        """Return scikit-learn's fitted forest with the same trees, for its tools and others'."""
        check_is_fitted(self)
        from sklearn import ensemble

        kind = getattr(ensemble, type(self).__name__)
        shared = {k: v for k, v in self.get_params().items() if k in kind().get_params()}
        found = kind(**shared)
        found.estimators_ = [model.to_sklearn() for model in self.estimators_]
        for name in (*PUBLISHED, "oob_score_", "oob_decision_function_", "oob_prediction_"):
            if name in vars(self):
                setattr(found, name, getattr(self, name))
        found.estimator_ = found.estimator
        found._n_samples, found._n_samples_bootstrap = self._n_rows, self._n_drawn
        found._sample_weight = self._sample_weight
        return found

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


class ForestClassifier(ClassifierMixin, Forest):  # type: ignore[misc]
    """A forest of classification trees, whose class shares are averaged."""

    classes_: Any
    n_classes_: Any
    _tree = DecisionTreeClassifier

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Forest._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [
            StrOptions({"balanced_subsample", "balanced"}), dict, list, None,
        ],
    }  # fmt: skip

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
    ) -> None:
        store_parameters(self, locals())

    def _targets(self, y: Any, n: int) -> Targets:
        return class_targets(self, y, n)

    def _all_weights(self, y: Any, weights: Any) -> Any:
        """Return the weights of rows times those of their classes, except of each sample."""
        if self.class_weight == "balanced_subsample":
            return weights
        if isinstance(self.class_weight, str) and self.warm_start:
            warn(
                'class_weight presets "balanced" or "balanced_subsample" are not recommended for '
                "warm_start if the fitted data differs from the full dataset. In order to use "
                '"balanced" weights, use compute_class_weight ("balanced", classes, y).'
            )
        return class_weights(self, y, weights)

    def predict_proba(self, X: Any) -> Any:
        """Return the mean class shares of the leaves, shape (n, K); a list for several outputs.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        value = self._mean_values(X)
        if self.n_outputs_ == 1:
            return value[:, 0]
        return [value[:, k, :m] for k, m in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class shares.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(p) for p in shares]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest mean share, the first if equal.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        places = self._mean_values(X).argmax(axis=2)
        if self.n_outputs_ == 1:
            return np.asarray(self.classes_[places[:, 0]])
        return np.transpose([known[places[:, k]] for k, known in enumerate(self.classes_)])

    def vote_shares(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the trees that votes for each class, shape (n, K).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise ValueError("vote_shares takes a forest of one output.")
        rows = self._check_rows(X, reset=False)
        shares = np.zeros((rows.shape[0], int(self.n_classes_)))
        for tree in (model.tree_ for model in self.estimators_):
            shares += tree.votes[tree.apply(rows), 0]
        return shares / len(self.estimators_)

    def _publish_out_of_bag(self, value: NDArray[np.float64], targets: Any) -> None:
        several = self.n_outputs_ > 1
        self.oob_decision_function_ = value.transpose(0, 2, 1) if several else value[:, 0]
        right = (value.argmax(axis=2) == targets.classes).all(axis=1)
        self.oob_score_ = float(np.mean(right))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class ForestRegressor(RegressorMixin, Forest):  # type: ignore[misc]
    """A forest of regression trees, whose predictions are averaged."""

    _tree = DecisionTreeRegressor

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Forest._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "absolute_error", "poisson", "friedman_mse"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unknown: str = "error",
        missing: str = "best",
    ) -> None:
        store_parameters(self, locals())

    def _targets(self, y: Any, n: int) -> Targets:
        return number_targets(self, y, n)

    def _all_weights(self, y: Any, weights: Any) -> Any:
        return weights

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean of the trees' predictions.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        """
        value = self._mean_values(X)
        return value[:, 0, 0] if self.n_outputs_ == 1 else value[:, :, 0]

    def _publish_out_of_bag(self, value: NDArray[np.float64], targets: Any) -> None:
        from sklearn.metrics import r2_score

        guess = value[:, :, 0]
        self.oob_prediction_ = guess[:, 0] if self.n_outputs_ == 1 else guess
        self.oob_score_ = float(r2_score(targets.numbers, guess))


def drawn_in_part(seed: int, part: int, n: int, share: float) -> NDArray[np.int64]:
    """Return how often the tree of a seed draws each of the n rows of a part of the table."""
    return np.asarray(np.random.default_rng([seed, part]).poisson(share, n), np.int64)


def n_drawn(max_samples: Any, n: int, weights: Any) -> int:
    """Return how many rows a bootstrap sample draws."""
    if max_samples is None:
        return n
    if isinstance(max_samples, Integral):
        return int(max_samples)
    total = float(n if weights is None else weights.sum())
    drawn = max(int(max_samples * total), 1)
    if drawn < max(10, n ** (1 / 3)):
        what = "number of samples" if weights is None else "total sum of sample weights"
        warn(
            f"Using the fractional value max_samples={max_samples} when the {what} is {total:g} "
            f"results in a low number ({drawn}) of bootstrap samples. We recommend passing "
            "`max_samples` as an integer instead."
        )
    return drawn
