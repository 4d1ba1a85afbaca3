"""Several bytes at a time, wherever they begin."""

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 64  # ASCII bytes that are looked at together

if config.DISABLE_JIT:
    import numpy as np

    def eight_bytes(array, place):
        """The bytes from a place on as one number, the first the lowest; all must exist."""
        return np.uint64(int.from_bytes(array[int(place) : int(place) + 8].tobytes(), "little"))

    def put_words(text, place, clean, at, lowercase):
        """Copy a block of ASCII, in lower case if asked for; return the bits of its word bytes."""
        block = text[int(place) : int(place) + BLOCK].tobytes()
        clean[at : at + BLOCK] = np.frombuffer(block.lower() if lowercase else block, np.uint8)
        words = (chr(byte).isalnum() or byte == ord("_") for byte in block)
        return np.uint64(sum(1 << i for i, inside in enumerate(words) if inside))

    def first_bit(bits):
        """The place of the lowest bit that is set; any number if none is."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def count_bits(bits):
        """How many bits are set."""
        return int(bits).bit_count()

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

    _BYTES = ir.VectorType(ir.IntType(8), BLOCK)

    def _all(byte):
        """A block of one byte."""
        return ir.Constant(_BYTES, [byte] * BLOCK)

    def _address_of_block(context, builder, array_type, array, place):
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [place]), _BYTES.as_pointer())

    @intrinsic
    def put_words(context, text, place, clean, at, lowercase):
        """Copy a block of ASCII, in lower case if asked for; return the bits of its word bytes."""

        def generate(context, builder, signature, arguments):
            kinds = signature.args
            source = _address_of_block(context, builder, kinds[0], *arguments[:2])
            target = _address_of_block(context, builder, kinds[2], *arguments[2:4])
            block = builder.load(source, align=1)

            def within(values, first, n):
                return builder.icmp_unsigned("<", builder.sub(values, _all(first)), _all(n))

            capital = within(block, ord("A"), 26)
            lower = builder.or_(block, builder.select(capital, _all(0x20), _all(0)))
            letter, digit = within(lower, ord("a"), 26), within(block, ord("0"), 10)
            word = builder.or_(letter, digit)
            word = builder.or_(word, builder.icmp_unsigned("==", block, _all(ord("_"))))
            builder.store(builder.select(arguments[4], lower, block), target, align=1)
            return builder.bitcast(word, ir.IntType(BLOCK))

        return types.uint64(text, types.intp, clean, types.intp, types.boolean), generate

    @intrinsic
    def first_bit(context, bits):
        """The place of the lowest bit that is set; any number if none is."""

        def generate(context, builder, signature, arguments):
            number = ir.IntType(64)
            kind = ir.FunctionType(number, [number, ir.IntType(1)])
            count = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
            return builder.call(count, [arguments[0], ir.IntType(1)(0)])

        return types.intp(types.uint64), generate

    @intrinsic
    def count_bits(context, bits):
        """How many bits are set."""

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
            count = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.i64")
            return builder.call(count, arguments)

        return types.intp(types.uint64), generate
