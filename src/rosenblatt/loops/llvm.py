"""Types and calls for functions that build LLVM code; llvmlite is imported when they run."""

import re


def llvm_type(name):
    """Return the LLVM type with a name such as int64 or float64x4."""
    from llvmlite import ir

    if vector := re.fullmatch(r"(\w+)x(\d+)", name):
        return ir.VectorType(llvm_type(vector[1]), int(vector[2]))
    others = {"float64": ir.DoubleType(), "float32": ir.FloatType(), "void": ir.VoidType()}
    return others.get(name) or ir.IntType(int(name.removeprefix("int")))


def call_function(builder, name, result, *arguments):
    """Call an intrinsic of LLVM."""
    from llvmlite import ir
    from numba.core import cgutils

    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def address(builder, array, place, kind):
    """Return a pointer to a place of an array, for loads of a type."""
    return builder.bitcast(builder.gep(array, [place]), kind.as_pointer())


def constant(kind, value):
    """Return a vector of one number."""
    return kind([value] * kind.count)


def repeat(builder, number, n):
    """Return a vector of a number that is known when the loop runs."""
    from llvmlite import ir

    vector = ir.Constant(ir.VectorType(number.type, n), ir.Undefined)
    vector = builder.insert_element(vector, number, llvm_type("int32")(0))
    return builder.shuffle_vector(vector, vector, constant(llvm_type(f"int32x{n}"), 0))


def bits_of(builder, mask):
    """Return the elements of a mask as the bits of one integer."""
    return builder.bitcast(mask, llvm_type(f"int{mask.type.count}"))
