"""Every public number of a model that counts or measures is certified: a gross change is found out.

A certificate that held while some attribute was wrong would speak of another model than the one
that predicts. What no certificate looks at stands in `UNREAD`, with the reason.
"""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.utils import get_tags

from rosenblatt import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    certify,
    registry,
)

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

rng = np.random.RandomState(0)
Y = np.arange(150) % 3
NUMBERS = rng.standard_normal((150, 4)) + Y[:, None] * [0.0, 1.0, 0.5, -1.0]
COUNTS = rng.poisson(1 + Y[:, None] * [0.0, 1.0, 0.5, 0.2])
WORDS = rng.choice(["a", "b", "c"], (150, 2)).astype(object)
FRAME = pd.DataFrame(
    {
        "size": NUMBERS[:, 1],
        "colour": WORDS[:, 0],
        "calls": COUNTS[:, 1],
        "member": (rng.uniform(size=150) < 0.2 + 0.3 * Y / 2),
    }
)
TWO = Y < 2


def tables_of(model):
    """The tables that a model is fitted to: of numbers, counts, words, or columns of all kinds."""
    tags = get_tags(model)
    if hasattr(model, "kinds"):
        return [FRAME]
    counts = tags.input_tags.positive_only or hasattr(model, "binarize")
    return [COUNTS, WORDS] if tags.input_tags.string else [COUNTS if counts else NUMBERS]


def cases():
    """Models, rows and labels of three classes and of two."""
    rows = [row for row in registry.ROWS if row.additive and row.certificate]
    for row in (row for row in rows if row.task == "classification"):
        for setting in (*row.contract.settings, *row.contract.tampered):
            model = row.estimator(**setting)
            for X in tables_of(model):
                if get_tags(model).classifier_tags.multi_class:
                    yield model, X, Y
                if not isinstance(setting.get("priors"), list):  # of three classes
                    yield model, X[TWO], Y[TWO]


CASES = list(cases())


def name_of(X):
    """A test's name for a table."""
    return "words" if X is WORDS else "numbers"


each_case = pytest.mark.parametrize(
    ("model", "X", "y"), CASES, ids=[f"{m!r}, {name_of(X)}, {len(y)} rows" for m, X, y in CASES]
)

# What a certificate does not read, and why it may leave it alone.
UNREAD = {
    ("*", "feature_names_in_"): "names are compared with those of a frame, and predict nothing",
    ("CategoricalNB", "statistics_"): "learning goes on from it; predictions and counts are copies",
    ("TreeAugmentedNB", "statistics_"): "learning goes on from it; predictions are of the tables",
    ("MixedNB", "statistics_"): "learning goes on from it; predictions and counts are copies",
}


def public_names(model):
    """Fitted attributes that can be set; properties follow from the statistic."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def changes(name, value, model, X, y):
    """Values grossly different from the one there."""
    if name == "statistics_":
        other = X.iloc[::-1] if hasattr(X, "iloc") else X[::-1]
        yield copy.deepcopy(model).fit(other[: len(y) - 7], y[: len(y) - 7]).statistics_
    elif isinstance(value, str):
        yield "unheard of"
    elif isinstance(value, list):
        for changed in changes(name, value[0], model, X, y):
            yield [changed, *value[1:]]
        yield value[::-1] if len({str(v) for v in value}) > 1 else value[:-1]
    else:
        yield from changed_arrays(np.asarray(value))


def changed_arrays(array):
    if array.dtype.kind in "OU":
        yield np.array(
            [*array[:-1], "unheard of"], array.dtype.str if array.dtype.kind == "O" else "U12"
        )
        yield array[::-1]
        return
    scalar = array.ndim == 0
    for here in {0, array.size - 1}:
        one = np.array(array)
        number = one.flat[here]
        one.flat[here] = number + abs(number) + 1 if np.isfinite(number) else -5.0
        yield one.item() if scalar else one
    if np.isfinite(array).all():
        yield (array * -3).item() if scalar else array * -3
    if array.size > 1:
        yield array[..., :-1] if array.ndim == 1 else array[:, :-1]


def found_out(model, X, y):
    """Whether the certificate fails, or is refused with a word on what does not fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return not certify(model, X, y).holds
        except np.linalg.LinAlgError:  # a ValueError, but a crash
            raise
        except ValueError:
            return True


@each_case
def test_every_public_attribute_is_certified(model, X, y):
    model = copy.deepcopy(model).fit(X, y)
    assert certify(model, X, y).holds, str(certify(model, X, y))
    names = public_names(model)
    assert {"classes_", "n_features_in_", "n_parameters_", "statistics_"} <= set(names)
    for name in names:
        if ("*", name) in UNREAD or (type(model).__name__, name) in UNREAD:
            continue
        for value in changes(name, getattr(model, name), model, X, y):
            changed = copy.copy(model)
            setattr(changed, name, value)
            if not isinstance(value, list) and np.array_equal(value, getattr(model, name)):
                continue  # zero, minus three times
            assert found_out(changed, X, y), f"{name} = {value}"


def test_what_predict_reads_in_private_is_compared_with_what_is_public():
    quadratic = QDA().fit(NUMBERS, Y)
    quadratic._factors = quadratic._factors._replace(
        constants=quadratic._factors.constants + [0, 1e-6, 0]
    )
    assert not certify(quadratic, NUMBERS, Y)["scores"].holds
    quadratic._factors = quadratic._factors._replace(
        constants=quadratic._factors.constants + [0, 50, 0]
    )
    assert not certify(quadratic, NUMBERS, Y)["predictions"].holds
    mixed = MixedNB(kinds={"calls": "count"}).fit(FRAME, Y)
    mixed._gaussian = copy.deepcopy(mixed._gaussian)
    mixed._gaussian.theta_ = mixed._gaussian.theta_[::-1]
    assert not certify(mixed, FRAME, Y)["predictions"].holds


def test_a_model_that_refuses_the_rows_is_not_certified():
    model = CategoricalNB().fit(COUNTS, Y)
    model.n_categories_ = np.zeros(4, int)
    claim = certify(model, COUNTS, Y)["predictions"]
    assert not claim.holds
    assert "refuses the rows" in claim.statement


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_a_difference_is_judged_by_the_spread_and_not_by_the_distance_from_the_origin(offset):
    X = NUMBERS[TWO] + offset
    for model, name in (
        (GaussianNB(), "theta_"), (LDA(), "means_"), (QDA(), "means_"),
        (FisherDiscriminant(), "means_"),
    ):  # fmt: skip
        model.fit(X, Y[TWO])
        assert certify(model, X, Y[TWO]).holds, str(certify(model, X, Y[TWO]))
        setattr(model, name, getattr(model, name) + np.array([[1e-4], [0]]))
        assert not certify(model, X, Y[TWO])["means"].holds
    for model in (LDA(), FisherDiscriminant(), LeastSquaresClassifier()):
        model.fit(X, Y[TWO])
        assert certify(model, X, Y[TWO]).holds, str(certify(model, X, Y[TWO]))
        turned = copy.copy(model)  # about the mean
        turned.coef_, turned.intercept_ = -model.coef_, model.coef_ @ X.mean(axis=0)
        assert not certify(turned, X, Y[TWO]).holds


def test_nothing_is_nothing_and_impossible_is_impossible():
    X = np.column_stack([NUMBERS, np.full(150, 0.1)])
    model = GaussianNB(var_smoothing=0).fit(X, Y)
    assert certify(model, X, Y).holds
    for variance in (1e-10, 1e-25, 2.0**-99):
        model.var_[:, 4] = variance
        assert not certify(model, X, Y)["variances"].holds
    counts = COUNTS * (Y[:, None] != [0, 1, 1, 1])
    model = MultinomialNB(alpha=0).fit(counts, Y)
    assert certify(model, counts, Y).holds
    model.feature_log_prob_[0, 0] = -700.0
    assert not certify(model, counts, Y)["parameters"].holds
    smoothed = GaussianNB(var_smoothing=0).fit(NUMBERS, Y)
    smoothed.epsilon_, smoothed.var_ = 1e-3, smoothed.var_ + 1e-3
    assert not certify(smoothed, NUMBERS, Y)["smoothing"].holds


def test_a_class_derived_from_ours_is_judged_as_ours():
    class Mine(GaussianNB):
        pass

    model = Mine().fit(NUMBERS, Y)
    assert certify(model, NUMBERS, Y).holds
    model.epsilon_, model.var_ = 1e6, model.var_ + 1e6
    assert not certify(model, NUMBERS, Y).holds


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_planes_of_a_singular_covariance_are_compared_all_the_same(solver):
    X = np.column_stack([NUMBERS[TWO], NUMBERS[TWO, 0] + NUMBERS[TWO, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # of "lsqr", which finds it out
        model = LDA(solver=solver).fit(X, Y[TWO])
    middle = model.means_.mean(axis=0)
    for w in ([100.0, -50, 3, 7, 1], model.coef_[0] + [1, 1, 0, 0, -1]):
        changed = copy.copy(model)
        changed.coef_ = np.array([w])
        changed.intercept_ = -changed.coef_ @ middle
        assert not certify(changed, X, Y[TWO])["planes"].holds
