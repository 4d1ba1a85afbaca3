"""GC17, D4: fifteen bits."""

import numpy as np

from rosenblatt.information import entropy, surprise


def test_fifteen_bits_tell_32768_things_apart():
    assert 2**15 == 32768
    assert entropy(np.full(32768, 1 / 32768)) == 15
    assert surprise(1 / 32768) == 15
