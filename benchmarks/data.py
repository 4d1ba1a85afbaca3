"""Seeded synthetic data, kept on disk between processes so that every contender reads the same."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.scenario import Data

CACHE = Path(__file__).parent / ".cache"


def kept(make, n, *sizes) -> Data:
    """n rows of `make` and held-out ones beside them; made once, then loaded from disk."""
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    folder = CACHE / "-".join([make.__name__, str(n), *map(str, sizes), digest])
    if not folder.exists():
        X, y = make(n + min(n // 5, 50_000), *sizes)
        parts = {"train": (X[:n], y[:n]), "test": (X[n:], y[n:])}
        CACHE.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=CACHE))
        for part, (rows, labels) in parts.items():
            _save(scratch / f"X_{part}", rows)
            np.save(scratch / f"y_{part}.npy", labels)
        try:
            os.replace(scratch, folder)
        except OSError:  # another process was first
            shutil.rmtree(scratch)
    X, X_test = _load(folder / "X_train"), _load(folder / "X_test")
    return Data(X, np.load(folder / "y_train.npy"), X_test, np.load(folder / "y_test.npy"), folder)


def _save(path: Path, X) -> None:
    if not sparse.issparse(X):
        np.save(path.with_suffix(".npy"), X)
        return
    for field in ("data", "indices", "indptr"):
        np.save(path.with_suffix(f".{field}.npy"), getattr(X, field))
    np.save(path.with_suffix(".shape.npy"), X.shape)


def _load(path: Path):
    if path.with_suffix(".npy").exists():
        return np.load(path.with_suffix(".npy"))
    fields = [np.load(path.with_suffix(f".{f}.npy")) for f in ("data", "indices", "indptr")]
    return sparse.csr_matrix(tuple(fields), shape=tuple(np.load(path.with_suffix(".shape.npy"))))


def dense(n, d, k):
    """Correlated features of unit size around k class centres; no plane is without mistakes."""
    rng = np.random.default_rng([n, d, k])
    y = rng.integers(k, size=n)
    centres = rng.standard_normal((k, d)) * (4.0 / np.sqrt(d) if k > 2 else 2.5 / np.sqrt(d))
    factors = rng.standard_normal((n, max(d // 5, 1)))
    X = rng.standard_normal((n, d))
    X += factors @ (rng.standard_normal((factors.shape[1], d)) / np.sqrt(2 * factors.shape[1]))
    X += centres[y]
    return X, y


def documents(n, d, k):
    """Cosine-normalised tf-idf of documents with Zipf words, about 75 different ones in each.

    The label is the best of k planted planes, each on a fifth of the 500 commonest words (two
    opposite ones when k = 2); one label in twenty is drawn at random.
    """
    rng = np.random.default_rng([n, d, k])
    counts = _word_counts(rng, n, d)
    present = np.bincount(counts.indices, minlength=d)
    idf = np.log((1 + n) / (1 + present)) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    length = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(length, np.diff(counts.indptr))

    common = np.argsort(-present)[:500]
    planes = np.zeros((d, k))
    planes[common] = rng.standard_normal((len(common), k)) * (rng.random((len(common), k)) < 0.2)
    if k == 2:
        planes[:, 1] = -planes[:, 0]
    scores = counts @ planes
    y = np.argmax(scores - np.median(scores, axis=0), axis=1)
    noisy = rng.random(n) < 0.05
    y[noisy] = rng.integers(k, size=noisy.sum())
    return counts, y


def _word_counts(rng, n, d):
    """Bags of words (n, d): log-normal lengths, Zipf frequencies, word ids in no order."""
    frequency = 1.0 / (np.arange(d) + 10.0)
    cumulative = np.cumsum(frequency / frequency.sum())
    n_tokens = np.clip(rng.lognormal(np.log(76), 0.35, n), 20, 500).astype(np.int64)
    ranks = np.searchsorted(cumulative, rng.random(n_tokens.sum()))
    words = rng.permutation(d).astype(np.int32)[np.minimum(ranks, d - 1)]
    rows = np.repeat(np.arange(n, dtype=np.int32), n_tokens)
    ones = np.ones(len(words))
    counts = sparse.coo_matrix((ones, (rows, words)), shape=(n, d)).tocsr()
    counts.sum_duplicates()
    return counts


def two_sides(n, d, flipped):
    """Points kept off a planted plane, a few of them then given the wrong label."""
    rng = np.random.default_rng([n, d, flipped])
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    scores = X @ w
    y = (scores > 0).astype(np.int64)
    X += 0.02 * np.outer(np.where(y, 1.0, -1.0), w)
    wrong = rng.choice(n // 2, flipped, replace=False)  # in the first half: all in training
    y[wrong] = 1 - y[wrong]
    return X, y


def iris() -> Data:
    """Fisher's 150 x 4, all of it for training; the quality is that on the same rows."""
    folder = CACHE / "iris"
    if not folder.exists():
        from sklearn.datasets import load_iris  # only once: cold calls must not find it imported

        X, y = load_iris(return_X_y=True)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    return Data(X, y, X, y, folder)
