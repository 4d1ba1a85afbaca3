"""Step k of a trace is the fit with max_iter=k, and being watched changes nothing."""

import numpy as np
import pytest
from sklearn.base import clone

from rosenblatt import Trace
from tests.contract.estimators import (
    counts_passes,
    holds_out,
    instances,
    iterative,
    learned,
    limit_of,
    mistake_driven,
    n_passes,
    name_of,
    only,
    problem,
    speaks,
    takes_sparse,
)

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", only(iterative, instances()), ids=name_of)
each_that_speaks = pytest.mark.parametrize("estimator", only(speaks, instances()), ids=name_of)
each_mistake_driven = pytest.mark.parametrize(
    "estimator", only(mistake_driven, instances()), ids=name_of
)


@each_setting
@pytest.mark.parametrize("n_classes", [2, 3])
def test_step_k_is_the_fit_that_was_stopped_after_k_passes(estimator, n_classes):
    if holds_out(estimator):
        pytest.skip("the fit returns the best pass so far, the trace shows each pass")
    X, y = problem(n_classes, estimator=estimator)
    trace = Trace()
    model = clone(estimator).set_callbacks(trace).fit(X, y)
    assert len(trace) == n_passes(model) + 1
    if not counts_passes(estimator):
        pytest.skip("max_iter counts pairs of coefficients, as in scikit-learn")
    limit = limit_of(estimator)
    for k in (1, 3, n_passes(model)):
        if limit == "max_updates" and k > model.n_updates_:
            continue
        # A tree of k splits has one leaf more.
        most = k + 1 if limit == "max_leaf_nodes" else k
        shorter = clone(estimator).set_params(**{limit: most}).fit(X, y)
        assert np.array_equal(learned(trace[k].estimator), learned(shorter))
        assert np.array_equal(trace[k].estimator.predict(X), shorter.predict(X))


@each_that_speaks
@pytest.mark.parametrize("every", ["pass", "update", "visit"])
@pytest.mark.parametrize("sparse", [False, True])
def test_being_watched_changes_nothing(estimator, every, sparse):
    if every != "pass" and not mistake_driven(estimator):
        pytest.skip("has no updates or visits")
    if sparse and not takes_sparse(estimator):
        pytest.skip("takes no sparse rows")
    X, y = problem(sparse=sparse, estimator=estimator)
    watched = clone(estimator).set_callbacks(Trace(every=every)).fit(X, y)
    alone = clone(estimator).fit(X, y)
    assert np.array_equal(learned(watched), learned(alone))
    assert n_passes(watched) == n_passes(alone)
    assert getattr(watched, "n_updates_", None) == getattr(alone, "n_updates_", None)


@each_mistake_driven
def test_every_update_is_recorded(estimator):
    if holds_out(estimator):
        pytest.skip("counts the updates up to the best pass only")
    X, y = problem(estimator=estimator)
    trace = Trace(every="update")
    model = clone(estimator).set_callbacks(trace).fit(X, y)
    assert len(trace) - 1 == model.n_updates_
    # The last update is the last word, unless right visits change the model as well.
    assert np.array_equal(learned(trace[-1].estimator), learned(model)) or (
        estimator.penalty or hasattr(model, "last_coef_")
    )


@each_mistake_driven
def test_every_visit_is_recorded_with_the_model_it_left(estimator):
    if holds_out(estimator) or estimator.pick != "cyclic":
        pytest.skip("visits held-out rows never, or mistakes only")
    X, y = problem(estimator=estimator)
    trace = Trace(every="visit")
    model = clone(estimator).set_callbacks(trace).fit(X, y)
    assert len(trace) == model.t_  # one more than the visits made
    assert np.array_equal(learned(trace[-1].estimator), learned(model))
