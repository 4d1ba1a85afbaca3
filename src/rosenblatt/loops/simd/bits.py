"""Counting bits: one instruction of the processor."""

from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def ones(word):
        """How many of 64 bits are one."""
        return int(word).bit_count()

else:

    @intrinsic
    def ones(context, word):
        """How many of 64 bits are one."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate
