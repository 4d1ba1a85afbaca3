"""Solvers: a problem and a start in, better and better points out.

A solver is a generator of `Step`: one after each iteration, with the objective and how far from the
best it may be. It knows nothing of estimators. The model that runs it decides when to stop, tells
callbacks, and publishes the last point.
"""

from .steps import Step

__all__ = ["Step"]
