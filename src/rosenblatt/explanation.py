"""Explanations of predictions: contributions of features that add up to the score."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

MOST_SHOWN = 12


@dataclass(frozen=True, repr=False)
class Explanation:
    """The log-odds of one class against another for one example, feature by feature.

    ``start + contributions.sum()`` is `log_odds`, up to the order of the sum. For models without
    probabilities it is how far one score is ahead of the other.

    Attributes
    ----------
    winner, rival : the two classes; of a number that is predicted, its name and None.
    log_odds : log P(winner | x) - log P(rival | x), or the lead of the winner's score.
    start : log-odds of the prior, or the lead at the center of the data.
    contributions : contribution of each feature, shape (d,).
    names : of the features.
    words : labels of `start` and `log_odds` in the table.
    path : of a tree, the tests on the way of the row and the leaf; of a rule, its tests and which
        of them hold; empty of other models.

    Examples
    --------
    >>> from rosenblatt import GaussianNB
    >>> model = GaussianNB().fit([[0.0, 1.0], [1.0, 0.0], [5.0, 1.0], [6.0, 0.0]], [0, 0, 1, 1])
    >>> explanation = model.explain([5.0, 0.5])
    >>> explanation.winner, explanation.contributions.round(3)
    (np.int64(1), array([40.,  0.]))
    """

    winner: Any
    rival: Any
    log_odds: float
    start: float
    contributions: NDArray[np.float64]
    names: tuple[str, ...]
    words: tuple[str, str] = ("prior", "log-odds")
    path: tuple[str, ...] = ()

    @staticmethod
    def of(
        model: Any,
        winner: int,
        rival: int,
        start: float,
        contributions: NDArray[np.float64],
        feature_names: Any = None,
        words: tuple[str, str] = ("prior", "log-odds"),
    ) -> "Explanation":
        """Return the explanation with the names of classes and features."""
        return Explanation(
            winner=model.classes_[winner],
            rival=model.classes_[rival],
            log_odds=start + float(contributions.sum()),
            start=start,
            contributions=contributions,
            names=names_of_features(model, len(contributions), feature_names),
            words=words,
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return a table, the largest contributions first, without zeros."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        order = order[self.contributions[order] != 0]
        shown, left = order[:MOST_SHOWN], order[MOST_SHOWN:]
        lines = [(self.words[0], self.start)]
        lines += [(self.names[j], float(self.contributions[j])) for j in shown]
        if len(left):
            others = "1 other" if len(left) == 1 else f"{len(left)} others"
            lines.append((others, float(self.contributions[left].sum())))
        lines.append((self.words[1], self.log_odds))
        width = max(len(name) for name, _ in lines)
        table = [f"  {name:<{width}}  {value:+.4g}" for name, value in lines]
        path = ["because", *(f"  {line}" for line in self.path)] if self.path else []
        return "\n".join([self._head, *table, *path])

    @property
    def _head(self) -> str:
        return str(self.winner) + ("" if self.rival is None else f" rather than {self.rival}")


@dataclass(frozen=True, repr=False)
class TextExplanation(Explanation):
    """An explanation of one text that marks its words.

    ``start + sum of the marks' contributions + rest`` is `log_odds`.

    Attributes
    ----------
    text : the text, as it was given.
    marks : start, stop and contribution of each word of the text that the model knows; a word that
        stands there twice has half of its contribution at each place.
    rest : contribution of words that the text lacks.
    """

    text: str = ""
    marks: tuple[tuple[int, int, float], ...] = ()
    rest: float = 0.0

    def marked(self) -> str:
        """Return the classes, and the text with the contribution of each term after it.

        A term that begins before the last one ends, such as one of two words, is named.
        """
        parts, at = [f"{self._head}\n"], 0
        for start, stop, value in sorted(self.marks, key=lambda mark: (mark[1], -mark[0])):
            term = f"{self.text[start:stop]} " if start < at else ""
            parts.append(f"{self.text[at:stop]} [{term}{value:+.2f}]")
            at = stop
        return "".join([*parts, self.text[at:]])

    def _repr_html_(self) -> str:
        """Return the text with colored words: blue for the winner, red for the rival."""
        most = max((abs(value) for _, _, value in self.marks if np.isfinite(value)), default=1.0)
        parts, at = [], 0
        for start, stop, value in self.marks:
            share = min(abs(value) / (most or 1.0), 1.0)
            color = f"rgba({'31,119,180' if value > 0 else '214,39,40'},{0.6 * share:.2f})"
            word = escape(self.text[max(start, at) : stop])
            parts.append(escape(self.text[at : max(start, at)]))
            parts.append(f'<span style="background:{color}" title="{value:+.4g}">{word}</span>')
            at = max(stop, at)
        head = escape(f"{self._head}: {self.words[1]} {self.log_odds:+.4g}")
        return f"<p><b>{head}</b></p><p>{''.join(parts)}{escape(self.text[at:])}</p>"


def explain(model: Any, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
    """Return what each feature of one example adds to the decision of a model or pipeline.

    A `Pipeline` is explained in terms of the output of its last transformer, with its names. Linear
    models without a method `explain`, also those of scikit-learn, are explained by their weights:
    the intercept and ``coef_ * x`` add up to the log-odds of logistic regression, else to the lead
    of the score, or to the prediction.

    Parameters
    ----------
    model : estimator
        A fitted model with a method `explain` or weights `coef_`, a `Pipeline` that ends in one,
        or a search for the best of either.
    x : array-like of shape (d,) or (1, d), Series, or str
        The example; a text as it is.
    rival : label or None
        The class to compare with; the second best if None.
    feature_names : array-like of shape (d,) or None
        Names of the features; by default those of the last transformer or the data.

    Returns
    -------
    explanation : Explanation
        Its parts add up to the log-odds, or to the lead of the score. Of a text, if the pipeline
        begins with a vectorizer of ours, a `TextExplanation`, which marks the words.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import CountVectorizer, MultinomialNB, explain
    >>> texts, labels = ["win cash now", "win now", "see you now"], ["spam", "spam", "ham"]
    >>> model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels)
    >>> print(explain(model, "win now"))
    spam rather than ham
      prior     +0.6931
      win       +0.8755
      now       +0.1823
      log-odds  +1.751
    >>> print(explain(model, "Win now!").marked())
    spam rather than ham
    Win [+0.88] now [+0.18]!
    """
    model = getattr(model, "best_estimator_", model)
    reads_text = isinstance(model, Pipeline) and hasattr(model.steps[0][1], "spans")
    text = x if isinstance(x, str) and reads_text else None
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not hasattr(last, "explain") and not hasattr(last, "coef_"):
        raise TypeError(
            "explain takes a fitted model with a method explain, such as GaussianNB, or with "
            f"weights coef_, or a Pipeline that ends in one; got {type(last).__name__}."
        )
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        check_is_fitted(last)
        transformers, x = model[:-1], as_row(model, x)
        x = transformers.transform(x)
        if feature_names is None:
            feature_names = _names_out(transformers)
    if hasattr(last, "explain"):
        explained: Explanation = last.explain(x, rival, feature_names)
    else:
        X = one_row(last, x, lambda X: X if hasattr(X, "shape") else np.asarray(X))
        explained = explain_weights(last, X, rival, feature_names)
    if text is None:
        return explained
    place = {name: j for j, name in enumerate(explained.names)}
    spans = _spans(model, text, len(explained.names))
    known = [(start, stop, place[name]) for start, stop, name in spans if name in place]
    n_times = Counter(j for _, _, j in known)
    marks = tuple((a, b, float(explained.contributions[j]) / n_times[j]) for a, b, j in known)
    rest = float(np.delete(explained.contributions, list(n_times)).sum())
    return TextExplanation(**vars(explained), text=text, marks=marks, rest=rest)


def explain_weights(model: Any, X: Any, rival: Any, feature_names: Any) -> Explanation:
    """Return the contributions of the features of a row X (1, d) to the score of a linear model."""
    classifies = hasattr(model, "classes_")
    scores = np.ravel(model.decision_function(X) if classifies else model.predict(X))
    x = np.ravel(X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    coef, intercept = np.atleast_2d(coef.astype(np.float64)), np.ravel(model.intercept_)
    intercept = np.broadcast_to(intercept, len(coef))
    unit = np.finfo(scores.dtype if scores.dtype.kind == "f" else float).eps
    is_sum = coef.shape == (len(scores), len(x))
    if is_sum:
        error = np.abs((coef * x).sum(axis=1) + intercept - scores)
        sizes = np.abs(coef * x).sum(axis=1) + np.abs(intercept)
        is_sum = (error <= (len(x) + 4) * 4 * unit * sizes).all()
    if not is_sum:
        raise TypeError(
            f"The score of this {type(model).__name__} is not a sum over features, by coef_ and "
            "intercept_: explain has no parts that add up to it."
        )
    names = names_of_features(model, len(x), feature_names)
    if not classifies:
        start, parts = float(intercept[0]), coef[0] * x
        prediction = start + float(parts.sum())
        return Explanation(
            "prediction", None, prediction, start, parts, names, ("intercept", "prediction")
        )
    if len(scores) == 1:  # two classes share a plane
        coef, intercept = np.vstack([0 * coef, coef]), np.append(0.0, intercept)
        scores = np.append(0.0, scores)
    first, second = two_classes(np.asarray(model.classes_), scores, rival)
    start, parts = float(intercept[first] - intercept[second]), (coef[first] - coef[second]) * x
    word = "log-odds" if type(model).__name__.startswith("LogisticRegression") else "lead"
    return Explanation.of(model, first, second, start, parts, feature_names, ("intercept", word))


def _spans(model: Pipeline, text: str, d: int) -> list[tuple[int, int, str]]:
    """Return start, stop and feature name of the terms of a pipeline's vectorizer in a text."""
    vectorizer, spans = model.steps[0][1], model.steps[0][1].spans(text)
    if hasattr(vectorizer, "get_feature_names_out"):
        names = vectorizer.get_feature_names_out()
        return [(start, stop, str(names[j])) for start, stop, j in spans]
    # Hashes have no names: the places of their columns after all selections.
    place = np.arange(vectorizer.n_features)
    for _, step in model.steps[1:-1]:
        if hasattr(step, "get_support"):
            kept = step.get_support()
            place = np.where((place >= 0) & kept[place], (np.cumsum(kept) - 1)[place], -1)
    if place.max() + 1 != d:  # the features are others, such as sums of columns
        return []
    return [(start, stop, f"x{place[j] + 1}") for start, stop, j in spans if place[j] >= 0]


def _names_out(transformers: Pipeline) -> Any:
    """Return the output names of transformers; None if there are no names."""
    try:
        return transformers.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def names_of_features(model: Any, d: int, given: Any = None) -> tuple[str, ...]:
    """Return the names of features: the given ones, those of the model, or x1, x2, ..."""
    names = getattr(model, "feature_names_in_", None) if given is None else given
    if names is None:
        return tuple(f"x{j + 1}" for j in range(d))
    if len(names) != d:
        raise ValueError(f"feature_names must be {d} names, one a feature; got {len(names)}.")
    return tuple(str(name) for name in names)


def as_row(model: Any, x: Any) -> Any:
    """Return one example, (d,) or (1, d), as a table (1, d), with names if the model has names."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a data frame
        if hasattr(model, "feature_names_in_"):
            return x.to_frame().T.infer_objects()
        x = x.to_numpy()
    # A data frame may hold what no one array can, such as numbers and dates.
    is_table = hasattr(x, "columns") or hasattr(x, "toarray") or np.ndim(x) == 2
    return x if is_table else [x]


def one_row(model: Any, x: Any, check: Callable[[Any], Any]) -> Any:
    """Return one example as a checked table (1, d)."""
    X = check(as_row(model, x))
    if X.shape[0] != 1:
        raise ValueError(f"x must be one example; got {X.shape[0]} rows.")
    return X


def two_classes(classes: NDArray[Any], scores: NDArray[Any], rival: Any = None) -> tuple[int, int]:
    """Return the index of the class with the highest score (K,), and of its rival or the second."""
    if len(classes) < 2:
        raise ValueError("There is nothing to explain: the model knows one class only.")
    order = np.argsort(-scores, kind="stable")
    winner, second = int(order[0]), int(order[1])
    if rival is not None:
        found = np.flatnonzero(classes == rival)
        if not len(found) or found[0] == winner:
            raise ValueError(
                f"rival must be a class other than the predicted {classes[winner]!r}; "
                f"got {rival!r}."
            )
        second = int(found[0])
    return winner, second
