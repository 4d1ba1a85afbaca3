"""Eight bytes at a time, wherever they begin."""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:
    import numpy as np

    def eight_bytes(array, place):
        """The bytes from a place on as one number, the first the lowest; all must exist."""
        return np.uint64(int.from_bytes(array[int(place) : int(place) + 8].tobytes(), "little"))

else:

    @intrinsic
    def eight_bytes(context, array, place):
        """The bytes from a place on as one number, the first the lowest; all must exist."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.gep(data, [arguments[1]])
            address = builder.bitcast(address, ir.IntType(64).as_pointer())
            return builder.load(address, align=1)

        return types.uint64(array, types.intp), generate
