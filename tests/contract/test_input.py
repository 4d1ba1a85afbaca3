"""Dense and sparse, 64 and 32 bits, arrays and data frames: the same answer."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from tests.contract.estimators import (
    ESTIMATORS,
    fitted_arrays,
    has_precision,
    instances,
    iterative,
    learned,
    limit_of,
    name_of,
    only,
    predicts,
    problem,
    scores,
    supervised,
    takes_infinity,
    takes_sparse,
)

pytestmark = pytest.mark.usefixtures("unconverged")

each_setting = pytest.mark.parametrize("estimator", only(predicts, instances()), ids=name_of)
each_sparse_setting = pytest.mark.parametrize(
    "estimator", only(takes_sparse, only(predicts, instances())), ids=name_of
)
each_class = pytest.mark.parametrize(
    "Estimator", [e for e in ESTIMATORS if predicts(e()) and supervised(e())]
)
classes = pytest.mark.parametrize("n_classes", [2, 3])


@pytest.mark.parametrize("estimator", only(has_precision, only(predicts, instances())), ids=name_of)
@classes
def test_float32_stays_float32(estimator, n_classes):
    X, y = problem(n_classes, dtype=np.float32, estimator=estimator)
    model = clone(estimator).fit(X, y)
    assert learned(model).dtype == np.float32
    assert getattr(model, "intercept_", X).dtype == np.float32
    assert scores(model, X).dtype == np.float32
    wide = clone(estimator).fit(X.astype(np.float64), y)
    assert learned(wide).dtype == np.float64


@each_sparse_setting
@classes
def test_sparse_equals_dense_on_integers_to_the_bit(estimator, n_classes):
    X, y = problem(n_classes, estimator=estimator)
    X = np.round(3 * X)
    dense, sparse = clone(estimator).fit(X, y), clone(estimator).fit(sp.csr_matrix(X), y)
    full = getattr(getattr(dense, "statistics_", None), "full", False)
    if full or is_regressor(estimator) or hasattr(dense, "dual_gap_"):  # BLAS sums products
        np.testing.assert_allclose(learned(dense), learned(sparse), rtol=1e-9, atol=1e-12)
    elif getattr(estimator, "penalty", None) is None:
        for name, value in fitted_arrays(dense).items():
            assert np.array_equal(value, fitted_arrays(sparse)[name]), name
    else:
        # Without the L1 part, which a row pays only for the features it stores, as in scikit-learn.
        l2 = {"penalty": "l2"}
        dense, sparse = (clone(estimator).set_params(**l2).fit(Z, y) for Z in (X, sp.csr_matrix(X)))
        np.testing.assert_allclose(learned(dense), learned(sparse), rtol=1e-9)


@each_sparse_setting
@pytest.mark.parametrize("layout", [sp.csc_matrix, sp.coo_array, sp.csr_array])
def test_other_sparse_layouts_are_accepted_and_not_densified(estimator, layout):
    X, y = problem(sparse=True, estimator=estimator)
    X = X.tocsr()
    expected = clone(estimator).fit(X, y)
    assert np.array_equal(learned(clone(estimator).fit(layout(X), y)), learned(expected))


@each_sparse_setting
def test_indices_of_64_bits_give_the_same_fit(estimator):
    X, y = problem(sparse=True, estimator=estimator)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert np.array_equal(
        learned(clone(estimator).fit(wide, y)), learned(clone(estimator).fit(X, y))
    )


@each_class
def test_frames_in_another_byte_order_or_of_decimals_give_the_same_fit(Estimator):
    """Loops read neither: there was an error of Numba, or one in `predict` after a fit."""
    model = Estimator()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X, y = problem(2, estimator=model)
    X = np.round(8 * X) / 8  # which decimals and floats both hold
    names = [f"x{j}" for j in range(X.shape[1])]
    wanted = clone(model).fit(X, y).predict(X)
    swapped = pd.DataFrame(X.astype(">f8"), columns=names)
    decimals = pl.DataFrame({name: [Decimal(v) for v in X[:, j]] for j, name in enumerate(names)})
    for frame in (swapped, decimals):
        answers = clone(model).fit(frame, y).predict(frame)
        if is_regressor(model):
            np.testing.assert_allclose(answers, wanted, rtol=1e-9, atol=1e-12)
        else:
            assert np.array_equal(answers, wanted)


@pytest.mark.parametrize(
    "Estimator", [e for e in ESTIMATORS if has_fit_parameter(e(), "sample_weight")]
)
def test_infinity_in_a_row_of_weight_zero_is_refused_too(Estimator):
    """Some models accepted it and others did not."""
    model = Estimator()
    X, y = problem(2, estimator=model)
    X[3, 0] = np.inf
    if takes_infinity(model):
        pytest.skip("infinity is a value like others")
    with pytest.raises(ValueError, match=r"infinity|too large|finite"):
        model.fit(X, y, sample_weight=np.where(np.arange(len(X)) == 3, 0.0, 1.0))


@each_setting
@classes
def test_pandas_and_polars_frames_give_the_same_fit(estimator, n_classes):
    X, y = problem(n_classes, estimator=estimator)
    names = [f"x{j}" for j in range(X.shape[1])]
    expected = clone(estimator).fit(X, y)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y.tolist())),
    ):
        model = clone(estimator).fit(frame, labels)
        assert np.array_equal(learned(model), learned(expected))
        assert list(model.feature_names_in_) == names
        answers, wanted = model.predict(frame), expected.predict(X)
        if is_regressor(estimator):  # BLAS adds in another order where columns are contiguous
            np.testing.assert_allclose(answers, wanted, rtol=1e-12)
        else:
            assert np.array_equal(answers, wanted)


@each_setting
@pytest.mark.parametrize("sparse", [False, True])
def test_read_only_and_fortran_ordered_input_is_accepted_and_left_alone(estimator, sparse):
    X, y = problem(sparse=sparse, estimator=estimator)
    before = X.copy()
    if sparse and not takes_sparse(estimator):
        pytest.skip("takes no sparse rows")
    if sparse:
        for part in (X.data, X.indices, X.indptr):
            part.flags.writeable = False
        clone(estimator).fit(X, y)
        assert (before != X).nnz == 0
    else:
        X = np.asfortranarray(X)
        X.flags.writeable = False
        clone(estimator).fit(X, y)
        assert np.array_equal(X, before)


@pytest.mark.filterwarnings("ignore:The default value:FutureWarning")  # of LogisticRegressionCV
@each_class
def test_it_works_in_a_pipeline_with_set_output_and_in_a_search(Estimator):
    X, y = problem(3, estimator=Estimator())
    y = y - y.mean() if y.dtype.kind == "f" else y  # KernelRidge has no intercept
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    counts = get_tags(Estimator()).input_tags.positive_only
    scaler = FunctionTransformer() if counts else StandardScaler()
    pipeline = make_pipeline(scaler, Estimator()).set_output(transform="pandas")
    assert pipeline.fit(frame, y).score(frame, y) > 0.5
    assert list(pipeline[-1].feature_names_in_) == list(frame.columns)
    limit = limit_of(Estimator())
    least = 1 if limit == "max_iter" else 2
    grid = (
        {limit: [least, 60 if limit == "max_leaf_nodes" else 20]} if iterative(Estimator()) else {}
    )
    search = GridSearchCV(Estimator(), grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.5


@each_setting
def test_one_feature_and_as_many_features_as_rows(estimator):
    for shape in ((120, 4), (40, 40)):
        X, y = problem(n_rows=shape[0], n_features=shape[1], estimator=estimator)
        model = clone(estimator).fit(X[:, :1] if shape[1] == 4 else X, y)
        assert not np.isnan(learned(model)).any()  # -inf is the logarithm of an exact zero
        assert np.isfinite(scores(model, X[:, :1] if shape[1] == 4 else X)).any()
