"""Pictures of models, drawn by matplotlib, which is imported when the first one is drawn."""

from rosenblatt.plot.plane import boundary

__all__ = ["boundary"]
