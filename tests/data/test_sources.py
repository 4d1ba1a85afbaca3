"""Sources of batches that a program makes, and schemas that are given."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from rosenblatt import GaussianNB, KMeans, Lasso, LogisticRegression
from rosenblatt.data import Source, TableError, read_table
from rosenblatt.distributed import cross_validate, fit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
CUTS = [(0, 100), (100, 130), (130, 300)]


def batches(form):
    return [form(FRAME[start:end]) for start, end in CUTS]


def pair(frame):
    return frame.drop("y").to_numpy(), frame["y"].to_numpy()


FORMS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow table": lambda frame: frame.to_arrow(),
    "record batch": lambda frame: frame.to_arrow().combine_chunks().to_batches()[0],
    "arrays": pair,
    "sparse": lambda frame: (sp.csr_array(pair(frame)[0]), pair(frame)[1]),
    "frame and target": lambda frame: (frame.drop("y").to_pandas(), pair(frame)[1]),
}


@pytest.fixture
def reference(tmp_path):
    """The same parts as files."""
    for k, part in enumerate(batches(lambda frame: frame)):
        part.write_parquet(tmp_path / f"{k}.parquet")
    return Source(tmp_path, target="y")


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_any_form_give_the_bits_of_files(form, reference):
    source = Source(batches(FORMS[form]), target="y")
    for model in (GaussianNB(), LogisticRegression()):
        ours, theirs = fit(model, source), fit(model, reference)
        assert ours.n_features_in_ == 3
        assert hasattr(ours, "feature_names_in_") == (form not in ("arrays", "sparse"))
        for name in ("theta_", "var_", "coef_", "intercept_"):
            if hasattr(theirs, name) and form != "sparse":  # which adds up in another order
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
            elif hasattr(theirs, name):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-5)


def test_functions_readers_and_lazy_frames_are_sources(reference):
    theta = fit(GaussianNB(), reference).theta_
    arrow = FRAME.to_arrow().combine_chunks()
    reader = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=50))
    for place in (lambda: iter(batches(pair)), FRAME.lazy(), FRAME, FRAME.to_pandas(), reader):
        target = "target" if callable(place) else "y"
        found = fit(GaussianNB(), Source(place, target=target))
        np.testing.assert_allclose(found.theta_, theta, rtol=1e-12)
    assert Source(batches(pair)).target == "target"


def test_a_generator_serves_models_with_one_pass_alone():
    def source():
        return Source(part for part in batches(pair))

    seen = []
    model = fit(GaussianNB(), source(), progress=seen.append)
    np.testing.assert_array_equal(model.class_count_, np.bincount(Y))
    assert [(p.n_done, p.n_parts) for p in seen] == [(1, None), (2, None), (3, None)]
    assert "part 3, " in str(seen[-1])
    assert np.isnan(seen[-1].seconds_left)
    fit(Lasso(), source())
    with pytest.raises(TableError, match="KMeans reads the rows several times"):
        fit(KMeans(2), source())
    with pytest.raises(TableError, match="Cross-validation reads the rows several times"):
        cross_validate(GaussianNB(), source())
    once = source()
    fit(GaussianNB(), once)
    with pytest.raises(TableError, match="came by an iterator, which was read"):
        fit(GaussianNB(), once)


def test_batches_that_do_not_fit_are_named():
    first = batches(pair)[0]
    with pytest.raises(
        TableError, match=r"batch 1 is an array \(5, 2\), and batch 0 one \(100, 3\)"
    ):
        fit(GaussianNB(), Source([first, (np.zeros((5, 2)), np.zeros(5))]))
    with pytest.raises(TableError, match=r"batch 1 has no column b, which batch 0 has"):
        fit(GaussianNB(), Source([FRAME, FRAME.drop("b")], target="y"))
    with pytest.raises(TableError, match=r"batch 0 is not a table: .* A batch is a polars"):
        Source([3])
    with pytest.raises(TableError, match="no batches"):
        Source([])
    with pytest.raises(TypeError, match="A source is a file, a folder"):
        Source(3)
    with pytest.warns(UserWarning, match="Left out: batch 1 has no column b"):
        model = fit(GaussianNB(), Source([FRAME, FRAME.drop("b")], target="y", bad="skip"))
    assert model.class_count_.sum() == len(FRAME)


def test_batches_are_sent_to_workers_some_at_a_time(reference, monkeypatch):
    futures = pytest.importorskip("concurrent.futures")
    monkeypatch.setattr("rosenblatt.distributed.engines.AT_ONCE", 2)
    read = []

    def anew():
        for part in batches(pair):
            read.append(len(read))
            yield part

    with futures.ThreadPoolExecutor(2) as pool:
        there = fit(GaussianNB(), Source(anew), pool)
    np.testing.assert_array_equal(there.theta_, fit(GaussianNB(), reference).theta_)
    assert len(read) == 1 + 3  # the first look, and the pass


def test_sparse_files_may_have_rows_without_the_last_columns(tmp_path):
    rows = np.where(RNG.random((200, 5)) < 0.5, 0.0, RNG.random((200, 5)))
    rows[100:, 4] = 0
    y = RNG.integers(0, 2, 200)
    dump_svmlight_file(rows[:100], y[:100], str(tmp_path / "a.libsvm"), zero_based=False)
    dump_svmlight_file(rows[100:], y[100:], str(tmp_path / "b.libsvm"), zero_based=False)
    model = fit(GaussianNB(), Source(tmp_path, target="target"))
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(rows, y).theta_, rtol=1e-5)
    assert fit(GaussianNB(), Source(tmp_path, target="target", columns=7)).n_features_in_ == 7
    with pytest.raises(TableError, match=r"a.libsvm has 5 columns, and .* has 4 columns of them"):
        fit(GaussianNB(), Source(tmp_path, target="target", columns=4))


SCHEMA = {"x": "numeric", "code": "categorical", "ok": "boolean", "day": "date", "y": pl.Int64}


def test_a_schema_fixes_what_columns_hold(tmp_path):
    (tmp_path / "a.csv").write_text("code,x,ok,day,y,more\n01,,yes,2020-01-02,1,z\n02,NA,no,,0,z\n")
    (tmp_path / "b.csv").write_text("y,day,ok,x,code\n1,2021-01-02,no,2.5,7\n")
    source = Source(tmp_path, target="y", schema=SCHEMA)
    first, second = (next(source.read(part)) for part in source.parts())
    assert first[0].rows()[0][1:3] == ("01", True)
    assert second[0].rows()[0][:3] == (2.5, "7", False)
    assert first[0]["day"].dtype == second[0]["day"].dtype == pl.Date
    assert first[1].tolist() == [1, 0]
    rows = [{"x": "3", "code": 5, "ok": 1, "day": "2020-01-01", "y": 1, "more": 2}]
    pl.DataFrame(rows).write_parquet(tmp_path / "c.parquet")
    pl.DataFrame(rows).write_ndjson(tmp_path / "d.jsonl")
    for part in list(source.__class__(tmp_path, target="y", schema=SCHEMA).parts())[2:]:
        found = next(source.read(part))[0].rows()[0]
        assert found[:3] == (3, "5", True)


def test_what_does_not_fit_a_schema_is_named_with_its_place(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text("x,y\n1,0\nabc,1\n")
    source = Source(tmp_path, target="y", schema={"x": "numeric", "y": "categorical"})
    with pytest.raises(TableError, match=r"'x' of .*b.csv must .* 'abc' in row 1 \(rows count"):
        fit(GaussianNB(), source)
    with pytest.raises(TableError, match=r"a.csv has no column z, which the schema has"):
        fit(GaussianNB(), Source(tmp_path, target="y", schema={"z": "numeric", "y": "numeric"}))
    for schema, wrong in (
        ({"x": "number", "y": "numeric"}, "Did you mean numeric"),
        ({"x": "numeric"}, "schema has no column 'y'"),
        ({}, "names no column"),
    ):
        with pytest.raises(TableError, match=wrong):
            Source(tmp_path, target="y", schema=schema)
    frame = pl.DataFrame({"x": [1.0] * 6 + [2.5], "y": [0, 1] * 3 + [0]})
    frame.write_parquet(tmp_path / "c.parquet")
    given = {"x": pl.Int64, "y": "numeric"}
    source = Source(tmp_path / "c.parquet", target="y", schema=given, rows_per_part=3)
    with pytest.raises(TableError, match=r"'x' of .*c.parquet must .* holds 2\.5 in row 6"):
        fit(GaussianNB(), source)


def test_rows_that_do_not_fit_a_schema_may_be_left_out_alone(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\nmany,a\n3,b\n5,a\n")
    (tmp_path / "b.csv").write_text("x,y\n1,a\n")
    schema = {"x": "numeric", "y": "categorical"}
    source = Source(tmp_path, target="y", schema=schema, bad="skip")
    with pytest.warns(UserWarning, match=r"Left out: 1 of the rows 0 to 4 of .*a.csv. Column 'x'"):
        model = fit(GaussianNB(), source)
    np.testing.assert_allclose(model.theta_.ravel(), [7 / 3, 2.5])


def test_what_a_source_is_given_is_checked(tmp_path):
    table = pl.DataFrame({"x": [1.0, 2.0], "y": [0, 1]})
    table.write_parquet(tmp_path / "a.parquet")
    table.with_columns(y=pl.lit("word")).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"b.parquet.*column 'y' holds String, and Int64 in"):
        fit(GaussianNB(), Source(tmp_path, target="y"))
    with pytest.raises(ValueError, match="rows_per_part must be an integer >= 1; got 0"):
        Source(tmp_path, target="y", rows_per_part=0)
    with pytest.raises(TypeError, match=r"source must be a rosenblatt.data.Source; got str"):
        fit(GaussianNB(), str(tmp_path))


def test_arrow_files_are_cut_into_parts_and_streams_are_read_as_they_come(tmp_path):
    frame = pl.DataFrame({"x": np.arange(1_000.0), "y": np.arange(1_000) % 2})
    frame.write_ipc(tmp_path / "file.arrow")
    frame.write_ipc_stream(tmp_path / "stream.arrow")
    sources = [
        Source(tmp_path / name, target="y", rows_per_part=300)
        for name in ("file.arrow", "stream.arrow")
    ]
    assert [len(source.parts()) for source in sources] == [4, 1]
    for source in sources:
        read = [X["x"] for part in source.parts() for X, _ in source.read(part, rows=128)]
        assert pl.concat(read).equals(frame["x"])
    assert read_table(tmp_path / "stream.arrow").frame.equals(frame)
    (tmp_path / "stream.arrow").write_bytes((tmp_path / "stream.arrow").read_bytes()[:9_000])
    with pytest.raises(TableError, match=r"stream.arrow cannot be read as arrow"):
        fit(GaussianNB(), sources[1])
