"""Which classes are taken for which: the confusion matrix of the test set."""

import numpy as np
from numpy.typing import NDArray

from rosenblatt.trace.run import sampled
from rosenblatt.workbench.protocol.results import Opening

from . import numbers
from .numbers import Markup, joined, tag
from .pictures import Axis, Plot, figure, histogram

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


# Numbers that were predicted: against the truth, and what is left over.


MOST_POINTS = 2000
MOST_BARS = 30

Array = NDArray[np.float64]


def residuals(opening: Opening) -> Markup:
    """Three pictures: predicted against true, residuals against predicted, and how they spread."""
    truth = np.asarray(opening.y, np.float64)
    predicted = np.asarray(opening.predicted, np.float64)
    known = np.isfinite(truth) & np.isfinite(predicted)
    if not known.any():
        return tag("p", "Not one prediction is a number.")
    truth, predicted = truth[known], predicted[known]
    left = truth - predicted
    some = sampled(len(truth), MOST_POINTS)
    thinned = ""
    if len(truth) > MOST_POINTS:
        thinned = f" {numbers.count(MOST_POINTS)} of {numbers.count(len(truth))} rows are drawn."
    return joined(
        _against_truth(truth[some], predicted[some], left, thinned),
        _against_predicted(predicted[some], left[some], thinned),
        _spread(left),
    )


def _against_truth(truth: Array, predicted: Array, left: Array, thinned: str) -> Markup:
    ends = Axis.around([truth, predicted], "")
    plot = Plot(Axis(ends.low, ends.high, "true"), Axis(ends.low, ends.high, "predicted"))
    plot.rule([ends.low, ends.high], [ends.low, ends.high])
    plot.cloud(truth, predicted)
    root = numbers.weight(float(np.sqrt(np.mean(left**2))))
    mean = numbers.weight(float(np.mean(np.abs(left))))
    words = f"Root mean squared error {root}, mean absolute error {mean}."
    drawn = plot.draw(f"Predicted against true values. {words}")
    return figure("Predicted and true", drawn, f"{words} On the dotted line: exact.{thinned}")


def _against_predicted(predicted: Array, left: Array, thinned: str) -> Markup:
    y = Axis.around([*left, 0], "true \u2212 predicted")
    plot = Plot(Axis.around(predicted, "predicted"), y)
    plot.rule([plot.x.low, plot.x.high], [0, 0])
    plot.cloud(predicted, left, 1)
    words = "A bend or a funnel is something the model has not learned." + thinned
    return figure("Residuals", plot.draw("Residuals against predicted values."), words)


def _spread(left: Array) -> Markup:
    heights, edges = histogram(left, MOST_BARS)
    plot = Plot(Axis.around([edges[0], edges[-1]], "true \u2212 predicted"),
                Axis(0, max(1, int(heights.max())) * 1.05, "rows"))  # fmt: skip
    plot.bars(edges, heights, 1)
    plot.rule([0, 0], [0, plot.y.high])
    quantiles = np.quantile(left, [0.1, 0.5, 0.9]).tolist()
    tenth, middle, ninetieth = map(numbers.weight, quantiles)
    words = f"Half of the residuals are below {middle}, eight in ten from {tenth} to {ninetieth}."
    return figure("How residuals spread", plot.draw(f"Histogram of residuals. {words}"), words)
