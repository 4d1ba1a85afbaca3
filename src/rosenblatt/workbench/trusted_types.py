"""What a model file may hold: types listed here, by name, and nothing that the file claims.

A skops file is a tree of nodes; each names a type and the loader that makes it. Both are looked up
in tables that are made from this program alone, before anything is made.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from rosenblatt.registry import FILE_TYPES

# Types of the preparation; the registry has the rest of our types.
PREPARATION = tuple(
    f"workbench.{name}"
    for name in (
        *("column_parts.Categories", "column_parts.Dates", "column_parts.Numbers"),
        *("column_parts.Gaps", "column_parts.Levels", "column_parts.Terms"),
        "column_parts.Truth",
        *("features.DenseRows", "features.TableColumns", "features.TableFeatures"),
        "splines.Bends",
    )
)

# Of other packages, one by one.
OBJECTS = (
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.dummy.DummyClassifier",
    "sklearn.dummy.DummyRegressor",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._label.LabelEncoder",
    "sklearn.preprocessing._polynomial.PolynomialFeatures",
    "sklearn.preprocessing._polynomial.SplineTransformer",
)
SCALARS = tuple(
    f"numpy.{name}" for name in ("bool", "bool_", "float32", "float64", "int32", "int64", "str_")
)
# Of which the keys of a dict may be: classes are words, or numbers.
KEYS = ("builtins.bool", "builtins.float", "builtins.int", "builtins.str", *SCALARS)
# What B-splines make arrays with: kept by them as an attribute, not called on the way in.
FUNCTIONS = ("scipy._lib.array_api_compat.numpy._aliases.asarray",)
MATRICES = ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix")

OLDEST_PROTOCOL = 2  # of skops: older ones choose older loaders


class Untrusted(ValueError):
    """A file holds what no model of ours is made of."""


# For each loader of skops the types of others that it may make.
ALLOWED = {
    "ObjectNode": OBJECTS,
    "TupleNode": ("builtins.tuple",),
    "DictNode": ("builtins.dict", "sklearn.utils._bunch.Bunch"),
    "ListNode": ("builtins.list",),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "JsonNode": ("builtins.str",),
    "TypeNode": KEYS,
    "NdArrayNode": ("numpy.ndarray", *SCALARS),
    "DTypeNode": ("numpy.dtype",),
    "FunctionNode": FUNCTIONS,
    "SparseMatrixNode": MATRICES,
}


def trusted_types() -> list[str]:
    """All of these types and of our own, as skops wants them."""
    return sorted(our_types().union(*ALLOWED.values()))


def may_make(loader: Any, name: str) -> bool:
    """Whether a loader of skops may make a type: of ours, tuples with names or objects."""
    if name not in our_types():
        return isinstance(loader, str) and name in ALLOWED.get(loader, ())
    module, _, kind = name.rpartition(".")
    # Only what a file holds is imported: all families take longer than a prediction.
    is_tuple = issubclass(getattr(import_module(module), kind), tuple)
    return bool(loader == ("TupleNode" if is_tuple else "ObjectNode"))


@cache
def our_types() -> frozenset[str]:
    """The names of our classes that models are made of."""
    return frozenset(f"rosenblatt.{name}" for name in (*FILE_TYPES, *PREPARATION))


def check_tree(schema: Any) -> None:
    """Raise unless every node of a file's tree is of an allowed type, by its own loader."""
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if not isinstance(protocol, int) or protocol < OLDEST_PROTOCOL:
        raise Untrusted("a form of skops that is not read here")
    for node in nodes_of(schema):
        if "__loader__" in node or "__class__" in node or "__module__" in node:
            name = _type_of(node)
            if not may_make(node.get("__loader__"), name):
                raise Untrusted(name)


def nodes_of(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of a file's tree, however deep it lies."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            yield node


def _type_of(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"
