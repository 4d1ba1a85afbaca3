"""Parts add up to the fit in memory, in the same bits on any number of workers."""

import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from multiprocessing import get_context

import numpy as np
import polars as pl
import pytest

from rosenblatt import (
    SVC,
    CategoricalNB,
    GaussianNB,
    HistGradientBoostingRegressor,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    Ridge,
)
from rosenblatt.data import Source, TableError
from rosenblatt.distributed import fit, fit_stream
from rosenblatt.distributed.checkpoints import Checkpoint
from rosenblatt.distributed.engines import mapped
from rosenblatt.distributed.sums import MergeTree

RNG = np.random.RandomState(0)
N = 1_000


def table(kind):
    """Four columns and a target."""
    X = RNG.randint(0, 5, (N, 4)) if kind == "counts" else RNG.randn(N, 4) * [1, 2, 3, 4] + 5
    y = RNG.randint(0, 3, N)
    if kind == "regression":
        y = X @ [1.0, -2.0, 0.5, 3.0] + RNG.randn(N)
    elif kind == "normal":
        X += y[:, None]
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(4)} | {"y": y})


@pytest.fixture
def folder(tmp_path):
    """Writes a table as files of different sizes and kinds; the last classes appear late."""

    def write(frame, ending="parquet"):
        cuts = [0, 300, 301, 700, N]
        for k, (start, end) in enumerate(itertools.pairwise(cuts)):
            getattr(frame[start:end], f"write_{ending}")(tmp_path / f"{k}.{ending}")
        return tmp_path

    return write


CASES = [
    (GaussianNB(), "normal"),
    (LinearDiscriminantAnalysis(), "normal"),
    (MultinomialNB(), "counts"),
    (CategoricalNB(), "counts"),
    (Ridge(), "regression"),
]


@pytest.mark.parametrize(("model", "kind"), CASES)
def test_parts_add_up_to_the_fit_in_memory(model, kind, folder):
    frame = table(kind).sort("y")  # labels appear late
    source = Source(folder(frame), target="y", rows_per_part=150)
    fitted = fit_stream(model, source)
    whole = type(model)(**model.get_params()).fit(frame.drop("y"), frame["y"].to_numpy())
    X = frame.drop("y")
    if kind == "regression":
        np.testing.assert_allclose(fitted.predict(X), whole.predict(X), rtol=1e-10)
    else:
        assert list(fitted.classes_) == [0, 1, 2]
        np.testing.assert_allclose(fitted.predict_proba(X), whole.predict_proba(X), rtol=1e-8)
    assert list(fitted.feature_names_in_) == ["x0", "x1", "x2", "x3"]


def test_any_number_of_workers_gives_the_same_bits(folder):
    """Of CSV files here, of Parquet files with Dask below."""
    source = Source(folder(table("normal"), "csv"), target="y")
    here = fit(GaussianNB(), source)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fit(GaussianNB(), source, pool)
    np.testing.assert_array_equal(here.theta_, there.theta_)
    np.testing.assert_array_equal(here.var_, there.var_)


def test_progress_counts_parts_and_rows(folder, capsys):
    source = Source(folder(table("normal")), target="y", rows_per_part=250)
    seen = []
    fit(GaussianNB(), source, progress=seen.append)
    assert [(p.n_done, p.n_parts) for p in seen] == [(k, 7) for k in range(1, 8)]
    assert seen[-1].n_rows == N
    assert seen[-1].seconds_left == 0.0 < seen[0].rows_per_second
    fit(GaussianNB(), source, progress=True)
    assert "pass 1, part 7 of 7" in capsys.readouterr().err


@pytest.fixture
def same_environment():
    """Dask leaves variables behind that limit the threads of whatever runs next."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.usefixtures("same_environment")
def test_dask_workers_may_die(folder):
    distributed = pytest.importorskip("distributed")
    source = Source(folder(table("normal")), target="y", rows_per_part=50)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        for model, n_pass in ((GaussianNB(), 1), (LogisticRegression(), 3)):
            killed = []

            def kill_once(progress, killed=killed, n_pass=n_pass):
                if not killed and progress.number == n_pass:
                    killed.append(next(iter(cluster.workers.values())).pid)
                    os.kill(killed[0], signal.SIGKILL)

            there = fit(model, source, client, progress=kill_once)
            assert killed
            same_bits(fit(model, source), there)


@pytest.mark.usefixtures("same_environment")
def test_parts_left_when_a_client_is_closed_leave_no_error_behind(folder, monkeypatch):
    distributed = pytest.importorskip("distributed")
    unraisable = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: unraisable.append(what.exc_value))
    source = Source(folder(table("normal")), target="y", rows_per_part=50)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        client = distributed.Client(cluster)
        results = mapped(rows_in, None, source.parts(), client)
        next(results)
        client.close()
        del results
    assert not unraisable


def rows_in(part, state):
    return part.n_rows


def same_bits(one, other):
    """Whether all arrays that two models publish are equal."""
    for name, value in vars(one).items():
        if name.endswith("_") and isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
        if name == "trees_":
            same_bits(NamedArrays(value), NamedArrays(getattr(other, name)))


class NamedArrays:
    """The arrays of trees under names that end as those of attributes do."""

    def __init__(self, trees):
        vars(self).update({f"{entry.name}_": getattr(trees, entry.name) for entry in fields(trees)})


KILLED = """
import os, signal, sys
from rosenblatt import GaussianNB, LogisticRegression
from rosenblatt.data import Source
from rosenblatt.distributed import fit
def progress(now):
    if (now.number, now.n_done) == tuple(map(int, sys.argv[4:])):
        os.kill(os.getpid(), signal.SIGKILL)
model = {"nb": GaussianNB, "logistic": LogisticRegression}[sys.argv[3]]()
fit(model, Source(sys.argv[1], target="y", rows_per_part=100), checkpoint=sys.argv[2],
    progress=progress)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    ("name", "model", "n_pass"), [("nb", GaussianNB(), 1), ("logistic", LogisticRegression(), 4)]
)
def test_a_killed_fit_goes_on_to_the_same_bits(folder, tmp_path_factory, name, model, n_pass):
    place, kept = folder(table("normal")), tmp_path_factory.mktemp("kept")
    arguments = [str(place), str(kept), name, str(n_pass), "5"]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    source = Source(place, target="y", rows_per_part=100)
    seen = []
    resumed = fit(model, source, checkpoint=kept, progress=seen.append)
    assert (seen[0].number, seen[0].n_done) == (n_pass, 6)
    same_bits(fit(model, source), resumed)
    with pytest.raises(TableError, match="another fit"):
        Checkpoint(kept, GaussianNB(var_smoothing=1.0), source, source.parts())


def test_a_checkpoint_is_of_one_target_and_of_the_files_as_they_were(tmp_path):
    data, kept = tmp_path / "a.csv", tmp_path / "kept"
    data.write_text("x,y,z\n1,0,1\n2,1,0\n3,1,1\n")
    fit(GaussianNB(), Source(data, target="y", columns=["x"]), checkpoint=kept)
    with pytest.raises(TableError, match="another target"):
        fit(GaussianNB(), Source(data, target="z", columns=["x"]), checkpoint=kept)
    data.write_text("x,y,z\n1,0,1\n2,1,0\n3,1,1\n4,1,1\n")
    with pytest.raises(TableError, match=r"a.csv was written after the checkpoint"):
        fit(GaussianNB(), Source(data, target="y", columns=["x"]), checkpoint=kept)


def test_a_checkpoint_that_is_damaged_or_in_use_is_one_sentence(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n3,1\n")
    source, kept = Source(tmp_path / "a.csv", target="y"), tmp_path / "kept"
    fit(GaussianNB(), source, checkpoint=kept)
    (kept / "pass-000001.npz").write_bytes(b"PK")
    with pytest.raises(TableError, match=r"damaged at .*pass-000001.npz"):
        fit(GaussianNB(), source, checkpoint=kept)
    (kept / "current.json").write_text("{")
    with pytest.raises(TableError, match=r"damaged at .*current.json"):
        fit(GaussianNB(), source, checkpoint=kept)
    if sys.platform != "win32":
        held = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX);"
        held += "print('held', flush=True); sys.stdin.read()"
        command, pipes = [sys.executable, "-c", held, str(kept / "lock")], {"text": True}
        pipes |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, **pipes) as other:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(TableError, match="Another process works with the checkpoint"):
                fit(GaussianNB(), source, checkpoint=kept)
            other.stdin.close()


def test_bad_parts_are_named(tmp_path):
    frame = table("normal")
    frame.write_parquet(tmp_path / "1.parquet")
    frame.drop("x2").write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"2.parquet.* has no column x2"):
        fit(GaussianNB(), Source(tmp_path, target="y"))
    frame.with_columns(x2=pl.lit("word")).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"2.parquet.*column 'x2' holds String"):
        fit(GaussianNB(), Source(tmp_path, target="y"))
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "2.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"2.parquet cannot be read"):
        fit(GaussianNB(), Source(tmp_path, target="y"))
    frame[:0].write_parquet(tmp_path / "2.parquet")  # an empty part changes nothing
    fit(GaussianNB(), Source(tmp_path, target="y"))
    with pytest.raises(TableError, match="There is no file"):
        Source(tmp_path / "*.csv", target="y")
    with pytest.raises(TableError, match="Did you mean x1"):
        Source(tmp_path, target="x1x")


def test_bad_parts_may_be_left_out_with_a_warning(tmp_path):
    frame = table("normal")
    frame.write_parquet(tmp_path / "1.parquet")
    frame.with_columns(x2=pl.lit("word")).write_parquet(tmp_path / "2.parquet")
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "3.parquet").write_bytes(whole[: len(whole) // 2])
    source = Source(tmp_path, target="y", bad="skip")
    with pytest.warns(UserWarning, match="Left out: ") as said:
        model = fit(LogisticRegression(), source)  # which makes several passes
    words, torn = (str(warning.message) for warning in said)
    assert "2.parquet" in words
    assert "column 'x2' holds String" in words
    assert "3.parquet cannot be read" in torn
    same_bits(fit(LogisticRegression(), Source(tmp_path / "1.parquet", target="y")), model)
    with pytest.raises(ValueError, match="bad must be"):
        Source(tmp_path, target="y", bad="ignore")


def test_a_file_that_changes_between_passes_is_named(folder):
    """The gap would be certified over rows that no other pass has seen."""
    frame = table("normal")
    place = folder(frame)

    def change(progress):
        if (progress.number, progress.n_done) == (2, 1):
            frame[:50].write_parquet(place / "3.parquet")

    with pytest.raises(TableError, match=r"3.parquet was written or removed during the fit"):
        fit(LogisticRegression(), Source(place, target="y"), progress=change)


def test_the_first_part_may_be_empty_and_be_left_out_if_bad(tmp_path):
    frame = table("normal")
    frame[:0].write_parquet(tmp_path / "0.parquet")
    frame.write_parquet(tmp_path / "1.parquet")
    whole = fit(GaussianNB(), Source(tmp_path / "1.parquet", target="y"))
    np.testing.assert_array_equal(
        fit(GaussianNB(), Source(tmp_path, target="y")).theta_, whole.theta_
    )
    (tmp_path / "0.parquet").write_bytes((tmp_path / "1.parquet").read_bytes()[:500])
    with pytest.warns(UserWarning, match=r"Left out: .*0.parquet cannot be read"):
        fitted = fit(GaussianNB(), Source(tmp_path, target="y", bad="skip"))
    np.testing.assert_array_equal(fitted.theta_, whole.theta_)


@pytest.mark.parametrize("model", [LogisticRegression(), HistGradientBoostingRegressor(max_iter=1)])
@pytest.mark.parametrize("lacking", [None, float("nan")])
def test_rows_without_a_target_are_refused_with_their_place_or_left_out(tmp_path, model, lacking):
    """They were a class of their own to some models."""
    frame = table("normal").with_columns(pl.col("y").cast(pl.Float64))
    some = frame[600:].with_columns(y=pl.when(pl.int_range(400) == 7).then(lacking).otherwise("y"))
    frame[:600].write_parquet(tmp_path / "0.parquet")
    some.write_parquet(tmp_path / "1.parquet")
    with pytest.raises(TableError, match=r"1.parquet: column 'y', the target, holds .* in row 7 "):
        fit(model, Source(tmp_path, target="y"))
    left = Source([frame[:600], pl.concat([some[:7], some[8:]])], target="y")
    with pytest.warns(UserWarning, match=r"Left out: 1 of the rows 0 to 399 of .*1.parquet"):
        fitted = fit(model, Source(tmp_path, target="y", bad="skip"))
    X = frame.drop("y")
    np.testing.assert_array_equal(fitted.predict(X), fit(model, left).predict(X))


def test_models_without_a_way_are_refused(tmp_path):
    table("normal").write_parquet(tmp_path / "1.parquet")
    source = Source(tmp_path, target="y")
    with pytest.raises(TypeError, match=r"SVC is not fitted by parts. .* are: .*GaussianNB"):
        fit(SVC(), source)
    with pytest.raises(TypeError, match="client must be None"):
        fit(GaussianNB(), source, client=3)


def test_the_tree_depends_on_the_order_alone():
    parts = [str(k) for k in range(11)]
    tree = MergeTree()
    for part in parts:
        tree.add(part)
    assert tree.total() == "".join(parts)
    assert [level for level, _ in tree.levels] == [3, 1, 0]
