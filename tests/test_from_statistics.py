"""A model is made of the statistics of its kind, and of no others."""

import numpy as np
import pytest

from rosenblatt import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    Standardizer,
    registry,
)
from rosenblatt.statistics import (
    CategoryCounts,
    FeatureCounts,
    Gram,
    Moments,
    ProductStatistic,
    Statistic,
)

rng = np.random.default_rng(0)
X, y = rng.poisson(4.0, (60, 3)), np.repeat([0, 1], 30)
GAPS = np.where(X == 3, np.nan, X)
MODELS = [row.estimator for row in registry.ROWS if row.additive]
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


@models
def test_another_kind_of_statistic_is_refused_by_name(model):
    kind = model.statistic_type[0]
    for statistic in (Gram.of(X, y), FeatureCounts.of(X, y), Moments.of(X, y)):
        if not isinstance(statistic, kind):
            other = type(statistic).__name__
            with pytest.raises(TypeError, match=f"stands on {kind.__name__}, .*; got {other}"):
                model.from_statistics(statistic)


@models
@pytest.mark.parametrize("given", [None, {"rows": 3}, GaussianNB().fit(X, y)])
def test_what_is_no_statistic_is_refused(model, given):
    with pytest.raises(TypeError, match=r"from_statistics takes a statistic, .*; got"):
        model.from_statistics(given)


@models
def test_the_statistic_of_no_rows_is_refused(model):
    kind, options = model.statistic_type
    if kind not in (Statistic, ProductStatistic):
        with pytest.raises(ValueError, match=r"the statistic of no rows"):
            model.from_statistics(kind.zero(3, **options))


def test_full_moments_are_to_be_given_without_their_products():
    full = LinearDiscriminantAnalysis().fit(X, y).statistics_
    with pytest.raises(ValueError, match=r"with full=False; these .* Give it statistics.diagonal"):
        GaussianNB.from_statistics(full)
    assert (GaussianNB.from_statistics(full.diagonal()).predict(X) == GaussianNB().fit(X, y)
            .predict(X)).all()  # fmt: skip
    with pytest.raises(ValueError, match=r"Moments.of\(X, y, full=True, missing='refuse'\)"):
        LeastSquaresClassifier.from_statistics(full.diagonal())


def test_sums_are_not_presence_and_presence_is_no_sum():
    sums, presence = (m().fit(X, y).statistics_ for m in (MultinomialNB, BernoulliNB))
    with pytest.raises(ValueError, match=r"needs counts of rows; feature 0 of class 0 has a sum"):
        BernoulliNB.from_statistics(sums)
    with pytest.raises(ValueError, match=r"with binarize=None; these were made with binarize=0.0"):
        MultinomialNB.from_statistics(presence)


@pytest.mark.parametrize("gaps", [False, True])
def test_what_the_statistic_was_counted_with_is_taken_over(gaps):
    rows, missing = (GAPS, "ignore") if gaps else (X, "refuse")
    model = BernoulliNB(binarize=5, missing=missing).fit(rows, y)
    again = BernoulliNB.from_statistics(model.statistics_, alpha=1.0)
    assert (again.binarize, again.missing) == (5, missing)
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    scaler = Standardizer(missing=missing).fit(rows)
    assert Standardizer.from_statistics(scaler.statistics_).missing == missing


def test_what_is_said_otherwise_is_refused():
    model = BernoulliNB(binarize=5).fit(X, y)
    assert BernoulliNB.from_statistics(model.statistics_, binarize=5).binarize == 5
    with pytest.raises(ValueError, match=r"=0.0; these .* binarize=5.0. Leave binarize out"):
        BernoulliNB.from_statistics(model.statistics_, binarize=0.0)
    with pytest.raises(ValueError, match=r"missing='refuse'; these .* missing='ignore'"):
        LinearDiscriminantAnalysis.from_statistics(
            Moments.of(GAPS, y, missing="ignore"), covariance="diagonal"
        )


@pytest.mark.parametrize("value", [1.5, -1.0, 2.0**50])
def test_categories_that_are_no_numbers_from_zero_are_refused(value):
    with pytest.raises(ValueError, match=r"whole numbers from 0 on; feature 0 has the category"):
        CategoricalNB.from_statistics(CategoryCounts.of([[value], [1.0]], [0, 1]))


def test_mixed_columns_must_be_of_the_kinds_that_were_counted():
    model = MixedNB(kinds={0: "count"}).fit(X, y)
    again = MixedNB.from_statistics(model.statistics_, kinds=["count", "numeric", "numeric"])
    assert again.kinds_ == model.kinds_
    with pytest.raises(ValueError, match=r"kinds says that column 0 is numeric; .* as count"):
        MixedNB.from_statistics(model.statistics_, kinds={0: "numeric"})
    for parts in ({"size": Moments.of(X, y)}, {"numeric": Moments.of(X, y)}):
        with pytest.raises(ValueError, match=r"parts of the kinds numeric, categorical"):
            MixedNB.from_statistics(ProductStatistic.of(parts, {name: [0, 1, 2] for name in parts}))
