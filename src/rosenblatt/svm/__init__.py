"""Support vector machines: the plane with the widest margin."""

from .kernel import SVC, SVR
from .linear import LinearSVC, LinearSVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR"]
