"""Small real tables that come with scikit-learn, by name."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# The name of each, and of the column to be predicted.
BUNDLED = {
    "iris": "species",
    "digits": "digit",
    "wine": "cultivar",
    "breast_cancer": "diagnosis",
    "diabetes": "progression",
}


def load(name: str) -> "pl.DataFrame":
    """A bundled table, labels in words where they have any."""
    import polars as pl
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    names = [str(column).replace(" (cm)", "").replace(" ", "_") for column in bunch.feature_names]
    frame = pl.DataFrame(bunch.data, schema=names)
    target = bunch.target
    if name in ("iris", "wine", "breast_cancer"):
        target = bunch.target_names[target]
    return frame.with_columns(pl.Series(BUNDLED[name], target.tolist()))
