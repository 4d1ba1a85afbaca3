"""That a model is fitted, and to as many columns as the rows given have."""

from typing import Any


def check_fitted(model: Any, attribute: str) -> None:
    """Raise if a model lacks an attribute that its fit publishes."""
    if not hasattr(model, attribute):
        raise ValueError(f"This {type(model).__name__} is not fitted yet: call fit before certify.")


def check_columns(model: Any, X: Any) -> None:
    """Raise if the rows have more or fewer columns than those of the fit."""
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} columns, but the model has {model.n_features_in_}.")
