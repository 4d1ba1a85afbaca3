"""The models, their parameters and when to use them, for a terminal and a page."""

import ast
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from rosenblatt.data.errors import did_you_mean
from rosenblatt.registry import ROWS
from rosenblatt.registry.row import Row

from .families import CLASSIFICATION, FAMILIES, REGRESSION, Family

TITLES = {CLASSIFICATION: "Classification", REGRESSION: "Regression"}
TAKES = {
    "numbers": "standardized numbers; one-hot encoded categories",
    "counts": "counts; one-hot encoded categories; word counts of texts",
    "columns": "numbers; one-hot encoded categories",
    "codes": "numbers and missing values; ordinal codes of categories",
    "levels": "numbers, categories and missing values, but not texts",
    "table": "numbers, categories and missing values",
}
WIDTH = 96


def models_text() -> str:
    """A list of all models for a terminal."""
    lines = []
    for task, title in TITLES.items():
        lines += ["", title, ""]
        for family in (family for family in FAMILIES if family.task == task):
            lines += _entry(family)
        others = [family.name for family in called_by_class() if family.task == task]
        lines += textwrap.wrap(
            f"Not tried by `compare`: {', '.join(others)}.", WIDTH, initial_indent="  "
        )
    return "\n".join([*lines[1:], "", "`rosenblatt models NAME` prints all parameters of a model."])


def model_text(family: Family) -> str:
    """All parameters of one model, with their defaults, for a terminal."""
    kind = class_of(family)
    head = family.name if kind in ("", family.name) else f"{family.name} ({kind})"
    lines = [f"{head}: {family.task}", f"  when: {family.when}", f"  input: {TAKES[family.takes]}"]
    if family.grid:
        lines.append(f"  compare tries: {tried_settings(family)}")
    lines.append("  parameters and defaults:")
    lines += [f"    {name}={value!r}" for name, value in sorted(parameters_of(family).items())]
    return "\n".join(lines)


def _entry(family: Family) -> list[str]:
    kind = class_of(family)
    head = f"  {family.name}" + (f" ({kind})" if kind else "")
    tried = [f"      {tried_settings(family)}"] if family.grid else []
    return [head, f"      {family.when}", *tried]


def tried_settings(family: Family) -> str:
    """The settings that `compare` tries, such as "alpha = 0.1, 1"."""
    texts = {
        name: [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
        for name, values in family.grid.items()
    }
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in texts.items())


# Models by the names that people type, and their settings as people type them.


def family_named(name: str, task: str | None = None) -> Family:
    """The family of a name, of a class, or of a short name: "ridge regression", "Ridge", "lda".

    A name that is used for both tasks means the family of the given one.

    >>> family_named("gaussiannb").name, family_named("LDA").name
    ('Gaussian naive Bayes', 'linear discriminant analysis')
    >>> family_named("rf").name, family_named("rf", "regression").name
    ('random forest', 'random forest regression')
    """
    found = families_named(name)
    return next((family for family in found if family.task == task), found[0])


def families_named(name: str) -> list[Family]:
    """All families of a name: of trees there is one for each task."""
    known = named_families()
    found = [family for family in known if goes_by(family, name)]
    if found:
        return found
    near = meant_elsewhere(name) or did_you_mean(name, [family.name for family in known])
    near = near or did_you_mean(name, filter(None, map(class_of, known)))
    some = "logistic regression, Gaussian naive Bayes or ridge regression"
    near = near or f" There are {len(known)}, such as {some}."
    raise ValueError(f"There is no model {name!r}.{near} `rosenblatt models` lists them.")


# What models of other libraries, and of other textbooks, are called here.
ELSEWHERE = {
    r"xgb|lgbm|lightgbm|catboost|gbm|gbdt|gradientboost": "gradient boosting",
    r"linearregression|linearmodel|^lm$": "least squares",
    r"logit|maxent|softmaxregression|sgdclass": "logistic regression",
    r"^svm|supportvector|linearsv": "support vector machine or linear support vector machine",
    r"knn|kneighbo|nearestneighbo": "nearest neighbors",
    r"naivebayes": "Gaussian naive Bayes or mixed naive Bayes",
    r"randomforest|baggedtrees": "random forest",
}
# What no command can fit, and what to do instead.
NOT_HERE = {
    r"mlp|neural|network|deep": "There are no neural networks here: on tables gradient boosting is "
    "most often the best.",
    r"^vot(e|ing)": "A vote is made of other models: VotingClassifier takes them in Python, and "
    "`compare` tries a vote of the best.",
    r"kmeans|cluster|linkage|mixture|gmm|dbscan|optics": "To find groups of rows, without a column "
    "to predict, use `rosenblatt cluster`.",
}


def meant_elsewhere(name: str) -> str:
    """A hint at what stands here for a model that has another name elsewhere; empty if none does.

    >>> meant_elsewhere("CatBoost")
    ' Did you mean gradient boosting?'
    """
    bare = re.sub(r"[^a-z]", "", name.lower())
    hints = {pattern: f"Did you mean {here}?" for pattern, here in ELSEWHERE.items()} | NOT_HERE
    found = (hint for pattern, hint in hints.items() if re.search(pattern, bare))
    return next((f" {hint}" for hint in found), "")


def goes_by(family: Family, name: str) -> bool:
    """Whether a family has this name, for short, too, or is just models of this class.

    Blanks, hyphens and capitals do not count.

    >>> goes_by(family_named("KernelRidge"), "kernel ridge")
    True
    """
    word = _bare(name)
    names = family.name, class_of(family), *family.short_names
    return bool(word) and word in map(_bare, names)


def _bare(name: str) -> str:
    """The letters and digits of a name."""
    return re.sub(r"[\W_]", "", name.lower())


def named_families() -> list[Family]:
    """The contestants, and our other models of numbers, which are called by their class."""
    return FAMILIES + called_by_class()


def called_by_class() -> list[Family]:
    """The models of numbers that `compare` does not try."""
    return [
        _called_by_class(row)
        for row in ROWS
        if row.task in TITLES
        and not (row.compare or row.needs_arguments or "categorical" in row.inputs)
    ]


def class_of(family: Family) -> str:
    """The class of a family's models; nothing if something stands before them."""
    return "" if family.before is not None else type(family.make()).__name__


def _called_by_class(row: Row) -> Family:
    model = row.estimator
    when = (model.__doc__ or "").strip().splitlines()[0].rstrip(".")
    takes = "columns" if row.home == "tree" else "numbers"  # thresholds as people read them
    both_tasks = re.sub(r"(Classifier|Regressor)$", "", row.name).lower()  # "bagging"
    return Family(row.name, model, {}, row.task, takes, when, short_names=(both_tasks,))


# Numbers that Python has no literal for: inf, -Infinity, np.inf, nan.
ENDLESS = re.compile(r"([+-]?)(?:np\.|numpy\.|math\.)?(inf|infinity|nan)", re.IGNORECASE)


def settings_of(family: Family, given: Iterable[str]) -> dict[str, Any]:
    """Parameters from words such as "alpha=0.1" or "C=1,tol=0.01".

    A value is a Python literal, inf, nan or a word; a comma before a name and "=" begins the next.
    """
    words = [word for some in given for word in re.split(r",(?=\s*[A-Za-z_]\w*\s*=)", some)]
    return dict(_setting(family, word) for word in words)


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
    if number := ENDLESS.fullmatch(text.strip()):
        return name, float(number[1] + number[2])
    try:
        return name, ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        if text.strip().replace("-", "_").isidentifier():  # a word without quotes
            return name, text.strip()
        raise ValueError(
            f"{name} must be a number, a word, or a list of them; got {text!r}."
        ) from None
