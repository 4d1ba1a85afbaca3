"""Certificates of our naive Bayes models, values missing: they hold, and find out every change."""

import copy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes as theirs

from rosenblatt import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
    certify,
)

rng = np.random.RandomState(0)
Y = rng.randint(3, size=240)
NUMBERS = rng.standard_normal((240, 4)) + Y[:, None] * [0.0, 1.0, 0.5, -1.0]
COUNTS = rng.poisson(1 + Y[:, None] * [0.0, 1.0, 0.5, 0.2]).astype(float)
HOLES = rng.uniform(size=(240, 4)) < 0.15
WEIGHT = rng.randint(0, 3, 240).astype(float)
FRAME = pd.DataFrame(
    {
        "size": NUMBERS[:, 1],
        "colour": rng.choice(["red", "green", "blue"], 240),
        "calls": COUNTS[:, 1],
        "member": (rng.uniform(size=240) < 0.2 + 0.3 * Y / 2).astype(object),
        "age": 30 + 5 * NUMBERS[:, 3],
        "grade": rng.choice([1, 2, 5], 240).astype(object),
    }
)
GAPPY = FRAME.mask(rng.uniform(size=FRAME.shape) < 0.15).astype({"member": object})
KINDS = {"calls": "count", "grade": "categorical"}


def gappy(X):
    return np.where(HOLES, np.nan, X)


CASES = {
    "Gaussian": (GaussianNB(missing="ignore"), gappy(NUMBERS)),
    "Gaussian, shared": (GaussianNB(missing="ignore", variance="feature"), gappy(NUMBERS)),
    "Gaussian, unbiased": (GaussianNB(missing="ignore", variance="class", ddof=1), gappy(NUMBERS)),
    "Gaussian, whole": (GaussianNB(variance="single"), NUMBERS),
    "Bernoulli": (BernoulliNB(missing="ignore", binarize=1), gappy(COUNTS)),
    "Bernoulli, sparse": (BernoulliNB(missing="ignore", alpha=0), sp.csr_matrix(gappy(COUNTS))),
    "Multinomial": (MultinomialNB(missing="ignore"), gappy(COUNTS)),
    "Multinomial, sparse": (MultinomialNB(missing="ignore"), sp.csr_matrix(gappy(COUNTS))),
    "Complement": (ComplementNB(missing="ignore"), gappy(COUNTS)),
    "Categorical": (CategoricalNB(missing="ignore"), gappy(COUNTS)),
    "Categorical, words": (CategoricalNB(missing="ignore", alpha=0.5), GAPPY[["colour", "grade"]]),
    "Mixed": (MixedNB(kinds=KINDS), GAPPY),
    "Mixed, whole": (MixedNB(kinds=KINDS, alpha=0, variance="feature"), FRAME),
    "Mixed, unbiased": (MixedNB(kinds=KINDS, ddof=1, priors=[0.2, 0.3, 0.5]), GAPPY),
    "Mixed, polars": (
        MixedNB(kinds=KINDS),
        pl.from_pandas(GAPPY.drop(columns=["grade", "member"])),
    ),
    "Mixed, densities": (MixedNB(kinds={**KINDS, "size": "density", "age": "density"}), GAPPY),
    "Densities": (MixedNB(kinds=["density"] * 4, bandwidth="silverman"), gappy(NUMBERS)),
    "Mixed, numbers": (MixedNB(), gappy(NUMBERS)),
}
CASES["Mixed, polars"][0].set_params(kinds={"calls": "count"})
each_case = pytest.mark.parametrize(("model", "X"), CASES.values(), ids=CASES.keys())

# What is said of the data rather than learned from it.
NOT_NUMBERS = {"feature_names_in_", "n_features_in_", "classes_", "statistics_", "kinds_"}


def fitted(model, X, **more):
    return copy.deepcopy(model).fit(X, Y, **more)


def all_numbers(model):
    """(name, array) of each published array; lists of tables give one each."""
    derived = [name for name in ("class_count_", "feature_count_") if name not in vars(model)]
    for name in [*(n for n in vars(model) if n.endswith("_")), *derived]:
        if name not in NOT_NUMBERS and hasattr(model, name):
            value = getattr(model, name)
            yield name, value


def nudged(value, nudge):
    """The same numbers, or tables, with one of them changed."""
    if isinstance(value, list):
        return [nudged(value[0], nudge), *value[1:]]
    array = np.array(value)
    if array.dtype.kind == "U":
        array[0] = array[0] + "x"
    elif array.dtype.kind in "iu":
        array.flat[0] += 1
    else:
        here = np.flatnonzero(np.isfinite(array))[0]
        array.flat[here] += nudge * max(1e-3, abs(array.flat[here]))
    return array if array.ndim else array.item()


@each_case
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_honest_fits_hold_and_agree_with_predict(model, X, weight):
    model = fitted(model, X, sample_weight=weight)
    certificate = certify(model, X, Y, sample_weight=weight)
    assert certificate.holds, str(certificate)
    kept = slice(None) if weight is None else np.flatnonzero(weight > 0)
    rows = X.iloc[kept] if hasattr(X, "iloc") else X[kept]
    wrong = np.count_nonzero(model.predict(rows) != Y[kept])
    assert certificate["training error"].value == wrong
    assert any(claim.grade in ("proved", "checked") for claim in certificate)


@each_case
@pytest.mark.parametrize("nudge", [0.1, 1e-4])
def test_any_number_that_is_changed_is_found_out(model, X, nudge):
    model = fitted(model, X)
    names = [name for name, _ in all_numbers(model)]
    assert len(names) >= 4
    for name, value in all_numbers(model):
        if isinstance(getattr(type(model), name, None), property):
            continue  # it follows from the statistic, and cannot be set
        changed = copy.copy(model)
        setattr(changed, name, nudged(value, nudge))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            certificate = certify(changed, X, Y)
        assert not certificate.holds, name


def test_other_rows_or_another_kind_are_found_out():
    model = fitted(*CASES["Mixed"])
    assert not certify(model, GAPPY[::-1].reset_index(drop=True), Y).holds
    assert not certify(model, GAPPY.fillna({"colour": "red"}), Y).holds
    size, colour, calls, *rest = model.kinds_
    for kinds in (
        ["numeric"] * 6,
        [*model.kinds_[:-1], "ordinal"],
        [calls, colour, size, *rest],
        [colour, size, calls, *rest],
        model.kinds_[:-1],
    ):
        changed = copy.copy(model)
        changed.kinds_ = kinds
        assert not certify(changed, GAPPY, Y).holds, kinds


def test_the_shortfall_of_mixed_columns_is_that_of_the_log_likelihood():
    """Without smoothing: the mean over rows of log P(x, y), what was learned less what is given."""
    X = FRAME
    model = fitted(MixedNB(kinds=KINDS, alpha=0, var_smoothing=0), X)
    other = copy.deepcopy(model)
    other.rate_ = other.rate_ * 1.3
    other.true_prob_ = other.true_prob_ * 0.9
    other.category_log_prob_ = [np.log(np.full_like(t, 1 / 3)) for t in model.category_log_prob_]

    def log_likelihood(model):
        joint = model.predict_joint_log_proba(X)
        return joint[np.arange(len(Y)), np.searchsorted(model.classes_, Y)].sum()

    gap = certify(other, X, Y)["likelihood"].value
    assert gap == pytest.approx(log_likelihood(model) - log_likelihood(other), rel=1e-9)


@pytest.mark.parametrize("model", [GaussianNB(), MultinomialNB(), BernoulliNB(), ComplementNB()])
def test_single_precision_is_judged_by_its_own_rounding(model):
    X = COUNTS.astype(np.float32)
    model = fitted(model, X)
    assert certify(model, X, Y).holds
    name = "theta_" if hasattr(model, "theta_") else "feature_log_prob_"
    setattr(model, name, nudged(getattr(model, name), 1e-3))
    assert not certify(model, X, Y).holds


def test_gaps_are_refused_for_models_that_refuse_them():
    model = fitted(GaussianNB(), NUMBERS)
    with pytest.raises(ValueError, match="X must be finite"):
        certify(model, gappy(NUMBERS), Y)


def test_only_sums_that_do_not_round_are_proved():
    X, y = np.repeat([[2.0**53], [2.0**53 + 2], [0.0], [1.0]], 5, axis=0), [0] * 10 + [1] * 10
    model = theirs.GaussianNB().fit(X, y)
    assert certify(model, X, y)["means"].grade == "checked"  # 2**53 + 1 is no double
    assert certify(model, X, y)["class counts"].grade == "proved"
    weight = np.full(20, 0.1)  # ten of which are not one
    model.fit(X, y, sample_weight=weight)
    assert certify(model, X, y, sample_weight=weight)["class counts"].grade == "checked"
