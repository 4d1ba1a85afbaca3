"""Scalar products of a table, shared by fits to parts of its rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV as PlainSearch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from rosenblatt import (
    SVC,
    SVR,
    GridSearchCV,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelRidge,
    certify,
)  # fmt: skip
from rosenblatt.kernels import Gaussian, Linear, Polynomial, Sigmoid, shared_products
from rosenblatt.kernels.blocks import KernelBlocks, KernelScores
from rosenblatt.kernels.shared_products import ProductTable, sharing_products

GRID = {"kernel": ["rbf", "poly", "linear"], "C": [0.1, 1.0], "gamma": [0.01, 0.1]}


def table(seed: int = 0, n: int = 120, d: int = 5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture(autouse=True)
def narrow_tables_share(monkeypatch):
    """Share the products of small tables, too."""
    monkeypatch.setattr(shared_products, "WIDE", 1)


@pytest.fixture
def computed(monkeypatch):
    """What products of whole tables were computed, with their rows moved to the mean or not."""
    made = []
    whole = ProductTable.products

    def counted(self, about_mean):
        before = len(self.computed)
        P = whole(self, about_mean)
        made.extend([self] * (len(self.computed) - before))
        return P

    monkeypatch.setattr(ProductTable, "products", counted)
    return made


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.3), Linear(), Polynomial(3, 0.2, 1.0), Sigmoid(0.1, 0.2)]
)
def test_a_kernel_of_parts_of_a_table_is_the_same_when_shared(kernel, storage):
    X, _ = table()
    X = storage(np.where(np.abs(X) < 0.3, 0.0, X))
    U, V = X[::3], X[1::2]
    plain = kernel(U, V)
    with sharing_products(X, 1):
        assert np.allclose(kernel(U, V), plain, rtol=1e-12, atol=1e-13)
    assert not shared_products._shared


def test_a_wide_sparse_table_stays_sparse(monkeypatch):
    monkeypatch.setattr(shared_products, "CELLS", 10)
    X = sp.random(60, 300, 0.05, format="csr", random_state=0)
    plain = Gaussian(0.3)(X[:20], X[20:])
    with sharing_products(X, 1):
        assert sp.issparse(shared_products._shared[0].rows)
        assert np.allclose(Gaussian(0.3)(X[:20], X[20:]), plain, rtol=1e-12)


def test_rows_that_are_not_in_the_table_are_compared_by_themselves():
    X, _ = table()
    with sharing_products(X, 1):
        assert np.array_equal(Linear()(X + 1, X), (X + 1) @ X.T)


@pytest.mark.parametrize("n_few", [10, 1500])  # in float32 and in float64
def test_blocks_and_scores_of_rows_are_the_same_when_shared(n_few, monkeypatch):
    monkeypatch.setattr("rosenblatt.kernels.blocks.FEW", n_few)
    X, _ = table()
    X, some, a = X + 3.0, np.arange(0, 120, 2), np.ones((1, 60))

    def values():
        blocks = KernelBlocks(Gaussian(0.3), X[some], 1)
        kept = blocks.kept[blocks.fetch(np.arange(20))]
        return (
            kept,
            blocks.among(np.arange(20)),
            KernelScores(Gaussian(0.3), X[some])(X[1::2], a),
        )

    plain = values()
    with sharing_products(X, 1):
        together = values()
    for shared, alone in zip(together, plain, strict=True):
        close = 1e-5 if n_few == 10 and alone is not plain[2] else 1e-11
        assert shared.dtype == alone.dtype
        assert np.allclose(shared, alone, rtol=close)


def test_a_search_over_kernel_cost_and_width_computes_its_products_once(computed):
    X, y = table()
    search = GridSearchCV(SVC(), GRID, cv=4).fit(X, y)
    assert len(computed) == 2  # of the rows as they are and about their mean, for all 48 fits
    assert len(set(map(id, computed))) == 1
    plain = PlainSearch(SVC(), GRID, cv=4).fit(X, y)
    assert np.array_equal(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_models_fitted_with_shared_products_hold_their_certificates():
    X, y = table(n=200)
    rows = np.arange(0, 200, 2)
    for kernel in ("rbf", "poly", "sigmoid", "linear"):
        alone = SVC(kernel=kernel, C=0.5).fit(X[rows], y[rows])
        with alone.sharing(X):
            shared = SVC(kernel=kernel, C=0.5).fit(X[rows], y[rows])
        if kernel != "sigmoid":  # no scalar product: nothing is proved of it
            assert certify(shared, X[rows], y[rows]).holds
        allowed = alone.dual_gap_ + shared.dual_gap_ + 1e-9
        assert np.all(np.abs(shared.objective_ - alone.objective_) <= allowed)
        assert np.allclose(shared.decision_function(X), alone.decision_function(X), atol=1e-6)


def test_behind_a_scaler_the_settings_of_a_split_share(computed):
    X, y = table()
    model = make_pipeline(StandardScaler(), SVC())
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert len(computed) == 6
    assert len(set(map(id, computed))) == 3
    plain = PlainSearch(model, grid, cv=3).fit(X, y)
    assert np.array_equal(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (SVR(), {"gamma": [0.1, 0.3], "C": [1.0, 3.0]}),
        (KernelRidge(), {"kernel": ["rbf"], "gamma": [0.1, 0.3], "alpha": [0.1, 1.0]}),
        (KernelLogisticRegression(), {"gamma": [0.1, 0.3]}),
        (KernelPerceptron(random_state=0, max_iter=5), {"gamma": [0.1, 0.3]}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_kernel_methods_share(model, grid, computed):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert len(computed) == 1
    plain = PlainSearch(model, grid, cv=3).fit(X, y)
    scores = [found.cv_results_["mean_test_score"] for found in (search, plain)]
    assert np.allclose(*scores, rtol=1e-6)


def test_a_table_beyond_the_budget_is_not_multiplied_as_a_whole(computed):
    X, y = table(n=400)
    GridSearchCV(SVC(cache_size=1), {"gamma": [0.1, 0.2]}, cv=3).fit(X, y)
    assert not computed


def test_a_narrow_table_is_multiplied_again(computed, monkeypatch):
    X, y = table()
    monkeypatch.setattr(shared_products, "WIDE", X.shape[1] + 1)
    GridSearchCV(SVC(), {"gamma": [0.1, 0.2]}, cv=3).fit(X, y)
    assert not computed


def test_frames_and_words_in_them_share_or_fail_as_ever(computed):
    pd = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    GridSearchCV(SVC(), {"gamma": [1e-5, 1e-4]}, cv=3).fit(X[:200], y[:200])
    assert len(computed) == 1
    words = pd.DataFrame({"word": list("abcabcabcabc")})
    with pytest.raises(ValueError, match=r"could not convert string|fits failed"):
        GridSearchCV(SVC(), {"gamma": [1.0, 2.0]}, cv=2).fit(words, [0, 1] * 6)
