"""Attacks on what is found by search or by counting: trees of features, rules, votes, bags, kinds.

Tables are so small that all trees, rules and cuts can be tried, in whole numbers and fractions.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import sklearn.ensemble

import rosenblatt as rb
from rosenblatt import certify

from . import tables
from .exact import DIGITS, decimal, of_class
from .false_claims import below, off_by


def tree_augmented(rng):
    """A tree of features fitted to other rows, or with changed tables."""
    X = rng.randint(0, 3, (rng.randint(5, 11), rng.randint(2, 5)))
    y, alpha = np.arange(len(X)) % 2, (1.0, 0.5)[rng.randint(2)]
    other = X.copy()
    if rng.randint(2):
        other[:, rng.randint(X.shape[1])] = rng.permutation(other[:, 0])
    model = rb.TreeAugmentedNB(alpha=alpha).fit(other, y)
    if rng.randint(2):
        logs = [tables.changed(rng, table) for table in model.conditional_log_prob_]
        model.conditional_log_prob_ = logs
    certificate = certify(model, X, y)
    gap, parents = Decimal(0), model.parents_.tolist()
    with localcontext(DIGITS):
        for j, log_q in enumerate(model.conditional_log_prob_):
            i, values = parents[j], model.categories_[j].tolist()
            above = [None] if i < 0 else model.categories_[i].tolist()
            table = np.asarray(log_q).reshape(2, len(above), len(values))
            for k, (a, value) in product(range(2), enumerate(above)):
                rows = (y == k) & ((X[:, i] == value) if i >= 0 else True)
                held = [Fraction(alpha) + int(np.sum(rows & (X[:, j] == v))) for v in values]
                total = sum(held, Fraction(0))
                for n, q in zip(held, table[k, a], strict=True):
                    gap += decimal(n) * (decimal(n / total).ln() - Decimal(float(q)))
        found = below(certificate, gap, "likelihood")
        return found + _less_than_the_best_tree(certificate, X, y, parents)


def _less_than_the_best_tree(certificate, X, y, parents):
    d = X.shape[1]
    bits = {
        pair: _information(X[:, pair[0]], X[:, pair[1]], y) for pair in combinations(range(d), 2)
    }
    own = sum(bits[min(i, j), max(i, j)] for j, i in enumerate(parents) if i >= 0)
    best = max(sum(bits[e] for e in edges) for edges in combinations(bits, d - 1)
               if _is_tree(edges, d))  # fmt: skip
    if certificate.holds and float(best - own) > 1e-6:
        return [f"a tree with {float(best - own):.3g} bits more, and all holds"]
    return []


def _is_tree(edges, d):
    part = list(range(d))
    for i, j in edges:
        part = [part[i] if p == part[j] else p for p in part]
    return len(set(part)) == 1


def _information(a, b, y):
    """I(a; b | y) in bits, in 60 digits."""
    total = Decimal(0)
    for k, u, v in product(np.unique(y), np.unique(a), np.unique(b)):
        both = int(np.sum((y == k) & (a == u) & (b == v)))
        if both:
            n, m = int(np.sum(y == k)), int(np.sum((y == k) & (a == u)))
            ratio = Fraction(both * n, m * int(np.sum((y == k) & (b == v))))
            total += both * decimal(ratio).ln()
    return total / Decimal(2).ln() / len(y)


def mixed_naive_bayes(rng):
    """Numbers, counts, truths and words; each column's shortfall is known exactly."""
    n = rng.randint(4, 10)
    y, numbers = np.arange(n) % 2, tables.rows(rng, n, 1, ["plain", "whole", "scales"])[:, 0]
    counts, truths, words = rng.randint(0, 4, n), rng.randint(0, 2, n), rng.randint(0, 3, n)
    X = np.empty((n, 4), object)
    for j, column in enumerate((numbers, counts, truths.astype(bool), words)):
        X[:, j] = ["abc"[v] for v in column] if j == 3 else column.tolist()
    kinds = ["numeric", "count", "boolean", "categorical"]
    model = rb.MixedNB(kinds=kinds).fit(X, y)
    for name in ("theta_", "rate_", "true_prob_", "var_"):
        if rng.randint(3) == 0:
            setattr(model, name, np.abs(tables.changed(rng, getattr(model, name))))
    model.true_prob_ = np.clip(model.true_prob_, 1e-9, 1 - 1e-9)
    model.rate_, model.var_ = (np.maximum(v, 1e-300) for v in (model.rate_, model.var_))
    if rng.randint(3) == 0:
        model.category_log_prob_ = [tables.changed(rng, t) for t in model.category_log_prob_]
    certificate = certify(model, X, y)
    alpha, gap = Fraction(float(model.alpha)), Decimal(0)

    def published(name, k):
        return Fraction(float(getattr(model, name)[k, 0]))

    with localcontext(DIGITS):
        for k in range(2):
            own = y == k
            total, mean, scatter = of_class(numbers[:, np.newaxis], y, np.ones(n), k)
            s2, var = scatter[0][0] / total + Fraction(float(model.epsilon_)), published("var_", k)
            if s2 > 0:
                ratio, far = (
                    decimal(s2 / var),
                    decimal((mean[0] - published("theta_", k)) ** 2 / var),
                )
                gap += decimal(total) * (ratio - 1 - ratio.ln() + far) / 2
            rows, q = int(own.sum()) + alpha, published("rate_", k)
            held = int(counts[own].sum()) + alpha
            gap += decimal(held) * decimal(held / rows / q).ln() - decimal(held) + decimal(rows * q)
            tosses, q = int(own.sum()) + 2 * alpha, published("true_prob_", k)
            for part, chance in ((truths, q), (1 - truths, 1 - q)):
                held = int(part[own].sum()) + alpha
                gap += decimal(held) * decimal(held / tosses / chance).ln()
            kinds = [ord(word) - ord("a") for word in model.categories_[0].tolist()]
            held = [int(np.sum(words[own] == v)) + alpha for v in kinds]
            for each, log_q in zip(held, model.category_log_prob_[0][k], strict=True):
                log_p = decimal(each / sum(held, Fraction(0))).ln()
                gap += decimal(each) * (log_p - Decimal(float(log_q)))
    return below(certificate, gap, "likelihood")


def rules(rng):
    """A rule of other tests than the fit chose; all rules of these tests are tried."""
    X = rng.randint(0, 2, (rng.randint(5, 15), rng.randint(2, 5))).astype(float)
    y = ((X[:, 0] * X[:, 1] > 0) ^ (rng.rand(len(X)) < 0.2)).astype(int)
    y[:2] = 0, 1
    kind = (rb.ConjunctionClassifier, rb.MofNClassifier)[rng.randint(2)]
    model = kind(max_terms=rng.randint(1, 4)).fit(X, y)
    L = len(model.test_columns_)
    holds = (X[:, model.test_columns_] > model.test_thresholds_) == model.test_above_
    if rng.randint(2) and L:
        size = rng.randint(0, min(L, 3) + 1)
        model.terms_ = rng.permutation(L)[:size]
        model.m_ = (
            size if kind is rb.ConjunctionClassifier else rng.randint(1, size + 1) if size else 0
        )
    wrong = _mistakes(holds, model.terms_, model.m_, y)
    model.n_mistakes_ = type(model.n_mistakes_)(wrong)
    certificate = certify(model, X, y)
    if "fewest mistakes" not in [claim.name for claim in certificate]:
        return None  # nothing is claimed
    if not certificate.holds:
        return []
    most = len(model.terms_) if wrong == 0 else max(model.max_terms, len(model.terms_))
    for k in range(most + 1):
        for terms in combinations(range(L), k):
            for m in [k] if kind is rb.ConjunctionClassifier else range(min(k, 1), k + 1):
                made = _mistakes(holds, list(terms), m, y)
                if made < wrong or (made == wrong and k < len(model.terms_)):
                    return [f"{m} of {terms} makes {made} mistakes, not {wrong}, and all holds"]
    return []


def _mistakes(holds, terms, m, y):
    return int(np.sum((holds[:, terms].sum(axis=1) >= m) != (y == 1)))


def consensus(rng):
    """Labels, votes or stability changed; parts and cuts are found by trying."""
    runs = rng.randint(0, 3, (rng.randint(3, 8), rng.randint(1, 5)))
    n, groups = len(runs), len(np.unique(runs, axis=0))
    k = None if rng.randint(2) else min(rng.randint(1, 4), groups)
    threshold = float(rng.choice([0.0, 0.3, 0.5, 0.9]))
    model = rb.ConsensusClustering(n_clusters=k, threshold=threshold).fit_labels(runs)
    kind = rng.randint(4)
    if kind == 1:
        model.labels_ = rng.permutation(model.labels_)
    elif kind == 2:
        model.labels_ = model.labels_.copy()
        model.labels_[rng.randint(n)] = rng.randint(model.labels_.max() + 1)
    elif kind == 3:
        model.stability_ = tables.changed(rng, model.stability_)
    labels = model.labels_
    if kind in (1, 2) and k is not None:
        model.cut_votes_ = _votes_across(runs, labels)
    certificate = certify(model, np.zeros((n, 1)))
    votes = (runs[:, None] == runs).mean(axis=2)
    exact = []
    for i in range(n):
        others = np.flatnonzero((labels == labels[i]) & (np.arange(n) != i))
        exact.append(votes[i, others].mean() if len(others) else 1.0)
    found = off_by(certificate, model.stability_, exact, np.ones(n), "stability_")
    if not certificate.holds:
        return found
    if k is None:
        linked = np.linalg.matrix_power((votes > threshold + 1e-12) + np.eye(n), n) > 0
        if not np.array_equal(linked, labels[:, None] == labels):
            found.append("clusters are not the connected parts, and all holds")
    elif certificate["optimum"].bound is not None:
        of_row = np.unique(runs, axis=0, return_inverse=True)[1].ravel()
        cuts = (np.array(c)[of_row] for c in product(range(k), repeat=groups) if len(set(c)) == k)
        if min(_votes_across(runs, cut) for cut in cuts) < _votes_across(runs, labels):
            found.append("a cut has fewer votes across, and all holds")
    return found


def _votes_across(runs, labels):
    together = (runs[:, None] == runs).sum(axis=2)
    return int((together * (labels[:, None] != labels)).sum()) // 2


def bags(rng):
    """Bags of trees with one changed number: all that holds are the shares of their samples."""
    X = rng.randint(0, 4, (rng.randint(6, 14), 2)).astype(float)
    y = np.arange(len(X)) % 2
    package = (rb, sklearn.ensemble)[rng.randint(2)]
    model = package.BaggingClassifier(n_estimators=3, random_state=rng.randint(99)).fit(X, y)
    member = rng.randint(3)
    tree = model.estimators_[member].tree_
    name = ("value", "threshold", "feature")[rng.randint(3)]
    numbers, node = getattr(tree, name), rng.randint(tree.node_count)
    if not numbers.flags.writeable:
        numbers = numbers.copy()
        setattr(tree, name, numbers)
    if name == "feature" and tree.children_left[node] >= 0:
        numbers[node] = 1 - numbers[node]
    elif name == "value":
        numbers[node] = tables.changed(rng, numbers[node])
    elif name == "threshold":
        numbers[node] += float(rng.choice([0.0, -1.0, 1.0, 0.25]))
    certificate = certify(model, X, y)
    found = []
    for each, sample in zip(model.estimators_, model.estimators_samples_, strict=True):
        tree, places = each.tree_, np.asarray(sample)
        own, classes = X[places], y[places]
        for v, rows in _rows_of_nodes(tree, own).items():
            shares = [
                Fraction(int(np.sum(classes[rows] == k)), max(len(rows), 1)) for k in each.classes_
            ]
            said = tree.value[v, 0, : len(shares)]
            if tree.n_node_samples[v] not in (len(rows), len(np.unique(places[rows]))):
                found += ["a node counts other rows, and all holds"] * certificate.holds
            found += off_by(certificate, said, np.array(shares, float), np.ones(len(said)), "value")
    return found


def _rows_of_nodes(tree, X):
    """The rows of every node, one test at a time."""
    found, waiting = {}, [(0, np.arange(len(X)))]
    while waiting:
        v, rows = waiting.pop()
        found[v] = rows
        if tree.children_left[v] >= 0:
            left = X[rows, tree.feature[v]] <= tree.threshold[v]
            waiting += [
                (int(tree.children_left[v]), rows[left]),
                (int(tree.children_right[v]), rows[~left]),
            ]
    return found
