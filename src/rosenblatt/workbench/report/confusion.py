"""Which classes are taken for which: the confusion matrix of the test set."""

import numpy as np
from numpy.typing import NDArray

from rosenblatt.workbench.results import Opening

from . import numbers
from .markup import Markup, joined, tag

MOST_CLASSES = 40  # of a matrix that can still be read
WIDE = 12  # from here on, cells are small and nothing is written where nothing is


def confusion(opening: Opening, by_class: Markup | None = None) -> Markup:
    """The matrix as a table, the commonest mistakes as sentences, and beside them more by class."""
    assert opening.classes is not None
    names = [numbers.clipped(name, 30) for name in opening.classes]
    counts = counts_of(opening)
    matrix: Markup | None = None
    if len(names) <= MOST_CLASSES:
        matrix = tag("div", _table(counts, names), class_="scroll", tabindex=0, role="region",
                     aria_label="confusion matrix")  # fmt: skip
    caption = tag("div", _mistakes(counts, names), class_="caption")
    words = tag("div", caption, tag("div", by_class) if by_class else None, class_="words")
    title = tag("h3", "What is taken for what")
    return tag("div", title, tag("div", matrix, words, class_="beside"), class_="matrix")


def counts_of(opening: Opening) -> NDArray[np.int64]:
    """Rows of each class (row) that are predicted to be of each (column)."""
    classes = list(opening.classes) if opening.classes is not None else []
    place = {label: k for k, label in enumerate(classes)}
    truth = [place.get(label, -1) for label in opening.y.tolist()]
    said = [place.get(label, -1) for label in opening.predicted.tolist()]
    pairs = np.array([truth, said]).reshape(2, -1)
    pairs = pairs[:, (pairs >= 0).all(axis=0)]  # a class that no training row had has no place
    K = len(classes)
    return np.bincount(pairs[0] * K + pairs[1], minlength=K * K).reshape(K, K)


def _table(counts: NDArray[np.int64], names: list[str]) -> Markup:
    K = len(names)
    heads = [tag("th", tag("span", name), scope="col", title=name) for name in names]
    corner = tag("th", "truth \u2193 said \u2192", scope="col", class_="corner")
    found = tag("th", "found", scope="col", class_="total")
    rows = [_row(counts, k, names[k]) for k in range(K)]
    right = [_share(counts[k, k], counts[:, k].sum()) for k in range(K)]
    share = counts.trace() / max(counts.sum(), 1)
    foot = tag(
        "tr", tag("th", "right when said", scope="row"),
        *(tag("td", text) for text in right), tag("td", numbers.share(share), class_="total"),
    )  # fmt: skip
    return tag(
        "table", tag("thead", tag("tr", corner, *heads, found)), tag("tbody", *rows),
        tag("tfoot", foot), class_="confusion" + (" wide" if K > WIDE else ""),
    )  # fmt: skip


def _row(counts: NDArray[np.int64], k: int, name: str) -> Markup:
    total = counts[k].sum()
    cells = [_cell(int(n), float(n / max(total, 1)), k == j, counts.shape[0])
             for j, n in enumerate(counts[k])]  # fmt: skip
    found = tag("td", _share(counts[k, k], total), class_="total")
    return tag("tr", tag("th", tag("span", name), scope="row", title=name), *cells, found)


def _cell(n: int, share: float, right: bool, K: int) -> Markup:
    """A count on a ground as dark as its share of the row; mistakes darken faster."""
    if n == 0:
        return tag("td", "·" if K > WIDE else "0", class_="right none" if right else "none")
    dark = round(share if right else share**0.5, 2)
    class_ = "right" if right else "wrong"
    return tag("td", numbers.count(n), class_=class_, style=f"--dark:{dark}")


def _share(part: int, whole: int) -> str:
    """Whole percents; what is not all of it is not 100, and what is not nothing is not 0."""
    if not whole:
        return numbers.DASH
    if 0 < part < whole:
        return f"{min(max(round(100 * part / whole), 1), 99)}%"
    return f"{part / whole:.0%}"


def _mistakes(counts: NDArray[np.int64], names: list[str], most: int = 5) -> Markup:
    """The commonest mistakes."""
    wrong = counts - np.diag(np.diag(counts))
    total = int(wrong.sum())
    if not total:
        return joined("Not one mistake.")
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [divmod(int(i), len(names)) for i in order]
    lines = [
        tag("li", tag("b", names[i]), " taken for ", tag("b", names[j]),
            f": {numbers.count(int(wrong[i, j]))} of {numbers.count(int(counts[i].sum()))}")
        for i, j in pairs if wrong[i, j]
    ]  # fmt: skip
    matrix = (
        "Bold and framed: right. Each row is one class; the stronger the colour of a cell, the "
        "larger its share of the row."
        if len(names) <= MOST_CLASSES
        else f"A matrix of {len(names)} classes would show nothing."
    )
    said = f"{numbers.plural(total, 'mistake')} in {numbers.plural(int(counts.sum()), 'row')}. "
    return joined(tag("p", said, matrix), tag("p", "The commonest mistakes:"), tag("ul", *lines))
