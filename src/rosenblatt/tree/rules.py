"""Rules of few tests: conjunctions, and at least m of n (A7, A8).

Every rule is a list of tests on single columns. A column of zeros and ones has the test that it is
one, and with `negate` that it is zero; a column of other numbers has tests against a few cuts.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.explanation import Explanation, names_of_features, one_row, two_classes
from rosenblatt.information import information_cuts
from rosenblatt.registry.row import Contract, Row

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Place = tuple[int, ...]  # of tests, by number
EQUAL = 1e-12  # of the weight of all rows: less is no difference


class Rule(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of conjunctions and m-of-n rules."""

    classes_: NDArray[Any]
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_terms": [Interval(Integral, 1, None, closed="left")],
        "negate": ["boolean"],
        "n_cuts": [Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, *, max_terms: int = 3, negate: bool = True, n_cuts: int = 2, max_rules: int = 100_000
    ) -> None:
        self.max_terms = max_terms
        self.negate = negate
        self.n_cuts = n_cuts
        self.max_rules = max_rules

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the rule with the fewest mistakes, and among equals the fewest tests.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Two classes; the rule is of the second.
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        X = checks.rows(self, X, reset=True, accept_sparse=False)
        classes, codes = checks.classes(y, len(X))
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: {type(self).__name__} is a rule for one "
                f"of two classes; y has {len(classes)}."
            )
        weight = checks.scaled_weights(sample_weight, len(X))
        weight = checks.row_weights(classes, codes, weight, None)
        tests = self._tests(X, codes, weight)
        # Equal answers to all tests: such rows are counted together.
        answers, group = np.unique(holding(X, *tests), axis=0, return_inverse=True)
        sums: Any = np.bincount(2 * group.ravel() + codes, weight, 2 * len(answers))
        sums = sums.reshape(-1, 2)
        found = RuleSearch(answers.T.copy(), sums[:, 1], sums[:, 0], self.max_rules)
        m, terms = self._search(found)

        self.classes_ = classes
        self.test_columns_, self.test_thresholds_, self.test_above_ = tests
        self.terms_, self.m_ = np.array(terms, np.int64), m
        self.boolean_ = is_boolean(X)
        self.n_rules_, self.exhaustive_ = found.n_tried, found.exhaustive
        self.n_mistakes_ = found.least
        return self

    def _tests(
        self, X: NDArray[Any], codes: NDArray[np.intp], weight: Floats
    ) -> tuple[NDArray[np.int64], Floats, Booleans]:
        """Column, threshold and side of each test that a rule may ask, column by column."""
        tests = []
        for j, (x, boolean) in enumerate(zip(X.T, is_boolean(X), strict=True)):
            cuts = [0.5] if boolean else information_cuts(
                x, codes, max_cuts=self.n_cuts, stop=None, sample_weight=weight
            )  # fmt: skip
            sides = (True, False) if self.negate or not boolean else (True,)
            tests += [(j, float(cut), above) for cut in cuts for above in sides]
        columns, thresholds, above = zip(*tests, strict=True) if tests else ((), (), ())
        return np.array(columns, np.int64), np.array(thresholds), np.array(above, bool)

    def _search(self, search: "RuleSearch") -> tuple[int, Place]:
        """The best rule: how many of its tests must hold, and their numbers."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of X, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        check_is_fitted(self)
        held = self._held(checks.rows(self, X, accept_sparse=False)).sum(axis=1)
        return np.asarray(self.classes_[(held >= self.m_).astype(np.intp)])

    def _held(self, X: NDArray[Any]) -> Booleans:
        """Which tests of the rule hold for each row (n, terms)."""
        tests: Any = (self.test_columns_, self.test_thresholds_, self.test_above_)
        return holding(X, *(part[self.terms_] for part in tests))

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: which tests of the rule hold.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The other of the two classes.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self)
        X = one_row(self, x, lambda X: checks.rows(self, X, accept_sparse=False))
        [held] = self._held(X)
        fires = int(held.sum()) >= self.m_
        winner, second = two_classes(self.classes_, np.array([not fires, fires], float), rival)
        sign = 1.0 if fires else -1.0
        counts: Any = np.bincount(self.test_columns_[self.terms_], held, self.n_features_in_)
        words = self.tests_in_words(feature_names)
        lines = [f"{'holds' if h else 'fails'}: {w}" for w, h in zip(words, held, strict=True)]
        needed = f"{int(held.sum())} of {len(words)} tests hold, {self.m_} needed"
        verdict = f"the rule {'fires' if fires else 'does not fire'}: {needed}"
        explained = Explanation.of(
            self, winner, second, -sign * self.m_, sign * counts, feature_names,
            ("tests needed", "tests to spare" if fires else "tests short"),
        )  # fmt: skip
        return replace(explained, path=(f"rule: {self.to_text(feature_names)}", *lines, verdict))

    def tests_in_words(self, feature_names: Any = None, digits: int = 4) -> list[str]:
        """Return the tests of the rule, such as ``"x1"``, ``"not x2"`` or ``"x3 > 0.5"``.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        digits : of the numbers.
        """
        check_is_fitted(self)
        names = names_of_features(self, self.n_features_in_, feature_names)
        words = []
        for t in self.terms_:
            name, cut = names[self.test_columns_[t]], self.test_thresholds_[t]
            above = bool(self.test_above_[t])
            if self.boolean_[self.test_columns_[t]]:
                words.append(str(name) if above else f"not {name}")
            else:
                words.append(f"{name} {'>' if above else '<='} {cut:.{digits}g}")
        return words

    def to_text(self, feature_names: Any = None) -> str:
        """Return the rule as a sentence.

        Parameters
        ----------
        feature_names : what to call the columns; by default as the data did.
        """
        words, no, yes = self.tests_in_words(feature_names), *self.classes_
        if not words:
            return f"always {yes if self.m_ <= 0 else no}"
        return f"{yes} if {self._condition(words)}, else {no}"

    def _condition(self, words: list[str]) -> str:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


class ConjunctionClassifier(Rule):
    """The second class if all of a few tests hold, ``x1 and not x2``: the smallest such rule.

    The rule with the fewest mistakes is searched for, and among equals the one with the fewest
    tests. If some conjunction makes no mistake, the smallest is found: each test of it holds for
    every row of the second class, so all others are crossed out first [1]_.

    Parameters
    ----------
    max_terms : int
        The most tests of a rule that makes mistakes; one without any may have more.
    negate : bool
        Whether a test may be that a column is zero.
    n_cuts : int
        The most cuts of a column that is not of zeros and ones.
    max_rules : int
        The most rules that are tried; after so many the best one so far is taken.

    Attributes
    ----------
    test_columns_, test_thresholds_, test_above_ : ndarrays of shape (tests,)
        The tests that a rule may ask: whether a column is above a threshold, or is not.
    boolean_ : which columns hold zeros and ones alone, shape (d,).
    terms_ : ndarray of shape (terms,)
        The numbers of those that it does ask.
    m_ : how many of them must hold.
    n_mistakes_ : the weight of the training rows that it gets wrong.
    n_rules_, exhaustive_ : how many rules were tried, and whether no other could be better.
    classes_, n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import ConjunctionClassifier
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 1]]
    >>> model = ConjunctionClassifier().fit(X, ["yes", "no", "no", "no", "no"])
    >>> print(model.to_text(["warm", "dry", "windy"]))
    yes if warm and dry and not windy, else no

    References
    ----------
    .. [1] L. G. Valiant (1984), A theory of the learnable. *Communications of the ACM* 27.
    """

    def _search(self, search: "RuleSearch") -> tuple[int, Place]:
        kept = np.flatnonzero(search.answers[:, search.yes > 0].all(axis=1))
        everything = search.all_of(kept)
        if not search.no[everything].any():  # one of these is consistent
            for terms in search.by_size(kept, len(kept)):
                search.consider(search.all_of(terms), (len(terms), terms))
            if search.least > 0:  # too many rules: a consistent one all the same
                self._without_idle_tests(search, kept.tolist())
            return search.best
        for terms in search.by_size(np.arange(len(search.answers)), self.max_terms):
            search.consider(search.all_of(terms), (len(terms), terms))
        return search.best

    def _without_idle_tests(self, search: "RuleSearch", kept: list[int]) -> None:
        """The conjunction of all tests but those that can be left out, one after the other."""
        for t in list(kept):
            fewer = [other for other in kept if other != t]
            if not search.no[search.all_of(fewer)].any():
                kept = fewer
        search.consider(search.all_of(kept), (len(kept), tuple(kept)))

    def _condition(self, words: list[str]) -> str:
        return " and ".join(words)


class MofNClassifier(Rule):
    """The second class if at least m of n tests hold: the rule with the fewest mistakes.

    Conjunctions (m = n) and disjunctions (m = 1) are such rules. Among rules with equally few
    mistakes the one with the fewest tests is taken, then the one with the largest m.

    Parameters
    ----------
    max_terms : int
        The most tests, n.
    negate : bool
        Whether a test may be that a column is zero.
    n_cuts : int
        The most cuts of a column that is not of zeros and ones.
    max_rules : int
        The most rules that are tried; after so many the best one so far is taken.

    Attributes
    ----------
    test_columns_, test_thresholds_, test_above_ : ndarrays of shape (tests,)
        The tests that a rule may ask: whether a column is above a threshold, or is not.
    boolean_ : which columns hold zeros and ones alone, shape (d,).
    terms_ : ndarray of shape (n,)
        The numbers of those that it does ask.
    m_ : how many of them must hold.
    n_mistakes_ : the weight of the training rows that it gets wrong.
    n_rules_, exhaustive_ : how many rules were tried, and whether no other could be better.
    classes_, n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from itertools import product
    >>> from rosenblatt import MofNClassifier
    >>> X = list(product([0, 1], repeat=3))
    >>> model = MofNClassifier(negate=False).fit(X, [sum(x) >= 2 for x in X])
    >>> print(model.to_text(["fever", "cough", "rash"]))
    True if at least 2 of fever, cough, rash, else False
    """

    def _search(self, search: "RuleSearch") -> tuple[int, Place]:
        for terms in search.by_size(np.arange(len(search.answers)), self.max_terms):
            held = search.answers[list(terms)].sum(axis=0)
            for m in range(len(terms), 0, -1):
                search.consider(held >= m, (m, terms))
            if not terms:
                search.consider(held >= 0, (0, terms))
            if search.least == 0:
                break
        return search.best

    def _condition(self, words: list[str]) -> str:
        return f"at least {self.m_} of {', '.join(words)}"


class RuleSearch:
    """Rules in the order of their size, over groups of rows with equal answers to all tests.

    answers (tests, groups) say where each test holds; yes and no (groups,) are the weights of the
    two classes.
    """

    def __init__(self, answers: Booleans, yes: Floats, no: Floats, max_rules: int) -> None:
        self.answers, self.yes, self.no, self.max_rules = answers, yes, no, max_rules
        self.n_tried, self.exhaustive = 0, True
        self.least = float(yes.sum())
        self.best: tuple[int, Place] = (1, ())  # never: at least one of no tests

    def by_size(self, tests: NDArray[np.int64], most: int) -> Iterator[Place]:
        """Some of the tests, few before many, until none could be better or too many were tried."""
        for size in range(min(most, len(tests)) + 1):
            for terms in combinations(tests.tolist(), size):
                if self.least == 0:
                    return
                if self.n_tried >= self.max_rules:
                    self.exhaustive = False
                    return
                yield terms

    def all_of(self, tests: Any) -> Booleans:
        """Where (groups,) all of some tests hold."""
        return np.asarray(self.answers[list(tests)].all(axis=0))

    def consider(self, says: Booleans, rule: tuple[int, Place]) -> None:
        """Keep a rule that holds for some groups if it makes fewer mistakes than the best."""
        self.n_tried += 1
        mistakes = float(self.yes[~says].sum() + self.no[says].sum())
        if mistakes < self.least - EQUAL * float(self.yes.sum() + self.no.sum()):
            self.least, self.best = mistakes, rule


def is_boolean(X: NDArray[Any]) -> Booleans:
    """Which columns (d,) hold zeros and ones alone."""
    return np.asarray(np.isin(X, (0, 1)).all(axis=0))


def holding(
    X: NDArray[Any], columns: NDArray[np.int64], thresholds: Floats, above: Booleans
) -> Booleans:
    """Where tests hold, shape (n, tests): a value is above a threshold, or is not."""
    return np.asarray((X[:, columns] > thresholds) == above)


# Counts of functions and rules, and the search through growing classes.


def count_functions(n_inputs: int, n_labelled: int = 0) -> int:
    """Return how many Boolean functions of some inputs agree with some labelled inputs (A5).

    There are ``2**(2**b)`` functions of b inputs; each labelled input leaves half of them.

    Parameters
    ----------
    n_inputs : the number b of Boolean inputs.
    n_labelled : how many different inputs are labelled.

    Returns
    -------
    count : int

    Examples
    --------
    >>> from rosenblatt.tree import count_functions
    >>> count_functions(4), count_functions(4, 7)
    (65536, 512)
    """
    checks.integer("n_inputs", n_inputs, 0)
    if not 0 <= n_labelled <= 2**n_inputs:
        raise ValueError(f"n_labelled must be from 0 to {2**n_inputs}; got {n_labelled!r}.")
    return int(2 ** (2**n_inputs - n_labelled))


def count_conjunctions(n_inputs: int) -> int:
    """Return how many conjunctions of some inputs there are, the empty one included: ``2**b``.

    Parameters
    ----------
    n_inputs : the number b of Boolean inputs.

    Returns
    -------
    count : int

    Examples
    --------
    >>> from rosenblatt.tree import count_conjunctions
    >>> count_conjunctions(4)
    16
    """
    checks.integer("n_inputs", n_inputs, 0)
    return int(2**n_inputs)


def count_m_of_n(n_inputs: int) -> int:
    """Return how many m-of-n rules of some inputs there are: ``sum_n n C(b, n) = b 2**(b - 1)``.

    Parameters
    ----------
    n_inputs : the number b of Boolean inputs.

    Returns
    -------
    count : int

    Examples
    --------
    >>> from rosenblatt.tree import count_m_of_n
    >>> count_m_of_n(4)
    32
    """
    checks.integer("n_inputs", n_inputs, 0)
    return int(n_inputs * 2**n_inputs // 2)


def nested_search(X: Any, y: Any, max_terms: int = 3) -> Any:
    """Enlarge the class of rules until one makes no mistake (A9).

    Conjunctions are tried first, then m-of-n rules, then trees. The class that is found may still
    be the wrong one, and its rule wrong on new rows.

    Parameters
    ----------
    X, y : rows (n, d) and two classes (n,).
    max_terms : the most tests of a conjunction or an m-of-n rule.

    Returns
    -------
    model : the first that is consistent with the rows; the tree, if none is.

    Examples
    --------
    >>> from rosenblatt.tree import nested_search
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> [type(nested_search(X, y)).__name__ for y in ([0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0])]
    ['ConjunctionClassifier', 'MofNClassifier', 'DecisionTreeClassifier']
    """
    from .classifier import DecisionTreeClassifier

    for rule in (ConjunctionClassifier(max_terms=max_terms), MofNClassifier(max_terms=max_terms)):
        if rule.fit(X, y).n_mistakes_ == 0:
            return rule
    return DecisionTreeClassifier().fit(X, y)


ROWS = (
    Row(
        "ConjunctionClassifier",
        page="rules.md",
        certificate="rules",
        contract=Contract(settings=({"max_terms": 2},), checked=({"max_terms": 1, "n_cuts": 1},)),
        warm=None,
    ),
    Row(
        "MofNClassifier",
        page="rules.md",
        certificate="rules",
        contract=Contract(settings=({"max_terms": 2},), checked=({"max_terms": 1, "n_cuts": 1},)),
        warm=None,
    ),
)
