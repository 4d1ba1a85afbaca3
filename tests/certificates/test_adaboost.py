"""P4, T5, T6: the bounds of boosting hold, in fractions too, and a nudged number is found out."""

import copy
from fractions import Fraction

import numpy as np
import pytest
import sklearn.ensemble
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import AdaBoostClassifier, certify

CANCER, IRIS = load_breast_cancer(return_X_y=True), load_iris(return_X_y=True)
THEIRS = sklearn.ensemble.AdaBoostClassifier


@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["two classes", "three"])
@pytest.mark.parametrize(
    "model",
    [
        THEIRS(n_estimators=15),
        THEIRS(DecisionTreeClassifier(max_depth=2), n_estimators=6, learning_rate=0.5),
        THEIRS(GaussianNB(), n_estimators=5),
        AdaBoostClassifier(n_estimators=10, alpha_cap=0.3),
    ],
    ids=repr,
)
def test_fits_are_certified(model, data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with np.errstate(divide="ignore"):  # scikit-learn takes the logarithm of weights of zero
        model.fit(X, y, sample_weight=weight)
    certificate = certify(model, X, y, sample_weight=weight)
    assert certificate.holds, str(certificate)


def exact_rounds(model, X, y):
    """Errors and squared Z of each round in fractions: with the best alpha both are rational."""
    D, rounds = [Fraction(1, len(y))] * len(y), []
    for member in model.estimators_:
        wrong = (member.predict(X) != y).tolist()
        e = sum(d for d, w in zip(D, wrong, strict=True) if w)
        rounds.append((e, 4 * e * (1 - e)))
        if e == 0:
            break
        D = [d / (2 * e if w else 2 * (1 - e)) for d, w in zip(D, wrong, strict=True)]
    return rounds


tables = st.lists(
    st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 1)), min_size=4, max_size=16
).map(np.array)


@given(tables, st.integers(1, 6), st.booleans())
def test_bounds_are_those_of_fractions(table, n_rounds, ours):
    X, y = table[:, :3].astype(float), table[:, 3]
    assume(len(np.unique(y)) == 2)
    model = (AdaBoostClassifier if ours else THEIRS)(n_estimators=n_rounds)
    try:
        model.fit(X, y)
    except ValueError:  # no stump beats chance
        assume(False)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    rounds = exact_rounds(model, X, y)
    assert np.allclose(model.estimator_errors_[: len(rounds)], [float(e) for e, _ in rounds])
    if rounds[-1][0] > 0:  # else Z = 0 for the best alpha, which is infinite
        squared = np.prod([z for _, z in rounds])
        mistakes = Fraction(int((model.predict(X) != y).sum()), len(y))
        assert mistakes**2 <= squared
        assert certificate["error bound"].bound == pytest.approx(float(squared) ** 0.5)
        edges = float(sum((Fraction(1, 2) - e) ** 2 for e, _ in rounds))
        assert certificate["edge bound"].bound == pytest.approx(np.exp(-2 * edges))


@given(st.lists(st.floats(-3, 3), min_size=8, max_size=8), st.sampled_from([2, 3]))
def test_the_bound_is_true_of_any_weights(weights, n_classes):
    X, y = (CANCER[0][:80], CANCER[1][:80]) if n_classes == 2 else IRIS
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    weights = np.array(weights) if n_classes == 2 else np.abs(weights)
    assume(np.abs(weights).sum() > 0.1)
    model.estimator_weights_ = weights
    certificate = certify(model, X, y)
    assert certificate["error bound"].value == pytest.approx(np.mean(model.predict(X) != y))
    assert certificate["error bound"].holds
    assert certificate["exponential loss"].holds
    assert not certificate.holds


@pytest.mark.parametrize(
    "name",
    ["estimator_weights_", "estimator_errors_", "alphas_", "train_errors_", "error_bounds_",
     "edge_bounds_"],
)  # fmt: skip
def test_a_number_that_was_nudged_does_not_pass(name):
    X, y = CANCER
    model = copy.deepcopy(AdaBoostClassifier(n_estimators=5).fit(X, y))
    getattr(model, name)[2] += 0.01
    assert not certify(model, X, y).holds


def test_a_stump_that_was_nudged_and_other_rows_do_not_pass():
    X, y = CANCER
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    assert not certify(model, X[::-1], y).holds
    nudged = copy.deepcopy(model)
    tree = nudged.estimators_[1].tree_
    tree.threshold = tree.threshold * 1.1
    assert not certify(nudged, X, y).holds


def test_a_negative_weight_among_three_classes_does_not_pass():
    X, y = IRIS
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    model.estimator_weights_ = model.estimator_weights_ * [1, -1, 1, 1, 1]
    assert not certify(model, X, y)["weights"].holds


def test_the_capacity_of_stumps_is_reported():
    X, y = CANCER
    claim = certify(AdaBoostClassifier(n_estimators=8).fit(X, y), X, y)["complexity"]
    # 2^(m - 1) <= 30 (m - 1) + 1 up to m = 8
    assert claim.value == pytest.approx(np.sqrt(8 * 8 / 569))
    assert "nothing is proved" in claim.statement
    deeper = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2).fit(X, y)
    assert "complexity" not in [claim.name for claim in certify(deeper, X, y)]
