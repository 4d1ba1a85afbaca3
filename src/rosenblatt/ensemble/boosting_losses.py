"""Losses of gradient boosting: where to start, derivatives, and what predictions mean."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from rosenblatt.runtime import threads

from . import boosting_losses_loops
from .boosting_bins import quantiles

Floats = NDArray[np.float64]
NEAREST_TO_BOUNDS = 10 * np.finfo(np.float64).eps
REGRESSION = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
MANY_OUTPUTS, BINARY = -1, 5  # beside the places of those, the numbers of losses in the loops


class Loss:
    """A loss of one output; `constant_hessian` if every row of weight one has the same."""

    n_outputs = 1
    number = MANY_OUTPUTS
    constant_hessian = False
    leaf_share: float | None = None  # leaves are this quantile of the residuals, not Newton steps

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        """The best raw prediction (K,) that is the same for all rows."""
        raise NotImplementedError

    def derive(self, raw: Floats, y: Floats, weight: Floats) -> None:
        """Prepare the derivatives at raw (K, n); sets `total`, the sum of the losses."""
        n = raw.shape[1]
        self.gradient = getattr(self, "gradient", np.empty(n))
        self.hessian = getattr(self, "hessian", np.empty(1 if self._constant(weight) else n))
        if self.constant_hessian:
            self.hessian[:1] = 1.0
        parts = threads.over_chunks(
            lambda first, last: boosting_losses_loops.derivatives(
                raw[0],
                y,
                weight,
                self.number,
                self.leaf_share or 0.0,
                first,
                last,
                self.gradient,
                self.hessian,
            ),
            n,
            8 * n,
        )
        self.set_totals(parts)

    def set_totals(self, parts: Any) -> None:
        """Keep the sums over rows of the losses, of the |g| and of the h; parts (m, 3) of them."""
        self.total, self.sum_g, self.sum_h = map(float, np.sum(parts, axis=0))

    def _constant(self, weight: Floats) -> bool:
        return self.constant_hessian and not len(weight)

    def of_output(
        self, k: int, y: Floats, weight: Floats, scratch: Floats
    ) -> tuple[Floats, Floats, float, float]:
        """g, h, and the sums of |g| and h of output k; may be written to scratch (2, n)."""
        return self.gradient, self.hessian, self.sum_g, self.sum_h

    def mean(self, raw: Floats, y: Floats, weight: Floats) -> float:
        """The mean loss of other rows."""
        other = type(self).__new__(type(self))
        vars(other).update({k: v for k, v in vars(self).items() if k not in SCRATCH})
        other.derive(raw, y, weight)
        return other.total / (weight.sum() if len(weight) else len(y))


SCRATCH = ("gradient", "hessian", "p")


class BinaryLogLoss(Loss):
    """log(1 + exp(raw)) - y raw."""

    number = BINARY

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        share = np.average(y, weights=weight if len(weight) else None)
        share = np.clip(share, NEAREST_TO_BOUNDS, 1 - NEAREST_TO_BOUNDS)
        return np.array([np.log(share) - np.log1p(-share)])

    def probabilities(self, raw: Floats) -> Floats:
        """Class probabilities (n, 2) of raw (1, n)."""
        return np.stack([expit(-raw[0]), expit(raw[0])], axis=1)


class MultinomialLogLoss(Loss):
    """log(sum over k of exp(raw[k])) - raw[y]: one tree a class and round."""

    def __init__(self, n_classes: int) -> None:
        self.n_outputs = n_classes

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        mass = np.bincount(y.astype(np.intp), weight if len(weight) else None, self.n_outputs)
        share = np.clip(mass / mass.sum(), NEAREST_TO_BOUNDS, 1 - NEAREST_TO_BOUNDS)
        logs = np.log(share)
        return np.asarray(logs - logs.mean())

    def derive(self, raw: Floats, y: Floats, weight: Floats) -> None:
        n = raw.shape[1]
        self.p = p = getattr(self, "p", np.empty((self.n_outputs, n)))

        def derive(first: int, last: int) -> float:
            boosting_losses_loops.probabilities(raw, first, last, p, np.empty(last - first))
            return float(boosting_losses_loops.log_loss_of_classes(p, y, weight, first, last))

        self.total = float(np.sum(threads.over_chunks(derive, n, 8 * n * self.n_outputs)))

    def of_output(
        self, k: int, y: Floats, weight: Floats, scratch: Floats
    ) -> tuple[Floats, Floats, float, float]:
        loop, (g, h) = boosting_losses_loops.log_loss_of_class, scratch
        _, sum_g, sum_h = loop(self.p[k], y, weight, k, 0, len(y), g, h)
        return g, h, sum_g, sum_h

    def probabilities(self, raw: Floats) -> Floats:
        """Class probabilities (n, K) of raw (K, n)."""
        return np.asarray(softmax(raw.T, axis=1))


class RegressionLoss(Loss):
    """Half the squared error, the absolute error, a quantile's loss, or half a deviance."""

    def __init__(self, name: str, quantile: float | None) -> None:
        self.number, self.log_link = REGRESSION.index(name), name in ("poisson", "gamma")
        self.constant_hessian = not self.log_link
        share = {"absolute_error": 0.5, "quantile": quantile}
        self.leaf_share = share.get(name)

    def baseline(self, y: Floats, weight: Floats) -> Floats:
        if self.leaf_share is not None:
            return np.array([self.quantile_of(y, weight)])
        mean = np.average(y, weights=weight if len(weight) else None)
        return np.array([np.log(max(mean, NEAREST_TO_BOUNDS)) if self.log_link else mean])

    def quantile_of(self, residual: Floats, weight: Floats) -> float:
        """The quantile of residuals that minimises the loss over a leaf."""
        order = np.argsort(residual, kind="stable")
        heavy = weight[order] if len(weight) else weight
        return float(quantiles(residual[order], heavy, [self.leaf_share])[0])

    def inverse(self, raw: Floats) -> Floats:
        """What raw predictions (n,) mean."""
        return np.exp(raw) if self.log_link else raw
