"""Tables of mixed columns in one-pass searches: kinds inferred once, folds as sums."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import model_selection as theirs

from rosenblatt import MixedNB
from rosenblatt.model_selection import GridSearchCV, cross_validate, evaluation
from tests.model_selection.compare import assert_same

EVERYTHING = {"return_train_score": True, "return_estimator": True}
N = 120
rng = np.random.default_rng(0)
Y = rng.integers(2, size=N)
FRAME = pd.DataFrame(
    {
        "age": rng.normal(30 + 10 * Y, 5),
        "colour": rng.choice(["red", "green", "blue"], N),
        "calls": rng.poisson(1 + 2.0 * Y).astype(float),
        "member": (rng.random(N) < 0.3 + 0.4 * Y).astype(object),
        "waist": rng.normal(80 + 4 * Y, 5).round(),
    }
)
for column in FRAME:
    FRAME.loc[rng.random(N) < 0.1, column] = None
KINDS = {"calls": "count", "waist": "density"}
RARE = FRAME.assign(colour=np.where(np.arange(N) == 7, "mauve", FRAME["colour"]))


@pytest.fixture
def fits(monkeypatch):
    """How many folds were fitted in the ordinary way."""
    counted, whole = [], evaluation._fit_and_score

    def count(*args, **kwargs):
        counted.append(1)
        return whole(*args, **kwargs)

    monkeypatch.setattr(evaluation, "_fit_and_score", count)
    return counted


@pytest.mark.parametrize(
    "table", [FRAME, RARE, pl.from_pandas(FRAME)], ids=["pandas", "rare", "polars"]
)
@pytest.mark.parametrize("cv", [5, theirs.LeaveOneOut(), theirs.ShuffleSplit(4, random_state=0)])
def test_folds_of_a_data_frame_are_sums(table, cv, fits):
    n = 30 if isinstance(cv, theirs.LeaveOneOut) else N
    table, y = table[:n], Y[:n]
    how = {"cv": cv, "scoring": ["accuracy", "neg_log_loss"][: 1 if cv != 5 else 2], **EVERYTHING}
    found = cross_validate(MixedNB(kinds=KINDS), table, y, **how)
    assert not fits
    assert_same(found, theirs.cross_validate(MixedNB(kinds=KINDS), table, y, **how))


def test_a_search_over_smoothing_and_bandwidth_measures_once(fits, monkeypatch):
    grid = {
        "alpha": [0.1, 1, 10],
        "bandwidth": ["scott", 0.5, 3.0],
        "variance": ["feature", "class"],
    }
    measured, whole = [], MixedNB._measure_groups
    monkeypatch.setattr(
        MixedNB, "_measure_groups", lambda *args: measured.append(1) or whole(*args)
    )
    search = GridSearchCV(MixedNB(kinds=KINDS), grid, cv=4).fit(FRAME, Y)
    assert len(measured) == 1
    assert not fits
    expected = theirs.GridSearchCV(MixedNB(kinds=KINDS), grid, cv=4).fit(FRAME, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-9
    )


def test_kinds_that_some_rows_would_not_show_are_left_to_each_fold(fits):
    """True beside 1 is a number; a fold that has seen True and False alone takes it for Boolean."""
    odd = pd.DataFrame({"a": FRAME["age"].fillna(0), "b": FRAME["member"].fillna(True)})
    odd.loc[3, "b"] = 1
    found = cross_validate(MixedNB(), odd, Y, cv=4, **EVERYTHING, error_score="raise")
    assert len(fits) == 4
    assert_same(found, theirs.cross_validate(MixedNB(), odd, Y, cv=4, **EVERYTHING))
