"""Eight numbers of single precision at a time, as `lanes` has four doubles."""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTH = 8

if config.DISABLE_JIT:

    def load(array, place):
        """The eight numbers from a place on."""
        return np.ravel(array)[place : place + WIDTH]

    def store(array, place, eight):
        """Write eight numbers."""
        array.reshape(-1)[place : place + WIDTH] = eight

    def spread_from(array, place):
        """The number at a place, eight times."""
        return np.full(WIDTH, np.ravel(array)[place], np.float32)

    def zeros():
        """Eight zeros."""
        return np.zeros(WIDTH, np.float32)

    def subtract(a, b):
        """a - b."""
        return a - b

    def less_distance(a, x, y):
        """a - |x - y|."""
        return a - np.abs(x - y)

    def multiply_add(a, b, c):
        """a b + c, rounded once if the machine can."""
        return a * b + c

    def lowest(a, b):
        """The smaller of a and b, place by place."""
        return np.minimum(a, b)

    def highest(a, b):
        """The larger of a and b, place by place."""
        return np.maximum(a, b)

    def where_below(a, b, x, y):
        """x where a < b, else y, place by place."""
        return np.where(a < b, x, y)

    def any_below(a, b):
        """Whether a < b at any place."""
        return bool((a < b).any())

    def bits_below(a, b):
        """An integer with bit i set where a < b at place i."""
        return int(np.packbits(a < b, bitorder="little")[0])

    def any_different(a, b):
        """Whether a != b at any place."""
        return bool((a != b).any())

    def load_integers(array, place):
        """The eight integers from a place on, as numbers."""
        return np.ravel(array)[place : place + WIDTH].astype(np.float32)

    def add(a, b):
        """a + b."""
        return a + b

    def root(a):
        """The square root of a, of zero where a is negative."""
        return np.sqrt(np.maximum(a, np.float32(0)))

else:

    class Singles(types.Type):
        """The type of eight numbers of single precision."""

        def __init__(self):
            super().__init__("Singles")

    SINGLES = Singles()
    VECTOR = ir.VectorType(ir.FloatType(), WIDTH)

    @register_model(Singles)
    class SinglesModel(models.PrimitiveModel):
        """Eight numbers are a vector of the processor."""

        def __init__(self, manager, kind):
            super().__init__(manager, kind, VECTOR)

    def _address(context, builder, array_type, array, place):
        """A pointer to the vector that starts at a place of an array."""
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [place]), VECTOR.as_pointer())

    @intrinsic
    def load(context, array, place):
        """The eight numbers from a place on."""

        def generate(context, builder, signature, arguments):
            return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

        return SINGLES(array, types.intp), generate

    @intrinsic
    def store(context, array, place, eight):
        """Write eight numbers."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments[:2])
            builder.store(arguments[2], address, align=4)
            return context.get_dummy_value()

        return types.void(array, types.intp, SINGLES), generate

    @intrinsic
    def spread_from(context, array, place):
        """The number at a place, eight times."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            number = builder.load(builder.gep(data, [arguments[1]]))
            first = ir.IntType(32)(0)
            one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, first)
            everywhere = ir.Constant(ir.VectorType(first.type, WIDTH), [0] * WIDTH)
            return builder.shuffle_vector(one, one, everywhere)

        return SINGLES(array, types.intp), generate

    @intrinsic
    def zeros(context):
        """Eight zeros."""
        return SINGLES(), lambda context, builder, signature, none: ir.Constant(
            VECTOR, [0.0] * WIDTH
        )

    @intrinsic
    def subtract(context, a, b):
        """a - b."""
        return SINGLES(SINGLES, SINGLES), lambda context, builder, signature, ab: builder.fsub(*ab)

    @intrinsic
    def less_distance(context, a, x, y):
        """a - |x - y|."""

        def generate(context, builder, signature, arguments):
            kind, name = ir.FunctionType(VECTOR, [VECTOR]), f"llvm.fabs.v{WIDTH}f32"
            size = cgutils.get_or_insert_function(builder.module, kind, name)
            apart = builder.call(size, [builder.fsub(*arguments[1:])])
            return builder.fsub(arguments[0], apart)

        return SINGLES(SINGLES, SINGLES, SINGLES), generate

    @intrinsic
    def multiply_add(context, a, b, c):
        """a b + c, rounded once if the machine can."""

        def generate(context, builder, signature, arguments):
            product = builder.fmul(*arguments[:2], flags=("contract",))
            return builder.fadd(product, arguments[2], flags=("contract",))

        return SINGLES(SINGLES, SINGLES, SINGLES), generate

    @intrinsic
    def lowest(context, a, b):
        """The smaller of a and b, place by place."""

        def generate(context, builder, signature, ab):
            return builder.select(builder.fcmp_ordered("<", *ab), *ab)

        return SINGLES(SINGLES, SINGLES), generate

    @intrinsic
    def highest(context, a, b):
        """The larger of a and b, place by place."""

        def generate(context, builder, signature, ab):
            return builder.select(builder.fcmp_ordered(">", *ab), *ab)

        return SINGLES(SINGLES, SINGLES), generate

    @intrinsic
    def where_below(context, a, b, x, y):
        """x where a < b, else y, place by place."""

        def generate(context, builder, signature, arguments):
            a, b, x, y = arguments
            return builder.select(builder.fcmp_ordered("<", a, b), x, y)

        return SINGLES(SINGLES, SINGLES, SINGLES, SINGLES), generate

    @intrinsic
    def any_below(context, a, b):
        """Whether a < b at any place."""

        def generate(context, builder, signature, ab):
            mask = builder.bitcast(builder.fcmp_ordered("<", *ab), ir.IntType(WIDTH))
            return builder.icmp_unsigned("!=", mask, ir.IntType(WIDTH)(0))

        return types.boolean(SINGLES, SINGLES), generate

    @intrinsic
    def bits_below(context, a, b):
        """An integer with bit i set where a < b at place i."""

        def generate(context, builder, signature, ab):
            mask = builder.bitcast(builder.fcmp_ordered("<", *ab), ir.IntType(WIDTH))
            return builder.zext(mask, ir.IntType(64))

        return types.int64(SINGLES, SINGLES), generate

    @intrinsic
    def any_different(context, a, b):
        """Whether a != b at any place."""

        def generate(context, builder, signature, ab):
            mask = builder.bitcast(builder.fcmp_unordered("!=", *ab), ir.IntType(WIDTH))
            return builder.icmp_unsigned("!=", mask, ir.IntType(WIDTH)(0))

        return types.boolean(SINGLES, SINGLES), generate

    @intrinsic
    def load_integers(context, array, place):
        """The eight integers from a place on, as numbers."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            whole = ir.VectorType(ir.IntType(32), WIDTH)
            address = builder.bitcast(builder.gep(data, [arguments[1]]), whole.as_pointer())
            return builder.sitofp(builder.load(address, align=4), VECTOR)

        return SINGLES(array, types.intp), generate

    @intrinsic
    def add(context, a, b):
        """a + b."""
        return SINGLES(SINGLES, SINGLES), lambda context, builder, signature, ab: builder.fadd(*ab)

    @intrinsic
    def root(context, a):
        """The square root of a, of zero where a is negative."""

        def generate(context, builder, signature, arguments):
            zero = ir.Constant(VECTOR, [0.0] * WIDTH)
            positive = builder.fcmp_ordered(">", arguments[0], zero)
            number = builder.select(positive, arguments[0], zero)
            prototype = ir.FunctionType(VECTOR, [VECTOR])
            sqrt = cgutils.get_or_insert_function(builder.module, prototype, "llvm.sqrt.v8f32")
            return builder.call(sqrt, [number])

        return SINGLES(SINGLES), generate
