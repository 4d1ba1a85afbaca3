"""Rules of few tests: their mistakes counted again, and all smaller rules tried again."""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, measured, weights_in_range, within
from .closed_form import ClassData
from .published_numbers import labels_of

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
MOST_RULES = 100_000  # that are tried again, at effort 1
EQUAL = 1e-9  # of the weight of all rows: less is no difference


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Ask the published tests again, of all rows."""
    weight = weights_in_range(weight)  # as our fits do
    data = ClassData(model, X, y, weight)
    tests = [np.asarray(getattr(model, f"test_{part}_")) for part in ("columns", "thresholds")]
    above = np.asarray(model.test_above_, bool)
    holds = (np.asarray(data.X, np.float64)[:, tests[0].astype(np.int64)] > tests[1]) == above
    terms, m = np.asarray(model.terms_, np.int64), int(model.m_)
    says = holds[:, terms].sum(axis=1) >= m
    wrong = says != (data.codes == 1)
    problem = f"{type(model).__name__}: {m} of {len(terms)} tests must hold"
    claims = [
        *error_claims(model, data, says, wrong),
        *size_claims(model, data, holds, wrong, effort),
    ]
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def error_claims(model: Any, data: ClassData, says: Booleans, wrong: Booleans) -> list[Claim]:
    """The mistakes of the rule, and that `predict` follows it."""
    n, errors = len(wrong), int(np.count_nonzero(wrong))
    told = data.places(labels_of(model, data.X))
    strange = int(np.count_nonzero((told == 1) != says))
    mistakes = float(data.weight[wrong].sum())
    off = abs(float(model.n_mistakes_) - mistakes)
    return [
        Claim("training error", f"{errors:,} of {n:,} rows are predicted wrongly", errors, None,
              True, "proved"),
        within("predictions", f"{n - strange:,} of {n:,} rows get the class of the rule", strange,
               0.0),
        within("mistakes", f"the mistakes weigh {mistakes:.6g}, as published", off,
               EQUAL * float(data.weight.sum())),
    ]  # fmt: skip


def size_claims(
    model: Any, data: ClassData, holds: Booleans, wrong: Booleans, effort: int
) -> list[Claim]:
    """That no rule of these tests makes fewer mistakes, and none as few with fewer tests."""
    L, size = holds.shape[1], len(model.terms_)
    least = float(data.weight[wrong].sum())
    most = size if least == 0 else max(int(model.max_terms), size)
    conjunctions = type(model).__name__ == "ConjunctionClassifier"
    n_rules = sum(comb(L, k) * (1 if conjunctions else max(k, 1)) for k in range(most + 1))
    if not model.exhaustive_ or n_rules > MOST_RULES * max(effort, 0.01):
        statement = f"{int(model.n_rules_):,} rules were tried; nothing is claimed of the others"
        return [measured("search", statement, int(model.n_rules_))]
    # Rows with equal answers are counted together.
    answers, group = np.unique(holds, axis=0, return_inverse=True)
    sums = np.bincount(2 * group.ravel() + data.codes, data.weight, 2 * len(answers))
    no, yes = sums.reshape(-1, 2).T
    slack = EQUAL * float(data.weight.sum())
    better, smaller = least, np.inf
    for k, says in _rules(answers, most, conjunctions):
        mistakes = float(yes[~says].sum() + no[says].sum())
        better = min(better, mistakes)
        if k < size:
            smaller = min(smaller, mistakes)
    excess = max(least - better, 0.0)
    fewest = f"of {n_rules:,} rules of at most {most} of {L} tests none makes fewer mistakes"
    claims = [within("fewest mistakes", fewest, excess, slack)]
    if size:
        statement = f"every rule of fewer tests than {size} has mistakes of at least {smaller:.6g}"
        holds_so = smaller > least + slack
        claims.append(Claim("smallest", statement, least, smaller, bool(holds_so), "checked"))
    return claims


def _rules(answers: Booleans, most: int, conjunctions: bool) -> Iterator[tuple[int, Booleans]]:
    """The size of every rule, and where (groups,) it holds."""
    for k in range(most + 1):
        for terms in combinations(range(answers.shape[1]), k):
            held = answers[:, list(terms)].sum(axis=1)
            for m in [k] if conjunctions or not k else range(1, k + 1):
                yield k, held >= m
