"""Four doubles at a time: what a processor does with one instruction.

The compiler finds such vectors by itself in simple loops, but not across the several sums that a
tile of a matrix product keeps at once, nor without asking at each row whether arrays overlap. Here
they are said. `places` of an array are counted in elements, as if it had one dimension.

A row whose length is no multiple of four ends in a vector that starts four from its end; it holds
some numbers a second time.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTH = 4

# How many numbers ahead of their use a row is asked from memory. Read in order, rows
# are fetched by the processor itself, but not early enough: sums took 25 ms without, 19 with it.
AHEAD = 1200

if config.DISABLE_JIT:

    def load(array, place):
        """The four numbers from a place on."""
        return np.ravel(array)[place : place + WIDTH].astype(np.float64)

    def store(array, place, lanes):
        """Write four numbers."""
        array.reshape(-1)[place : place + WIDTH] = lanes

    def call(array, place):
        """Memory cannot be asked from plain Python, and need not be."""

    def spread(number):
        """The same number four times."""
        return np.full(WIDTH, number, np.float64)

    def spread_from(array, place):
        """The number at a place, four times."""
        return spread(np.ravel(array)[place])

    def add(a, b):
        """a + b."""
        return a + b

    def subtract(a, b):
        """a - b."""
        return a - b

    def multiply(a, b):
        """a b."""
        return a * b

    def multiply_add(a, b, c):
        """a b + c, rounded once if the machine can."""
        return a * b + c

    def total(a):
        """The sum of the four."""
        return (a[0] + a[1]) + (a[2] + a[3])

else:

    class Lanes(types.Type):
        """The type of four doubles."""

        def __init__(self):
            super().__init__("Lanes")

    LANES = Lanes()
    VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)

    @register_model(Lanes)
    class LanesModel(models.PrimitiveModel):
        """Four doubles are a vector of the processor."""

        def __init__(self, manager, kind):
            super().__init__(manager, kind, VECTOR)

    def _address(context, builder, array_type, array, place):
        """A pointer to the vector that starts at a place of an array."""
        data = context.make_array(array_type)(context, builder, array).data
        kind = ir.VectorType(data.type.pointee, WIDTH)
        return builder.bitcast(builder.gep(data, [place]), kind.as_pointer())

    def _each(builder, lanes):
        """The four numbers of a vector."""
        return [builder.extract_element(lanes, ir.IntType(32)(i)) for i in range(WIDTH)]

    @intrinsic
    def load(context, array, place):
        """The four numbers from a place on."""
        size = array.dtype.bitwidth // 8

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments)
            lanes = builder.load(address, align=size)
            return lanes if size == 8 else builder.fpext(lanes, VECTOR)

        return LANES(array, types.intp), generate

    @intrinsic
    def store(context, array, place, lanes):
        """Write four numbers."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments[:2])
            builder.store(arguments[2], address, align=8)
            return context.get_dummy_value()

        return types.void(array, types.intp, LANES), generate

    @intrinsic
    def call(context, array, place):
        """Ask memory for the numbers at a place, without waiting for them; it may be outside."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte_pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
            prototype = ir.FunctionType(ir.VoidType(), [byte_pointer, flag, flag, flag])
            prefetch = cgutils.get_or_insert_function(builder.module, prototype, "llvm.prefetch.p0")
            address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
            read, keep_near, data_cache = flag(0), flag(3), flag(1)
            builder.call(prefetch, [address, read, keep_near, data_cache])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    def _four_times(builder, number):
        """A vector of one number."""
        first = ir.IntType(32)(0)
        lanes = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, first)
        everywhere = ir.Constant(ir.VectorType(first.type, WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(lanes, lanes, everywhere)

    @intrinsic
    def spread(context, number):
        """The same number four times."""

        def generate(context, builder, signature, arguments):
            return _four_times(builder, arguments[0])

        return LANES(types.float64), generate

    @intrinsic
    def spread_from(context, array, place):
        """The number at a place, four times."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return _four_times(builder, builder.load(builder.gep(data, [arguments[1]])))

        return LANES(array, types.intp), generate

    @intrinsic
    def add(context, a, b):
        """a + b."""
        return LANES(LANES, LANES), lambda context, builder, signature, ab: builder.fadd(*ab)

    @intrinsic
    def subtract(context, a, b):
        """a - b."""
        return LANES(LANES, LANES), lambda context, builder, signature, ab: builder.fsub(*ab)

    @intrinsic
    def multiply(context, a, b):
        """a b."""
        return LANES(LANES, LANES), lambda context, builder, signature, ab: builder.fmul(*ab)

    @intrinsic
    def multiply_add(context, a, b, c):
        """a b + c, rounded once if the machine can."""

        def generate(context, builder, signature, arguments):
            product = builder.fmul(*arguments[:2], flags=("contract",))
            return builder.fadd(product, arguments[2], flags=("contract",))

        return LANES(LANES, LANES, LANES), generate

    @intrinsic
    def total(context, a):
        """The sum of the four."""

        def generate(context, builder, signature, arguments):
            one, two, three, four = _each(builder, arguments[0])
            return builder.fadd(builder.fadd(one, two), builder.fadd(three, four))

        return types.float64(LANES), generate
