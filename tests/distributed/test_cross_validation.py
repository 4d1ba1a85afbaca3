"""Search over a source: training sets are sums of folds, and scores those of held-out rows."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from rosenblatt import GaussianNB, LogisticRegression, Ridge
from rosenblatt.data import Source
from rosenblatt.data.source import Fold, folds_of
from rosenblatt.distributed import cross_validate, search

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
CLASSES = np.array(["no", "yes"])[(X[:, 0] + RNG.standard_normal(600) > 0).astype(int)]
NUMBERS = X @ [1.0, 2.0, 0.0] + RNG.standard_normal(600)


@pytest.fixture
def source_of(tmp_path):
    def write(y):
        frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)} | {"y": y})
        frame.write_parquet(tmp_path / "a.parquet")
        return Source(tmp_path, target="y", rows_per_part=150)

    return write


def by_hand(model, source, y, n_folds):
    """Each fold scored by a model fitted in memory to the others."""
    drawn = np.concatenate([folds_of(p, Fold(0, n_folds, 0))(p.n_rows) for p in source.parts()])
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)})
    scores = []
    for k in range(n_folds):
        fitted = clone(model).fit(frame.filter(drawn != k), y[drawn != k])
        scores.append(fitted.score(frame.filter(drawn == k), y[drawn == k]))
    return scores


@pytest.mark.parametrize(
    ("model", "y"),
    [(GaussianNB(), CLASSES), (Ridge(), NUMBERS), (LogisticRegression(), CLASSES)],
    ids=["additive classes", "additive numbers", "iterative"],
)
def test_scores_are_those_of_fits_in_memory(model, y, source_of):
    source = source_of(y)
    scores = cross_validate(model, source, n_folds=3)
    np.testing.assert_allclose(scores, by_hand(model, source, y, 3), rtol=1e-9)


def test_a_search_of_additive_models_takes_one_pass_to_measure_and_one_to_score(source_of):
    found = search(Ridge(), {"alpha": [1e-3, 1.0, 1e5]}, source_of(NUMBERS), n_folds=4)
    assert found.n_passes == 2
    assert found.best_params["alpha"] < 1e5
    whole = clone(Ridge()).set_params(**found.best_params)
    whole.fit(pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), NUMBERS)
    np.testing.assert_allclose(found.best.coef_, whole.coef_, rtol=1e-9)
    assert found.best_score == found.scores.mean(axis=1).max()


def test_a_search_of_iterative_models_fits_each_fold(source_of):
    found = search(LogisticRegression(), {"C": [1e-6, 1.0]}, source_of(CLASSES), n_folds=2)
    assert found.best_params == {"C": 1.0}
    assert found.best.coef_.shape == (1, 3)


def test_what_cannot_be_scored_is_refused(source_of, tmp_path):
    source = source_of(CLASSES)
    with pytest.raises(ValueError, match="n_folds must be"):
        cross_validate(GaussianNB(), source, n_folds=1)
    with pytest.raises(ValueError, match="without a target"):
        cross_validate(GaussianNB(), Source(tmp_path))
