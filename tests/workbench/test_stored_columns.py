"""A file of many columns is small, and what it holds is what was learned."""

import copy
import json
import pickle
import zipfile

import numpy as np
import polars as pl
import pytest

from rosenblatt.data import Table, TableError
from rosenblatt.workbench.features import TableFeatures, packed, unpacked
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.model_file import load_model, save_model
from rosenblatt.workbench.trusted_types import nodes_of
from tests.workbench.models import mixed_frame

KINDS = {
    "age": "numeric", "town": "categorical", "visits": "numeric", "member": "boolean",
    "since": "date",
}  # fmt: skip


def wide_model(width):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, width))
    frame = pl.DataFrame(X, schema=[f"column {j}" for j in range(width)])
    y = pl.Series("y", np.where(X[:, 0] > 0, "a", "b"))
    return fit_table(Table(frame.with_columns(y), "wide"), "y", "GaussianNB", certificate=False)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_what_was_learned_is_the_same_to_the_last_bit(again):
    frame = mixed_frame()
    for features in (TableFeatures(KINDS), TableFeatures(KINDS).fit(frame)):
        other = again(features)
        assert list(other.kinds.items()) == list(KINDS.items())
    assert [type(p) for p in other.parts_] == [type(p) for p in features.parts_]
    assert [p.names() for p in other.parts_] == [p.names() for p in features.parts_]
    assert vars(other.parts_[0]) == vars(features.parts_[0])
    np.testing.assert_array_equal(other.transform(frame), features.transform(frame))


def test_a_file_has_no_node_for_each_column(tmp_path):
    sizes = []
    for width in (5, 500):
        save_model(wide_model(width), tmp_path / "m.skops")
        with zipfile.ZipFile(tmp_path / "m.skops") as archive:
            tree = json.loads(archive.read("schema.json"))
        sizes.append(sum(1 for _ in nodes_of(tree)))
    assert sizes[0] == sizes[1]


def test_a_wide_model_predicts_as_it_did(tmp_path):
    saved = wide_model(300)
    save_model(saved, tmp_path / "m.skops")
    rows = np.random.default_rng(1).normal(size=(20, 300))
    again = load_model(tmp_path / "m.skops").model
    np.testing.assert_array_equal(again.predict_proba(rows), saved.model.predict_proba(rows))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: state["numbers_"].update(mean=np.zeros(1)),
        lambda state: state["numbers_"].update(place=np.array([0, 99])),
        lambda state: state["numbers_"].update(place=np.array([0, 0])),
        lambda state: state.update(parts_=state["parts_"][:-1]),
        lambda state: state.update(kinds="[1, 2"),
    ],
)
def test_what_does_not_fit_together_is_refused(spoil):
    state = packed(vars(TableFeatures(KINDS).fit(mixed_frame())))
    spoil(state)
    with pytest.raises((ValueError, IndexError)):
        unpacked(state)


def test_a_file_whose_arrays_are_too_short_is_damaged(tmp_path, monkeypatch):
    saved = wide_model(5)

    def short(self):
        state = packed(vars(self))
        state["numbers_"]["mean"] = state["numbers_"]["mean"][:2]
        return state

    monkeypatch.setattr(TableFeatures, "__getstate__", short)
    save_model(saved, tmp_path / "m.skops")
    with pytest.raises(TableError, match="is damaged"):
        load_model(tmp_path / "m.skops")
