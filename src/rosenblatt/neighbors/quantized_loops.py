# mypy: ignore-errors
"""The k nearest of n points by Euclidean or Manhattan distance, with bounds from bytes.

Rows less a center are divided by a step, rounded and clipped to bytes x' and q'. Clipping does not
increase distances, and the length of a rounding error is known, so that

    |x - q| / step >= |x' - q'| - |x' - x / step| - |q' - q / step|

Points whose right side is above the k-th distance so far are skipped; distances of the few others
are computed in doubles, from differences. Sums of 4 queries with 16 points stay in registers; sums
of bytes are several times as fast as sums of floats.

Legend: n points X (n, d), m queries Q (m, d), k neighbors, found and points (m, k) the heaps of
`nearest`; d' is d rounded up to a multiple of 8.
"""

import numpy as np

from rosenblatt.loops import compiled, instruction
from rosenblatt.loops.llvm import address, call_function, constant, llvm_type, repeat
from rosenblatt.loops.simd import int32x8, lowest_bit, prefetch

from .nearest_loops import MANHATTAN, clear, distance_of, sift, sort_heap

POINTS, QUERIES = 16, 4  # of a tile
COLUMNS = 8  # that are read together
NEVER = -(2**30)  # less than any sum
MOST_OF_DIFFERENCES, MOST_OF_PRODUCTS = 127, 63  # the largest number in a byte
SELDOM = 32  # one point in this many may be measured
FIRST = 16  # times k additional points may be measured, because limits are wide at first
LOST = 2.0**-40  # rounding error of a number in a byte in doubles


@compiled
def quantize(X, center, step, metric, most, middle, bytes_, apart, squares):
    """Write rows (n, d) in bytes (n, d'), with the offset `middle`.

    apart (n,) gets the length of each rounding error, in steps; squares (n,) gets |x'|^2.
    """
    for i in range(X.shape[0]):
        far = 0.0
        total = 0
        for j in range(X.shape[1]):
            z = (X[i, j] - center[j]) / step
            z = min(max(z, -float(most)), float(most))
            whole_z = np.rint(z)
            off = abs(z - whole_z) + LOST
            far += off if metric == MANHATTAN else off * off
            code = np.int64(whole_z)
            total += code * code
            bytes_[i, j] = np.uint8(code + middle)
        apart[i] = far if metric == MANHATTAN else np.sqrt(far)
        squares[i] = total


@compiled
def nearest_quantized(
    X, panels, starts, Q, codes, sizes, apart, step, metric, start, stop, found, points, limits
):
    """Fill the heaps of queries start to stop; return False if too many points are measured.

    panels (n / 16, d' / 8, 2, 64) hold the points in the order of `add_products` and
    `less_differences`, codes (m, d') the queries, limits (m,) is scratch space. A point is skipped
    if its sum, which starts with starts (n,), is not above the limit of the query. The sum is
    x'.q' - |x'|^2 / 2 for products, and -|x' - q'| plus a bound on rounding for differences. sizes
    (m,) is |q'|^2, for products only; apart (m,) bounds the effect of rounding, in steps.
    """
    clear(found, points, start, stop)
    for i in range(start, stop):
        limits[i] = NEVER
    measured, allowed = 0, (stop - start) * found.shape[1] * FIRST
    at = 0
    for panel in range(panels.shape[0]):  # stays in the first-level cache
        for _ in range(POINTS):  # rows that may be measured soon
            prefetch(X, at)
            prefetch(X, at + 8)
            at += X.shape[1]
        for first in range(start, stop, QUERIES):
            measured += tile(
                X, panels, starts, Q, codes, sizes, apart, step, metric, panel, first, stop,
                found, points, limits,
            )  # fmt: skip
        allowed += (stop - start) * POINTS // SELDOM
        if measured > allowed:
            return False
    for i in range(start, stop):
        sort_heap(found[i], points[i])
    return True


@compiled(inline=True)
def tile(
    X, panels, starts, Q, codes, sizes, apart, step, metric, panel, first, stop,
    found, points, limits,
):  # fmt: skip
    """Add up bytes of 16 points for 4 queries; return how many had to be measured."""
    width = codes.shape[1]
    at, of = panel * width * POINTS, first * width
    a = b = c = e = int32x8.load(starts, panel * POINTS)
    f = g = h = i = int32x8.load(starts, panel * POINTS + 8)
    if metric == MANHATTAN:
        for _ in range(0, width, COLUMNS):
            a = less_differences(a, codes, of, panels, at)
            f = less_differences(f, codes, of, panels, at + 64)
            b = less_differences(b, codes, of + width, panels, at)
            g = less_differences(g, codes, of + width, panels, at + 64)
            c = less_differences(c, codes, of + 2 * width, panels, at)
            h = less_differences(h, codes, of + 2 * width, panels, at + 64)
            e = less_differences(e, codes, of + 3 * width, panels, at)
            i = less_differences(i, codes, of + 3 * width, panels, at + 64)
            at += 128
            of += 8
    else:
        for _ in range(0, width, COLUMNS):
            a = add_products(a, codes, of, panels, at)
            f = add_products(f, codes, of, panels, at + 64)
            b = add_products(b, codes, of + width, panels, at)
            g = add_products(g, codes, of + width, panels, at + 64)
            c = add_products(c, codes, of + 2 * width, panels, at)
            h = add_products(h, codes, of + 2 * width, panels, at + 64)
            e = add_products(e, codes, of + 3 * width, panels, at)
            i = add_products(i, codes, of + 3 * width, panels, at + 64)
            at += 128
            of += 8
    limit = int32x8.spread_from(limits, first)
    a, f = int32x8.subtract(limit, a), int32x8.subtract(limit, f)
    limit = int32x8.spread_from(limits, first + 1)
    b, g = int32x8.subtract(limit, b), int32x8.subtract(limit, g)
    limit = int32x8.spread_from(limits, first + 2)
    c, h = int32x8.subtract(limit, c), int32x8.subtract(limit, h)
    limit = int32x8.spread_from(limits, first + 3)
    e, i = int32x8.subtract(limit, e), int32x8.subtract(limit, i)
    of_two = int32x8.either(int32x8.either(a, f), int32x8.either(b, g))
    of_others = int32x8.either(int32x8.either(c, h), int32x8.either(e, i))
    if int32x8.negative(int32x8.either(of_two, of_others)) == 0:
        return 0
    measured, at = 0, panel * POINTS
    for q, near, next_near in (
        (first, int32x8.negative(a), int32x8.negative(f)),
        (first + 1, int32x8.negative(b), int32x8.negative(g)),
        (first + 2, int32x8.negative(c), int32x8.negative(h)),
        (first + 3, int32x8.negative(e), int32x8.negative(i)),
    ):
        near |= next_near << 8
        if near and q < stop:
            measured += measure(
                X, near, at, Q, sizes, apart, step, metric, q, found, points, limits
            )
    return measured


@compiled
def measure(X, near, first, Q, sizes, apart, step, metric, i, found, points, limits):
    """Put the points whose bits of `near` are set into the heap of query i; return their number."""
    measured = 0
    while near:
        point = first + lowest_bit(np.uint64(near))
        near &= near - 1
        if point >= X.shape[0]:
            break
        measured += 1
        distance = distance_of(X, point, Q, i, metric)
        if distance < found[i, 0]:
            sift(found[i], points[i], distance, point, found.shape[1])
            limits[i] = limit_of(found[i, 0], step, sizes[i], apart[i], metric)
    return measured


@compiled
def limit_of(farthest, step, size, apart, metric):
    """Return the sum above which a point may be nearer than the farthest of a heap."""
    if metric == MANHATTAN:
        reach = farthest / step + apart
        bound = -reach
    else:
        reach = np.sqrt(farthest) / step + apart
        bound = (size - reach * reach) / 2
    # Subtract rounding errors of doubles, and one for sums that were rounded to integers.
    return np.int32(max(np.floor(bound - 1e-9 * (abs(bound) + size)) - 1.0, float(NEVER)))


# Sums over the bytes of points and queries, as instructions of the processor.
#
# One AVX2 instruction multiplies 32 pairs of bytes and adds adjacent products, or adds groups of 8
# of 32 differences: four times as many as floats. Other processors need several instructions.


def has_avx2() -> bool:
    """Return whether Numba compiles for a processor with AVX2."""
    from numba.core.registry import cpu_target

    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return "+avx2" in features.split(",")


def _add_neighbors(builder, vector):
    """Return the sums of adjacent pairs of numbers."""
    n = vector.type.count // 2
    places = (llvm_type(f"int32x{n}")(list(range(first, 2 * n, 2))) for first in (0, 1))
    return builder.add(*(builder.shuffle_vector(vector, vector, some) for some in places))


def _differences(builder, q, x):
    """Return the sums (4,) of absolute differences of bytes, eight at a time."""
    if has_avx2():
        return call_function(builder, "llvm.x86.avx2.psad.bw", llvm_type("int64x4"), q, x)
    larger = builder.icmp_unsigned(">", q, x)
    sums = builder.select(larger, builder.sub(q, x), builder.sub(x, q))
    sums = builder.zext(sums, llvm_type("int16x32"))
    for _ in range(3):
        sums = _add_neighbors(builder, sums)
    return builder.zext(sums, llvm_type("int64x4"))


def _load_bytes(builder, points, at):
    """Return the bytes of 8 points in 8 columns, as two vectors."""
    places = (builder.add(at, llvm_type("int64")(offset)) for offset in (0, 32))
    return [
        builder.load(address(builder, points, p, llvm_type("int8x32")), align=1) for p in places
    ]


def _repeat_bytes(builder, queries, of, bits):
    """Return the bytes of an integer in an array, repeated to 32."""
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
    products, wide = [], llvm_type("int16x32")  # sums of adjacent pairs of products, in 16 bits
    for i, x in enumerate(_load_bytes(builder, points, at)):
        q = _repeat_bytes(builder, queries, builder.add(of, llvm_type("int64")(4 * i)), 32)
        if has_avx2():
            type_ = llvm_type("int16x16")
            pairs = call_function(builder, "llvm.x86.avx2.pmadd.ub.sw", type_, q, x)
        else:
            pairs = builder.mul(builder.zext(q, wide), builder.sext(x, wide))
            pairs = _add_neighbors(builder, pairs)
        products.append(pairs)
    pairs = builder.add(*products)
    if has_avx2():
        ones = constant(pairs.type, 1)
        pairs = call_function(builder, "llvm.x86.avx2.pmadd.wd", sums.type, pairs, ones)
    else:
        pairs = _add_neighbors(builder, builder.sext(pairs, llvm_type("int32x16")))
    return builder.add(sums, pairs)


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
