"""Trees as people read them: an indented text, if-then rules, the path of one row."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt.explanation import Explanation, names_of_features, one_row, two_classes

from .structure import KNOWN_LEFT, KNOWN_RIGHT, Tree

WITHOUT_EXPONENT = 1e15  # larger numbers are printed with an exponent


class Wording:
    """The words for the tests and leaves of a fitted tree."""

    def __init__(self, model: Any, feature_names: Any = None, digits: int = 4) -> None:
        self.tree: Tree = model.tree_
        self.names = names_of_features(model, model.n_features_in_, feature_names)
        self.categories = model.categories_
        self.booleans: tuple[int, ...] = getattr(model, "_booleans", ())
        self.classes = getattr(model, "classes_", None)
        self.digits = digits

    def test(self, node: int, code: int) -> str:
        """What a row must have to take a branch."""
        j = int(self.tree.feature[node])
        name, known = self.names[j], self.categories[j]
        if known is not None:
            return f"{name} is missing" if code == len(known) else f"{name} = {known[code]}"
        threshold = self.tree.threshold[node]
        if code not in (KNOWN_LEFT, KNOWN_RIGHT):
            return f"{name} is missing"
        if np.isinf(threshold):
            return f"{name} is known" if code == KNOWN_LEFT else f"{name} is missing"
        if j in self.booleans:
            return f"{name} is {code == KNOWN_RIGHT}"
        sign = "<=" if code == KNOWN_LEFT else ">"
        return f"{name} {sign} {cut_in_digits(threshold, self.digits)}"

    def answer(self, node: int) -> str:
        """Return the prediction of a node as text."""
        value = self.tree.value[node]
        if self.classes is None:
            return ", ".join(in_digits(v, self.digits) for v in value[:, 0])
        per_output = self.classes if self.tree.n_outputs > 1 else [self.classes]
        answers = []
        for classes, shares in zip(per_output, value, strict=True):
            k = int(np.argmax(shares[: len(classes)]))
            share = f" ({shares[k]:.0%})" if shares[k] < 1 else ""
            answers.append(f"{classes[k]}{share}")
        return ", ".join(answers)


def in_digits(value: float, digits: int) -> str:
    """A number to some digits; those before its point are all printed, without an exponent.

    >>> in_digits(30450.4, 4), in_digits(0.123456, 4)
    ('30450', '0.1235')
    """
    if 10.0**digits <= abs(value) < WITHOUT_EXPONENT:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def cut_in_digits(threshold: float, digits: int) -> str:
    """A threshold, with a digit after its point at least: it often ends in a half.

    >>> cut_in_digits(2217.5, 4), cut_in_digits(30450.0, 4)
    ('2217.5', '30450')
    """
    before = len(str(int(min(abs(threshold), WITHOUT_EXPONENT))))
    return in_digits(threshold, max(digits, before + 1))


def to_text(model: Any, feature_names: Any, max_depth: int | None, digits: int) -> str:
    """The tree as indented lines, one a branch, with the answers at the leaves."""
    words, tree = Wording(model, feature_names, digits), model.tree_
    if tree.children_left[0] < 0:
        return f"{words.answer(0)}  [{rows_of(tree, 0)}]"
    lines: list[str] = []
    waiting = [(0, code, child, 0) for code, child in tree.branches(0)[::-1]]
    while waiting:
        node, code, child, depth = waiting.pop()
        line = "|   " * depth + words.test(node, code)
        if tree.children_left[child] < 0:
            line += f": {words.answer(child)}  [{rows_of(tree, child)}]"
        elif max_depth is not None and depth + 1 >= max_depth:
            line += f": ... {words.answer(child)}  [{rows_of(tree, child)}]"
        else:
            waiting += [(child, c, below, depth + 1) for c, below in tree.branches(child)[::-1]]
        lines.append(line)
    return "\n".join(lines)


def split_in_words(words: Wording, node: int) -> str:
    """The test of a node, the rows it divides, and how: "x1 <= 0.5 of 4 rows: 2 + 2"."""
    tree, j = words.tree, int(words.tree.feature[node])
    branches = tree.branches(node)
    test = words.test(node, branches[0][0]) if words.categories[j] is None else words.names[j]
    parts = " + ".join(str(tree.n_node_samples[child]) for _, child in branches)
    return f"{test} of {tree.n_node_samples[node]} rows: {parts}"


def branch_taken(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The parent of each node, and the code of the branch from there (nodes,)."""
    parents, codes = tree.parents, np.full(tree.node_count, KNOWN_LEFT, np.int64)
    binary = np.flatnonzero(~tree.is_leaf & (tree.first_branch < 0))
    codes[tree.children_right[binary]] = KNOWN_RIGHT
    codes[tree.branch_child] = tree.branch_code
    return parents, codes


def tests_to(
    node: int, parents: NDArray[np.int64], codes: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The nodes above a node and the branch that was taken at each, from the root on."""
    found = []
    while node:
        found.append((int(parents[node]), int(codes[node])))
        node = found[-1][0]
    return found[::-1]


def rows_of(tree: Any, node: int) -> str:
    """How many rows of the training reach a node."""
    n = int(tree.n_node_samples[node])
    return "1 row" if n == 1 else f"{n} rows"


def rules(model: Any, feature_names: Any, digits: int) -> list[str]:
    """Each leaf as an if-then sentence with the rows behind it, the largest first."""
    words, tree = Wording(model, feature_names, digits), model.tree_
    leaves = np.flatnonzero(tree.is_leaf)
    order = leaves[np.argsort(-tree.weighted_n_node_samples[leaves], kind="stable")]
    total, taken = tree.weighted_n_node_samples[0], branch_taken(tree)
    found = []
    for leaf in order.tolist():
        tests = " and ".join(shortest(words, tests_to(leaf, *taken))) or "always"
        share = tree.weighted_n_node_samples[leaf] / total
        support = f"{rows_of(tree, leaf)}, {share:.1%}"
        found.append(f"if {tests} then {words.answer(leaf)} ({support})")
    return found


def path_in_words(model: Any, node: int, feature_names: Any) -> tuple[str, ...]:
    """The tests from the root to a leaf, and the leaf."""
    words, tree = Wording(model, feature_names), model.tree_
    tests = (words.test(*test) for test in tests_to(node, *branch_taken(tree)))
    return (*tests, f"leaf: {words.answer(node)}  [{rows_of(tree, node)}]")


def shortest(words: Wording, tests: list[tuple[int, int]]) -> list[str]:
    """The tests of a path without those that a later one on the same side implies."""
    kept: dict[tuple[int, int] | int, str] = {}
    for node, code in tests:
        j = int(words.tree.feature[node])
        numeric = words.categories[j] is None and np.isfinite(words.tree.threshold[node])
        key: tuple[int, int] | int = (j, code) if numeric else -node - 1
        kept.pop(key, None)
        kept[key] = words.test(node, code)
    return list(kept.values())


def path_contributions(tree: Tree, node: int, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the tests on each column (d,) add to a value (nodes,) on the way to a node."""
    total, parents = np.zeros(tree.n_features), tree.parents
    while node:
        parent = int(parents[node])
        total[tree.feature[parent]] += value[node] - value[parent]
        node = parent
    return total


def explain(model: Any, x: Any, rival: Any, feature_names: Any) -> Explanation:
    """Return what the tests on each column add to the prediction of a tree or forest for one row.

    The value of a node is its mean target, or the share of the predicted class less the share of
    its rival; a test adds the difference between the value of the child and its own.
    """
    check_is_fitted(model)
    members = getattr(model, "estimators_", None)
    if model.n_outputs_ > 1:
        raise ValueError(
            f"explain takes a {'tree' if members is None else 'forest'} of one output."
        )
    X = one_row(model, x, lambda X: model._check_rows(X, reset=False))
    X = np.asarray(X.toarray() if sp.issparse(X) else X)
    trees = [model.tree_] if members is None else [member.tree_ for member in members]
    leaves = [int(tree.apply(X)[0]) for tree in trees]
    classes: tuple[Any, Any] = ("prediction", None)
    if hasattr(model, "classes_"):
        shares = np.mean([tree.value[v, 0] for tree, v in zip(trees, leaves, strict=True)], axis=0)
        winner, second = two_classes(model.classes_, shares, rival)
        classes = model.classes_[winner], model.classes_[second]
    start, parts = 0.0, np.zeros(model.n_features_in_)
    for tree, leaf in zip(trees, leaves, strict=True):
        value = tree.value[:, 0]
        lead = value[:, winner] - value[:, second] if classes[1] is not None else value[:, 0]
        start += float(lead[0])
        parts += path_contributions(tree, leaf, lead)
    start, parts = start / len(trees), parts / len(trees)
    names = names_of_features(model, model.n_features_in_, feature_names)
    total, words = start + float(parts.sum()), ("at the roots", "at the leaves")
    if members is not None:
        return Explanation(*classes, total, start, parts, names, words)
    path = path_in_words(model, leaves[0], feature_names)
    return Explanation(*classes, total, start, parts, names, ("at the root", "at the leaf"), path)
