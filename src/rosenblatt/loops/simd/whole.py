"""Eight whole numbers of 32 bits at a time, to which products or differences of bytes are added.

One instruction multiplies 32 pairs of bytes and adds each two products, or adds 32 differences by
eights: four times what `singles` do. Processors without it take several.
"""

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTH = 8
COLUMNS = 8  # that are read together

if config.DISABLE_JIT:

    def load(array, place):
        """The eight numbers from a place on."""
        return np.ravel(array)[place : place + WIDTH]

    def spread_from(array, place):
        """The number at a place, eight times."""
        return np.full(WIDTH, np.ravel(array)[place], np.int32)

    def add_products(sums, queries, of, points, at):
        """Add the products of 8 points with a query in 8 columns.

        Points hold columns 0 to 3 of each of the 8, from -63 to 63, then columns 4 to 7; the query
        holds 0 to 127.
        """
        q = np.ravel(queries)[of : of + COLUMNS].astype(np.int32).reshape(2, 1, 4)
        x = np.ravel(points)[at : at + WIDTH * COLUMNS].view(np.int8).astype(np.int32)
        return sums + (x.reshape(2, WIDTH, 4) * q).sum(axis=(0, 2))

    def less_differences(sums, queries, of, points, at):
        """Take off the sizes of the differences of 8 points from a query in 8 columns.

        Points hold all columns of points 0, 2, 4 and 6, then of 1, 3, 5 and 7; all are 0 to 255.
        """
        q = np.ravel(queries)[of : of + COLUMNS].astype(np.int32)
        x = np.ravel(points)[at : at + WIDTH * COLUMNS].view(np.uint8).astype(np.int32)
        return sums - np.abs(x.reshape(2, 4, COLUMNS) - q).sum(axis=2).T.ravel()

    def subtract(a, b):
        """a - b."""
        return a - b

    def either(a, b):
        """The bits of a and those of b."""
        return a | b

    def negative(a):
        """An integer with bit i set where place i is negative."""
        return int(np.packbits(a < 0, bitorder="little")[0])

else:

    class Whole(types.Type):
        """The type of eight whole numbers."""

        def __init__(self):
            super().__init__("Whole")

    WHOLE = Whole()
    BYTE, SHORT, NUMBER, LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
    VECTOR = ir.VectorType(NUMBER, WIDTH)
    BYTES = ir.VectorType(BYTE, 32)
    # The host's own instructions, unless Numba was asked to compile for another processor.
    FAST = not config.CPU_NAME and bool(binding.get_host_cpu_features().get("avx2"))

    @register_model(Whole)
    class WholeModel(models.PrimitiveModel):
        """Eight numbers are a vector of the processor."""

        def __init__(self, manager, kind):
            super().__init__(manager, kind, VECTOR)

    def _address(context, builder, array_type, array, place, kind):
        """A pointer of some kind to a place of an array."""
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [place]), kind.as_pointer())

    def _spread(builder, number, n):
        """The same number n times."""
        one = builder.insert_element(
            ir.Constant(ir.VectorType(number.type, n), ir.Undefined), number, NUMBER(0)
        )
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(NUMBER, n), [0] * n))

    def _call(builder, name, result, *arguments):
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    def _add_neighbours(builder, vector):
        """The sums of each two numbers that stand side by side."""
        n = vector.type.count // 2
        even, odd = (
            builder.shuffle_vector(
                vector, vector, ir.Constant(ir.VectorType(NUMBER, n), list(range(first, 2 * n, 2)))
            )
            for first in (0, 1)
        )
        return builder.add(even, odd)

    def _products(builder, q, x):
        """The products (16,) of bytes, each two added; none is beyond 16 bits."""
        shorts = ir.VectorType(SHORT, 16)
        if FAST:
            return _call(builder, "llvm.x86.avx2.pmadd.ub.sw", shorts, q, x)
        wide = ir.VectorType(SHORT, 32)
        return _add_neighbours(builder, builder.mul(builder.zext(q, wide), builder.sext(x, wide)))

    def _in_pairs(builder, shorts):
        """The sums (8,) of each two short numbers."""
        if FAST:
            ones = ir.Constant(shorts.type, [1] * 16)
            return _call(builder, "llvm.x86.avx2.pmadd.wd", VECTOR, shorts, ones)
        return _add_neighbours(builder, builder.sext(shorts, ir.VectorType(NUMBER, 16)))

    def _apart(builder, q, x):
        """The sums (4,) of the differences of bytes, eight at a time."""
        four = ir.VectorType(LONG, 4)
        if FAST:
            return _call(builder, "llvm.x86.avx2.psad.bw", four, q, x)
        larger = builder.icmp_unsigned(">", q, x)
        sizes = builder.select(larger, builder.sub(q, x), builder.sub(x, q))
        sums = builder.zext(sizes, ir.VectorType(SHORT, 32))
        for _ in range(3):
            sums = _add_neighbours(builder, sums)
        return builder.zext(sums, four)

    def _two_vectors(context, builder, signature, arguments):
        """The bytes of 8 points in 8 columns."""
        place, kind = arguments[4], signature.args[3]
        return tuple(
            builder.load(
                _address(
                    context, builder, kind, arguments[3], builder.add(place, LONG(32 * i)), BYTES
                ),
                align=1,
            )
            for i in (0, 1)
        )

    @intrinsic
    def load(context, array, place):
        """The eight numbers from a place on."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments, VECTOR)
            return builder.load(address, align=4)

        return WHOLE(array, types.intp), generate

    @intrinsic
    def spread_from(context, array, place):
        """The number at a place, eight times."""

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments, NUMBER)
            return _spread(builder, builder.load(address), WIDTH)

        return WHOLE(array, types.intp), generate

    @intrinsic
    def add_products(context, sums, queries, of, points, at):
        """Add the products of 8 points with a query in 8 columns.

        Points hold columns 0 to 3 of each of the 8, from -63 to 63, then columns 4 to 7; the query
        holds 0 to 127.
        """

        def generate(context, builder, signature, arguments):
            products = []
            for i, x in enumerate(_two_vectors(context, builder, signature, arguments)):
                place = builder.add(arguments[2], LONG(4 * i))
                address = _address(context, builder, signature.args[1], arguments[1], place, NUMBER)
                four = _spread(builder, builder.load(address, align=1), WIDTH)
                products.append(_products(builder, builder.bitcast(four, BYTES), x))
            return builder.add(arguments[0], _in_pairs(builder, builder.add(*products)))

        return WHOLE(WHOLE, queries, types.intp, points, types.intp), generate

    @intrinsic
    def less_differences(context, sums, queries, of, points, at):
        """Take off the sizes of the differences of 8 points from a query in 8 columns.

        Points hold all columns of points 0, 2, 4 and 6, then of 1, 3, 5 and 7; all are 0 to 255.
        """

        def generate(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[1], *arguments[1:3], LONG)
            eight = builder.bitcast(_spread(builder, builder.load(address, align=1), 4), BYTES)
            vectors = _two_vectors(context, builder, signature, arguments)
            even, odd = (_apart(builder, eight, x) for x in vectors)
            odd = builder.shl(odd, ir.Constant(odd.type, [32] * 4))
            return builder.sub(arguments[0], builder.bitcast(builder.or_(even, odd), VECTOR))

        return WHOLE(WHOLE, queries, types.intp, points, types.intp), generate

    @intrinsic
    def subtract(context, a, b):
        """a - b."""
        return WHOLE(WHOLE, WHOLE), lambda context, builder, signature, ab: builder.sub(*ab)

    @intrinsic
    def either(context, a, b):
        """The bits of a and those of b."""
        return WHOLE(WHOLE, WHOLE), lambda context, builder, signature, ab: builder.or_(*ab)

    @intrinsic
    def negative(context, a):
        """An integer with bit i set where place i is negative."""

        def generate(context, builder, signature, arguments):
            zero = ir.Constant(VECTOR, [0] * WIDTH)
            mask = builder.bitcast(builder.icmp_signed("<", arguments[0], zero), BYTE)
            return builder.zext(mask, LONG)

        return types.int64(WHOLE), generate
