"""The pool: chunks fixed by the data, safe everywhere, never more threads than asked for."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from rosenblatt.runtime import threads

LARGE = 10 * threads.CELLS_PER_CHUNK


def ranges(n_rows, cells):
    return threads.over_chunks(lambda start, stop: (start, stop), n_rows, cells)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 1000, 123_457])
@pytest.mark.parametrize("cells_per_row", [0, 1, 50, 1_000_000])
def test_chunks_cover_all_rows_in_order_whatever_the_threads(n_rows, cells_per_row):
    with threads.limit(1):
        alone = ranges(n_rows, n_rows * cells_per_row)
    with threads.limit(4):
        assert ranges(n_rows, n_rows * cells_per_row) == alone
    edges = [0, *(stop for _, stop in alone)]
    assert [start for start, _ in alone] == edges[:-1]
    assert edges[-1] == n_rows


def workers_used(n_rows, cells):
    def name_of_thread(*_):
        time.sleep(0.001)  # else the caller does all before another thread comes
        return threading.current_thread().name

    names = threads.over_chunks(name_of_thread, n_rows, cells)
    return {name for name in names if name.startswith("rosenblatt")}


def test_small_jobs_never_meet_the_pool():
    assert not workers_used(1000, threads.CELLS_PER_CHUNK)
    with threads.limit(2):
        assert workers_used(1000, LARGE)
    with threads.limit(1):
        assert not workers_used(1000, LARGE)


def test_a_job_inside_a_job_does_not_wait_for_itself():
    with threads.limit(2):
        inner = threads.over_chunks(lambda *_: len(ranges(1000, LARGE)), 1000, LARGE)
    assert inner == [10] * 10


def test_callers_at_once_share_one_pool():
    running, most, lock = [0], [0], threading.Lock()

    def work(start, stop):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.002)
        with lock:
            running[0] -= 1

    with threads.limit(2), ThreadPoolExecutor(6) as callers:
        list(callers.map(lambda _: threads.over_chunks(work, 1000, LARGE), range(6)))
    assert most[0] <= 2


def test_an_error_in_a_chunk_reaches_the_caller():
    def fail(start, stop):
        raise RuntimeError(f"chunk {start}")

    with threads.limit(2), pytest.raises(RuntimeError, match="chunk 0"):
        threads.over_chunks(fail, 1000, LARGE)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_the_pool_is_made_anew_after_a_fork():
    script = (
        "import os, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from rosenblatt import threads\n"
        "with threads.limit(2):\n"
        f"    job = lambda: threads.over_chunks(lambda *_: 1, 1000, {LARGE})\n"
        "    job()\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os._exit(0 if job() == [1] * 10 else 1)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("name", ["ROSENBLATT_NUM_THREADS", "OMP_NUM_THREADS"])
def test_the_environment_sets_a_limit(name, monkeypatch):
    monkeypatch.setenv(name, "1")
    assert threads.count() == 1


def test_joblib_workers_do_not_oversubscribe():
    cores = os.cpu_count() or 1
    counts = joblib.Parallel(n_jobs=cores)(joblib.delayed(threads.count)() for _ in range(cores))
    assert sum(counts) <= max(cores, len(counts))


def test_limits_that_overlap_in_time_do_not_outlive_themselves():
    before = threads.count()
    first, second = threads.limit(1), threads.limit(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads.count() == min(before, 2)
    second.__exit__(None, None, None)
    assert threads.count() == before


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two"])
def test_a_bad_limit_is_refused(bad):
    with pytest.raises(ValueError, match=r"n_threads must be an integer >= 1; got"):
        threads.limit(bad).__enter__()
