"""Rows a second and peak memory on more rows than fit in memory: ``python -m benchmarks.scale``.

The rows are made here, as Parquet, and removed after. Each job runs in a process of its own, so
that its peak of memory is its own. Slow peers read a prefix. ``--rows`` sets how many there are:
50 million by default, 8 GB of 20 columns; ``--compression`` how polars writes them. ``--folder``
keeps the files there, and takes those that are there already; ``--only`` runs some of the jobs.

scikit-learn's loop reads with pyarrow and pandas, as its users do, and once more with our reader.
"""

import argparse
import json
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

D, ROWS_PER_FILE, PREFIX = 20, 1_000_000, 20_000
JOBS = {  # ours, and scikit-learn's loop over batches
    "GaussianNB": ("GaussianNB", "naive_bayes.GaussianNB"),
    "Ridge": ("Ridge", "linear_model.SGDRegressor"),
    "LogisticRegression": ("LogisticRegression", "linear_model.SGDClassifier:log_loss"),
    "KMeans": ("KMeans", "cluster.MiniBatchKMeans"),
    "Perceptron": ("Perceptron", "linear_model.Perceptron"),
}
RIVER = {
    "GaussianNB": "naive_bayes.GaussianNB",
    "LogisticRegression": "linear_model.LogisticRegression",
    "Perceptron": "linear_model.Perceptron",
}
ROUNDS = 5  # of a fit on workers
SETTINGS = {
    "KMeans": {"n_clusters": 8, "random_state": 0, "max_iter": 5},
    "Perceptron": {"max_iter": 3},
}


def make(folder: Path, n_rows: int, compression: str = "zstd") -> None:
    """Two classes on 20 columns of normal numbers, a file for each million of rows."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal(D)
    for k, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        X = rng.standard_normal((min(ROWS_PER_FILE, n_rows - start), D))
        y = (X @ w + 2 * rng.standard_normal(len(X)) > 0).astype(np.int64)
        X += 0.3 * y[:, None]
        columns = {f"x{j}": X[:, j] for j in range(D)} | {"y": y}
        pl.DataFrame(columns).write_parquet(folder / f"{k:05d}.parquet", compression=compression)


def source_of(folder: str):
    from rosenblatt.data import Source

    return Source(folder, target="y", rows_per_part=250_000)


def batches(folder: str):
    """Arrays and targets, as every contender reads them."""
    source = source_of(folder)
    for part in source.parts():
        for X, y in source.read(part):
            yield np.ascontiguousarray(X.to_numpy()), y


def read(folder: str, name: str) -> dict:
    """Nothing but reading."""
    return {"rows": sum(len(X) for X, _ in batches(folder)), "passes": 1}


def ours(folder: str, name: str) -> dict:
    """A fit by parts in this process."""
    import rosenblatt
    from rosenblatt.distributed import fit

    seen = []
    fitted = fit(getattr(rosenblatt, name)(**SETTINGS.get(name, {})), source_of(folder),
                 progress=seen.append)  # fmt: skip
    n_rows = sum(p.n_rows for p in seen if p.n_done == p.n_parts)
    return {"rows": n_rows, "passes": seen[-1].number, "quality": quality(fitted, folder)}


def sklearn(folder: str, name: str) -> dict:
    """One pass of scikit-learn's partial_fit over batches that pyarrow reads and pandas holds."""
    return _partial_fits(folder, name, pandas_batches(folder))


def sklearn_with_our_reader(folder: str, name: str) -> dict:
    """The same over the batches that our models read."""
    return _partial_fits(folder, name, batches(folder))


def pandas_batches(folder: str):
    """Arrays and targets, as pyarrow's documentation reads files that are larger than memory."""
    import pyarrow.parquet

    for path in sorted(Path(folder).glob("*.parquet")):
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=50_000):
            frame = batch.to_pandas()
            yield frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()


def _partial_fits(folder: str, name: str, made) -> dict:
    model, n_rows = _sklearn(JOBS[name][1]), 0
    for X, y in made:
        classes = {} if n_rows or name in ("KMeans", "Ridge") else {"classes": [0, 1]}
        model.partial_fit(X, y, **classes)
        n_rows += len(X)
    return {"rows": n_rows, "passes": 1, "quality": quality(model, folder)}


def _sklearn(path: str):
    from importlib import import_module

    where, _, loss = path.partition(":")
    module, _, kind = where.rpartition(".")
    settings = {"loss": loss} if loss else {}
    settings |= {"n_clusters": 8, "random_state": 0} if kind == "MiniBatchKMeans" else {}
    return getattr(import_module(f"sklearn.{module}"), kind)(**settings)


def river(folder: str, name: str) -> dict:
    """River's learn_one over a prefix."""
    from importlib import import_module

    module, _, kind = RIVER[name].rpartition(".")
    model = getattr(import_module(f"river.{module}"), kind)()
    X, y = next(batches(folder))
    began = time.process_time()
    for x, label in zip(X[:PREFIX].tolist(), y[:PREFIX].tolist(), strict=True):
        model.learn_one(dict(enumerate(x)), bool(label))
    seconds = time.process_time() - began
    return {"rows": PREFIX, "passes": 1, "cpu": seconds, "wall": seconds}


def vowpal_wabbit(folder: str, name: str) -> dict:
    """Vowpal Wabbit's logistic regression over a prefix, from text as it reads it."""
    from vowpalwabbit import Workspace

    X, y = next(batches(folder))
    lines = [
        f"{2 * label - 1} | " + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(x))
        for x, label in zip(X[:PREFIX].tolist(), y[:PREFIX].tolist(), strict=True)
    ]
    model = Workspace("--loss_function logistic --quiet")
    began = time.process_time()
    for line in lines:
        model.learn(line)
    seconds = time.process_time() - began
    return {"rows": PREFIX, "passes": 1, "cpu": seconds, "wall": seconds}


def quality(model, folder: str) -> float:
    """Of 100,000 rows: accuracy, R² or minus the mean loss."""
    warnings.simplefilter("ignore")
    some = pl.read_parquet(sorted(Path(folder).glob("*.parquet"))[-1], n_rows=100_000)
    X = some.drop("y")
    X = X if hasattr(model, "feature_names_in_") else X.to_numpy()
    return float(model.score(X, some["y"].to_numpy())) / (len(X) if "Means" in repr(model) else 1)


def workers(folder: str, name: str) -> dict:
    """The same fits on loopback clusters of one and two workers: where the time goes, and bytes.

    The round of the least wall time is kept.

    Seconds of CPU are those of all workers, of the busiest, and of this process with the scheduler:
    where cores are shared with other work, they show what wall time does not.
    """
    import distributed
    import psutil

    from rosenblatt import GaussianNB, LogisticRegression
    from rosenblatt.data import Source
    from rosenblatt.distributed import fit

    found: dict = {"rows": 0, "passes": 0}
    few = Source(sorted(Path(folder).glob("*.parquet"))[0], target="y", rows_per_part=2_500)
    for n in (1, 2):
        options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": None}
        with (
            distributed.LocalCluster(host="127.0.0.1", silence_logs="ERROR", **options) as cluster,
            distributed.Client(cluster) as client,
        ):
            crew = [psutil.Process(worker.pid) for worker in cluster.workers.values()]
            fit(GaussianNB(), source_of(folder), client)  # imports and compiled loops
            fit(LogisticRegression(), source_of(folder), client)
            jobs = {"GaussianNB": (GaussianNB(), source_of(folder)),
                    "LogisticRegression": (LogisticRegression(), source_of(folder)),
                    "parts of 2,500 rows": (GaussianNB(), few)}  # fmt: skip
            for what, (model, source) in [job for job in jobs.items() for _ in range(ROUNDS)]:
                seen, before = [], [_cpu(one) for one in crew]
                here, began = time.process_time(), time.perf_counter()
                with counted() as merged:
                    fit(model, source, client, progress=seen.append)
                wall, name = time.perf_counter() - began, f"{what}, {n} workers"
                if name in found and found[name]["wall seconds"] <= wall:
                    continue
                each = [_cpu(one) - start for one, start in zip(crew, before, strict=True)]
                found[name] = {
                    "wall seconds": wall,
                    "seconds of CPU in all workers": sum(each),
                    "in the busiest": max(each),
                    "in client and scheduler": time.process_time() - here,
                    "passes": seen[-1].number,
                    "parts": seen[-1].n_parts,
                    "bytes merged": merged[0],
                }
    return found


def _cpu(process) -> float:
    times = process.cpu_times()
    return times.user + times.system


@contextmanager
def counted():
    """Count the bytes of all that is added up, as it comes from workers."""
    from rosenblatt.distributed.sums import MergeTree

    total, add = [0], MergeTree.add

    def counting(tree, statistic):
        total[0] += len(pickle.dumps(statistic))
        add(tree, statistic)

    MergeTree.add = counting
    try:
        yield total
    finally:
        MergeTree.add = add


def measured(folder: str, contender: str, name: str) -> dict:
    """Run a job in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--job", contender, name, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"absent": done.stderr.strip().splitlines()[-1][:100]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def job(contender: str, name: str, folder: str) -> None:
    """The job itself: prints what it measured."""
    warnings.simplefilter("ignore")
    if contender != "workers":  # imports and compiled loops are not what is measured
        small = tempfile.mkdtemp()
        make(Path(small), PREFIX)
        globals()[contender](small, name)
        shutil.rmtree(small)
    wall, cpu = time.perf_counter(), time.process_time()
    found = globals()[contender](folder, name)
    found.setdefault("cpu", time.process_time() - cpu)
    found.setdefault("wall", time.perf_counter() - wall)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def report(folder: str, only: list[str]) -> None:
    """All jobs, a line each."""
    reader = measured(folder, "read", "-")
    speed = reader["rows"] / reader["cpu"]
    n_bytes = sum(path.stat().st_size for path in Path(folder).glob("*.parquet"))
    print(f"Reading alone: {speed:,.0f} rows, {n_bytes / reader['cpu'] / 1e6:,.0f} MB a CPU second")
    print(f"Peak {reader['peak_mb']:,.0f} MB.\n")
    print("| job | contender | passes | rows a CPU second | of the reader's | rows a second | "
          "peak MB | quality |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name in JOBS:
        for contender in contenders(name) if name in only else ():
            found = measured(folder, contender, name)
            if "absent" in found:
                print(f"| {name} | {contender} | {found['absent']} | | | | | |")
                continue
            rate, good = found["rows"] / found["cpu"], found.get("quality")
            cells = [name, contender, found["passes"], f"{rate:,.0f}", f"{rate / speed:.0%}"]
            cells += [f"{found['rows'] / found['wall']:,.0f}", f"{found['peak_mb']:,.0f}"]
            print(f"| {' | '.join(map(str, cells))} | {'' if good is None else f'{good:.4f}'} |")
            sys.stdout.flush()
    print()
    if "workers" in only:
        for what, value in measured(folder, "workers", "-").items():
            if isinstance(value, dict):
                numbers = ", ".join(f"{name} {number:,.4g}" for name, number in value.items())
                print(f"- {what}: {numbers}")


def contenders(name: str) -> list[str]:
    """Who does a job."""
    found = ["ours", "sklearn", "sklearn_with_our_reader"]
    found += ["river"] * (name in RIVER) + ["vowpal_wabbit"] * (name == "LogisticRegression")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scale")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--compression", default="zstd", help="snappy, lz4, uncompressed")
    parser.add_argument("--folder", type=Path, help="where the files are, or shall be kept")
    parser.add_argument("--only", nargs="+", default=[*JOBS, "workers"], help="jobs, or workers")
    parser.add_argument("--job", nargs=3)
    given = parser.parse_args()
    if given.job:
        job(*given.job)
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="rosenblatt-scale-"))
    try:
        if not any(folder.glob("*.parquet")):
            folder.mkdir(exist_ok=True)
            make(folder, given.rows, given.compression)
            print(f"{given.rows:,} rows x {D} columns of Parquet ({given.compression}).")
        report(str(folder), given.only)
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
