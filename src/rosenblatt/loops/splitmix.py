"""The SplitMix64 generator: random bits from one integer as state."""

import numpy as np

from . import compiled

STEP = np.uint64(0x9E3779B97F4A7C15)


@compiled(inline=True)
def random_bits(state):
    """Return 64 random bits and the next state."""
    state += STEP
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31)), state
