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
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.loops import compiled

# Places on the board; those that several threads write are on cache lines of their own.
WORD, FINISHED, TICKET, KIND, ABOUT, PARTS, N_HELPERS, BOARD = 0, 8, 16, 24, 25, 26, 27, 32
MOST_PARTS = 0xFFFF
LOOKS = 200  # at the board, before the processor is offered to others

if config.DISABLE_JIT:
    _lock = threading.Lock()

    def load(array, place):
        """The number at a place, as it is now."""
        return array[place]

    def store(array, place, number):
        """Write a number after all that was written before."""
        array[place] = number

    def add(array, place, number):
        """Add to the number at a place, at once."""
        with _lock:
            array[place] += number

    def exchange(array, place, old, new):
        """Put new in the place of old; whether old was still there."""
        with _lock:
            found = array[place] == old
            array[place] = new if found else array[place]
        return found

    def give_way():
        """Let other threads run."""
        time.sleep(0)

else:
    ORDER = "seq_cst"

    def _address(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    @intrinsic
    def load(context, array, place):
        """The number at a place, as it is now."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature, arguments)
            return builder.load_atomic(address, ORDER, 8)

        return types.int64(array, types.intp), generate

    @intrinsic
    def store(context, array, place, number):
        """Write a number after all that was written before."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature, arguments)
            builder.store_atomic(arguments[2], address, ORDER, 8)
            return context.get_dummy_value()

        return types.void(array, types.intp, types.int64), generate

    @intrinsic
    def add(context, array, place, number):
        """Add to the number at a place, at once."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature, arguments)
            builder.atomic_rmw("add", address, arguments[2], ORDER)
            return context.get_dummy_value()

        return types.void(array, types.intp, types.int64), generate

    @intrinsic
    def exchange(context, array, place, old, new):
        """Put new in the place of old; whether old was still there."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature, arguments)
            found = builder.cmpxchg(address, *arguments[2:], ORDER, ORDER)
            return builder.extract_value(found, 1)

        return types.boolean(array, types.intp, types.int64, types.int64), generate

    @intrinsic
    def give_way(context):
        """Let other threads run."""

        def generate(context, builder, signature, arguments):
            prototype = ir.FunctionType(ir.IntType(32), [])
            call = cgutils.get_or_insert_function(builder.module, prototype, "sched_yield")
            builder.call(call, [])
            return context.get_dummy_value()

        return types.void(), generate


@compiled
def post(board, kind, about, parts):
    """Offer a job of some kind, about some node or row, in so many parts."""
    board[KIND], board[ABOUT], board[PARTS] = kind, about, parts
    store(board, FINISHED, 0)
    store(board, WORD, (board[TICKET] << 32) + (parts << 16))


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
