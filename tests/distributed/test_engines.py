"""Workers that cannot do the work, and parts that fail, are named."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import polars as pl
import pytest

from rosenblatt import GaussianNB
from rosenblatt.data import Source
from rosenblatt.distributed import fit
from rosenblatt.distributed.engines import check_client, mapped


class Cluster:
    """A client of one worker that has some version of a package, or none."""

    def __init__(self, found):
        self.found = found

    def map(self, *_, **__):
        raise AssertionError("nothing is to be done there")

    def nthreads(self):
        return {"tcp://10.0.0.7:9999": 1}

    def submit(self, function, package, workers, **_):
        assert workers == ["tcp://10.0.0.7:9999"]
        found = self.found if package == "rosenblatt" else version(package)

        class Answer:
            def result(self):
                if found is None:
                    raise PackageNotFoundError(package)
                return found

        return Answer()


def test_workers_without_the_package_or_with_another_version_are_named():
    with pytest.raises(RuntimeError, match=r"Worker tcp://10.0.0.7:9999 has no package rosenblatt"):
        check_client(Cluster(None))
    with pytest.raises(RuntimeError, match=r"Worker tcp://10.0.0.7:9999 has rosenblatt 0.0.1, and"):
        check_client(Cluster("0.0.1"))
    check_client(Cluster(version("rosenblatt")))


def test_a_part_that_fails_three_times_is_named():
    tries = []

    def work(part, state):
        tries.append(part)
        raise OSError("the disk is gone")

    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(RuntimeError, match=r"a failed 3 times.*gone"),
    ):
        list(mapped(work, None, ["a"], pool))
    assert tries == ["a"] * 3


def test_what_was_done_before_a_failure_is_kept(tmp_path):
    frame = pl.DataFrame({"x": np.arange(6.0), "y": [0, 1] * 3})
    for k in range(3):
        frame.write_parquet(tmp_path / f"{k}.parquet")
    source = Source(tmp_path, target="y")
    lost = (tmp_path / "2.parquet").read_bytes()
    kept, parts = tmp_path / "kept", []

    def lose(progress):
        parts.append(progress.n_done)
        if progress.n_done == 2:
            (tmp_path / "2.parquet").write_bytes(lost[:100])

    with pytest.raises(Exception, match=r"2.parquet"):
        fit(GaussianNB(), source, checkpoint=kept, progress=lose)
    (tmp_path / "2.parquet").write_bytes(lost)
    fit(GaussianNB(), source, checkpoint=kept, progress=lambda p: parts.append(p.n_done))
    assert parts == [1, 2, 3]
