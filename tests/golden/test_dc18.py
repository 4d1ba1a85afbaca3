"""DC18, Q6: votes of four runs on four points."""

import numpy as np
import pytest

from rosenblatt import ConsensusClustering
from rosenblatt.cluster.consensus import partitions

RUNS = np.array([list(map(int, run)) for run in ("0011", "1100", "0011", "0001")]).T


def test_votes_components_and_the_minimum_cut():
    model = ConsensusClustering().fit_labels(RUNS)
    votes = 4 * model.votes()
    # 12: all four runs; 34: all but the last; 13 and 23: the last; 14 and 24: none.
    assert votes[0].tolist() == [4, 4, 1, 0]
    assert votes[1].tolist() == [4, 4, 1, 0]
    assert votes[2].tolist() == [1, 1, 4, 3]
    assert model.labels_.tolist() == [0, 0, 1, 1]
    cut = ConsensusClustering(n_clusters=2).fit_labels(RUNS)
    assert cut.labels_.tolist() == [0, 0, 1, 1]
    assert cut.cut_votes_ == 2  # 13 and 23
    weights = sorted(votes[labels[:, None] != labels].sum() / 2 for labels in partitions(4, 2))
    assert weights[:2] == pytest.approx([2, 3])  # the next best is {1, 2, 3} | {4}
