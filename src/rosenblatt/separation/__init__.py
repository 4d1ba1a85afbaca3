"""Search for a plane between classes, with a proof of either answer.

A plane is proved by exact arithmetic: every row lies strictly on its side. The proof that no plane
exists are weights with which both classes have the same average (Gordan 1873).
"""

from .result import Separability, Widest
from .separating_plane import separability, widest

__all__ = ["Separability", "Widest", "separability", "widest"]
