"""What a fit achieved, re-derived by a stranger who trusts only data and public attributes.

Nothing here imports a model, a loop or a solver: it would be checking them with themselves.
"""

from .claims import Certificate, Claim
from .dispatch import certify

__all__ = ["Certificate", "Claim", "certify"]
