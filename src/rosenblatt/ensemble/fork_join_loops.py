# mypy: ignore-errors
"""Jobs in parts that threads take in turn, inside compiled code.

One thread leads: it posts a job, takes parts of it as the others do, and waits for the parts that
others have taken. Handing a part over takes a microsecond, where a pool of Python's threads takes
fifty. A thread that is late is not waited for: the leader then takes all parts itself.

The board (BOARD,) is what they share. Its WORD holds the ticket of the leader, the number of parts
and the next part; who raises the next part by one has taken it.
"""

import threading
import time

import numpy as np

from rosenblatt.loops import compiled, instruction
from rosenblatt.loops.llvm import call_function, llvm_type

# Places on the board; those that several threads write are on cache lines of their own.
WORD, FINISHED, TICKET, KIND, ABOUT, PARTS, N_HELPERS, BOARD = 0, 8, 16, 24, 25, 26, 27, 32
MOST_PARTS = 0xFFFF
LOOKS = 200  # at the board, before the processor is offered to others

ORDER = "seq_cst"
_lock = threading.Lock()  # of plain Python


@instruction("int64(array, intp)")
def load(array, place):
    """Return the number at a place, as it is now."""
    return array[place]


@load.llvm
def _(builder, array, place):
    return builder.load_atomic(builder.gep(array, [place]), ORDER, 8)


@instruction("void(array, intp, int64)")
def store(array, place, number):
    """Write a number after all that was written before."""
    array[place] = number


@store.llvm
def _(builder, array, place, number):
    builder.store_atomic(number, builder.gep(array, [place]), ORDER, 8)


@instruction("void(array, intp, int64)")
def add(array, place, number):
    """Add to the number at a place in one step."""
    with _lock:
        array[place] += number


@add.llvm
def _(builder, array, place, number):
    builder.atomic_rmw("add", builder.gep(array, [place]), number, ORDER)


@instruction("boolean(array, intp, int64, int64)")
def exchange(array, place, old, new):
    """Replace old by new in one step; return whether old was still there."""
    with _lock:
        found = array[place] == old
        array[place] = new if found else array[place]
    return found


@exchange.llvm
def _(builder, array, place, old, new):
    found = builder.cmpxchg(builder.gep(array, [place]), old, new, ORDER, ORDER)
    return builder.extract_value(found, 1)


@instruction("void()")
def give_way():
    """Let other threads run."""
    time.sleep(0)


@give_way.llvm
def _(builder):
    call_function(builder, "sched_yield", llvm_type("int32"))


@compiled
def post(board):
    """Offer the job whose KIND, ABOUT (a node or row) and PARTS are on the board."""
    store(board, FINISHED, 0)
    store(board, WORD, (board[TICKET] << 32) + (board[PARTS] << 16))


@compiled
def claim(board, ticket):
    """Take a part of the job of this leader; return its number, -1 if none is left."""
    word = load(board, WORD)
    while word >> 32 == ticket and word & MOST_PARTS < (word >> 16) & MOST_PARTS:
        if exchange(board, WORD, word, word + 1):
            return word & MOST_PARTS
        word = load(board, WORD)
    return np.int64(-1)


@compiled
def report(board):
    """Count a part that is finished."""
    add(board, FINISHED, 1)


@compiled
def wait(board):
    """Return when all parts are finished."""
    looks = 0
    while load(board, FINISHED) < board[PARTS]:
        looks += 1
        if looks % LOOKS == 0:
            give_way()


@compiled
def next_part(board, ticket):
    """Wait for a part to take; return its number, or -1 when the leader has left."""
    looks = 0
    while load(board, TICKET) == ticket:
        part = claim(board, ticket)
        if part >= 0:
            return part
        looks += 1
        if looks % LOOKS == 0:
            give_way()
    return np.int64(-1)
