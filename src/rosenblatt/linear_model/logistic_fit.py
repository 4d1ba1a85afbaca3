"""The way down of a penalised linear model: run a solver, know when to stop, say what is left."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite

from rosenblatt.base import Passes, StopReason, callers_level
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.gradient_descent import Diverged, safe_step
from rosenblatt.solvers.logistic_objective import Place, Problem

from .column_warnings import listed, names_of
from .logistic_settings import first_place, steps_of

MOST_WEIGHT = 1e150  # of a row: more has no square


class Descent:
    """Where a fit is, how far from the best it may be, and whether that is near enough."""

    def __init__(self, model: Any, problem: Problem, start: Any, name: str = "") -> None:
        self.model, self.problem = model, problem
        self.name = name or type(model).__name__
        self.listening = False
        self.place = first_place(model, problem, start)
        if not np.isfinite(self.place.objective) or not np.isfinite(self.place.gradient_norm):
            self._refuse()
        self.gap, self.best, self.start = float("inf"), self.place, self.place
        tol = 0.0 if model.tol is None else model.tol
        total = float(problem.c.sum())
        self.short_gradient = tol * total
        self.small_gap = tol * max(problem.zero(), 1e-6 * total)
        self.steps: Iterator[Place] = steps_of(model, problem, self.place)
        self.trouble = ""

    def run(self, passes: Passes, attributes: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Go down until a pass is the last; the fitted attributes, with how and why it ended."""

        def published(reason: str) -> dict[str, Any]:
            n_iter = np.array([passes.n_iter], np.int32)
            return {**attributes(), "n_iter_": n_iter, "stop_reason_": reason}

        passes.attributes = lambda: published("callback")
        if self.model.max_iter == 0:
            passes.stop("max_iter")
        self.listening = passes.listening or bool(self.model.verbose)
        with one_blas_thread():  # the bits of a factor depend on how many share its work
            self.look_at_start()
            for n_iter in passes:
                if reason := self.advance():
                    passes.stop(reason)
                if self.model.verbose:
                    print(f"iteration {n_iter}: {self.in_words()}")
            self.settle()
            ended = self._how_it_ended(passes.stop_reason or "max_iter")
            self.settle()  # if it is now the best that was met
        return published(ended)

    def _how_it_ended(self, reason: str) -> str:
        """The reason to stop, unless the fit ran out of iterations above where it began."""
        # The start may be known in single precision only.
        worse = self.place.objective > (1 + 1e-6) * max(self.start.objective, self.problem.zero())
        if reason != "max_iter" or not worse:
            return reason
        self.trouble = (
            f"the objective rose from {self.start.objective:.6g} to {self.place.objective:.6g}"
        )
        self.place, self.gap = self.best, float("inf")
        return "diverged"

    def look_at_start(self) -> None:
        """Work out the gap of the start, if someone is listening."""
        if self.listening:
            self.settle()

    def advance(self) -> StopReason | None:
        """Make one iteration; the reason to stop after it, if there is one."""
        try:
            place = next(self.steps, None)
        except Diverged as error:
            self.trouble = str(error)
            self.place, self.gap = self.best, float("inf")
            return "diverged"
        if place is None:  # no step lowers the objective any more
            self.settle()
            return self._verdict() or "no_progress"
        self.place, self.gap = place, float("inf")
        if place.objective <= self.best.objective:
            self.best = place
        if not np.isfinite(place.objective):
            self._refuse()
        reason = self._verdict()
        if self.listening:
            self.settle()
        return reason

    def settle(self) -> None:
        """Work out the last place and its gap to the last digit, if not needed until now."""
        if np.isinf(self.gap):
            self.place = self.problem.exactly(self.place)
            self.gap = self.problem.gap(self.place)

    def in_words(self) -> str:
        """Where the fit is."""
        gap = f", gap {self.gap:.3g}" if np.isfinite(self.gap) else ""  # no penalty, no bound
        norm = self.place.gradient_norm
        return f"objective {self.place.objective:.6g}, gradient {norm:.3g}{gap}"

    def warn(self, reason: StopReason | str) -> None:
        """Tell the caller of `fit` what the fit fell short of."""
        if reason == "diverged":
            _warn(
                f"The fit diverged and was stopped: {self.trouble}. The step "
                f"eta0={self.model.eta0} is too large for these data; use {self._shorter_step()}"
                "eta0=None, or another solver. The coefficients are the best that were met."
            )
        if reason in ("max_iter", "no_progress") and self.model.tol is not None:
            _warn(self._shortfall(str(reason)))

    def _shorter_step(self) -> str:
        """A step that will do: one over the curvature for "gradient", which is largest at zero, and
        one over that of the longest row for "sgd", which steps after each row.
        """
        problem, C = self.problem, self.model.C if self.problem.penalised else 1.0
        with np.errstate(over="ignore"):
            if self.model.solver == "gradient":
                place = problem.at(np.zeros(problem.shape))
                step = C / max(float(problem.diagonal(place).astype(np.float64).sum()), 1e-300)
            else:
                step = safe_step(problem)
        return f"eta0={step:.2g}, " if step > 0 else ""  # none is short enough

    def _verdict(self) -> StopReason | None:
        """Whether the place is near enough to the best."""
        if self.model.tol is None or self.place.gradient_norm > self.short_gradient:
            return None
        if not self.problem.penalised:
            return "converged"
        # The bound is about this, and costs about a pass: it is worked out when it may do.
        hopeful = self.problem.l1 or self._about() <= 2 * self.small_gap
        if np.isinf(self.gap) and hopeful:
            self.settle()
        near = self.place.gradient_norm <= self.short_gradient and self.gap <= self.small_gap
        return "converged" if near else None

    def _about(self) -> float:
        """The gap of an L2 penalty, but for the bias."""
        g = self.place.gradient[:-1]
        return float(np.vdot(g, g)) / (2 * self.problem.l2)

    def _shortfall(self, reason: str) -> str:
        """What was reached, what was wanted, and what to change."""
        model, wanted = self.model, []
        if self.place.gradient_norm > self.short_gradient:
            wanted.append(
                f"the gradient is {self.place.gradient_norm:.3g} long, wanted "
                f"{self.short_gradient:.3g}"
            )
        if self.problem.penalised and self.gap > self.small_gap:
            wanted.append(f"the duality gap is {self.gap:.3g}, wanted {self.small_gap:.3g}")
        short = " and ".join(wanted) or "the tolerance was met only after the last test"
        if reason == "max_iter":
            advice = f"max_iter={model.max_iter} is reached. Raise it, standardise X"
        else:
            advice = "No step lowers the objective any more in floating point. Standardise X"
        other = "" if model.solver == "auto" else ', or use solver="auto"'
        return (
            f"{self.name} stopped short of tol={model.tol}: {short}. {advice}{other}, or raise tol."
        )

    def _refuse(self) -> None:
        """Say which numbers are to blame for an objective that is none."""
        problem, point = self.problem, self.place.point
        assert_all_finite(problem.X, input_name="X", estimator_name=self.name)
        if not np.all(np.isfinite(point)) or (np.any(point) and self._is_finite_at_zero()):
            raise ValueError(
                "warm_start=True begins from coef_ and intercept_, which hold numbers up to "
                f"{np.abs(point).max():.3g}: the objective there is not finite. Fit a clone."
            )
        if problem.c.max() > MOST_WEIGHT:
            raise ValueError(
                f"C times sample_weight is up to {problem.c.max():.3g}, so that the objective "
                "leaves the range of floating point. Use smaller weights, or C=np.inf for no "
                "penalty."
            )
        sizes = abs(problem.X).max(axis=0)
        sizes = sizes.toarray()[0] if sp.issparse(sizes) else sizes
        where = listed(np.flatnonzero(sizes >= sizes.max() / 1e3), names_of(self.model))
        raise ValueError(
            f"X holds numbers up to {sizes.max():.3g} (column {where}), so large that the "
            "objective leaves the range of floating point. Standardise X, for example with "
            "StandardScaler."
        )

    def _is_finite_at_zero(self) -> bool:
        place = self.problem.at(np.zeros(self.problem.shape))
        return bool(np.isfinite(place.objective) and np.isfinite(place.gradient_norm))


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=callers_level())
