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
