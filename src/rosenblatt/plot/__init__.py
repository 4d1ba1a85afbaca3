"""Pictures of models, drawn by matplotlib, which is imported when the first one is drawn."""

from rosenblatt.plot.paths import path
from rosenblatt.plot.plane import boundary
from rosenblatt.plot.selection import bias_variance, learning_curve, validation_curve

__all__ = ["bias_variance", "boundary", "learning_curve", "path", "validation_curve"]
