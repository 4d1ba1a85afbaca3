"""One pass is shown, not said: how often rows are read, measured and fitted."""

import numpy as np
import pytest
from sklearn import model_selection as theirs

from rosenblatt.model_selection import cross_validate, evaluation
from tests.model_selection.additive_models import NearestMean
from tests.model_selection.compare import assert_same
from tests.model_selection.counted import CountedTable
from tests.model_selection.test_cross_validation import MODELS, SPLITTERS, X, y


@pytest.mark.parametrize("cv", [2, 5, 50, theirs.LeaveOneOut()])
@pytest.mark.parametrize("model", [m for m in MODELS if m != "means, group by group"])
def test_each_row_is_read_once_to_train_and_once_to_score(cv, model):
    rows = slice(None, None, 5 if isinstance(cv, theirs.LeaveOneOut) else 1)
    table = CountedTable(X[rows])
    cross_validate(MODELS[model], table, y[rows], cv=cv)
    assert table.reads.tolist() == [2] * len(y[rows])


@pytest.mark.parametrize("cv", SPLITTERS)
def test_statistics_are_made_of_each_row_once(cv, monkeypatch):
    measured = []

    def count(name):
        whole = getattr(NearestMean, name)

        def counted(self, X, *args):
            measured.append(np.count_nonzero(np.any(X, axis=1)))  # not the zeros that tell sizes
            return whole(self, X, *args)

        monkeypatch.setattr(NearestMean, name, counted)

    count("_measure")
    count("_measure_groups")
    cross_validate(NearestMean(), X, y, cv=SPLITTERS[cv])
    assert sum(measured) == len(y)


def test_folds_that_do_not_fit_into_memory_are_read_in_blocks(monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_BYTES", 1)
    table = CountedTable(X)
    found = cross_validate(NearestMean(), table, y, cv=theirs.LeaveOneOut())
    assert table.reads.tolist() == [4] * len(y)  # 64 folds at a time
    expected = theirs.cross_validate(NearestMean(), X, y, cv=theirs.LeaveOneOut())
    assert_same(found, expected)
