"""The registry: one row per public estimator, at the end of the estimator's module.

Public names, `certify`, `compare`, types of model files, `warm`, the contract and peer tests,
`docs/choosing.md` and `docs/api.md` follow from the rows. `python tools/from_registry.py` writes
`index.py`, the facts that are needed before a model is imported, and the other derived files.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

import lazy_loader  # type: ignore[import-untyped]

from .index import CERTIFICATES, ESTIMATORS, FILE_TYPES

if TYPE_CHECKING:
    from .row import Row

    ROWS: tuple[Row, ...]

__all__ = [
    "CERTIFICATES",
    "ESTIMATORS",
    "FILE_TYPES",
    "MODULES",
    "ROWS",
    "attach",
    "homes",
    "row_of",
    "rows",
]

# Public names that are not estimators, by the module that holds them.
OTHER_NAMES = {
    "certificates": ("Certificate", "Claim", "certify"),
    "cluster": (
        "ClusterNumber",
        "ClusterQuality",
        "choose_k",
        "cluster_quality",
        "kmeans_plusplus",
    ),
    "explanation": ("Explanation", "explain"),
    "linear_model": ("enet_path", "lasso_path", "ridge_path"),
    "model_selection": (
        "BiasVariance",
        "SealedTest",
        "bias_variance",
        "cross_val_score",
        "cross_validate",
        "train_dev_test_split",
    ),
    "separation": ("Separability", "separability"),
    "spam": ("SpamFilter",),
    "trace": ("Trace",),
    "workbench": (
        "Clustering",
        "Comparison",
        "cluster_table",
        "compare",
        "load_model",
        "save_model",
    ),
}

# Public modules, available as `rosenblatt.losses` without an import of their own.
MODULES = (
    "certificates",
    "cluster",
    "data",
    "decomposition",
    "discriminant_analysis",
    "distributed",
    "ensemble",
    "estimation",
    "feature_extraction",
    "information",
    "kernel_ridge",
    "kernels",
    "linear_model",
    "losses",
    "mixture",
    "model_selection",
    "naive_bayes",
    "neighbors",
    "plot",
    "preprocessing",
    "separation",
    "spam",
    "statistics",
    "svm",
    "threads",
    "trace",
    "tree",
    "workbench",
)

_one_at_a_time = RLock()


def homes() -> dict[str, list[str]]:
    """Return the public names of each module, both in order.

    >>> homes()["preprocessing"]
    ['BasisExpansion', 'Discretizer', 'Standardizer']
    """
    found = {module: list(names) for module, names in OTHER_NAMES.items()}
    for name, module in ESTIMATORS.items():
        found.setdefault(module.partition(".")[0], []).append(name)
    return {module: sorted(found[module]) for module in sorted(found)}


def attach(
    package: str, others: dict[str, list[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that imports its names lazily.

    The names are the estimators of the package and `others`, by the module that defines them.
    """
    names = {module: list(some) for module, some in (others or {}).items()}
    own = package.partition(".")[2] + "."
    for name, module in ESTIMATORS.items():
        if module.startswith(own):
            names.setdefault(module.removeprefix(own), []).append(name)
    found: tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]
    found = lazy_loader.attach(package, submod_attrs=names)
    return found


def one_at_a_time(attribute: Callable[[str], Any], names: list[str]) -> Callable[[str], Any]:
    """Return a `__getattr__` that imports `names` one at a time.

    Threads that enter a cycle of imports at different modules would see some half imported. Modules
    of the package do not import these names, since they hold an import lock while they load.
    """

    def getattr_one_at_a_time(name: str) -> Any:
        if name not in names:
            return attribute(name)
        with _one_at_a_time:
            return attribute(name)

    return getattr_one_at_a_time


def row_of(name: str) -> "Row":
    """Return the row of a class; this imports its module.

    >>> row_of("Ridge").page
    'regression.md'
    """
    return next(row for row in _rows_in(ESTIMATORS[name]) if row.name == name)


@cache
def rows() -> tuple["Row", ...]:
    """Return the rows of all public estimators, by name; this imports all models."""
    return tuple(row_of(name) for name in ESTIMATORS)


def _rows_in(module: str) -> tuple["Row", ...]:
    found = import_module(f"rosenblatt.{module}")
    return found.ROWS if hasattr(found, "ROWS") else (found.ROW,)


def __getattr__(name: str) -> Any:
    if name == "ROWS":
        return rows()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
