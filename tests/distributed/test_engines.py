"""Workers that cannot do the work, and parts that fail, are named."""

import itertools
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context

import numpy as np
import polars as pl
import pytest

from rosenblatt import GaussianNB
from rosenblatt.data import Source
from rosenblatt.distributed import fit
from rosenblatt.distributed.engines import AT_ONCE, check_client, mapped

WORKER = "tcp://10.0.0.7:9999"


class Cluster:
    """A client of one worker that has some version of a package, or none."""

    def __init__(self, found):
        self.found = found

    def map(self, *_, **__):
        raise AssertionError("nothing is to be done there")

    def nthreads(self):
        return {WORKER: 1}

    def submit(self, function, package, workers, **_):
        assert workers == [WORKER]
        found = self.found if package == "rosenblatt" else version(package)

        class Answer:
            def result(self, timeout):
                if found is None:
                    raise PackageNotFoundError(package)
                if found == "silence":
                    raise TimeoutError
                return found

        return Answer()


def test_workers_without_the_package_or_with_another_version_are_named():
    with pytest.raises(RuntimeError, match=r"Worker tcp://10.0.0.7:9999 has no package rosenblatt"):
        check_client(Cluster(None))
    with pytest.raises(RuntimeError, match=r"Worker tcp://10.0.0.7:9999 has rosenblatt 0.0.1, and"):
        check_client(Cluster("0.0.1"))
    with pytest.raises(RuntimeError, match=r"Worker tcp://10.0.0.7:9999 has not answered for 60"):
        check_client(Cluster("silence"))
    nobody = Cluster("silence")
    nobody.nthreads = dict
    nobody.submit = lambda *_, **__: Cluster.submit(nobody, None, "rosenblatt", [WORKER])
    with pytest.raises(RuntimeError, match=r"The scheduler has had no worker for 60 seconds"):
        check_client(nobody)
    check_client(Cluster(version("rosenblatt")))


def test_pools_that_cannot_do_the_work_are_refused():
    """Polars in a forked process waits forever for threads that it does not have."""
    with (
        ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool,
        pytest.raises(ValueError, match=r"forks its processes.*get_context\(\"spawn\"\)"),
    ):
        check_client(pool)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match=r"The pool takes no more parts, a the first: cannot"):
        list(mapped(fail, None, ["a"], pool))


def end(part, state):
    """Kill the process that works on a part."""
    if part == "c":
        os._exit(1)
    return part


def test_a_process_of_a_pool_that_dies_is_one_sentence():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(RuntimeError, match=r"A process of the pool died while [bc] was worked on"),
    ):
        list(mapped(end, None, ["b", "c"], pool))


def test_a_pool_has_some_results_at_a_time():
    """Futures that nobody took yet hold their results: of many parts that would be all memory."""
    started, taken, ahead = itertools.count(1), 0, 0

    def work(part, state):
        return next(started)

    with ThreadPoolExecutor(2) as pool:
        for outcome in mapped(work, None, list(range(200)), pool):
            taken, ahead = taken + 1, max(ahead, outcome - taken)
    assert taken == 200
    assert ahead <= AT_ONCE


def test_a_source_goes_to_workers_without_the_names_of_all_files(tmp_path):
    for k in range(100):
        (tmp_path / f"{k:03d}.csv").write_text("x,y\n1,0\n2,1\n")
    source = Source(tmp_path, target="y")
    assert len(pickle.dumps(source)) < 2_000 + 4 * len(str(tmp_path))


def fail(part, state):
    raise OSError("the disk is gone")


def test_a_part_that_fails_three_times_is_named():
    tries = []

    def work(part, state):
        tries.append(part)
        fail(part, state)

    with ThreadPoolExecutor(1) as pool:
        for client in (None, pool):
            with pytest.raises(RuntimeError, match=r"a failed 3 times.*gone"):
                list(mapped(work, None, ["a"], client))
    assert tries == ["a"] * 6


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
