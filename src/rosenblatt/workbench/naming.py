"""Models by the names that people type, and their settings as people type them."""

import ast
from collections.abc import Iterable
from typing import Any

from sklearn.base import is_classifier, is_regressor

import rosenblatt
from rosenblatt.data.errors import did_you_mean

from .families import CLASSIFICATION, FAMILIES, REGRESSION, Family

# What people call some families for short.
SHORT_NAMES = {
    "lda": "linear discriminant analysis",
    "qda": "quadratic discriminant analysis",
    "nb": "Gaussian naive Bayes",
    "logreg": "logistic regression",
    "ols": "least squares",
}


def family_named(name: str) -> Family:
    """The family of a name, of a class, or of a short name: "ridge regression", "Ridge", "lda".

    >>> family_named("gaussiannb").name, family_named("LDA").name
    ('Gaussian naive Bayes', 'linear discriminant analysis')
    """
    known = named_families()
    for family in known:
        if goes_by(family, name):
            return family
    near = did_you_mean(name, [family.name for family in known])
    near = near or did_you_mean(name, filter(None, map(class_of, known)))
    some = "logistic regression, Gaussian naive Bayes or ridge regression"
    near = near or f" There are {len(known)}, such as {some}."
    raise ValueError(f"There is no model {name!r}.{near} `rosenblatt models` lists them.")


def goes_by(family: Family, name: str) -> bool:
    """Whether a family has this name, for short, too, or is just models of this class."""
    word = name.lower()
    known = (family.name.lower(), class_of(family).lower())
    return bool(word) and (word in known or SHORT_NAMES.get(word) == family.name)


def named_families() -> list[Family]:
    """The contestants, and our other models of numbers, which are called by their class."""
    listed = {class_of(family) for family in FAMILIES}
    return FAMILIES + [
        _called_by_class(model) for model in _public_models() if model.__name__ not in listed
    ]


def class_of(family: Family) -> str:
    """The class of a family's models; nothing if something stands before them."""
    return "" if family.before is not None else type(family.make()).__name__


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
    found = family.make().get_params()
    return {name: value for name, value in found.items() if name != "kinds"}


def _setting(family: Family, word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals:
        raise ValueError(f"A setting looks like alpha=0.1; got {word!r}.")
    known = parameters_of(family)
    name = name.strip()
    if name not in known:
        near = did_you_mean(name, known)
        every = f" It has {', '.join(known)}." if not near else ""
        raise ValueError(f"{family.name} has no parameter {name!r}.{near or every}")
    try:
        return name, ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        if text.strip().replace("-", "_").isidentifier():  # a word without quotes
            return name, text.strip()
        raise ValueError(
            f"{name} must be a number, a word, or a list of them; got {text!r}."
        ) from None
