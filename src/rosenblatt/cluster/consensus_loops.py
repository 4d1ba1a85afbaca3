# mypy: ignore-errors
"""Components of the graph of votes, without a matrix.

Legend: n rows, R runs, codes (n, R): the label of each row in each run.
"""

from rosenblatt.loops import compiled


@compiled
def link_rows(codes, needed, start, stop, parent):
    """Link rows start to stop with all rows before them that share `needed` labels or more.

    parent (n,) is a forest whose trees are the components so far.
    """
    for i in range(start, stop):
        for j in range(i):
            if parent[j] == parent[i]:  # often known without a search
                continue
            together = 0
            for r in range(codes.shape[1]):
                together += codes[i, r] == codes[j, r]
            if together >= needed:
                a, b = top(parent, i), top(parent, j)
                parent[max(a, b)] = min(a, b)


@compiled
def top(parent, i):
    """The first row of the component of row i; ways to it are made shorter."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def flatten(parent):
    """Let each row point to the first row of its component."""
    for i in range(parent.shape[0]):
        parent[i] = parent[parent[i]]
