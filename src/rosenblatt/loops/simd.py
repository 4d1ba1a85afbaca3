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
from .llvm import address, bits_of, call_function, constant, llvm_type, repeat

__all__ = [
    "count_bits", "eight_bytes", "float32x8", "float64x4", "int32x8", "lowest_bit", "prefetch",
]  # fmt: skip

# Numbers between those in use and those that are prefetched. The processor prefetches rows that
# are read in order, but not early enough: sums took 25 ms without, 19 with it.
AHEAD = 1200


def _vectors(dtype: type, width: int) -> ModuleType:
    """Return a namespace for operations; Numba can look up names in modules only."""
    namespace = ModuleType(f"{dtype.__name__}x{width}")
    namespace.WIDTH, namespace.DTYPE = width, dtype
    return namespace


float64x4, float32x8 = _vectors(np.float64, 4), _vectors(np.float32, 8)
int32x8 = _vectors(np.int32, 8)
FLOATS, EVERY = (float64x4, float32x8), (float64x4, float32x8, int32x8)


# LLVM code of operations; `v` is one of the three types.


def _load(v, builder, array, place):
    from llvmlite import ir

    number, vector = array.type.pointee, llvm_type(v.__name__)
    size = 8 if number == llvm_type("float64") else 4
    source = address(builder, array, place, ir.VectorType(number, v.WIDTH))
    loaded = builder.load(source, align=size)
    if number == vector.element:
        return loaded
    return (builder.sitofp if number == llvm_type("int32") else builder.fpext)(loaded, vector)


def _plain_store(v, array, place, a):
    array.reshape(-1)[place : place + v.WIDTH] = a


def _store(v, builder, array, place, a):
    target = address(builder, array, place, llvm_type(v.__name__))
    builder.store(a, target, align=np.dtype(v.DTYPE).itemsize)


def _arithmetic(name):
    """Return the instruction for floats or integers."""

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
    zero = constant(a.type, 0.0)
    positive = builder.select(builder.fcmp_ordered(">", a, zero), a, zero)
    return call_function(builder, f"llvm.sqrt.v{v.WIDTH}f32", a.type, positive)


def _plain_bits(mask):
    return int(np.packbits(mask, bitorder="little")[0])


def _wide_bits(builder, mask):
    return builder.zext(bits_of(builder, mask), llvm_type("int64"))


def _any(builder, mask):
    bits = bits_of(builder, mask)
    return builder.icmp_unsigned("!=", bits, bits.type(0))


AT, ONE, TWO = "vector(array, intp)", "vector(vector)", "vector(vector, vector)"
THREE, COMPARISON = "vector(vector, vector, vector)", "boolean(vector, vector)"

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
        lambda v, c, array, place: repeat(c, c.load(c.gep(array, [place])), v.WIDTH),
    ),
    "spread": (
        FLOATS, "vector(number)", lambda v, number: np.full(v.WIDTH, number, v.DTYPE),
        lambda v, c, number: repeat(c, number, v.WIDTH),
    ),
    "zeros": (
        FLOATS, "vector()", lambda v: np.zeros(v.WIDTH, v.DTYPE),
        lambda v, c: constant(llvm_type(v.__name__), 0.0),
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
    # True if a < b at any place.
    "any_below": (
        FLOATS, COMPARISON, lambda v, a, b: bool((a < b).any()),
        lambda v, c, a, b: _any(c, c.fcmp_ordered("<", a, b)),
    ),
    # An integer with bit i set where a < b, or a < 0, at place i.
    "bits_below": (
        FLOATS, "int64(vector, vector)", lambda v, a, b: _plain_bits(a < b),
        lambda v, c, a, b: _wide_bits(c, c.fcmp_ordered("<", a, b)),
    ),
    "negative": (
        [int32x8], "int64(vector)", lambda v, a: _plain_bits(a < 0),
        lambda v, c, a: _wide_bits(c, c.icmp_signed("<", a, constant(a.type, 0))),
    ),
    # The bits of a and those of b.
    "either": ([int32x8], TWO, lambda v, a, b: a | b, lambda v, c, a, b: c.or_(a, b)),
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
    at = address(builder, array, place, llvm_type("int8"))
    nothing, name = llvm_type("void"), "llvm.prefetch.p0"
    call_function(builder, name, nothing, at, read, keep_near, data_cache)


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
    return builder.load(address(builder, array, place, llvm_type("int64")), align=1)
