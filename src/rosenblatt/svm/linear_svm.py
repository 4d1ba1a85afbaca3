"""Shared by `LinearSVC` and `LinearSVR`: parameters, passes, the path over C."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import Passes
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.runtime.threads import one_blas_thread

from .margin_fits import MarginFits
from .margin_problem import Array

POSITIVE = Interval(Real, 0, None, closed="neither")


class LinearSVM(CallbackSupportMixin):  # type: ignore[misc]
    """Linear support vector machine: parameters, passes, the path over C."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [POSITIVE],
        "tol": [POSITIVE],
        "dual": ["boolean", StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "penalize_intercept": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    C: float
    tol: float
    dual: Any
    fit_intercept: bool
    intercept_scaling: float
    penalize_intercept: bool
    verbose: Any
    random_state: Any
    max_iter: int
    n_iter_: int
    stop_reason_: str
    objective_: Array
    dual_gap_: Array
    support_: NDArray[np.intp]

    _starts: Sequence[Any] | None = None  # of a path: where the fit with the last C ended

    @property
    def _bias(self) -> float:
        """The column that makes the intercept: infinite for a free one, 0 for none."""
        if not self.fit_intercept:
            return 0.0
        return float(self.intercept_scaling) if self.penalize_intercept else np.inf

    def _solve(
        self, problems: Sequence[Any], passes: Passes, attributes: Callable[[MarginFits], Any]
    ) -> MarginFits:
        """Make the passes of all planes, and set the attributes that follow from them."""
        fits = MarginFits(problems, self.dual, float(self.tol), self.random_state, self._starts)
        passes.attributes = lambda: {
            **attributes(fits), "n_iter_": passes.n_iter, "stop_reason_": "callback"
        }  # fmt: skip
        with one_blas_thread():  # the bits of a factor depend on how many share its work
            fits.run(passes, bool(self.verbose))
            for name, value in attributes(fits).items():
                setattr(self, name, value)
        self.n_iter_, self.stop_reason_ = passes.n_iter, passes.stop_reason or "max_iter"
        return fits

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: weights, intercept, supports (m,)."""
        above: dict[str, Any] = super().trace_view()
        return above | ({"supports": self.support_} if hasattr(self, "support_") else {})

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("C",)``."""
        return ("C",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit at many values of C, each from where the next smaller one ended.

        Data, parameter and path are those of `capabilities.PathModel`.
        """
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(C=C) for C in values]
        starts, before = None, 0.0
        for model in sorted(models, key=lambda model: model.C):
            if starts is not None:  # multipliers grow with C; planes stay
                ratio = min(model.C / before, 1e6)
                starts = [s * ratio if isinstance(s, np.ndarray) else s for s in starts]
            model._starts = starts
            fits = model._fit(*rows_of(data))
            del model._starts
            starts, before = fits.starts, model.C
        return ModelPath(models)


def check_settings(multi_class: str, penalty: str, loss: str, dual: Any, C: float) -> None:
    """Raise for settings that have no solver, as scikit-learn does."""
    if np.isinf(C) and penalty == "l1":
        raise ValueError(
            f"C=inf is the hard margin, which goes with penalty='l2'; got penalty={penalty!r}."
        )
    if multi_class != "ovr":
        return
    if penalty == "l1" and loss == "hinge":
        reason = f"The combination of penalty={penalty!r} and loss={loss!r} is not supported"
    elif (penalty == "l1" and dual is True) or (
        loss in ("hinge", "epsilon_insensitive") and dual is False
    ):
        reason = (
            f"The combination of penalty={penalty!r} and loss={loss!r} are not supported when "
            f"dual={dual}"
        )
    else:
        return
    raise ValueError(
        f"Unsupported set of arguments: {reason}, Parameters: penalty={penalty!r}, "
        f"loss={loss!r}, dual={dual!r}"
    )
