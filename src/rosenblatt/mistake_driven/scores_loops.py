# mypy: ignore-errors
"""Scores of the classes, and the best class other than the true one."""

from rosenblatt.loops import compiled, rows


@compiled
def class_scores(X, i, W, scale, b, scores):
    """Fill scores (K,) with the score of row i in each class, the weights being scale times W."""
    rows.dots(X, i, W, scores)
    for k in range(scores.shape[0]):
        scores[k] = scale * scores[k] + b[k]


@compiled
def best_rival(scores, true, ties):
    """The class other than `true` with the highest score; equals by `ties`, the lowest for 0."""
    rival = -1
    for k in range(scores.shape[0]):
        if k == true:
            continue
        if rival < 0 or scores[k] > scores[rival] or (ties > 0 and scores[k] == scores[rival]):
            rival = k
    return rival


@compiled
def beats(scores, true, rival, ties):
    """Whether the true class wins against its best rival, an equal score settled by `ties`."""
    if scores[true] == scores[rival]:
        return (true - rival) * ties > 0
    return scores[true] > scores[rival]
