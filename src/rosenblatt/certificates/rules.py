"""Rules of few tests: their mistakes counted again, and all smaller rules tried again."""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, measured, weights_in_range, within
from .closed_form import ClassData
from .fitted_attributes import labels_of

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
MOST_RULES = 100_000  # that are tried again, at effort 1
MOST_PRODUCTS = 4_000_000_000  # of answers, for that
ROWS_AT_ONCE = 4_096
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
    answers, yes, no = _grouped(data, holds)
    prefixes = [terms for k in range(max(most - 1, 1)) for terms in combinations(range(L), k)]
    work = len(prefixes) * len(answers) * L**2
    if not model.exhaustive_ or n_rules > MOST_RULES * max(effort, 0.01) or work > MOST_PRODUCTS:
        statement = f"{int(model.n_rules_):,} rules were tried; nothing is claimed of the others"
        return [measured("search", statement, int(model.n_rules_))]
    slack = EQUAL * float(data.weight.sum())
    better, smaller = least, np.inf
    sums = ConjunctionSums(answers, no - yes, prefixes)
    for k, held in _rules(sums, L, most, conjunctions):
        mistakes = float(yes.sum()) + held
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


def _grouped(data: ClassData, holds: Booleans) -> tuple[Booleans, Floats, Floats]:
    """Answers (g, L), and the weight of rows with each that are to be yes and no.

    Rows with equal answers are counted together, where the answers fit into one number.
    """
    yes = np.where(data.codes == 1, data.weight, 0.0)
    if holds.shape[1] > 62:
        return holds, yes, data.weight - yes
    number = holds @ (1 << np.arange(holds.shape[1], dtype=np.int64))
    _, first, group = np.unique(number, return_index=True, return_inverse=True)
    no = np.asarray(np.bincount(group, data.weight - yes), np.float64)
    return holds[first], np.asarray(np.bincount(group, yes), np.float64), no


class ConjunctionSums:
    """The sum of v (g,) over the rows where all of some tests hold.

    For each prefix all pairs of further tests are summed at once: products of columns of answers.
    """

    def __init__(self, answers: Booleans, v: Floats, prefixes: list[tuple[int, ...]]) -> None:
        L = answers.shape[1]
        self.place = {terms: i for i, terms in enumerate(prefixes)}
        self.total, self.pairs = float(v.sum()), np.zeros((len(prefixes), L, L))
        for first in range(0, len(v), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            ones = answers[some].astype(np.float64)
            for terms, i in self.place.items():
                held = v[some] * ones[:, list(terms)].all(axis=1)
                self.pairs[i] += (ones * held[:, np.newaxis]).T @ ones

    def of(self, terms: tuple[int, ...]) -> float:
        """The sum where all of these tests hold."""
        if len(terms) < 2:
            return float(self.pairs[0, terms[0], terms[0]]) if terms else self.total
        return float(self.pairs[self.place[terms[:-2]], terms[-2], terms[-1]])

    def at_least(self, m: int, terms: tuple[int, ...]) -> float:
        """The sum where m of these tests hold or more: inclusion and exclusion."""
        total = 0.0
        for j in range(m, len(terms) + 1):
            part = sum(self.of(some) for some in combinations(terms, j))
            total += (-1) ** (j - m) * comb(j - 1, max(m - 1, 0)) * part
        return total


def _rules(
    sums: ConjunctionSums, L: int, most: int, conjunctions: bool
) -> Iterator[tuple[int, float]]:
    """The size of every rule, and the sum where it holds."""
    for k in range(most + 1):
        for terms in combinations(range(L), k):
            yield k, sums.of(terms)
            for m in [] if conjunctions else range(1, k):
                yield k, sums.at_least(m, terms)
