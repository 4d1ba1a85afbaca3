"""Bias and variance: how much of an error is the model's, and how much the luck of the sample.

Models are fitted to bootstrap samples, and each row is predicted by those that did not see it.
Legend: t a target, f a prediction, F the mean prediction of a row over its models. For squared loss
``mean (t - f)^2 = (t - F)^2 + mean (f - F)^2`` in every row, without remainder.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from rosenblatt.base import warn

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """An error and what it is made of, as means over the rows.

    Attributes
    ----------
    error : mean loss of models that did not see the row.
    bias : loss of the models' common answer (mean, or most frequent class). In a regression this is
        the squared bias, and the noise of the targets with it, unless the truth was given.
    variance : loss of single models against their common answer.
    noise : squared distance of the targets from the truth; None if that was not given.
    luck : what noise and bias have in common on these rows, ``error - bias - noise - variance``;
        zero on average over all targets that there might have been. None without the truth.
    addends : what adds up to the error, by name.
    loss : "squared", or "zero-one", where a model that strays from a wrong common answer may be
        right, so that error is bias plus variance on rows with a right one, less the variance that
        helps on the others.
    n_models : how many models were fitted.
    row_error, row_bias, row_variance : the same for each row (n,); NaN where a row was in every
        sample.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from rosenblatt import bias_variance
    >>> parts = bias_variance(DummyRegressor(), [[0], [1], [2], [3]], [0, 0, 2, 2], random_state=0)
    >>> parts.loss, parts.variance < parts.bias
    ('squared', True)
    """

    error: float
    bias: float
    variance: float
    noise: float | None
    loss: str
    n_models: int
    row_error: Floats
    row_bias: Floats
    row_variance: Floats

    @property
    def luck(self) -> float | None:
        """What is left of the error without bias, noise and variance."""
        if self.noise is None:
            return None
        return self.error - self.bias - self.noise - self.variance

    @property
    def addends(self) -> dict[str, float]:
        """What adds up to the error, by name.

        Of a zero-one loss variance hurts where models stray from a right common answer, and helps
        where they stray from a wrong one to the right one.
        """
        if self.loss == "zero-one":
            seen = np.isfinite(self.row_error)
            wrong = self.row_bias[seen] == 1
            hurts = np.where(wrong, 0.0, self.row_variance[seen])
            helps = np.where(wrong, 1 - self.row_error[seen], 0.0)
            return {
                "bias": self.bias,
                "variance that hurts": float(np.mean(hurts)),
                "variance that helps": -float(np.mean(helps)),
            }
        if self.noise is None or self.luck is None:
            return {"bias^2 and noise": self.bias, "variance": self.variance}
        return {
            "noise": self.noise,
            "bias^2": self.bias,
            "luck of the noise": self.luck,
            "variance": self.variance,
        }

    def __str__(self) -> str:
        noise = ""
        if self.luck is not None:
            noise = f", noise {self.noise:.4g}, luck of the noise {self.luck:.4g}"
        name = "bias" if self.loss != "squared" else "bias^2" if noise else "bias^2 and noise"
        sum_ = ""
        if self.loss == "zero-one":
            _, hurts, helps = self.addends.values()
            sum_ = (
                f"; error = bias + {hurts:.4g} (models that stray from a right answer) - "
                f"{-helps:.4g} (that stray from a wrong one to the right one)"
            )
        return (
            f"{self.loss} error {self.error:.4g}: {name} {self.bias:.4g}{noise}, "
            f"variance {self.variance:.4g} ({self.n_models} models){sum_}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the means in plain JSON types."""
        return {
            "error": self.error,
            "bias": self.bias,
            "variance": self.variance,
            "noise": self.noise,
            "luck": self.luck,
            "loss": self.loss,
            "n_models": self.n_models,
        }


def bias_variance(
    model: Any,
    X: Any,
    y: Any,
    *,
    truth: Any = None,
    n_models: int = 100,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> BiasVariance:
    """Take a model's error apart into bias and variance, by bootstrap.

    Each of `n_models` copies is fitted to as many rows as there are, drawn with replacement, and
    predicts the rows that were not drawn, about 37 in 100.

    Parameters
    ----------
    model : a regressor (squared loss) or a classifier (zero-one loss).
    X : the rows, shape (n, d).
    y : their targets or labels, shape (n,).
    truth : targets without noise, shape (n,), where they are known, as in a simulation; the noise
        is then told apart from the bias.
    n_models : how many bootstrap samples.
    n_jobs : how many are fitted at a time.
    random_state : int, RandomState instance or None
        Decides the samples.

    Returns
    -------
    parts : BiasVariance
        Print it, or draw it with `rosenblatt.plot.bias_variance`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from rosenblatt import bias_variance
    >>> x = np.linspace(0, 3, 60)[:, np.newaxis]
    >>> line = bias_variance(LinearRegression(), x, np.sin(2 * x[:, 0]), random_state=0)
    >>> line.bias > 10 * line.variance
    True
    >>> bool(np.isclose(line.error, line.bias + line.variance))
    True
    """
    if n_models < 2:
        raise ValueError(f"n_models must be 2 or more to speak of variance; got {n_models}.")
    y = np.asarray(y)
    n = _num_samples(X)
    if y.shape != (n,):
        raise ValueError(f"y must have one value per row of X, shape ({n},); got {y.shape}.")
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_models)
    found = Parallel(n_jobs=n_jobs)(delayed(_heard)(model, X, y, seed) for seed in seeds)
    answers = [answer for answer, _ in found]
    _sum_up([said for _, said in found])
    if is_classifier(model):
        if truth is not None:
            raise ValueError("truth is for regression: the labels of a classifier have no noise.")
        return _zero_one(y, answers)
    return _squared(np.asarray(y, np.float64), truth, answers)


Said = list[tuple[type[Warning], str]]  # the warnings of one fit


def _heard(model: Any, X: Any, y: NDArray[Any], seed: int) -> tuple[Any, Said]:
    """What one model answers, and what it warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answers = _answers(model, X, y, seed)
    return answers, [(w.category, str(w.message)) for w in said]


def _sum_up(said: list[Said]) -> None:
    """Say once for each kind of warning how many models gave it, and what the first said."""
    for kind in dict.fromkeys(kind for each in said for kind, _ in each):
        fits = [[text for other, text in each if other is kind] for each in said]
        texts = [each[0] for each in fits if each]
        warn(f"In {len(texts)} of {len(said)} fits: {texts[0]}", kind)


def _answers(model: Any, X: Any, y: NDArray[Any], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows left out of one bootstrap sample, and what a model of it predicts for them."""
    n = len(y)
    drawn = np.random.RandomState(seed).randint(n, size=n)
    left = np.setdiff1d(np.arange(n), drawn)
    fitted = clone(model).fit(_safe_indexing(X, drawn), y[drawn])
    predicted = fitted.predict(_safe_indexing(X, left)) if len(left) else y[:0]
    return left, np.asarray(predicted)


def _squared(t: Floats, truth: Any, answers: list[Any]) -> BiasVariance:
    """Means and squares of the predictions of each row."""
    n = len(t)
    count, total = np.zeros(n), np.zeros(n)
    for left, f in answers:
        count[left] += 1
        total[left] += f
    with np.errstate(invalid="ignore"):
        F = total / count
    scatter = np.zeros(n)
    for left, f in answers:
        scatter[left] += (f - F[left]) ** 2
    with np.errstate(invalid="ignore"):
        variance = scatter / count
    true = t if truth is None else np.asarray(truth, np.float64)
    if true.shape != t.shape:
        raise ValueError(f"truth must have one value per row, {t.shape}; got {true.shape}.")
    bias, error = (true - F) ** 2, (t - F) ** 2 + variance
    noise = None if truth is None else float(np.mean((t - true)[count > 0] ** 2))
    return _means(error, bias, variance, noise, "squared", len(answers))


def _zero_one(y: NDArray[Any], answers: list[Any]) -> BiasVariance:
    """Votes of the models for each row."""
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((len(y), len(classes)))
    for left, labels in answers:
        votes[left, np.searchsorted(classes, labels)] += 1
    count = votes.sum(axis=1)
    rows = np.arange(len(y))
    main = votes.argmax(axis=1)
    with np.errstate(invalid="ignore"):
        error = 1 - votes[rows, codes] / count
        variance = 1 - votes[rows, main] / count
    bias = np.where(count > 0, (main != codes).astype(float), np.nan)
    return _means(error, bias, variance, None, "zero-one", len(answers))


def _means(
    error: Floats, bias: Floats, variance: Floats, noise: float | None, loss: str, n_models: int
) -> BiasVariance:
    """The means over rows that some model did not see."""
    seen = np.isfinite(error)
    if not seen.any():
        raise ValueError("No row was left out of a sample: use more rows or a larger n_models.")
    return BiasVariance(
        float(error[seen].mean()), float(bias[seen].mean()), float(variance[seen].mean()),
        noise, loss, n_models, error, bias, variance,
    )  # fmt: skip
