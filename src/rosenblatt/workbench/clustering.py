"""Cluster the rows of one table: which groups there are, what they are, and how sure that is.

Prepare columns as `compare` does; try k-means, mixtures and linkage at each number of clusters;
choose by the silhouette; fit the choice to all rows; fit it again to parts of them.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline

from rosenblatt.cluster import KMeans, cluster_quality
from rosenblatt.data import Column, Table, TableError, columns_of
from rosenblatt.data.columns import free_name
from rosenblatt.decomposition import PCA
from rosenblatt.mixture import GaussianMixture
from rosenblatt.neighbors import KNeighborsClassifier
from rosenblatt.runtime.threads import one_blas_thread

from .arguments import call_of, checked_budget, features_of, numbers_of
from .clock import Clock
from .cluster_findings import ClusterFindings, Stability, Trial, profiles_of
from .clustering_result import Clustering
from .families import candidates
from .features import TableFeatures
from .known_columns import known_columns
from .model_file import SavedModel
from .model_metadata import versions
from .problem import with_types

Progress = Callable[[list[Trial], str, Clock], None]
Numbers = NDArray[np.float64]
Labels = NDArray[np.intp]

CANDIDATES = {one.name: (row, one) for row, one in candidates("clustering", "density")}
FAMILIES = tuple(CANDIDATES)
LARGEST = 1e150  # numbers whose squares can be added up
LEAST_ROWS = 10
USUAL_NUMBERS = range(2, 11)
MOST_SEARCHED = 20_000  # rows that the search reads; of larger tables a sample
MOST_SCORED = 5_000  # rows whose silhouettes are compared
MOST_RESAMPLED = 2_000
RESAMPLES, SHARE = 20, 0.8
REFERENCES = 5  # tables with shuffled columns
FULL_COVARIANCES = 10  # columns up to which mixtures have full covariances
MOST_MAPPED = 1_500
SEARCHING = 0.6  # of the time that is left after the first clustering


def cluster_table(
    X: Any,
    *,
    k: int | range | list[int] | str | None = None,
    format: str | None = None,
    header: bool = True,
    sheet: str | None = None,
    kinds: dict[str, str] | None = None,
    without: str | Sequence[str] = (),
    budget: float | Clock | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    command: str = "",
) -> Clustering:
    """Find groups of rows in one table.

    k-means, Gaussian mixtures, Ward's and average linkage are tried at each number of clusters. The
    clustering with the largest mean silhouette is chosen, of those without a cluster below three
    rows in a hundred, and fitted again to parts of the rows, to see whether the same groups come
    out.

    Parameters
    ----------
    X : path, name of a bundled table, data frame (lazy, too) or array
        The table. Numbers are centred and scaled, categories become columns of zeros and ones;
        texts and identifiers are left out.
    k : int, numbers, str or None
        How many clusters, such as 4, [2, 4, 8] or "2-8"; 2 to 10 are tried if None.
    format, header, sheet : as in `compare`.
    kinds : dict or None
        The kind of some columns, by name, as in `compare`; "identifier" leaves one out.
    without : a column to leave out, or several, such as labels that are known.
    budget : float or None
        Seconds that it may take; what is found by then is reported.
    random_state : seed of starts and samples.
    progress : callable or None
        Called with the trials so far, what is being tried, and the clock.
    command : what repeats this, for the report; if empty, the call.

    Returns
    -------
    clustering : Clustering
        With `labels`, `k`, `summary`, `report` and `save`.

    Examples
    --------
    >>> import rosenblatt
    >>> found = rosenblatt.cluster_table("iris", k=3)
    >>> found.k, sorted(found.sizes)[::-1] == list(found.sizes)
    (3, True)
    """
    clock = budget if isinstance(budget, Clock) else Clock(checked_budget(budget))
    table = features_of(X, format, header, sheet)
    without = [without] if isinstance(without, str) else list(without)
    for name in without:
        table.column(name)  # which refuses an unknown name
    kinds_given = {**(kinds or {}), **dict.fromkeys(without, "identifier")}
    data = ClusterData(table, kinds_given, random_state, without)
    numbers = _numbers(k, len(data.X))
    command = command or call_of(
        X, None, name="cluster_table", k=k, format=format, header=header, sheet=sheet, kinds=kinds,
        without=without or None, budget=clock.budget, random_state=random_state,
    )  # fmt: skip
    with clock.listening(), one_blas_thread():
        trials = _search(data, numbers, clock, progress)
        if not trials:
            if clock.stopped == "interrupt":
                raise KeyboardInterrupt
            raise TableError(
                f"No clustering of {table.name} was found: the time limit was too short."
            )
        best = _best(trials)
        final = _final(data, best)
        labels = np.asarray(final.predict(data.X), np.intp)
        references = clock.attempt(lambda: _references(data, best), clock.left / 3, [])
        stability = clock.attempt(lambda: _stability(data, best, labels), clock.left * 0.8)
        mapped = clock.attempt(lambda: _map(data, labels), clock.left)
    findings = ClusterFindings(
        source=table.name, columns=data.columns, hints=data.hints, trials=trials, best=best,
        profiles=profiles_of(data.frame, data.kinds, labels), references=references,
        stability=stability, map=mapped, n_rows=len(labels), n_searched=len(data.rows),
        seconds=clock.seconds, budget=clock.budget, stopped=clock.stopped, command=command,
        versions=versions(), random_state=random_state,
    )  # fmt: skip
    return Clustering(findings, labels, table, _saved(data, best, final))


class ClusterData:
    """A table as numbers, and the rows that the search reads."""

    def __init__(
        self, table: Table, kinds: dict[str, str], seed: int, without: Sequence[str] = ()
    ) -> None:
        if table.sparse is not None:
            raise TableError("A matrix without names cannot be described: give a table of columns.")
        if len(table) < LEAST_ROWS:
            raise TableError(
                f"{table.name} has {len(table)} rows, and {LEAST_ROWS} are needed to speak of "
                "groups."
            )
        told = with_types(table, table.frame, np.arange(len(table)), kinds)
        self.name, self.frame, self.seed = table.name, told.frame, seed
        self.hints = [*([table.hint] if table.hint else []), *told.hints]
        self.columns = [_for_clusters(column, without) for column in columns_of(told.frame, kinds)]
        self.kinds = {c.name: c.kind for c in self.columns if c.used}
        if not self.kinds:
            why = "; ".join(f"{c.name}: {c.note or c.kind}" for c in self.columns[:5])
            raise TableError(f"{table.name} has no column to cluster by ({why}).")
        for name in self.kinds:
            numbers: Any = told.frame[name]
            if numbers.dtype.is_numeric() and (numbers.abs().max() or 0) > LARGEST:
                raise TableError(
                    f"The squares of the numbers in column {name!r} are too large for 64 bits: "
                    "rescale it."
                )
        self.notations = {name: how.code for name, how in told.written.items()}
        self.features = TableFeatures(self.kinds, notations=self.notations).fit(told.frame)
        X = self.features.transform(told.frame)
        self.X: Numbers = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray())
        if len(np.unique(self.X[:10_000], axis=0)) < 3:
            raise TableError(f"{table.name} has fewer than three different rows.")
        rng = np.random.default_rng(seed)
        n = len(self.X)
        self.rows = np.sort(rng.permutation(n)[:MOST_SEARCHED])
        self.searched = self.X[self.rows]
        self.scored = np.sort(rng.permutation(len(self.rows))[:MOST_SCORED])


def _for_clusters(column: Column, without: Sequence[str]) -> Column:
    """A text and what the user left out are not used, with a note."""
    if column.name in without:
        return replace(column, kind="left out", note="as asked")
    if column.kind == "text":
        return replace(column, kind="text (left out)", note="texts have no distances")
    return column


def _numbers(k: Any, n: int) -> list[int]:
    usual = k is None
    k = USUAL_NUMBERS if usual else numbers_of(k)
    asked = list(k) if hasattr(k, "__iter__") else [k]
    wrong = [j for j in asked if not (isinstance(j, int | np.integer) and 2 <= j < n)]
    if wrong or not asked:
        got = wrong[0] if wrong else k
        raise ValueError(f"k must be a number from 2 to {n - 1}, or several of them; got {got!r}.")
    return sorted({int(j) for j in asked if not usual or j <= n // 3})


# The search.


def _search(
    data: ClusterData, numbers: list[int], clock: Clock, progress: Progress | None
) -> list[Trial]:
    trials: list[Trial] = []
    until = float("inf")  # for the first: loops are compiled, or read, at their first use
    for family in FAMILIES:
        for k in [numbers] if _makes_a_tree(family) else [[k] for k in numbers]:
            if progress is not None:
                progress(trials, f"{family}, {k[0]} clusters" if len(k) == 1 else family, clock)
            left = min(clock.left, until - clock.seconds)
            found = clock.attempt(partial(_tried, data, family, k), left)
            if clock.stopped:
                return trials
            if not trials:
                until = clock.seconds + SEARCHING * clock.left
            trials += found
    if progress is not None:
        progress(trials, "", clock)
    return trials


def _tried(data: ClusterData, family: str, numbers: list[int]) -> list[Trial]:
    """The clusterings of one family at some numbers; all from one tree if there is one."""
    X, scored = data.searched, data.scored
    found = []
    model = None
    for k in numbers:
        if _makes_a_tree(family):
            model = model or fitted(family, X, k, data.seed)
            labels = model.cut(k)
        else:
            model = fitted(family, X, k, data.seed)
            labels = np.asarray(model.predict(X), np.intp)
        sizes = np.bincount(labels, minlength=k)
        score = -1.0
        if len(np.unique(labels[scored])) > 1:
            score = cluster_quality(X[scored], labels[scored]).silhouette
        bic = float(model.bic(X)) if hasattr(model, "bic") else None
        found.append(Trial(family, k, score, tuple(sorted(map(int, sizes))[::-1]), bic, labels))
    return found


def fitted(family: str, X: Numbers, k: int, seed: int) -> Any:
    """A model of a family, fitted; that a mixture collapses or is not done shows in its score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _model(family, k, X.shape[1], seed).fit(X)


def _model(family: str, k: int, d: int, seed: int) -> Any:
    row, candidate = CANDIDATES[family]
    wide = candidate.wide_settings if d > FULL_COVARIANCES else {}
    model = row.estimator(**{**candidate.settings, **wide})
    given = {"n_clusters": k, "n_components": k, "random_state": seed}
    known = model.get_params()
    return model.set_params(**{name: given[name] for name in given if name in known})


def _makes_a_tree(family: str) -> bool:
    """Whether one fit holds the clusterings of every number."""
    return hasattr(CANDIDATES[family][0].estimator, "cut")


def _best(trials: list[Trial]) -> Trial:
    """The largest silhouette among clusterings without tiny clusters, if there are any."""
    whole = [trial for trial in trials if trial.is_whole]
    return max(whole or trials, key=lambda trial: (trial.silhouette, -trial.k))


# The choice on all rows, numbered by size.


def _final(data: ClusterData, best: Trial) -> Any:
    """A model that assigns any row: the chosen one, its clusters numbered by falling size."""
    X, labels = data.searched, best.labels
    order = np.argsort(-np.bincount(labels, minlength=best.k), kind="stable")
    place = np.argsort(order)
    kind = CANDIDATES[best.family][0].estimator
    if kind not in (KMeans, GaussianMixture):
        return KNeighborsClassifier(n_neighbors=1).fit(X, place[labels])
    model = fitted(best.family, X, best.k, data.seed)
    if kind is KMeans:
        centres = model.cluster_centers_[order]
        return _by_size(KMeans(best.k, init=centres, n_init=1).fit(data.X), data.X)
    means, shares = model.means_[order], model.weights_[order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        final = GaussianMixture(
            best.k, covariance_type=model.covariance_type, reg_covar=model.reg_covar,
            weights_init=shares / shares.sum(), means_init=means,
            precisions_init=model.precisions_[order], random_state=data.seed,
        ).fit(data.X)  # fmt: skip
    return _by_size(final, data.X)


BY_CLUSTER = ("cluster_centers_", "weights_", "means_", "covariances_", "precisions_",
              "precisions_cholesky_")  # fmt: skip


def _by_size(model: Any, X: Any) -> Any:
    """A model fitted to all rows, its clusters numbered by falling size there."""
    sizes = np.bincount(model.predict(X), minlength=len(model.trace_view()["centres"]))
    order = np.argsort(-sizes, kind="stable")
    tied = getattr(model, "covariance_type", "") == "tied"  # one covariance for all clusters
    for name in BY_CLUSTER[:3] if tied else BY_CLUSTER:
        if hasattr(model, name):
            setattr(model, name, getattr(model, name)[order])
    if hasattr(model, "labels_"):
        model.labels_ = np.argsort(order)[model.labels_].astype(model.labels_.dtype)
    return model


def _saved(data: ClusterData, best: Trial, final: Any) -> SavedModel:
    """The pipeline from rows of a table to clusters, with what its file is to say."""
    return SavedModel(
        Pipeline([("features", data.features), ("model", final)]), best.family,
        free_name("cluster", data.frame.columns), "clustering", data.name, len(data.X),
        known_columns(data.frame, data.kinds, data.notations), versions=versions(),
    )  # fmt: skip


# How sure it is.


def _references(data: ClusterData, best: Trial) -> list[float]:
    """Silhouettes of the same method on tables whose columns are shuffled: no groups are left."""
    rng = np.random.default_rng(data.seed + 1)
    rows = np.sort(rng.permutation(len(data.searched))[:MOST_RESAMPLED])
    frame = data.frame[data.rows[rows]]
    found = []
    for _ in range(REFERENCES if len(data.kinds) > 1 else 0):
        shuffled = pl.DataFrame([values.gather(rng.permutation(len(rows))) for values in frame])
        X = data.features.transform(shuffled)
        X = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray())
        model = fitted(best.family, X, best.k, data.seed)
        labels = model.labels_ if hasattr(model, "labels_") else model.predict(X)
        several = len(np.unique(labels)) > 1
        found.append(cluster_quality(X, labels).silhouette if several else -1.0)
    return found


def _stability(data: ClusterData, best: Trial, labels: Labels) -> Stability:
    """How well clusterings of parts of the rows agree with the one of all."""
    rng = np.random.default_rng(data.seed + 2)
    pool = np.sort(rng.permutation(len(data.X))[:MOST_RESAMPLED])
    indices, overlaps = [], np.zeros((RESAMPLES, best.k))
    for b in range(RESAMPLES):
        rows = rng.choice(pool, max(best.k + 1, int(SHARE * len(pool))), replace=False)
        model = fitted(best.family, data.X[rows], best.k, int(rng.integers(2**31)))
        again = model.labels_ if hasattr(model, "labels_") else model.predict(data.X[rows])
        indices.append(float(adjusted_rand_score(labels[rows], again)))
        overlaps[b] = _overlaps(labels[rows], np.asarray(again), best.k)
    found = np.nanmean(overlaps, axis=0).tolist()
    return Stability(float(np.mean(indices)), found, RESAMPLES, SHARE)


def _overlaps(labels: Labels, again: NDArray[Any], k: int) -> Numbers:
    """For each cluster the largest share of common rows (Jaccard) with one of the others."""
    counts = np.zeros((k, int(again.max()) + 1))
    np.add.at(counts, (labels, again), 1)
    union = counts.sum(axis=1)[:, None] + counts.sum(axis=0) - counts
    return np.asarray((counts / np.maximum(union, 1)).max(axis=1))


def _map(data: ClusterData, labels: Labels) -> dict[str, Any]:
    """Some rows in the plane of the first two principal components."""
    rng = np.random.default_rng(data.seed + 3)
    rows = np.sort(rng.permutation(len(data.X))[:MOST_MAPPED])
    width = min(2, data.X.shape[1])
    model = PCA(n_components=width).fit(data.X)
    places = model.transform(data.X[rows])
    names = data.features.get_feature_names_out()
    axes = [[str(names[j]) for j in np.argsort(-np.abs(axis))[:3]] for axis in model.components_]
    return {
        "x": places[:, 0], "y": places[:, 1] if width == 2 else np.zeros(len(rows)),
        "labels": labels[rows], "axes": axes, "shares": model.explained_variance_ratio_.tolist(),
    }  # fmt: skip
