"""Models by the names that people type, and their settings as people type them."""

import ast
from collections.abc import Iterable
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

import rosenblatt

from ..data.errors import did_you_mean
from .families import CLASSIFICATION, FAMILIES, REGRESSION, Family


def family_named(name: str) -> Family:
    """The family of a name, or of a class: "ridge regression", "Ridge".

    >>> family_named("gaussiannb").name
    'Gaussian naive Bayes'
    """
    known = named_families()
    for family in known:
        if name.lower() in (family.name.lower(), class_of(family).lower()):
            return family
    near = did_you_mean(name, [family.name for family in known])
    near = near or did_you_mean(name, filter(None, map(class_of, known)))
    raise ValueError(f"There is no model {name!r}.{near} `rosenblatt models` lists them.")


def named_families() -> list[Family]:
    """The contestants, and our other models of numbers, which are called by their class."""
    listed = {class_of(family) for family in FAMILIES}
    return FAMILIES + [
        _called_by_class(model) for model in _public_models() if model.__name__ not in listed
    ]


def class_of(family: Family) -> str:
    """The class of a family's models; nothing if they are pipelines."""
    model = family.make()
    return "" if isinstance(model, Pipeline) else type(model).__name__


def _public_models() -> Iterable[Any]:
    """Our classes of models that read numbers."""
    for name in rosenblatt.__all__:
        model = getattr(rosenblatt, name)
        if isinstance(model, type) and hasattr(model, "predict") and hasattr(model, "get_params"):
            try:
                made = model()
            except TypeError:  # a search, which needs to be told what to search
                continue
            if (is_classifier(made) or is_regressor(made)) and name != "CategoricalNB":
                yield model


def _called_by_class(model: Any) -> Family:
    task = CLASSIFICATION if is_classifier(model()) else REGRESSION
    when = model.__doc__.strip().splitlines()[0].rstrip(".")
    return Family(model.__name__, model, {}, task, "numbers", when)


def settings_of(family: Family, given: Iterable[str]) -> dict[str, Any]:
    """Parameters from words such as "alpha=0.1"; a value is a Python literal, or a word.

    >>> from rosenblatt.workbench.naming import family_named, settings_of
    >>> settings_of(family_named("lasso"), ["alpha=0.1", "selection=random"])
    {'alpha': 0.1, 'selection': 'random'}
    """
    return dict(_setting(family, word) for word in given)


def parameters_of(family: Family) -> dict[str, Any]:
    """The parameters that can be set, with their values if they are not."""
    model = family.make()
    found = model.get_params()
    if isinstance(model, Pipeline):  # those of its steps alone
        found = {name: value for name, value in found.items() if "__" in name}
    return {name: value for name, value in found.items() if name != "kinds"}


def _setting(family: Family, word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals:
        raise ValueError(f"A setting looks like alpha=0.1; got {word!r}.")
    known = parameters_of(family)
    short = [full for full in known if full.rpartition("__")[2] == name.strip()]
    if len(short) != 1:
        near = did_you_mean(name.strip(), [full.rpartition("__")[2] for full in known])
        every = f" It has {', '.join(known)}." if not near else ""
        raise ValueError(f"{family.name} has no parameter {name.strip()!r}.{near or every}")
    try:
        return short[0], ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        if text.strip().replace("-", "_").isidentifier():  # a word without quotes
            return short[0], text.strip()
        raise ValueError(
            f"{name.strip()} must be a number, a word, or a list of them; got {text!r}."
        ) from None
