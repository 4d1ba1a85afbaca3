"""Naive Bayes with a tree of features: the counts again, the best tree, and the probabilities.

Legend: N (K, m_i, m_j) the weight of each pair of values of features i and j in each class. With
fixed counts the likelihood of a tree is a constant plus n times the information of its edges, so
that no other tree makes the rows more probable than one whose edges sum to the largest total.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .category_counts import (
    MISSING,
    CategoryTable,
    categories_claims,
    check_one_each,
    distinct,
    is_missing,
    parameter_claims,
    places_of,
    table_of,
    without_fractions,
)
from .claims import Certificate, Claim
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agree_in_logs,
    agrees,
    class_counts_claim,
    log_shares,
    prior_claims,
    shortfall,
    size_claim,
    smoothed,
    sums_to_one,
)
from .fitted_attributes import Scores, decision_claims

ROUNDING = 1e-9
WIDEST, MOST_VALUES = 6, 2_000  # of features on average, of all together: counted by products
ROWS_AT_ONCE = 4_096

Places = NDArray[np.intp]


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Recount pairs of values, and compare what they imply with what was published."""
    data = ClassData(model, X, y, weight)
    d = data.X.shape[1]
    parents = np.asarray(model.parents_)
    _check_attributes(model, d, parents)
    known = model.categories_
    places = [places_of(without_fractions(data.X[:, j]), known[j], len(known[j])) for j in range(d)]
    plain = [
        table_of(data, places[j], np.asarray(model.feature_log_prob_[j]), float(model.alpha))
        for j in range(d)
    ]
    widths = [len(values) for values in known]
    joint = [_joint(data, places, j, i, widths) for j, i in enumerate(parents.tolist())]
    information = _information(data, places, widths)
    claims = [
        *_decisions(model, data, places, plain),
        class_counts_claim(model, data),
        *_named(model, data),
        *prior_claims(model, data.counts),
        *parameter_claims(plain, " without a parent"),
        *_conditional(model, joint),
        *_tree(model, parents, information),
        _likelihood(model, joint, tol),
        *size_claim(model, sum(N[..., 1:].size for N in joint)),
    ]
    problem = "the tree of features, and its probabilities, that make the rows most probable"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def _check_attributes(model: Any, d: int, parents: NDArray[Any]) -> None:
    """Raise unless there is a table and a parent for each feature."""
    check_one_each(
        d,
        categories_=model.categories_,
        parents_=parents,
        feature_log_prob_=model.feature_log_prob_,
        conditional_log_prob_=model.conditional_log_prob_,
    )
    widths, K = [len(values) for values in model.categories_], len(model.classes_)
    if not all(isinstance(i, int) and -1 <= i < d for i in parents.tolist()):
        raise ValueError(f"parents_ must be features from 0 to {d - 1}, or -1; got {parents}.")
    for j, i in enumerate(parents.tolist()):
        plain = (K, widths[j])
        given = plain if i < 0 else (K, widths[i], widths[j])
        for name, shape in (("feature_log_prob_", plain), ("conditional_log_prob_", given)):
            found = np.shape(getattr(model, name)[j])
            if found != shape:
                raise ValueError(f"{name} of feature {j} must have shape {shape}; got {found}.")


def _named(model: Any, data: ClassData) -> list[Claim]:
    """That the categories are those of the rows; numbers are those that were seen, too."""
    as_words = [np.asarray(values).astype(str) for values in model.categories_]
    words_data = object.__new__(ClassData)
    words_data.X = words_data.given = _words_of(data.X)
    if data.given is not data.X:
        words_data.given = _words_of(data.given)
    return categories_claims(model, words_data, as_words, [len(values) for values in as_words])


def _words_of(X: Any) -> NDArray[Any]:
    """The distinct values of each column as words, one below the other; None fills it up."""
    columns = [
        [None if is_missing(v) else _word(v) for v in dict.fromkeys(distinct(column))]
        for column in (without_fractions(X[:, j]) for j in range(X.shape[1]))
    ]
    table = np.full((max(map(len, columns), default=0), len(columns)), None, object)
    for j, words in enumerate(columns):
        table[: len(words), j] = words
    return table


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and np.isfinite(value) else str(value)


def _joint(data: ClassData, places: list[Places], j: int, i: int, widths: list[int]) -> Floats:
    """The weight (K, m_i, m_j) of the pairs of values of a feature and its parent."""
    above = np.zeros(len(data.codes), np.intp) if i < 0 else places[i]
    n_above = 1 if i < 0 else widths[i]
    shape = (len(data.classes), n_above, widths[j])
    cell = (data.codes * n_above + above) * widths[j] + places[j]
    both = (above != MISSING) & (places[j] != MISSING)
    weight = data.weight
    if not both.all():
        cell, weight = cell[both], weight[both]
    return np.asarray(np.bincount(cell, weight, int(np.prod(shape))), np.float64).reshape(shape)


def _information(data: ClassData, places: list[Places], widths: list[int]) -> Floats:
    """I(x_i; x_j | y) in bits, (d, d)."""
    d = len(places)
    found, tables = np.zeros((d, d)), _all_joint(data, places, widths)
    start = np.cumsum([0, *widths])
    for i in range(d):
        for j in range(i):
            N = (
                _joint(data, places, j, i, widths) if tables is None
                else tables[:, start[i] : start[i + 1], start[j] : start[j + 1]]
            )  # fmt: skip
            n = N.sum(axis=(1, 2), keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log2(N * n) - np.log2(N.sum(1, keepdims=True) * N.sum(2, keepdims=True))
            bits = (N * np.where(N > 0, logs, 0.0)).sum() / max(N.sum(), 1e-300)
            found[i, j] = found[j, i] = max(bits, 0.0)
    return found


def _all_joint(data: ClassData, places: list[Places], widths: list[int]) -> Floats | None:
    """The weights (K, m, m) of all pairs of values at once: products of columns of zeros and ones.

    None where features have so many values that counting pair by pair takes less time.
    """
    m = sum(widths)
    if m > WIDEST * len(widths) or m > MOST_VALUES:
        return None
    found, start = np.zeros((len(data.classes), m, m)), np.cumsum([0, *widths])
    # The column of each value, row after row; one more, m, has what is missing.
    cells = np.column_stack(
        [np.where(p == MISSING, m, s + p) for s, p in zip(start[:-1], places, strict=True)]
    )
    for k, members in enumerate(data.members):
        for first in range(0, len(members), ROWS_AT_ONCE):
            rows = members[first : first + ROWS_AT_ONCE]
            w = data.weight[rows]
            ones = np.zeros((len(rows), m + 1), np.float32 if (w == 1).all() else np.float64)
            np.put_along_axis(ones, cells[rows], 1.0, axis=1)
            ones = ones[:, :m]  # in float32 the counts of so few rows are exact
            found[k] += ones.T @ (ones if ones.dtype == np.float32 else ones * w[:, np.newaxis])
    return found


def _tree(model: Any, parents: NDArray[Any], information: Floats) -> list[Claim]:
    """That the parents form a tree, and that no tree has more information on its edges."""
    d = len(parents)
    loose = 0
    for j in range(d):
        seen, at = set(), j
        while at >= 0 and at not in seen:
            seen.add(at)
            at = int(parents[at]) if parents[at] < d else -2
        loose += at != -1
    roots = int((parents == -1).sum())
    whole = loose == 0 and roots == (1 if d else 0)
    statement = f"{d - loose} of {d} features lead from parent to parent to {roots} root"
    claims = [Claim("tree", statement, loose + abs(roots - 1), 0.0, whole, "proved")]
    inside = [(j, int(i)) for j, i in enumerate(parents) if 0 <= i < d]
    own, best = sum(information[edge] for edge in inside), _most(information)
    gap = max(0.0, best - own)
    statement = f"the edges carry {own:.4g} bits, within {gap:.2g} of the most that a tree can"
    bound = ROUNDING * max(1.0, best)
    claims.append(Claim("information", statement, gap, bound, gap <= bound, "checked"))
    scale = np.full(information.shape, max(1.0, float(information.max(initial=0))))
    what = "the information of pairs of features"
    return [*claims, agrees("pairs", what, model.information_, information, scale)]


def _most(weights: Floats) -> float:
    """The largest sum of the edges of a tree: Kruskal's rule, the widest edges first."""
    d = len(weights)
    group, total = list(range(d)), 0.0
    edges = sorted(((weights[i, j], i, j) for i in range(d) for j in range(i)), reverse=True)
    for weight, i, j in edges:
        mine, other = group[i], group[j]
        if mine != other:
            group = [mine if g == other else g for g in group]
            total += weight
    return total


def _conditional(model: Any, joint: list[Floats]) -> list[Claim]:
    """That the probabilities given a parent are those of the pairs, and sum to one."""
    published = [np.asarray(logs, np.float64) for logs in model.conditional_log_prob_]
    derived = [log_shares(smoothed(N, float(model.alpha))).ravel() for N in joint]
    q = np.concatenate([logs.ravel() for logs in published])
    sums = np.concatenate([np.exp(logs).sum(axis=-1).ravel() for logs in published])
    what = "the log-probabilities given a parent"
    return [
        agree_in_logs("conditional", what, q, np.concatenate(derived)),
        sums_to_one("the probabilities given a parent", np.log(sums)[:, np.newaxis]),
    ]


def _likelihood(model: Any, joint: list[Floats], tol: float) -> Claim:
    """By how much the smoothed log-likelihood of this tree is below its maximum."""
    gap = scale = 0.0
    for logs, N in zip(model.conditional_log_prob_, joint, strict=True):
        log_q = np.asarray(logs, np.float64).reshape(N.shape)
        table = smoothed(N, float(model.alpha))
        log_p = log_shares(table)
        with np.errstate(invalid="ignore", over="ignore"):
            terms = np.where(table > 0, table * np.where(table > 0, log_p - log_q, 0.0), 0.0)
        gap += max(0.0, float(terms.sum()))
        gap += (table.size + 64) * EPS * float(np.abs(terms).sum() + table.sum())
        scale += float(table.sum())
    return shortfall("smoothed log-likelihood", gap, max(scale, 1e-300), tol)


def _decisions(
    model: Any, data: ClassData, places: list[Places], plain: list[CategoryTable]
) -> list[Claim]:
    """That the model decides by the published numbers."""
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    total = np.zeros((len(data.codes), len(log_prior))) + log_prior
    sizes = np.zeros_like(total)
    for j, i in enumerate(np.asarray(model.parents_).tolist()):
        scores = plain[j].scores
        if i >= 0:
            both = (places[i] != MISSING) & (places[j] != MISSING)
            logs = np.asarray(model.conditional_log_prob_[j], np.float64)
            cell = np.where(both, places[i] * logs.shape[2] + places[j], 0)
            given = logs.reshape(len(logs), -1).T.take(cell, axis=0)
            scores = given if both.all() else np.where(both[:, np.newaxis], given, scores)
        total += scores
        sizes += np.abs(np.nan_to_num(scores, neginf=0.0))
    published = np.asarray(model.feature_log_prob_[0])
    found = Scores.of(model, total, sizes, len(places), published).where_possible(log_prior)
    return decision_claims(model, data, found)
