"""What is false in a certificate, in words: a list of sentences, empty if nothing is."""

from fractions import Fraction

import numpy as np

OFF = 1e-4  # of their size, that numbers in closed form may be off


def off_by(certificate, found, exact, size, name):
    """What is false in a certificate that holds though numbers are off by more than OFF."""
    if not certificate.holds:
        return []
    found, exact, size = (np.ravel(np.asarray(v, np.float64)) for v in (found, exact, size))
    apart = np.abs(found - exact) - OFF * size
    if (apart > 0).any():
        return [f"{certificate.model}: {name} is off by {float(apart.max()):.3g}, and all holds"]
    return []


def below(certificate, excess, name="gap"):
    """What is false in a claim, in words; nothing if its value is not below the exact excess."""
    value = certificate[name].value
    if np.isinf(value):
        return []
    exact = Fraction(excess) if not isinstance(excess, Fraction) else excess
    if value != value or Fraction(value) < exact:
        return [f"{certificate.model} {name}: {value!r} claimed, at least {float(exact)!r} is true"]
    return []
