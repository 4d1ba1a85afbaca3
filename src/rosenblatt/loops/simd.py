"""Vectors of numbers in one register, and other single instructions of the processor.

The compiler vectorizes simple loops by itself, but not the several sums that a tile of a matrix
product keeps at once, and only after a test at each row whether arrays overlap. Here vectors are
explicit: `float64x4`, `float32x8` and `int32x8` hold the operations of three types of vectors, as
in ``float64x4.add(a, b)``. Each operation stands once in `OPERATIONS`, in plain NumPy and as LLVM
instructions.

A `place` of an array counts elements, as if it had one dimension. A row whose length is not a
multiple of `WIDTH` ends in a vector that starts `WIDTH` numbers before its end and holds some
numbers a second time.
"""

import re
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from . import instruction
from .llvm import call_function, llvm_type

__all__ = ["count_bits", "float32x8", "float64x4", "int32x8", "lowest_bit", "prefetch"]

# Numbers between those in use and those that are prefetched. The processor prefetches rows that
# are read in order, but not early enough: sums took 25 ms without, 19 with it.
AHEAD = 1200
COLUMNS = 8  # of bytes that `add_products` and `less_differences` read together
BLOCK = 64  # bytes of ASCII that `put_words` reads together


def _vectors(dtype: type, width: int) -> ModuleType:
    """Return a namespace for operations; Numba can look up names in modules only."""
    namespace = ModuleType(f"{dtype.__name__}x{width}")
    namespace.WIDTH, namespace.DTYPE = width, dtype
    return namespace


float64x4, float32x8 = _vectors(np.float64, 4), _vectors(np.float32, 8)
int32x8 = _vectors(np.int32, 8)
FLOATS, EVERY = (float64x4, float32x8), (float64x4, float32x8, int32x8)


# LLVM code that several operations share. `v` is one of the three types.


def _address(builder, array, place, kind):
    """A pointer to a place of an array, for loads of a kind."""
    return builder.bitcast(builder.gep(array, [place]), kind.as_pointer())


def _constant(kind, value):
    """A vector of one number."""
    return kind([value] * kind.count)


def _repeat(builder, number, n):
    """A vector of a number that is known when the loop runs."""
    from llvmlite import ir

    vector = ir.Constant(ir.VectorType(number.type, n), ir.Undefined)
    vector = builder.insert_element(vector, number, llvm_type("int32")(0))
    return builder.shuffle_vector(vector, vector, _constant(llvm_type(f"int32x{n}"), 0))


def _load(v, builder, array, place):
    from llvmlite import ir

    number, vector = array.type.pointee, llvm_type(v.__name__)
    size = 8 if number == llvm_type("float64") else 4
    address = _address(builder, array, place, ir.VectorType(number, v.WIDTH))
    loaded = builder.load(address, align=size)
    if number == vector.element:
        return loaded
    return (builder.sitofp if number == llvm_type("int32") else builder.fpext)(loaded, vector)


def _plain_store(v, array, place, a):
    array.reshape(-1)[place : place + v.WIDTH] = a


def _store(v, builder, array, place, a):
    address = _address(builder, array, place, llvm_type(v.__name__))
    builder.store(a, address, align=np.dtype(v.DTYPE).itemsize)


def _arithmetic(name):
    """The instruction for floats or integers."""

    def build(v, builder, a, b):
        return getattr(builder, name if v is int32x8 else f"f{name}")(a, b)

    return build


def _multiply_add(v, builder, a, b, c):
    product = builder.fmul(a, b, flags=("contract",))
    return builder.fadd(product, c, flags=("contract",))


def _total(v, builder, a):
    one, two, three, four = (builder.extract_element(a, llvm_type("int32")(i)) for i in range(4))
    return builder.fadd(builder.fadd(one, two), builder.fadd(three, four))


def _less_distance(v, builder, a, x, y):
    distance = call_function(builder, f"llvm.fabs.v{v.WIDTH}f32", x.type, builder.fsub(x, y))
    return builder.fsub(a, distance)


def _root(v, builder, a):
    zero = _constant(a.type, 0.0)
    positive = builder.select(builder.fcmp_ordered(">", a, zero), a, zero)
    return call_function(builder, f"llvm.sqrt.v{v.WIDTH}f32", a.type, positive)


def _plain_bits(mask):
    return int(np.packbits(mask, bitorder="little")[0])


def _bits(builder, mask):
    """The elements of a mask as the bits of one integer."""
    return builder.bitcast(mask, llvm_type(f"int{mask.type.count}"))


def _wide_bits(builder, mask):
    return builder.zext(_bits(builder, mask), llvm_type("int64"))


def _any(builder, mask):
    bits = _bits(builder, mask)
    return builder.icmp_unsigned("!=", bits, bits.type(0))


# Sums of bytes. One instruction of AVX2 multiplies 32 pairs of bytes and adds each two products, or
# adds 32 differences by eights: four times as many as floats. Other processors need several.


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
        ones = _constant(shorts.type, 1)
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
        builder.load(_address(builder, points, p, llvm_type("int8x32")), align=1) for p in places
    ]


def _repeat_bytes(builder, queries, of, bits):
    """The bytes of an integer in an array, repeated to 32."""
    number = builder.load(_address(builder, queries, of, llvm_type(f"int{bits}")), align=1)
    return builder.bitcast(_repeat(builder, number, 256 // bits), llvm_type("int8x32"))


def _plain_bytes(array, place, n, dtype=np.uint8):
    return np.ravel(array)[place : place + n].view(dtype).astype(np.int32)


def _plain_add_products(v, sums, queries, of, points, at):
    """Add the products of 8 points with a query in 8 columns.

    Points hold columns 0 to 3 of each of the 8, from -63 to 63, then columns 4 to 7; the query
    holds 0 to 127.
    """
    q = _plain_bytes(queries, of, COLUMNS).reshape(2, 1, 4)
    x = _plain_bytes(points, at, 8 * COLUMNS, np.int8).reshape(2, 8, 4)
    return sums + (x * q).sum(axis=(0, 2))


def _add_products(v, builder, sums, queries, of, points, at):
    products = []
    for i, x in enumerate(_load_bytes(builder, points, at)):
        q = _repeat_bytes(builder, queries, builder.add(of, llvm_type("int64")(4 * i)), 32)
        products.append(_products(builder, q, x))
    return builder.add(sums, _add_pairs(builder, builder.add(*products)))


def _plain_less_differences(v, sums, queries, of, points, at):
    """Subtract the sizes of the differences of 8 points from a query in 8 columns.

    Points hold all columns of points 0, 2, 4 and 6, then of 1, 3, 5 and 7; all are 0 to 255.
    """
    q, x = _plain_bytes(queries, of, COLUMNS), _plain_bytes(points, at, 8 * COLUMNS)
    return sums - np.abs(x.reshape(2, 4, COLUMNS) - q).sum(axis=2).T.ravel()


def _less_differences(v, builder, sums, queries, of, points, at):
    q = _repeat_bytes(builder, queries, of, 64)
    even, odd = (_differences(builder, q, x) for x in _load_bytes(builder, points, at))
    odd = builder.shl(odd, _constant(odd.type, 32))
    return builder.sub(sums, builder.bitcast(builder.or_(even, odd), sums.type))


AT, ONE, TWO = "vector(array, intp)", "vector(vector)", "vector(vector, vector)"
THREE, COMPARISON = "vector(vector, vector, vector)", "boolean(vector, vector)"
BYTES = "vector(vector, array, intp, array, intp)"

# Operation: types of vectors, signature, plain form, LLVM form (`c` is the builder of code).
OPERATIONS: dict[str, tuple[Any, ...]] = {
    # The numbers from a place on; numbers of another type are converted.
    "load": (
        EVERY, AT, lambda v, array, place: np.ravel(array)[place : place + v.WIDTH].astype(v.DTYPE),
        _load,
    ),
    "store": (FLOATS, "void(array, intp, vector)", _plain_store, _store),
    # The number at a place in all places of a vector.
    "spread_from": (
        EVERY, AT, lambda v, array, place: np.full(v.WIDTH, np.ravel(array)[place], v.DTYPE),
        lambda v, c, array, place: _repeat(c, c.load(c.gep(array, [place])), v.WIDTH),
    ),
    "spread": (
        FLOATS, "vector(number)", lambda v, number: np.full(v.WIDTH, number, v.DTYPE),
        lambda v, c, number: _repeat(c, number, v.WIDTH),
    ),
    "zeros": (
        FLOATS, "vector()", lambda v: np.zeros(v.WIDTH, v.DTYPE),
        lambda v, c: _constant(llvm_type(v.__name__), 0.0),
    ),
    "add": (EVERY, TWO, lambda v, a, b: a + b, _arithmetic("add")),
    "subtract": (EVERY, TWO, lambda v, a, b: a - b, _arithmetic("sub")),
    "multiply": (FLOATS, TWO, lambda v, a, b: a * b, _arithmetic("mul")),
    # a b + c, rounded once if the processor can.
    "multiply_add": (FLOATS, THREE, lambda v, a, b, c: a * b + c, _multiply_add),
    "total": (
        [float64x4], "number(vector)", lambda v, a: (a[0] + a[1]) + (a[2] + a[3]), _total
    ),
    # a - |x - y|.
    "less_distance": (
        [float32x8], THREE, lambda v, a, x, y: a - np.abs(x - y), _less_distance
    ),
    # The square root of a, of zero where a is negative.
    "root": (
        [float32x8], ONE, lambda v, a: np.sqrt(np.maximum(a, np.float32(0))), _root
    ),
    # The smaller and the larger of a and b at each place.
    "lowest": (
        FLOATS, TWO, lambda v, a, b: np.minimum(a, b),
        lambda v, c, a, b: c.select(c.fcmp_ordered("<", a, b), a, b),
    ),
    "highest": (
        FLOATS, TWO, lambda v, a, b: np.maximum(a, b),
        lambda v, c, a, b: c.select(c.fcmp_ordered(">", a, b), a, b),
    ),
    # x where a < b, else y.
    "where_below": (
        FLOATS, "vector(vector, vector, vector, vector)",
        lambda v, a, b, x, y: np.where(a < b, x, y),
        lambda v, c, a, b, x, y: c.select(c.fcmp_ordered("<", a, b), x, y),
    ),
    # Whether a < b or a != b at any place.
    "any_below": (
        FLOATS, COMPARISON, lambda v, a, b: bool((a < b).any()),
        lambda v, c, a, b: _any(c, c.fcmp_ordered("<", a, b)),
    ),
    "any_different": (
        FLOATS, COMPARISON, lambda v, a, b: bool((a != b).any()),
        lambda v, c, a, b: _any(c, c.fcmp_unordered("!=", a, b)),
    ),
    # An integer with bit i set where a < b, or a < 0, at place i.
    "bits_below": (
        FLOATS, "int64(vector, vector)", lambda v, a, b: _plain_bits(a < b),
        lambda v, c, a, b: _wide_bits(c, c.fcmp_ordered("<", a, b)),
    ),
    "negative": (
        [int32x8], "int64(vector)", lambda v, a: _plain_bits(a < 0),
        lambda v, c, a: _wide_bits(c, c.icmp_signed("<", a, _constant(a.type, 0))),
    ),
    # The bits of a and those of b.
    "either": ([int32x8], TWO, lambda v, a, b: a | b, lambda v, c, a, b: c.or_(a, b)),
    "add_products": ([int32x8], BYTES, _plain_add_products, _add_products),
    "less_differences": ([int32x8], BYTES, _plain_less_differences, _less_differences),
}  # fmt: skip


def _define(name, types, signature, plain, llvm):
    """Make an operation for some types of vectors."""
    for v in types:
        own = re.sub(r"\bvector\b", v.__name__, signature)
        own = re.sub(r"\bnumber\b", v.DTYPE.__name__, own)
        operation = instruction(own)(partial(plain, v))
        operation.llvm(partial(llvm, v))
        setattr(v, name, operation)


for _name, _row in OPERATIONS.items():
    _define(_name, *_row)


# Instructions on one number or on bytes.


@instruction("void(array, intp)")
def prefetch(array, place):
    """Start to load the number at a place into the cache; it may be outside the array."""


@prefetch.llvm
def _(builder, array, place):
    read, keep_near, data_cache = (llvm_type("int32")(n) for n in (0, 3, 1))
    address = _address(builder, array, place, llvm_type("int8"))
    nothing, name = llvm_type("void"), "llvm.prefetch.p0"
    call_function(builder, name, nothing, address, read, keep_near, data_cache)


@instruction("intp(uint64)")
def count_bits(bits):
    """Return the number of bits that are set."""
    return int(bits).bit_count()


@count_bits.llvm
def _(builder, bits):
    return builder.ctpop(bits)


@instruction("intp(uint64)")
def lowest_bit(bits):
    """Return the place of the lowest bit that is set; any number if there is none."""
    return (int(bits) & -int(bits)).bit_length() - 1


@lowest_bit.llvm
def _(builder, bits):
    return builder.cttz(bits, llvm_type("int1")(0))


@instruction("uint64(array, intp)")
def eight_bytes(array, place):
    """Return the bytes from a place on as one number, the first the lowest; all must exist."""
    return np.uint64(int.from_bytes(array[int(place) : int(place) + 8].tobytes(), "little"))


@eight_bytes.llvm
def _(builder, array, place):
    return builder.load(_address(builder, array, place, llvm_type("int64")), align=1)


@instruction("uint64(array, intp, array, intp, boolean)")
def put_words(text, place, clean, at, lowercase):
    """Copy a block of ASCII, in lower case if asked for; return the bits of its word bytes."""
    block = text[int(place) : int(place) + BLOCK].tobytes()
    clean[at : at + BLOCK] = np.frombuffer(block.lower() if lowercase else block, np.uint8)
    words = (chr(byte).isalnum() or byte == ord("_") for byte in block)
    return np.uint64(sum(1 << i for i, inside in enumerate(words) if inside))


@put_words.llvm
def _(builder, text, place, clean, at, lowercase):
    kind = llvm_type(f"int8x{BLOCK}")
    block = builder.load(_address(builder, text, place, kind), align=1)

    def within(values, first, n):
        shifted = builder.sub(values, _constant(kind, ord(first)))
        return builder.icmp_unsigned("<", shifted, _constant(kind, n))

    change = builder.select(within(block, "A", 26), _constant(kind, 0x20), _constant(kind, 0))
    lower = builder.or_(block, change)
    word = builder.or_(within(lower, "a", 26), within(block, "0", 10))
    word = builder.or_(word, within(block, "_", 1))
    copied = builder.select(lowercase, lower, block)
    builder.store(copied, _address(builder, clean, at, kind), align=1)
    return _bits(builder, word)
