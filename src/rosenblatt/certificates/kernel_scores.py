"""Whether a kernel machine answers with the numbers that it publishes.

`predict` may read copies: scikit-learn's reads `_dual_coef_` and `_intercept_`. So the scores that
a model gives to the rows are compared with those of `dual_coef_` and `intercept_`.
"""

import warnings
from itertools import combinations
from typing import Any

import numpy as np

from .claims import Claim, within
from .kernel_supports import Supports
from .rounded_matrix import Floats

NEAR, NEAR_IN_32_BITS = 1e-6, 1e-3  # of the size of a score's terms


def scores_claim(model: Any, X: Any, supports: Supports) -> Claim:
    """That the model's own scores are those of the published numbers."""
    coef, pairs = _by_machine(model, supports)
    found, sizes, _ = supports.terms(np.arange(supports.X.shape[0]), supports.places, coef)
    allowed = (NEAR_IN_32_BITS if supports.single else NEAR) * (sizes + np.abs(supports.intercept))
    values = found + supports.intercept
    if pairs and getattr(model, "decision_function_shape", "ovr") == "ovr":
        values, allowed = _votes(values, allowed, len(model.classes_))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = getattr(model, "decision_function", model.predict)(X)
        own = np.asarray(answer, np.float64).reshape(values.shape)
        apart = np.abs(own - values)
    except Exception as error:  # whatever it is: a model that cannot answer is not as published
        statement = f"the model refuses the rows given: {error}"
        return Claim("scores", statement, np.inf, 0.0, False, "checked")
    apart = np.where(np.isnan(apart), np.inf, apart)
    worst = np.unravel_index(np.argmax(apart - allowed), apart.shape)
    statement = (
        "the model's scores differ from those of the published numbers by "
        f"{float(apart[worst]):.2g} at most"
    )
    return within("scores", statement, float(apart[worst]), float(allowed[worst]) + 1e-300)


def _by_machine(model: Any, supports: Supports) -> tuple[Floats, bool]:
    """Coefficients (s, m) of the supports in each machine; whether these are pairs of classes."""
    K = len(getattr(model, "classes_", ()))
    if K <= 2 or getattr(model, "multi_class", "ovo") != "ovo":
        return supports.coef.T, False
    of_class = np.repeat(np.arange(K), model.n_support_)
    found = [
        np.where(of_class == i, supports.coef[j - 1], np.where(of_class == j, supports.coef[i], 0))
        for i, j in combinations(range(K), 2)
    ]
    return np.stack(found, axis=1), True


def _votes(pairs: Floats, allowed: Floats, K: int) -> tuple[Floats, Floats]:
    """The votes (n, K) of pairs, and below one what decides between equal ones."""
    votes, sums = np.zeros((len(pairs), K)), np.zeros((len(pairs), K))
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        first = pairs[:, p] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
        sums[:, i] += pairs[:, p]
        sums[:, j] -= pairs[:, p]
    undecided = (np.abs(pairs) <= allowed).any(axis=1)
    blur = np.where(undecided, np.inf, allowed.sum(axis=1))
    return votes + sums / (3 * (np.abs(sums) + 1)), np.repeat(blur[:, np.newaxis], K, axis=1)
