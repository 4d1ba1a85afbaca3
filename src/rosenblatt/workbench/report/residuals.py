"""Numbers that were predicted: against the truth, and what is left over."""

import numpy as np
from numpy.typing import NDArray

from rosenblatt.trace.run import sampled
from rosenblatt.workbench.results import Opening

from . import numbers
from .axes import Axis, histogram
from .markup import Markup, joined, tag
from .svg import Plot, figure

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
    thinned = (
        f" {numbers.count(MOST_POINTS)} of {numbers.count(len(truth))} rows are drawn."
        if len(truth) > MOST_POINTS
        else ""
    )
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
