"""Every public estimator, by its row in the registry, and the settings in which it is tested."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.datasets import make_classification
from sklearn.utils import get_tags

from rosenblatt import registry

ROWS = [row for row in registry.ROWS if row.contract]
ESTIMATORS = [row.estimator for row in ROWS]


def contract_of(estimator):
    """What the registry says of testing an estimator or a class."""
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return registry.row_of(kind.__name__).contract


def instances():
    """One estimator for each class and setting."""
    return _made("settings")


def checked_instances():
    """Those that scikit-learn's own checks are run with."""
    return _made("checked")


def _made(column):
    return [
        estimator(**setting)
        for estimator in ESTIMATORS
        for setting in getattr(contract_of(estimator), column)
    ]


def speaks(estimator):
    """Whether it tells callbacks of its steps: transformers have none, and tell of their fit."""
    return hasattr(estimator, "set_callbacks") and hasattr(estimator, "predict")


def iterative(estimator):
    """Whether it learns in passes: it then speaks to callbacks and says why it stopped.

    What follows from an additive statistic has a closed form, and one step to tell of.
    """
    return speaks(estimator) and not hasattr(estimator, "merge")


def mistake_driven(estimator):
    """Whether it learns example by example, and has updates and visits to tell of."""
    return iterative(estimator) and hasattr(estimator, "pick")


def holds_out(estimator):
    """Whether it keeps rows aside to stop early by."""
    return getattr(estimator, "early_stopping", False)


def n_passes(model):
    """How many passes or iterations a fit made, as one number; a closed form is one."""
    if hasattr(model, "n_sweeps_"):
        return model.n_sweeps_
    return int(np.max(getattr(model, "n_iter_", 1)))


def counts_passes(estimator):
    """Whether max_iter limits passes: in kernel machines it limits pairs of coefficients."""
    return iterative(estimator) and not hasattr(estimator, "shrinking")


def limit_of(estimator):
    """The parameter that stops a fit after so many steps: passes, updates, splits or trees."""
    for name in ("n_estimators", "max_leaf_nodes"):
        if hasattr(estimator, name) and not hasattr(estimator, "max_iter"):
            return name
    return "max_iter" if getattr(estimator, "pick", "cyclic") == "cyclic" else "max_updates"


def predicts(estimator):
    """Whether it predicts: transformers do not."""
    return hasattr(estimator, "predict")


def supervised(estimator):
    """Whether it learns from labels or targets: clusterings and mixtures do not."""
    return get_tags(estimator).estimator_type in ("classifier", "regressor")


def takes_sparse(estimator):
    """Whether it accepts sparse rows."""
    return get_tags(estimator).input_tags.sparse


def takes_missing(estimator):
    """Whether it accepts NaN."""
    return get_tags(estimator).input_tags.allow_nan


def takes_infinity(estimator):
    """Whether it accepts infinite values: on levels, they are larger than others."""
    return hasattr(estimator, "max_bins")


def has_precision(estimator):
    """Whether it reads numbers: the names of categories have no precision."""
    # Thresholds of trees and rules lie between two numbers; distances and votes are doubles.
    doubles = ("min_samples_leaf", "n_estimators", "n_cuts", "kneighbors")
    has_doubles = any(hasattr(estimator, name) for name in doubles)
    return not get_tags(estimator).input_tags.categorical and not has_doubles


def only(ability, estimators):
    """Those that have an ability, one of the functions above."""
    return [estimator for estimator in estimators if ability(estimator)]


def name_of(estimator):
    """A test's name for it."""
    return repr(estimator)


def problem(
    n_classes=2, n_rows=120, n_features=5, dtype=np.float64, sparse=False, seed=0, estimator=None
):
    """A noisy table with its labels; of counts, two classes, or numbers, for who asks for such."""
    tags = None if estimator is None else get_tags(estimator)
    if tags is not None and tags.classifier_tags and not tags.classifier_tags.multi_class:
        n_classes = 2
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=min(n_features, 4),
        n_redundant=0,
        n_classes=n_classes,
        random_state=seed,
    )
    if estimator is not None and is_regressor(estimator):
        noise = np.random.default_rng(seed).normal(size=n_rows)
        y = X @ np.linspace(-1, 2, n_features) + 0.5 * noise + 3
    X = X.astype(dtype)
    if tags is not None and (tags.input_tags.positive_only or tags.input_tags.categorical):
        X = np.clip(np.round(X), 0, 2)
    if sparse:
        X[np.abs(X) < 0.3] = 0
        X = sp.csr_matrix(X)
    return X, y if y.dtype.kind == "f" else np.array(["a", "b", "c", "d"])[y]


def learned(model):
    """The numbers that were learned: one array."""
    if hasattr(model, "estimators_"):
        return np.concatenate([learned(member) for member in model.estimators_])
    if hasattr(model, "kneighbors"):  # the rows themselves
        return model.kneighbors(n_neighbors=1)[0]
    if hasattr(model, "trees_"):  # boosted: the nodes of all in one table
        return np.concatenate([model.baseline_, model.trees_.gain, model.trees_.value])
    if hasattr(model, "tree_"):
        return np.concatenate([model.tree_.threshold, model.tree_.value.ravel()])
    for name in (
        "coef_",
        "dual_coef_",
        "theta_",
        "feature_log_prob_",
        "cluster_centers_",
        "means_",
    ):
        if hasattr(model, name):
            found = getattr(model, name)
            found = found.toarray() if sp.issparse(found) else found
            return np.hstack([p.ravel() for p in found]) if isinstance(found, list) else found
    tables = [a for a in fitted_arrays(model).values() if a.dtype.kind == "f"]
    return np.concatenate([table.ravel() for table in tables])


def scores(model, X):
    """What it decides by, a number for each row or each row and class; or what it makes of X."""
    shares = ("predict_joint_log_proba", "transform", "predict_proba")
    for method in ("decision_function", *shares):
        if hasattr(model, method):
            return getattr(model, method)(X)
    if is_regressor(model):
        return model.predict(X)
    if not predicts(model):  # it clusters the rows it is given, and no others
        return model.labels_
    # Labels alone: one for the class or cluster that is predicted, zero for the others.
    labels = model.predict(X)
    known = getattr(model, "classes_", np.unique(labels))
    return (labels[:, None] == known).astype(learned(model).dtype)


def fitted_arrays(model):
    """The public fitted attributes that are numbers."""
    values = {
        name: value.toarray() if sp.issparse(value) else value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    return {
        name: np.asarray(value)
        for name, value in values.items()
        if isinstance(value, np.ndarray | int)
    }
