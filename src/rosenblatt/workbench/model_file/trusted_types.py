"""What a model file may hold: types listed here, by name, and nothing that the file claims.

A skops file is a tree of nodes; each names a type and the loader that makes it. Both are looked up
in tables that are made from this program alone, before anything is made.
"""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

# Packages of ours whose classes a model may be made of.
PACKAGES = (
    "discriminant_analysis",
    "kernels",
    "linear_model",
    "naive_bayes",
    "preprocessing",
    "statistics",
)
MODULES = tuple(
    f"rosenblatt.workbench.preparation.{name}" for name in ("splines", "column_parts", "features")
)

# Of other packages, one by one.
OBJECTS = (
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.dummy.DummyClassifier",
    "sklearn.dummy.DummyRegressor",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MaxAbsScaler",
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


@cache
def allowed() -> dict[str, frozenset[str]]:
    """For each loader of skops the types that it may make."""
    objects, tuples = _our_types()
    return {
        "ObjectNode": objects | set(OBJECTS),
        "TupleNode": tuples | {"builtins.tuple"},
        "DictNode": frozenset({"builtins.dict"}),
        "ListNode": frozenset({"builtins.list"}),
        "SetNode": frozenset({"builtins.set"}),
        "SliceNode": frozenset({"builtins.slice"}),
        "JsonNode": frozenset({"builtins.str"}),
        "TypeNode": frozenset(KEYS),
        "NdArrayNode": frozenset({"numpy.ndarray", *SCALARS}),
        "DTypeNode": frozenset({"numpy.dtype"}),
        "FunctionNode": frozenset(FUNCTIONS),
        "SparseMatrixNode": frozenset(MATRICES),
    }


def trusted_types() -> list[str]:
    """All of these types, as skops wants them."""
    return sorted(set().union(*allowed().values()))


def check_tree(schema: Any) -> None:
    """Raise unless every node of a file's tree is of an allowed type, by its own loader."""
    if not isinstance(schema, dict) or not _is_number(schema.get("protocol"), OLDEST_PROTOCOL):
        raise Untrusted("a form of skops that is not read here")
    for node in nodes_of(schema):
        if "__loader__" in node or "__class__" in node or "__module__" in node:
            _check_node(node)


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


def _check_node(node: dict[str, Any]) -> None:
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    loader = node.get("__loader__")
    if not isinstance(loader, str) or name not in allowed().get(loader, frozenset()):
        raise Untrusted(name)


def _is_number(value: Any, least: int) -> bool:
    return isinstance(value, int) and value >= least


def _our_types() -> tuple[frozenset[str], frozenset[str]]:
    """The names of our classes that models are made of: objects, and tuples with names."""
    objects: set[str] = set()
    tuples: set[str] = set()
    modules = _our_modules()
    for module in modules:
        for value in vars(import_module(module)).values():
            # A class may have moved, and be known to older files by where it was.
            if isinstance(value, type) and value.__module__ in modules:
                kind = tuples if issubclass(value, tuple) else objects
                kind.add(f"{module}.{value.__qualname__}")
    return frozenset(objects), frozenset(tuples)


def _our_modules() -> list[str]:
    names = list(MODULES)
    for package in PACKAGES:
        path = import_module(f"rosenblatt.{package}").__path__
        names += [found.name for found in pkgutil.iter_modules(path, f"rosenblatt.{package}.")]
    return names
