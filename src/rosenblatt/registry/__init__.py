"""The registry: one row per public estimator, and the public names beside them.

Public names, `certify`, `compare`, trusted types of model files, `warm`, the contract tests,
`docs/choosing.md` and `docs/api.md` read it and keep no list of their own. It is plain data and
imports nothing, so that every part of the house may read it.

To add an estimator, add its row to the file of its family. ``python tools/from_registry.py`` then
writes the files that are derived from the rows; `tests/contract/test_registry.py` reports every
cell that is missing or wrong.
"""

from . import (
    clustering,
    decomposition,
    discriminant_analysis,
    ensembles,
    gradient_boosting,
    kernels,
    linear_classifiers,
    linkage,
    naive_bayes,
    neighbors,
    preprocessing,
    regression,
    rules,
    svm,
    text,
    trees,
)
from .row import INPUTS, TASKS, Contestant, Contract, Row, Warm, Without

__all__ = [
    "INPUTS",
    "MODULES",
    "ROWS",
    "TASKS",
    "Contestant",
    "Contract",
    "Row",
    "Warm",
    "Without",
    "homes",
    "row_of",
    "verifiers",
]

# In the order in which `compare` tries them.
ROWS: tuple[Row, ...] = (
    *naive_bayes.ROWS,
    *discriminant_analysis.ROWS,
    *neighbors.ROWS,
    *gradient_boosting.ROWS,  # before what takes long: it is what to try first
    *linear_classifiers.ROWS,
    *svm.ROWS,
    *kernels.ROWS,
    *regression.ROWS,
    *trees.ROWS,
    *rules.ROWS,
    *ensembles.ROWS,
    *decomposition.ROWS,
    *preprocessing.ROWS,
    *clustering.ROWS,
    *linkage.ROWS,
    *text.ROWS,
)

# Public names that are no estimators, by the module that holds them.
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

# Public modules, reached as `rosenblatt.losses` without an import of their own.
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


def homes() -> dict[str, list[str]]:
    """The public names that each module holds, both in order.

    >>> homes()["preprocessing"]
    ['BasisExpansion', 'Discretizer', 'Standardizer']
    """
    found = {module: list(names) for module, names in OTHER_NAMES.items()}
    for row in ROWS:
        found.setdefault(row.home, []).append(row.name)
    return {module: sorted(found[module]) for module in sorted(found)}


def row_of(name: str) -> Row:
    """The row of a class.

    >>> row_of("Ridge").page
    'regression.md'
    """
    return next(row for row in ROWS if row.name == name)


def verifiers() -> dict[tuple[str, str], str]:
    """The certificate module of each class that can be certified, by its top package and name.

    >>> verifiers()["sklearn", "Ridge"]
    'linear_regression'
    """
    found = {}
    for row in ROWS:
        if row.verifier:
            found["rosenblatt", row.name] = row.verifier
            found.update({("sklearn", name): row.verifier for name in row.sklearn or ()})
    return found
