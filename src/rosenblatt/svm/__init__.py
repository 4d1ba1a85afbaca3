"""Support vector machines: the plane with the widest margin."""

from .linear import LinearSVC, LinearSVR

__all__ = ["LinearSVC", "LinearSVR"]
