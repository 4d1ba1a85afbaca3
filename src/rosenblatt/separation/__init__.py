"""Is there a plane between the classes? Either answer comes with its proof.

A plane is its own proof: every row lies strictly on its side, which exact arithmetic confirms.
That there is none has a proof as short (Gordan 1873): weights that give both classes the same
average, for no plane can part two sets whose averages are one point.
"""

from .result import Separability, Widest
from .separating_plane import separability, widest

__all__ = ["Separability", "Widest", "separability", "widest"]
