"""Bagging: scikit-learn's, with our trees where no model is named."""

from typing import Any

from sklearn import ensemble

from rosenblatt.tree import DecisionTreeClassifier, DecisionTreeRegressor


class BaggingClassifier(ensemble.BaggingClassifier):  # type: ignore[misc]
    """Models fitted to bootstrap samples, their class shares averaged or votes counted.

    Draw rows with replacement, fit a model to each sample, and average: the variance of unstable
    models falls, their bias stays [1]_. It is scikit-learn's class, with our tree as the default
    model.

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
        return DecisionTreeClassifier() if self.estimator is None else self.estimator


class BaggingRegressor(ensemble.BaggingRegressor):  # type: ignore[misc]
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
        return DecisionTreeRegressor() if self.estimator is None else self.estimator
