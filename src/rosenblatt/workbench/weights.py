"""What a model learned, by the names of columns: the weights of a line, the tests of a tree."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from .features import TableFeatures
from .splines import Bends

MOST_WEIGHTS = 215  # that a report shows
WITHIN = "\0"  # for a space within the name of a column, while there are others


def names_of_matrix(n: int) -> list[str]:
    """What columns without names are called: x1, x2, ..., as LIBSVM counts them."""
    return [f"x{j + 1}" for j in range(n)]


def weights_of(model: Pipeline) -> tuple[list[tuple[str, float]], int]:
    """The heaviest features of a linear model, and how many there are; none of another model."""
    last = model.steps[-1][1]
    coef = _weights_of_words(model)
    coef = getattr(last, "coef_", None) if coef is None else coef
    if coef is None:
        return [], 0
    coef = np.atleast_2d(np.asarray(coef))
    names = _names(model, coef.shape[1])
    if coef.shape[1] != len(names):
        return [], 0
    coef, names = _not_bent(model, coef, names)
    labels = [""] if len(coef) == 1 else [f" [{label}]" for label in last.classes_]
    heaviest = np.argsort(-np.abs(coef), axis=None, kind="stable")[:MOST_WEIGHTS]
    places = list(zip(*np.unravel_index(heaviest, coef.shape), strict=True))
    return [(f"{names[j]}{labels[k]}", float(coef[k, j])) for k, j in places], coef.size


def _weights_of_words(model: Pipeline) -> Any:
    """What one more of a word adds to the score of a class in naive Bayes; None of other models.

    That of two classes is for the second beside the first, that of more beside their mean.
    """
    last = model.steps[-1][1]
    if not _reads_texts(model.steps[0][1]):
        return None
    logs = getattr(last, "feature_log_prob_", None)
    if logs is None:
        return None
    logs = logs - getattr(last, "feature_log_absent_", 0.0)  # where a word is, it is not missing
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean(axis=0)


def has_no_weight(model: Pipeline | None) -> bool:
    """Whether all weights of a linear model are zero, so that it says the same of every row."""
    coef = getattr(model.steps[-1][1], "coef_", None) if model is not None else None
    return coef is not None and not np.any(coef)


def note_on_weights(model: Pipeline) -> str:
    """What the weights are of, or why there are none."""
    last = model.steps[-1][1]
    if has_no_weight(model):
        same = "the same" if hasattr(last, "classes_") else "the mean"
        return f"It learned nothing: all its weights are zero, and it predicts {same} of every row."
    if hasattr(last, "dual_coef_"):
        n = np.atleast_2d(last.dual_coef_).shape[1]
        how = f", gamma = {last.gamma_:.3g}" if getattr(last, "gamma_", None) else ""
        kernel = last.kernel if isinstance(last.kernel, str) else "own"
        return (
            f"It learned a weight for each of {n:,} rows, not of columns: a new row is judged by "
            f"how like it is to these (kernel {kernel}{how})."
        )
    if isinstance(expansion := model.named_steps.get("expansion"), Nystroem):
        return (
            f"It learned weights for {len(expansion.components_):,} rows, the landmarks, not of "
            "columns: a new row is judged by how like it is to these (a Gaussian kernel)."
        )
    if isinstance(expansion, Bends):
        straight = (
            " Columns of few values have a weight each; categories are columns of zeros and ones."
        )
        return (
            "Each curve is what a column adds to the prediction, beside a row that has its mean. "
            "Beyond the least and the greatest value learned from it goes straight on, as steep as "
            "it is there, and nothing was seen that bears it out."
            + straight
            * bool(weights_of(model)[0])
        )
    if not weights_of(model)[0]:
        return (
            "It has no single weight for each column."
            + " The command explain says what each adds for one row." * hasattr(last, "explain")
        )
    if _weights_of_words(model) is not None:
        beside = "the other" if len(last.classes_) == 2 else "their mean"
        return (
            f"What each adds to the score of a class where it occurs, beside {beside}."
            f"{_in_favour(last)}"
        )
    if isinstance(model.steps[0][1], TableFeatures):
        scaled = " Words have their tf-idf: rare ones count for more, texts have length one."
        words = scaled * _reads_texts(model.steps[0][1])
        return (
            "Weights of columns that are centred and in units of their deviation; categories are "
            f"columns of zeros and ones.{words}{_in_favour(last)}"
        )
    return f"Weights of columns in units of their largest value, counted from 1.{_in_favour(last)}"


def _reads_texts(first: Any) -> bool:
    return isinstance(first, TableFeatures) and "text" in first.kinds.values()


def _in_favour(model: Any) -> str:
    """What the sign of a weight says where one weight tells two classes apart."""
    classes: Any = getattr(model, "classes_", ())
    if len(classes) != 2 or len(np.atleast_2d(getattr(model, "coef_", 0.0))) != 1:
        return ""
    return f" What is above zero speaks for {classes[1]}, what is below for {classes[0]}."


def _not_bent(model: Pipeline, coef: Any, names: Any) -> tuple[Any, Any]:
    """The weights of features that are no part of a curve, which is shown instead."""
    expansion = model.named_steps.get("expansion")
    if not isinstance(expansion, Bends):
        return coef, names
    straight = ~np.isin(expansion.source_columns(), expansion.bent_)
    return coef[:, straight], np.asarray(names)[straight]


def _names(model: Pipeline, n: int) -> Any:
    first = model.steps[0][1]
    if not isinstance(first, TableFeatures):
        return names_of_matrix(n)
    names = first.get_feature_names_out()
    expansion = model.named_steps.get("expansion")
    if expansion is None:
        return names
    if isinstance(expansion, Nystroem):
        return []  # its features are rows
    try:
        if isinstance(expansion, Bends):
            return expansion.get_feature_names_out(names)
        return _of_products(expansion, names)
    except (AttributeError, ValueError):  # an expansion that names nothing
        return []


def _of_products(expansion: Any, names: Any) -> list[str]:
    """Names of features as they are read: of a and b, "a × b" for "a b", and "a²" for "a^2"."""
    # What is between two columns is a space, and so is what is within the name of one.
    whole = [name.replace(" ", WITHIN) for name in names]
    found = expansion.get_feature_names_out(whole)
    factors = ([re.sub(r"\^2$", "²", factor) for factor in name.split(" ")] for name in found)
    return [" × ".join(parts).replace(WITHIN, " ") for parts in factors]


# A tree in words.


MOST_LEVELS, MOST_LINES = 6, 40
OF_ZEROS_AND_ONES = re.compile(r"^((?:\|   )*)(.*) (<=|>) 0\.5(?=:|$)", re.MULTILINE)


def tree_in_words(model: Pipeline) -> str:
    """The tests of a tree as indented lines, as many levels as can be read; of no tree, nothing."""
    last = model[-1]
    if not hasattr(last, "to_text"):
        return ""
    names = list(_names(model, last.n_features_in_))
    texts = [last.to_text(names, max_depth=depth) for depth in range(MOST_LEVELS, 0, -1)]
    text = next((text for text in texts if text.count("\n") < MOST_LINES), texts[-1])
    return with_plain_marks(model, text)


def rule_in_words(model: Pipeline) -> str:
    """A rule of few tests as a sentence; of any other model, nothing."""
    last = model[-1]
    if not hasattr(last, "tests_in_words"):
        return ""
    return str(last.to_text(list(_names(model, last.n_features_in_))))


def with_plain_marks(model: Pipeline, text: str) -> str:
    """Lines of tests, those of columns of zeros and ones as "town = Rome" or "not town = Rome"."""
    first = model[0]
    parts = first.parts_ if isinstance(first, TableFeatures) else ()
    marks = {name for part in parts for name in part.names()} - {part.name for part in parts}
    return OF_ZEROS_AND_ONES.sub(lambda found: _as_yes_or_no(found, marks), text)


def _as_yes_or_no(found: re.Match[str], marks: Collection[str]) -> str:
    """ "town = Rome <= 0.5" as "not: town = Rome", if that is a column of zeros and ones."""
    indent, name, sign = found.groups()
    if name not in marks:
        return found.group()
    return f"{indent}{name}" if sign == ">" else f"{indent}not {name}"
