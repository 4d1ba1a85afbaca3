"""Consensus clustering: votes recounted, the clusters and their stability found again from votes.

The labels of the runs are taken as they were recorded. All else follows from them by counting, and
counts are whole numbers: a claim about them is exact.

Legend: n rows, R runs, labels of runs (n, R); G groups of rows that have equal labels in all runs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from .claims import Certificate, Claim

Labels = NDArray[np.intp]
Floats = NDArray[np.float64]

MOST_PAIRS = 300  # rows whose votes are recounted
MOST_GROUPS = (1_000, 6_000)  # that are compared with all others, at effort 0 and 1
MOST_TRIED, MOST_FLOWS = 8, 40  # groups whose cuts are all tried; that are cut in two by flows
BLOCK = 200  # groups that are compared with all others at once


def certify_model(
    model: Any, X: Any, y: NDArray[Any] | None, weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Find votes, clusters and stability again from the labels of the runs."""
    runs, labels = np.asarray(model.runs_), np.asarray(model.labels_)
    if len(runs) != X.shape[0]:
        raise ValueError(
            f"The runs are of {len(runs):,} rows, and {X.shape[0]:,} were given. Pass the rows "
            "that it was fitted to."
        )
    votes = Votes(runs)
    claims = [groups_claim(model, votes), votes_claim(model, runs)]
    if model.n_clusters is None:
        claims.append(components_claim(model, votes, labels, MOST_GROUPS[effort > 0]))
    else:
        claims += cut_claims(model, votes, labels)
    claims += stability_claims(model, runs, labels)
    n, R = runs.shape
    data = f"the {n:,} rows given; the labels of {R} runs are those that the model recorded"
    return Certificate(type(model).__name__, "what many clusterings agree on", data, tuple(claims))


class Votes:
    """How many runs put two groups of rows together."""

    def __init__(self, runs: NDArray[Any]) -> None:
        self.table, self.groups, self.sizes = np.unique(
            runs, axis=0, return_inverse=True, return_counts=True
        )
        self.n_runs = runs.shape[1]

    def __len__(self) -> int:
        return len(self.table)

    def of(self, some: Labels) -> Labels:
        """The votes (m, G) of some groups with all."""
        found = np.zeros((len(some), len(self)), np.intp)
        for run in self.table.T:
            found += run[some, None] == run
        return found

    def across(self, pieces: Labels) -> int:
        """The votes of pairs of rows in different pieces, for the pieces (G,) of groups."""
        total = 0
        for some in np.array_split(np.arange(len(self)), -(-len(self) // BLOCK)):
            apart = pieces[some, None] != pieces
            total += int((self.of(some) * apart * self.sizes[some, None] * self.sizes).sum())
        return total // 2


def groups_claim(model: Any, votes: Votes) -> Claim:
    """Rows are in one group exactly if no run tells them apart."""
    same = same_partition(np.asarray(model.groups_), votes.groups)
    return Claim(
        "groups",
        f"the {len(votes):,} groups are the rows with equal labels in all runs",
        len(votes),
        len(np.unique(model.groups_)),
        same,
        "proved",
    )


def votes_claim(model: Any, runs: NDArray[Any]) -> Claim:
    """The published votes of some pairs of rows are the share of runs with equal labels."""
    some = np.unique(np.linspace(0, len(runs) - 1, min(len(runs), MOST_PAIRS)).astype(np.intp))
    counted = (runs[some, None, :] == runs[None, some, :]).mean(axis=2)
    off = float(np.abs(np.asarray(model.votes(some)) - counted).max())
    return Claim(
        "votes",
        f"the votes of {len(some) * (len(some) - 1) // 2:,} pairs of rows are those counted in the "
        f"runs, to {off:.1e}",
        off,
        1e-12,
        off <= 1e-12,
        "checked",
    )


def components_claim(model: Any, votes: Votes, labels: Labels, most: int) -> Claim:
    """The clusters are the connected parts of the graph of votes above the threshold."""
    pieces, consistent = piece_of_groups(votes, labels)
    least = model.threshold * votes.n_runs + 1e-9
    if len(votes) <= most:
        found, n_found = components(votes, least)
        return Claim(
            "components",
            f"the {model.n_clusters_:,} clusters are the {n_found:,} connected parts of the rows "
            f"with votes above {model.threshold:g}",
            n_found,
            model.n_clusters_,
            consistent and same_partition(pieces, found),
            "proved",
        )
    some = np.linspace(0, len(votes) - 1, most).astype(np.intp)
    wrong = sum(
        int(((votes.of(part) > least) & (pieces[part, None] != pieces)).sum())
        for part in np.array_split(some, -(-most // BLOCK))
    )
    return Claim(
        "components",
        f"none of {most:,} of the {len(votes):,} groups has votes above {model.threshold:g} with a "
        "group of another cluster",
        wrong,
        0,
        consistent and wrong == 0,
        "proved",
    )


def piece_of_groups(votes: Votes, labels: Labels) -> tuple[Labels, bool]:
    """The cluster (G,) of each group, and whether all of its rows are in it."""
    pieces = np.zeros(len(votes), np.intp)
    pieces[votes.groups] = labels
    return pieces, bool((pieces[votes.groups] == labels).all())


def components(votes: Votes, least: float) -> tuple[Labels, int]:
    """The connected parts (G,) of groups linked by more than `least` votes, and their number."""
    found = np.arange(len(votes))
    for some in np.array_split(np.arange(len(votes)), -(-len(votes) // BLOCK)):
        a, b = np.nonzero(votes.of(some) > least)
        # Links so far, as one link of each group to the first of its part.
        rows, columns = np.concatenate([some[a], np.arange(len(votes))]), np.concatenate([b, found])
        links = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(votes),) * 2)
        _, parts = connected_components(links, directed=False)
        found = np.unique(parts, return_index=True)[1][parts]
    return found, len(np.unique(found))


def cut_claims(model: Any, votes: Votes, labels: Labels) -> Iterator[Claim]:
    """The votes across the cut; and, of small graphs, that no cut has fewer."""
    pieces, consistent = piece_of_groups(votes, labels)
    k, across = int(model.n_clusters), votes.across(pieces)
    yield Claim(
        "pieces",
        f"rows that no run tells apart are together, in {len(np.unique(labels)):,} pieces",
        len(np.unique(labels)),
        k,
        consistent and len(np.unique(labels)) == k,
        "proved",
    )
    yield Claim(
        "votes across",
        f"pairs of rows in different pieces have {across:,} votes",
        across,
        float(model.cut_votes_),
        across == model.cut_votes_,
        "proved",
    )
    least = fewest_votes_across(votes, k)
    if least is None:
        yield Claim(
            "optimum",
            f"no bound on the votes across the best cut of {len(votes):,} groups into {k} is known",
            across,
            None,
            True,
            "checked",
        )
        return
    exact = "exact" in model.cut_ or "only" in model.cut_
    yield Claim(
        "optimum",
        f"no cut of the groups into {k} pieces has fewer votes across than {least:,}",
        across,
        least if exact else None,
        across == least or not exact,
        "proved",
    )


def fewest_votes_across(votes: Votes, k: int) -> int | None:
    """The votes across the best cut into k; None if there are too many groups to find out."""
    G = len(votes)
    if k == 1:
        return 0
    if k == G:
        return votes.across(np.arange(G))
    if G <= MOST_TRIED:
        return min(votes.across(pieces) for pieces in all_cuts(G, k))
    if k == 2 and G <= MOST_FLOWS:
        weights = votes.of(np.arange(G)) * votes.sizes[:, None] * votes.sizes
        np.fill_diagonal(weights, 0)
        if weights.max() < 2**31:
            # The first group is apart from some other one: the least cut between the two.
            graph = csr_array(weights.astype(np.int32))
            return min(int(maximum_flow(graph, 0, t).flow_value) for t in range(1, G))
    return None


def all_cuts(G: int, k: int) -> Iterator[Labels]:
    """All ways to cut G groups into k pieces that are not empty, pieces numbered as they occur."""
    for number in range(k ** (G - 1)):
        pieces = np.array([0] + [number // k**i % k for i in range(G - 1)])
        kinds, first = np.unique(pieces, return_index=True)
        if len(kinds) == k and (np.diff(first) > 0).all():
            yield pieces


def stability_claims(model: Any, runs: NDArray[Any], labels: Labels) -> Iterator[Claim]:
    """Each row's mean vote with the others of its cluster, and its mean over clusters."""
    stability = np.empty(len(runs))
    means = np.empty(len(np.unique(labels)))
    for k in range(len(means)):
        rows = np.flatnonzero(labels == k)
        if not len(rows):
            means[k] = np.nan
            continue
        together = np.zeros(len(rows))
        for run in runs[rows].T:
            _, codes, counts = np.unique(run, return_inverse=True, return_counts=True)
            together += counts[codes] - 1
        others = runs.shape[1] * (len(rows) - 1)
        stability[rows] = together / others if others else 1.0
        means[k] = stability[rows].mean()
    for name, ours, theirs in (
        ("stability", stability, model.stability_),
        ("cluster stability", means, model.cluster_stability_),
    ):
        theirs = np.asarray(theirs)
        off = float(np.abs(theirs - ours).max()) if theirs.shape == ours.shape else np.inf
        of = "rows'" if name == "stability" else "clusters'"
        yield Claim(
            name,
            f"the {of} mean votes with their cluster, {ours.min():.3g} to {ours.max():.3g}, are "
            f"those counted to {off:.1e}",
            off,
            1e-9,
            off <= 1e-9,
            "checked",
        )


def same_partition(a: Labels, b: Labels) -> bool:
    """Whether two lists of labels (n,) put the same things together."""
    both = len(np.unique(np.stack([a, b]), axis=1).T)
    return both == len(np.unique(a)) == len(np.unique(b))
