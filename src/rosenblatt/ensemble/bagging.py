"""Bagging: scikit-learn's, with our trees where no model is named."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import ensemble
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.mixed_tables import categorical_columns
from rosenblatt.registry.row import Row
from rosenblatt.tree import DecisionTreeClassifier, DecisionTreeRegressor
from rosenblatt.tree.base import DecisionTree


class BaggedTables:
    """Bagging whose members, if they are our trees, read data frames with categories."""

    _categories_at: list[int]  # during a fit: the columns of categories

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members on samples of the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Proportional to the probability that a row is drawn.
        **fit_params : Any
            For the members, with metadata routing.
        """
        checks.unique_names(X)
        checks.no_times(X)
        if sample_weight is not None:
            sample_weight = checks.scaled_weights(sample_weight, _num_samples(X))
        self._categories_at = self._find_categories(X)
        try:
            super().fit(X, y, sample_weight, **fit_params)  # type: ignore[misc]
        finally:
            del self._categories_at
        return self

    def _find_categories(self, X: Any) -> list[int]:
        """The columns of categories, by the types of a data frame, which members do not see."""
        model: Any = self
        member = model._get_estimator()
        if not isinstance(member, DecisionTree) or not hasattr(X, "columns"):
            return []
        found = np.flatnonzero(categorical_columns(X, member.categorical_features)).tolist()
        draws = model.bootstrap_features or isinstance(model.max_features, Integral)
        if found and (draws or model.max_features < 1.0):
            raise ValueError(
                f"Column {X.columns[found[0]]!r} holds categories: encode it, or use "
                "max_features=1.0 and bootstrap_features=False."
            )
        return found

    def _for_tables(self, member: Any) -> Any:
        """A member that reads the columns of categories as such."""
        if not vars(self).get("_categories_at"):
            return member
        return clone(member).set_params(categorical_features=self._categories_at)


class BaggingClassifier(BaggedTables, ensemble.BaggingClassifier):  # type: ignore[misc]
    """Models fitted to bootstrap samples, their class shares averaged or votes counted.

    Draw rows with replacement, fit a model to each sample, and average: the variance of unstable
    models falls, their bias stays [1]_. It is scikit-learn's class, with our tree as the default
    model. Our trees read data frames with categories and missing values, here too.

    Parameters
    ----------
    estimator : the model to fit; None for `DecisionTreeClassifier`.
    n_estimators : how many.
    max_samples, max_features : how many rows and columns each sample draws.
    bootstrap, bootstrap_features : whether they are drawn with replacement.
    oob_score : whether rows are scored by the models that have not seen them.
    warm_start : whether another fit keeps the models and adds more.
    n_jobs, random_state, verbose : as in scikit-learn.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_ : the models, and what each was fitted
        to.
    classes_, n_classes_, n_features_in_, feature_names_in_ : of the data.
    oob_score_, oob_decision_function_ : accuracy and class shares out of bag.

    Examples
    --------
    >>> from rosenblatt import BaggingClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> BaggingClassifier(random_state=0).fit(X, y).predict([[0, 1], [1, 1]])
    array([1, 0])

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. *Machine Learning* 24.
    """

    def _get_estimator(self) -> Any:
        return self._for_tables(
            DecisionTreeClassifier() if self.estimator is None else self.estimator
        )


class BaggingRegressor(BaggedTables, ensemble.BaggingRegressor):  # type: ignore[misc]
    """Models fitted to bootstrap samples, their predictions averaged.

    It is scikit-learn's class, with our tree as the default model [1]_.

    Parameters
    ----------
    estimator : the model to fit; None for `DecisionTreeRegressor`.
    n_estimators : how many.
    max_samples, max_features : how many rows and columns each sample draws.
    bootstrap, bootstrap_features : whether they are drawn with replacement.
    oob_score : whether rows are scored by the models that have not seen them.
    warm_start : whether another fit keeps the models and adds more.
    n_jobs, random_state, verbose : as in scikit-learn.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_ : the models, and what each was fitted
        to.
    n_features_in_, feature_names_in_ : of the data.
    oob_score_, oob_prediction_ : R2 and predictions out of bag.

    Examples
    --------
    >>> from rosenblatt import BaggingRegressor
    >>> X, y = [[i] for i in range(20)], [float(i >= 10) for i in range(20)]
    >>> BaggingRegressor(random_state=0).fit(X, y).predict([[2], [17]])
    array([0., 1.])

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. *Machine Learning* 24.
    """

    def _get_estimator(self) -> Any:
        return self._for_tables(
            DecisionTreeRegressor() if self.estimator is None else self.estimator
        )


ROWS = (
    Row(
        "BaggingClassifier",
        page="forests.md",
        certificate="forest",
        contract=None,
        warm=None,
        file_types=("tree.structure.Tree",),
        slow_peer_tests=("ensemble/tests/test_bagging.py",),
    ),
    Row(
        "BaggingRegressor",
        page="forests.md",
        certificate="forest",
        contract=None,
        warm=None,
        file_types=("tree.structure.Tree",),
        slow_peer_tests=("ensemble/tests/test_bagging.py",),
    ),
)
