"""Watching a fit: record it step by step, then read, tabulate, plot or replay it."""

from rosenblatt.trace.replay import Trace
from rosenblatt.trace.run import Step

__all__ = ["Step", "Trace"]
