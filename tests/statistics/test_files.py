"""Statistics go to files and come back, as plain arrays that run nothing."""

import io
import json

import numpy as np
import pytest

from rosenblatt.statistics import (
    CategoryCounts,
    ClassCounts,
    Extremes,
    FeatureCounts,
    Gram,
    Labels,
    Moments,
    RowCounts,
    load,
    save,
)

rng = np.random.RandomState(0)
X, y = rng.randint(0, 5, (30, 3)), np.array(["ham", "spam", "eggs"])[rng.randint(0, 3, 30)]
w = rng.uniform(0.1, 2, 30)
EVERY = {
    "class counts": ClassCounts.of(y),
    "weighted class counts": ClassCounts.of(y, w),
    "feature counts": FeatureCounts.of(X, y),
    "weighted feature counts": FeatureCounts.of(X, y, w),
    "presence": FeatureCounts.of(X, y, binarize=1),
    "presence with gaps": FeatureCounts.of(
        np.where(X == 0, np.nan, X), y, w, binarize=1, missing="ignore"
    ),
    "category counts": CategoryCounts.of(X, y),
    "category counts of words": CategoryCounts.of(y[:, None], X[:, 0]),
    "moments": Moments.of(X, y, w),
    "single precision": Moments.of(X.astype(np.float32), y),
    "missing": Moments.of(np.where(X == 0, np.nan, X), y, missing="ignore"),
    "full moments": Moments.of(X, y, full=True),
    "gram": Gram.of(X, w),
    "extremes": Extremes.of(X, y, w),
    "extremes with gaps": Extremes.of(np.full((3, 2), np.nan), missing="ignore"),
    "no extremes": Extremes.zero(3),
    "row counts": RowCounts.of(X, y, w),
    "nothing": Moments.zero(3),
    "no counts": CategoryCounts.zero(2),
    "labels as objects": ClassCounts.of(y.astype(object)),
}
every = pytest.mark.parametrize("statistic", EVERY.values(), ids=EVERY.keys())


@every
def test_a_file_brings_it_back(statistic, tmp_path):
    save(statistic, tmp_path / "statistic.npz")
    again = load(tmp_path / "statistic.npz")
    assert type(again) is type(statistic)
    assert again == statistic
    assert again + again == statistic + statistic


@every
def test_arrays_hold_no_objects(statistic):
    arrays = statistic.arrays()
    assert all(array.dtype != object for array in arrays.values())
    assert type(statistic).from_arrays(arrays) == statistic
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as read:
        assert type(statistic).from_arrays(read) == statistic


@every
def test_the_summary_is_plain_json(statistic):
    summary = json.loads(json.dumps(statistic.to_dict()))
    assert summary["statistic"] == type(statistic).__name__
    assert summary["rows"] == np.asarray(statistic.rows).tolist()
    assert len(statistic) == np.sum(summary["rows"])


@every
def test_values_are_frozen(statistic):
    for table in statistic._tables().values():
        with pytest.raises(ValueError, match="read-only"):
            table[...] = 0
    with pytest.raises(AttributeError):
        statistic.rows = 3
    with pytest.raises(TypeError):
        hash(statistic)


def test_data_given_in_is_not_frozen():
    rows, labels = np.ones((2, 2)), np.array([0, 1])
    Moments.of(rows, labels)
    one, classes = np.array([1]), np.array([0, 1])
    ClassCounts.of(one)
    ClassCounts.of(Labels(classes, labels))
    rows[0, 0], labels[0], one[0], classes[0] = 5, 1, 3, -1


@pytest.mark.parametrize("name", ["about", "rows", "mean"])
def test_a_file_with_a_part_missing_is_refused(name):
    arrays = EVERY["moments"].arrays()
    del arrays[name]
    with pytest.raises(ValueError, match="These arrays do not hold Moments"):
        Moments.from_arrays(arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean", np.zeros((2, 3, 3))),
        ("mean", np.full((3, 3), np.nan)),
        ("rows", np.array([1, 2, 0])),
        ("rows", np.array([1.0, 2.0, 3.0])),
        ("weight", np.zeros(3)),
        ("about", np.array("{}")),
        ("about", np.array("not json")),
    ],
)
def test_a_file_that_does_not_fit_is_refused(name, value):
    with pytest.raises(ValueError, match="These arrays do not hold Moments"):
        Moments.from_arrays({**EVERY["moments"].arrays(), name: value})


def test_another_kind_of_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="do not hold Moments: form 2 of ClassCounts"):
        Moments.from_arrays(EVERY["class counts"].arrays())
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="holds None, not one of CategoryCounts"):
        load(tmp_path / "other.npz")


def test_names_travel_and_must_agree():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X.astype(float), columns=["a", "b", "c"])
    for make in (FeatureCounts.of, Moments.of, CategoryCounts.of):
        named = make(frame, y)
        assert named.feature_names == ("a", "b", "c")
        assert (make(X.astype(float), y) + named).feature_names == ("a", "b", "c")
        assert type(named).from_arrays(named.arrays()).feature_names == ("a", "b", "c")
        with pytest.raises(
            ValueError, match="different features: 'b' stands where the other has 'z'"
        ):
            named + make(frame.rename(columns={"b": "z"}), y)
    assert Gram.of(frame, w).feature_names == ("a", "b", "c")


def test_precision_is_the_finer_of_two():
    single = Moments.of(X.astype(np.float32), y)
    assert single.dtype == np.float32
    assert (single + single).dtype == np.float32
    assert (single + Moments.of(X, y)).dtype == np.float64
    assert (Moments.zero(3) + single).dtype == np.float32
    assert single.mean.dtype == np.float64


@every
def test_what_is_shown_is_short_and_says_what_it_is(statistic):
    shown = repr(statistic)
    assert shown.startswith(f"<{type(statistic).__name__} of {len(statistic)} row")
    assert len(shown) < 120
    assert str(statistic) == shown


def test_what_is_shown_names_rows_classes_features_and_how_they_were_counted():
    assert repr(EVERY["presence"]) == (
        "<FeatureCounts of 30 rows, 3 classes, 3 features, binarize=1.0, missing='refuse'>"
    )
    assert repr(ClassCounts.of([1])) == "<ClassCounts of 1 row>"
