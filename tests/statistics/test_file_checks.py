"""Files that no rows can have given are refused, by one kind of error whatever is wrong."""

import datetime
import json
import pickle
import zipfile

import numpy as np
import pytest

from rosenblatt import GaussianNB
from rosenblatt.statistics import (
    CategoryCounts,
    ClassCounts,
    Extremes,
    FeatureCounts,
    Gram,
    Moments,
    ProductStatistic,
    RowCounts,
    load,
    save,
)

X, y = np.random.default_rng(0).poisson(3.0, (40, 3)).astype(float), np.repeat([0, 1], 20)
NAN = np.where(X == 3, np.nan, X)


def changed(statistic, about=None, **tables):
    arrays = statistic.arrays()
    if about is not None:
        arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | about))
    return {**arrays, **tables}


def scatter(*rows):
    return np.array([rows, rows], float)


IMPOSSIBLE = {
    "negative sums": changed(FeatureCounts.of(X, y), sums=-np.ones((2, 3), np.int64)),
    "sums of NaN": changed(FeatureCounts.of(X, y), sums=np.full((2, 3), np.nan)),
    "sums of 32 bits": changed(FeatureCounts.of(X, y), sums=np.ones((2, 3), np.int32)),
    "sums of other classes": changed(FeatureCounts.of(X, y), sums=np.ones((3, 3))),
    "negative gaps": changed(FeatureCounts.of(NAN, y, missing="ignore"), gaps=-np.ones((2, 3))),
    "a threshold of words": changed(FeatureCounts.of(X, y, binarize=1), {"binarize": "x"}),
    "a negative threshold": changed(FeatureCounts.of(X, y, binarize=1), {"binarize": -1}),
    "weight of NaN": changed(ClassCounts.of(y), weight=np.full(2, np.nan)),
    "infinite weight": changed(ClassCounts.of(y), weight=np.full(2, np.inf)),
    "equal classes": changed(ClassCounts.of(y), classes=np.array([1, 1])),
    "unsorted classes": changed(ClassCounts.of(y), classes=np.array([1, 0])),
    "classes of NaN": changed(ClassCounts.of(y), classes=np.array([0, np.nan])),
    "dates": changed(ClassCounts.of(y), classes=np.array(["2020", "2021"], "M8[D]")),
    "rows as a table": changed(ClassCounts.of(y), rows=np.array([[20, 20]])),
    "negative scatter": changed(Moments.of(X, y), scatter=np.full((2, 3), -1.0)),
    "negative weights": changed(Moments.of(NAN, y, missing="ignore"), known=-np.ones((2, 3))),
    "not symmetric": changed(Moments.of(X[:, :2], y, full=True), scatter=scatter([2, 1], [0, 2])),
    "a negative square": changed(
        Moments.of(X[:, :2], y, full=True), scatter=scatter([-1, 0], [0, 2])
    ),
    "gram": changed(Gram.of(X, y), {"n_targets": -1}),
    "less than no features": changed(RowCounts.of(X, y), {"n_features": -5}),
    "endless features": changed(RowCounts.of(X, y), {"n_features": float("inf")}),
    "names of numbers": changed(RowCounts.of(X, y), {"feature_names": [1, 2, 3]}),
    "equal categories": changed(CategoryCounts.of(X[:, :1]), categories_0=np.zeros(9)),
    "another number of categories": changed(CategoryCounts.of(y[:, None]), table=np.ones((1, 3))),
    "low above high": changed(Extremes.of(X, y), low=np.full((2, 3), 99.0)),
    "parts in a list": changed(
        ProductStatistic.of({"a": Moments.of(X, y)}, {"a": [0, 1, 2]}), {"parts": ["a"]}
    ),
    "a column too far": changed(
        ProductStatistic.of({"a": Moments.of(X, y)}, {"a": [0, 1, 2]}),
        {"columns": {"a": [0, 1, 7]}},
    ),
    "an endless list": {"about": np.array("[" * 100_000)},
}


@pytest.mark.parametrize("arrays", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_impossible_statistics_are_refused(arrays, tmp_path):
    np.savez(tmp_path / "statistic.npz", **arrays)
    with pytest.raises(ValueError, match=r"These arrays do not hold \w+: |holds None"):
        load(tmp_path / "statistic.npz")


@pytest.mark.parametrize("kind", ["nothing", "words", "pickle", "npy", "cut", "spoiled", "objects"])
def test_files_that_are_none_of_ours_are_refused_in_one_sentence(kind, tmp_path):
    file = tmp_path / "statistic.npz"
    save(Moments.of(X, y), file)
    whole = file.read_bytes()
    if kind == "npy":
        np.save(tmp_path / "table.npy", X)
        whole = (tmp_path / "table.npy").read_bytes()
    if kind == "objects":
        np.savez(file, a=np.array([{}, 2], object))
        whole = file.read_bytes()
    contents = {
        "nothing": b"",
        "words": b"ham and spam",
        "pickle": pickle.dumps({"a": 1}),
        "cut": whole[: len(whole) // 2],
        "spoiled": whole[:200] + bytes(200) + whole[400:],
    }
    file.write_bytes(contents.get(kind, whole))
    with pytest.raises(ValueError, match=r"is damaged, or not a file of") as caught:
        load(file)
    assert "pickle" not in str(caught.value)


def test_an_archive_in_a_way_not_known_is_refused(tmp_path):
    file = tmp_path / "statistic.npz"
    save(ClassCounts.of(y), file)
    with zipfile.ZipFile(file) as archive:
        start = archive.infolist()[0].header_offset
    spoiled = bytearray(file.read_bytes())
    at = spoiled.index(b"PK\x01\x02") + 10  # how the first member is packed, as the index says
    spoiled[at : at + 2] = spoiled[start + 8 : start + 10] = b"\x63\x00"
    file.write_bytes(spoiled)
    with pytest.raises(ValueError, match=r"is damaged, or not a file of"):
        load(file)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    "labels",
    [
        [2**70, 2**71],
        np.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], object),
        np.array(["2020", "2021"], "M8[D]"),
        [1 + 2j, 3j],
    ],
    ids=["long", "dates", "NumPy's dates", "complex"],
)
def test_labels_that_cannot_be_saved_are_refused_before_anything_is_written(labels, tmp_path):
    statistic = ClassCounts.of(labels)
    with pytest.raises(ValueError, match=r"A file holds labels that are words, .* with str"):
        save(statistic, tmp_path / "counts.npz")
    assert not (tmp_path / "counts.npz").exists()


def test_a_label_of_nan_is_refused_when_it_is_saved(tmp_path):
    with pytest.raises(ValueError, match=r"classes are not all finite"):
        save(ClassCounts.of([0.0, np.nan]), tmp_path / "counts.npz")


def test_what_is_no_statistic_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match=r"save takes a statistic, .* got GaussianNB"):
        save(GaussianNB().fit(X, y), tmp_path / "model.npz")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([b"ham", b"spam"], ["ham", "spam"]),
        (np.array(["2020-01-01", "2021-01-01"], "M8[ns]"), ["2020-01-01", "2021-01-01"]),
        ([0.5, np.nan], [0.5, None]),
        ([2**70, 2**71], [2**70, 2**71]),
        ([True, False], [False, True]),
    ],
)
def test_the_summary_of_any_labels_is_json(labels, said):
    summary = json.loads(json.dumps(ClassCounts.of(labels).to_dict(), allow_nan=False))
    assert [str(label)[:10] if isinstance(label, str) else label for label in summary["classes"]] \
        == said  # fmt: skip


def test_bytes_of_another_order_are_read():
    arrays = Moments.of(X, y).arrays()
    swapped = {
        name: table if name == "about" else table.astype(table.dtype.newbyteorder(">"))
        for name, table in arrays.items()
    }
    assert Moments.from_arrays(swapped) == Moments.of(X, y)


@pytest.mark.parametrize("groups", [["a", "b"] * 20, [0.5, 1.0] * 20])
def test_groups_must_be_numbers(groups):
    with pytest.raises(ValueError, match=r"groups must be whole numbers from 0 on; got"):
        Moments.by_group(X, y, groups, 2)
