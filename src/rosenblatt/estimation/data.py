"""What the estimators accept as observations."""

from typing import Any

import numpy as np

from rosenblatt.information.inputs import Floats, nonnegative, numbers, refuse


def observations(x: Any, name: str = "x") -> Floats:
    """Return one number or a list of them as a vector."""
    array = np.atleast_1d(numbers(x, name))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers; got an array of shape {array.shape}.")
    return array


def flips(x: Any) -> Floats:
    """Return observations that are all 0 or 1."""
    array = observations(x)
    refuse(array, (array != 0) & (array != 1), "x", "hold 0 and 1 only")
    return array


def successes_and_trials(successes: Any, trials: Any) -> tuple[Floats, Floats]:
    """Return how often it worked and how often it was tried, as vectors of one length."""
    worked, tried = nonnegative(successes, "successes"), nonnegative(trials, "trials")
    try:
        worked, tried = np.broadcast_arrays(worked, tried)
    except ValueError:
        raise ValueError(
            f"successes and trials must have the same shape; got {worked.shape} and {tried.shape}."
        ) from None
    worked, tried = worked.ravel(), tried.ravel()
    if (worked > tried).any():
        i = int(np.argmax(worked > tried))
        raise ValueError(
            f"successes must not exceed trials; got {worked[i]:g} successes in {tried[i]:g} trials."
        )
    return worked, tried
