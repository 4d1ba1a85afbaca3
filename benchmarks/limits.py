"""What this machine can do at best on one core, measured in the same run as the contenders."""

import time

import numpy as np

UNITS = {
    "read": "B",
    "dgemm": "flop",
    "sgemm": "flop",
    "gather": "element",
    "far gather": "element",
}
ENGLISH = {
    "read": "read bandwidth",
    "dgemm": "dgemm rate",
    "sgemm": "sgemm rate",
    "gather": "random gather in cache",
    "far gather": "random gather out of cache",
}


def machine_limits() -> dict[str, float]:
    """Units a second of one core: bytes read, floating point operations, elements gathered."""
    return {
        "read": _read_rate(),
        "dgemm": _gemm_rate(np.float64),
        "sgemm": _gemm_rate(np.float32),
        **_gather_rates({"gather": 2**15, "far gather": 2**25}),
    }


def best(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    """The better of two measurements: a limit is what the machine reaches undisturbed."""
    return {name: max(first[name], second[name]) for name in first}


def _best_seconds(work, repeats=5) -> float:
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _read_rate(n=2**25) -> float:
    """Bytes a second of a dot product of 256 MB with itself: one stream, far beyond the cache."""
    x = np.ones(n)
    return x.nbytes / _best_seconds(lambda: x @ x)


def _gemm_rate(dtype, n=1024) -> float:
    # Two matrices: of a matrix with its own transpose BLAS computes only half.
    A, B, C = np.ones((n, n), dtype), np.ones((n, n), dtype), np.empty((n, n), dtype)
    return 2 * n**3 / _best_seconds(lambda: np.matmul(A, B, out=C))


def _gather_rates(tables: dict[str, int], n=2**22) -> dict[str, float]:
    """Elements a second of sum(table[i]) over random i, for tables of the given lengths."""
    import numba

    @numba.njit(fastmath=True)  # fastmath: several sums at once, as an unrolled loop has
    def gather(table, index):
        total = 0.0
        for i in index:
            total += table[i]
        return total

    rates = {}
    for name, length in tables.items():
        table = np.ones(length)
        index = np.random.default_rng(0).integers(length, size=n).astype(np.int32)
        rates[name] = n / _best_seconds(lambda table=table, index=index: gather(table, index))
    return rates
