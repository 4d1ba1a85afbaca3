# mypy: ignore-errors
"""Sums over the bytes of quantized points and queries, as instructions of the processor.

One instruction of AVX2 multiplies 32 pairs of bytes and adds each two products, or adds 32
differences by eights: four times as many as floats. Other processors need several instructions.
"""

import numpy as np

from rosenblatt.loops import instruction
from rosenblatt.loops.llvm import address, call_function, constant, llvm_type, repeat

COLUMNS = 8  # that are read together


def has_avx2() -> bool:
    """Return whether Numba compiles for a processor with AVX2."""
    from numba.core.registry import cpu_target

    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return "+avx2" in features.split(",")


def _add_neighbors(builder, vector):
    """The sums of each two numbers that stand side by side."""
    n = vector.type.count // 2
    places = (llvm_type(f"int32x{n}")(list(range(first, 2 * n, 2))) for first in (0, 1))
    return builder.add(*(builder.shuffle_vector(vector, vector, some) for some in places))


def _products(builder, q, x):
    """The products of 32 bytes, each two added; all are within 16 bits."""
    if has_avx2():
        return call_function(builder, "llvm.x86.avx2.pmadd.ub.sw", llvm_type("int16x16"), q, x)
    wide = llvm_type("int16x32")
    return _add_neighbors(builder, builder.mul(builder.zext(q, wide), builder.sext(x, wide)))


def _add_pairs(builder, shorts):
    """The sums (8,) of each two short numbers."""
    if has_avx2():
        ones = constant(shorts.type, 1)
        return call_function(builder, "llvm.x86.avx2.pmadd.wd", llvm_type("int32x8"), shorts, ones)
    return _add_neighbors(builder, builder.sext(shorts, llvm_type("int32x16")))


def _differences(builder, q, x):
    """The sums (4,) of the sizes of differences of bytes, eight at a time."""
    if has_avx2():
        return call_function(builder, "llvm.x86.avx2.psad.bw", llvm_type("int64x4"), q, x)
    larger = builder.icmp_unsigned(">", q, x)
    sums = builder.select(larger, builder.sub(q, x), builder.sub(x, q))
    sums = builder.zext(sums, llvm_type("int16x32"))
    for _ in range(3):
        sums = _add_neighbors(builder, sums)
    return builder.zext(sums, llvm_type("int64x4"))


def _load_bytes(builder, points, at):
    """The bytes of 8 points in 8 columns, as two vectors."""
    places = (builder.add(at, llvm_type("int64")(offset)) for offset in (0, 32))
    return [
        builder.load(address(builder, points, p, llvm_type("int8x32")), align=1) for p in places
    ]


def _repeat_bytes(builder, queries, of, bits):
    """The bytes of an integer in an array, repeated to 32."""
    number = builder.load(address(builder, queries, of, llvm_type(f"int{bits}")), align=1)
    return builder.bitcast(repeat(builder, number, 256 // bits), llvm_type("int8x32"))


def _plain_bytes(array, place, n, dtype=np.uint8):
    return np.ravel(array)[place : place + n].view(dtype).astype(np.int32)


@instruction("int32x8(int32x8, array, intp, array, intp)")
def add_products(sums, queries, of, points, at):
    """Add the products of 8 points with a query in 8 columns.

    Points hold columns 0 to 3 of each of the 8, from -63 to 63, then columns 4 to 7; the query
    holds 0 to 127.
    """
    q = _plain_bytes(queries, of, COLUMNS).reshape(2, 1, 4)
    x = _plain_bytes(points, at, 8 * COLUMNS, np.int8).reshape(2, 8, 4)
    return sums + (x * q).sum(axis=(0, 2))


@add_products.llvm
def _(builder, sums, queries, of, points, at):
    products = []
    for i, x in enumerate(_load_bytes(builder, points, at)):
        q = _repeat_bytes(builder, queries, builder.add(of, llvm_type("int64")(4 * i)), 32)
        products.append(_products(builder, q, x))
    return builder.add(sums, _add_pairs(builder, builder.add(*products)))


@instruction("int32x8(int32x8, array, intp, array, intp)")
def less_differences(sums, queries, of, points, at):
    """Subtract the sizes of the differences of 8 points from a query in 8 columns.

    Points hold all columns of points 0, 2, 4 and 6, then of 1, 3, 5 and 7; all are 0 to 255.
    """
    q, x = _plain_bytes(queries, of, COLUMNS), _plain_bytes(points, at, 8 * COLUMNS)
    return sums - np.abs(x.reshape(2, 4, COLUMNS) - q).sum(axis=2).T.ravel()


@less_differences.llvm
def _(builder, sums, queries, of, points, at):
    q = _repeat_bytes(builder, queries, of, 64)
    even, odd = (_differences(builder, q, x) for x in _load_bytes(builder, points, at))
    odd = builder.shl(odd, constant(odd.type, 32))
    return builder.sub(sums, builder.bitcast(builder.or_(even, odd), sums.type))
