"""A5, A6, A7, A8, A9, GC32, DC22: rules are the best of all, by trying all; counts are by hand."""

import importlib.util
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import ConjunctionClassifier, DecisionTreeClassifier, MofNClassifier, certify
from rosenblatt.tree import count_conjunctions, count_functions, count_m_of_n, nested_search

ROOT = Path(__file__).resolve().parents[2]
CUBE = np.array(list(product([0, 1], repeat=4)), float)


def test_counts_of_functions_and_rules():
    # GC32, A5: 2^16 functions of four inputs, 2^9 after seven labels
    assert (count_functions(4), count_functions(4, 7)) == (65536, 512)
    # DC22: 16 conjunctions with the empty one, 32 m-of-n functions
    assert (count_conjunctions(4), count_m_of_n(4)) == (16, 32)
    columns = [list(terms) for k in range(5) for terms in combinations(range(4), k)]
    assert len({tuple(CUBE[:, c].all(axis=1)) for c in columns}) == 16
    rules = {tuple(CUBE[:, c].sum(axis=1) >= m) for c in columns for m in range(1, len(c) + 1)}
    assert len(rules) == 32


@pytest.mark.parametrize("call", [lambda: count_functions(-1), lambda: count_functions(2, 5)])
def test_counts_of_nothing_are_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


def literals(X, negate):
    """Columns and, with `negate`, their opposites: (tests, n)."""
    both = [side for x in X.T for side in ((x == 1, x == 0) if negate else (x == 1,))]
    return np.array(both)


def best_by_trying_all(X, y, weight, kind, max_terms, negate):
    """The fewest mistakes, and the fewest tests that have so few."""
    tests, found = literals(X, negate), []
    for k in range(max_terms + 1):
        for terms in combinations(range(len(tests)), k):
            held = tests[list(terms)].sum(axis=0) if k else np.zeros(len(y), int)
            for m in [k] if kind is ConjunctionClassifier or not k else range(1, k + 1):
                found.append((weight[(held >= m) != y].sum(), k))
    found.append((weight[y].sum(), 0))  # never
    return min(found)


tables = st.lists(st.tuples(*[st.integers(0, 1)] * 4, st.integers(0, 3)), min_size=4, max_size=16)


@given(tables, st.sampled_from([ConjunctionClassifier, MofNClassifier]), st.booleans())
def test_no_rule_is_better_or_smaller(rows, kind, negate):
    table = np.array(rows)
    X, y, weight = table[:, :3].astype(float), table[:, 3] == 1, table[:, 4].astype(float)
    if len(np.unique(y[weight > 0])) < 2:
        return
    model = kind(max_terms=3, negate=negate).fit(X, y, weight)
    assert (model.n_mistakes_, len(model.terms_)) == best_by_trying_all(
        X, y, weight, kind, 3, negate
    )
    assert model.exhaustive_
    assert weight[model.predict(X) != y].sum() == model.n_mistakes_
    certificate = certify(model, X, y, sample_weight=weight)
    assert certificate.holds, str(certificate)


def test_the_smallest_consistent_conjunction_may_have_more_tests_than_a_rule_with_mistakes():
    y = CUBE.all(axis=1)
    model = ConjunctionClassifier(max_terms=2).fit(CUBE, y)
    assert model.to_text(list("abcd")) == "True if a and b and c and d, else False"
    assert model.n_mistakes_ == 0
    # After too few rules the consistent one is found by leaving out tests, and not called smallest.
    hasty = ConjunctionClassifier(max_rules=3).fit(CUBE, y)
    assert hasty.n_mistakes_ == 0
    assert not hasty.exhaustive_
    assert "nothing is claimed" in certify(hasty, CUBE, y)["search"].statement


def test_rules_cut_columns_of_numbers_and_read_as_sentences():
    X = np.column_stack([np.arange(10.0), np.arange(10) % 2])
    y = np.array(["few", "many"])[((X[:, 0] > 4) & (X[:, 1] == 0)).astype(int)]
    model = ConjunctionClassifier().fit(X, y)
    assert model.to_text(["size", "odd"]) == "many if size > 5.5 and not odd, else few"
    assert model.tests_in_words() == ["x1 > 5.5", "not x2"]
    assert MofNClassifier(max_terms=2).fit(X, y).to_text() == (
        "many if at least 2 of x1 > 5.5, not x2, else few"
    )


def test_rows_without_a_test_get_the_larger_class():
    X = np.ones((5, 2))
    assert ConjunctionClassifier().fit(X, [0, 1, 1, 1, 0]).to_text() == "always 1"
    assert MofNClassifier().fit(np.zeros((5, 2)), [0, 1, 0, 1, 0]).to_text() == "always 0"


def test_the_class_grows_until_something_fits():
    # A9: conjunction, m of n, tree
    for labels, kind in (
        (CUBE[:, 0] * CUBE[:, 2], ConjunctionClassifier),
        (CUBE[:, :3].sum(axis=1) >= 2, MofNClassifier),
        (CUBE.sum(axis=1) % 2, DecisionTreeClassifier),
    ):
        model = nested_search(CUBE, labels)
        assert isinstance(model, kind)
        assert model.score(CUBE, labels) == 1


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match=r"one of two classes; y has 3\."):
        ConjunctionClassifier().fit(CUBE[:6], [0, 1, 2] * 2)


def test_a_rule_that_was_nudged_does_not_pass():
    y = CUBE[:, 0] * CUBE[:, 1] == 1
    model = ConjunctionClassifier().fit(CUBE, y)
    assert certify(model, CUBE, y)["smallest"].holds
    for name, value in (("n_mistakes_", 1.0), ("m_", 1), ("terms_", model.terms_[:1])):
        other = ConjunctionClassifier().fit(CUBE, y)
        setattr(other, name, value)
        assert not certify(other, CUBE, y).holds, name
    larger = ConjunctionClassifier().fit(CUBE, y)
    larger.terms_ = np.array([0, 2, 3])  # x1 and x2, and not x2: always wrong for some
    assert not certify(larger, CUBE, y).holds


@pytest.mark.parametrize("kind", [ConjunctionClassifier, MofNClassifier])
def test_a_rule_parts_values_whose_distance_overflows(kind):
    x, y = np.array([[-1.7e308], [-1.6e308], [1.6e308], [1.7e308]]), np.array([0, 0, 1, 1])
    rule = kind().fit(x, y)
    assert rule.predict(x).tolist() == [0, 0, 1, 1]
    assert certify(rule, x, y).holds


def test_the_badges_game_is_won(capsys):
    # GC35, W5: plus if the second letter is a vowel
    path = ROOT / "examples" / "badges.py"
    spec = importlib.util.spec_from_file_location("badges", path)
    game = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(game)
    told = [game.badge(name) for name in ("Naoki", "Barbara", "Stephen", "Ada")]
    assert told == ["plus", "plus", "minus", "minus"]
    game.main()
    printed = capsys.readouterr().out
    assert "Rule: plus if letter 2 is a vowel, else minus." in printed
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert all(f"    {line}\n" in page for line in printed.splitlines())
