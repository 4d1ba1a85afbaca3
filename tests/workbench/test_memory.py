"""What was freed goes back to the system if it is much."""

import ctypes

import numpy as np
import pytest

from rosenblatt.workbench.protocol import clock

C = ctypes.CDLL(None)
is_gnu = pytest.mark.skipif(not hasattr(C, "mallinfo2"), reason="the C library is not GNU's")


@is_gnu
@pytest.mark.parametrize("n_arrays", [4, 20_000])
def test_freed_memory_is_given_back_if_it_is_much(n_arrays, monkeypatch):
    trimmed = []
    trim = clock._function("malloc_trim", ctypes.c_int)
    monkeypatch.setattr(
        clock,
        "_function",
        lambda name, returns, real=clock._function: (
            trimmed.append if name == "malloc_trim" else real(name, returns)
        ),
    )
    trim(0)
    arrays = [np.zeros(1000) for _ in range(n_arrays)]  # 8 kB each, in the heap
    keeps = arrays[-1].copy()  # the end of the heap cannot be given back by itself
    del arrays
    free = clock._n_free()
    clock.give_back()
    assert keeps.size
    assert bool(trimmed) == (free > clock.LITTLE)
    assert n_arrays < 10 or free > clock.LITTLE
