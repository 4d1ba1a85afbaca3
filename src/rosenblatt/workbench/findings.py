"""What a comparison found: contestants with their scores, and one opening of the test set."""

import math
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data import Column

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One setting of a family in its search, with its score on each fold."""

    parameters: dict[str, Any]
    scores: Array  # (folds,), larger is better
    train_scores: Array  # (folds,); empty if they were not taken

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the scores, with the divisor n - 1."""
        return float(self.scores.std(ddof=1)) if len(self.scores) > 1 else 0.0


@dataclass(frozen=True)
class Interval:
    """A score and the range that it is in, with its confidence and whose it is."""

    low: float
    high: float
    method: str  # "Wilson", "Hoeffding", "corrected t", "bootstrap"
    confidence: float = 0.95


@dataclass(frozen=True, eq=False)
class Contestant:
    """A family of models at its best setting: one line of the leaderboard."""

    family: str  # as people call it: "logistic regression"
    model: str  # the class: "LogisticRegression"
    package: str  # "rosenblatt", or the peer's
    candidates: list[Candidate]  # all that were tried, in the order of the grid
    best: int  # the place of the best among them
    fit_seconds: float  # of one fit to the training part, at the best setting
    predict_seconds: float  # of the development part
    size: int  # bytes of the fitted model as a file
    dev_score: float  # fitted to the training part, scored on the development part
    dev_train_score: float  # the same model on the rows it was fitted to
    p_value: float = 1.0  # that it is as good as the best, after correction for many comparisons
    note: str = ""  # what was given up, such as settings for want of time
    partly_searched: bool = False  # whether there was too little time for all settings
    grid: dict[str, list[Any]] = field(default_factory=dict)  # the search's, whole; {} if unknown
    # Of the seconds above, those in which words were counted, before the fit and the prediction;
    # they are counted once, whatever follows.
    counting_seconds: tuple[float, float] = (0.0, 0.0)
    tree: str = ""  # its tests as lines to read, if it is a tree

    @property
    def seconds_again(self) -> float:
        """What one more fit and prediction of the same rows take."""
        return self.fit_seconds + self.predict_seconds - sum(self.counting_seconds)

    @property
    def scores(self) -> Array:
        """The score on each fold at the best setting."""
        return self.candidates[self.best].scores

    @property
    def mean(self) -> float:
        """The mean of the scores, which ranks contestants."""
        return float(self.scores.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the scores."""
        return self.candidates[self.best].deviation

    @property
    def parameters(self) -> dict[str, Any]:
        """The best setting."""
        return self.candidates[self.best].parameters

    def beats(self, other: "Contestant") -> bool:
        """Whether its mean is higher, by more than rounding: of equals the simpler is taken."""
        return self.mean > other.mean and not math.isclose(
            self.mean, other.mean, rel_tol=1e-9, abs_tol=1e-12
        )

    def may_equal_best(self, level: float = 0.05) -> bool:
        """Whether the folds cannot tell it apart from the best at this level."""
        return self.p_value > level


@dataclass(frozen=True, eq=False)
class Hint:
    """A sign that scores may be better than the model, such as a column that gives the target."""

    kind: Literal["leakage", "repeated rows", "ledger"]
    text: str  # a sentence
    rows: NDArray[np.bool_] | None = None  # (test rows,), those that are repeated

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Dropped:
    """A family that has no place on the leaderboard, and why."""

    family: str
    reason: str
    late: bool = False  # whether there was no time for it
    seconds: float = 0.0  # that it was given


@dataclass(frozen=True, eq=False)
class Opening:
    """What was seen when the test set was opened: once, for the chosen model and the baseline."""

    score: float
    baseline_score: float
    intervals: list[Interval]  # of the chosen model's score
    y: NDArray[Any]  # the truth (n,)
    predicted: NDArray[Any]  # by the chosen model (n,)
    probabilities: Array | None  # (n, K), where the model gives any
    decisions: Array | None  # (n,) or (n, K), where it gives scores instead
    classes: NDArray[Any] | None
    times_opened: int  # by the ledger, identical looks counted once: more than one is a warning
    unrepeated: "Opening | None" = None  # of the rows that were not learned from, if others were
    ledger: str = ""  # where the opening was recorded
    unrecorded: str = ""  # a sentence, if it could not be


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """The chosen model fitted to more and more of the training part."""

    rows: NDArray[np.int64]  # (S,)
    train_scores: Array  # (S,) on the rows fitted to
    dev_scores: Array  # (S,) on the development part
    verdict: str  # a sentence: bias, variance, or neither; would more rows help


@dataclass(frozen=True, eq=False)
class Bend:
    """What one column adds to a prediction where most rows are, beside one that has its mean."""

    name: str
    x: Array  # (S,) values of the column
    effect: Array  # (S,) in units of the target

    @property
    def reach(self) -> float:
        """From the least that it adds to the most."""
        return float(np.ptp(self.effect))


@dataclass(frozen=True, eq=False)
class Protocol:
    """How it was done, so that it can be done again."""

    task: str  # "classification" or "regression"
    target: str
    metric: str  # "accuracy", "r2", ...
    n_train: int
    n_dev: int
    n_test: int
    n_folds: int
    split: str  # "stratified", "at random", "by group", "by time"
    random_state: int
    budget: float | None  # seconds
    seconds: float  # that it took
    stopped: str  # "" if all was done, else "budget" or "interrupt"
    command: str  # that repeats it
    versions: dict[str, str]
    split_words: str = ""  # by which column, and from when to when the parts are
    fold_ratio: float | None = None  # rows scored on over rows fitted to; None if folds are equal
    positive: Any = None  # the class that the metric is of, if it is of one beside another
    folds_words: str = ""  # why there are so many folds, if not as many as usual
    n_table: int = 0  # rows of the table, those left out among them; 0 if unknown
    n_train_there: int = 0  # training rows there were; more than `n_train` were not searched
    n_fitted: int = 0  # rows that the chosen model was fitted to; 0 if unknown

    @property
    def n_used(self) -> int:
        """The rows of all parts."""
        return self.n_train + self.n_dev + self.n_test

    @property
    def fewer_words(self) -> str:
        """That the search saw some of the training rows alone; nothing if it saw all."""
        if self.n_train >= self.n_train_there:
            return ""
        share = self.n_train / self.n_train_there
        return (
            f"For want of time the search saw {self.n_train:,} of {self.n_train_there:,} training "
            f"rows ({share:.1%})"
        )

    @property
    def positive_words(self) -> str:
        """The same in words; nothing if the metric is of all classes."""
        return "" if self.positive is None else f"of the class {self.positive}"


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a comparison found; `Comparison` is made of it, and reports read it."""

    protocol: Protocol
    source: str  # the table's name
    columns: list[Column]  # all columns of the training part but the target
    target: dict[str, Any]  # {"counts": {label: n}} or {"values": Array} of the training part
    hints: list[Hint]
    contestants: list[Contestant]  # best first
    baseline: Contestant
    dropped: list[Dropped] = field(default_factory=list)
    opening: Opening | None = None  # None if there was no time
    learning_curve: LearningCurve | None = None
    learned: list[tuple[str, float]] = field(default_factory=list)  # features by weight or worth
    learned_as: str = "weight"  # what these numbers are
    n_weights: int = 0  # how many there are in all, if not all are among them
    verdicts: list[str] = field(default_factory=list)  # overfitting by definition and the like
    notes: list[str] = field(default_factory=list)  # what was left out, merged or read otherwise
    certificate: Any = None  # of the chosen model on the rows it was fitted to
    learned_note: str = ""  # what `learned` measures, or what was learned in words (a tree)
    bends: list[Bend] = field(default_factory=list)  # curves learned of single columns, if any
    why_no_certificate: str = ""  # a sentence, if there is none
    retrained: bool = True  # whether the chosen model learned from the development part, too

    @property
    def repeated(self) -> NDArray[np.bool_] | None:
        """Which test rows are also training rows; None if none is, or if that is unknown."""
        return next((hint.rows for hint in self.hints if hint.rows is not None), None)

    @property
    def n_repeated(self) -> int:
        """How many test rows are also training rows, as far as that is known."""
        return 0 if self.repeated is None else int(np.count_nonzero(self.repeated))

    @property
    def listed_hints(self) -> list[str]:
        """The hints for a list of them: repeated rows are reported with the test score."""
        in_score = self.opening is not None
        return [h.text for h in self.hints if not (in_score and h.kind == "repeated rows")]

    @property
    def board(self) -> list[Contestant]:
        """The lines of the leaderboard, best first: the baseline is one of them, by its score.

        Of equals the baseline, which is simpler, comes first; what has no score comes last. The
        chosen model is the best of the others.
        """
        fitted = [] if self.nothing_fitted else self.contestants
        ahead = [entry for entry in fitted if self._is_of_use(entry)]
        behind = [entry for entry in fitted if not self._is_of_use(entry)]
        return [*ahead, self.baseline, *behind]

    @property
    def alike(self) -> list[Contestant]:
        """The best, and those next to it in rank that the folds cannot tell apart from it.

        It ends before the first that they can: what ranks lower is no better known to be as good.
        """
        fitted = [] if self.nothing_fitted else self.contestants
        return list(takewhile(Contestant.may_equal_best, fitted))

    def _is_of_use(self, entry: Contestant) -> bool:
        known = not math.isnan(self.baseline.mean)
        return entry.beats(self.baseline) if known else not math.isnan(entry.mean)

    @property
    def learned_nothing(self) -> bool:
        """Whether no feature has a weight, so that the chosen model says the same of every row."""
        weighed = self.learned_as == "weight" and bool(self.learned)
        return (
            weighed
            and not any(w for _, w in self.learned)
            and not any(bend.reach for bend in self.bends)
        )

    @property
    def nothing_fitted(self) -> bool:
        """Whether there was time for no model but the baseline, which stands in for one then."""
        return not self.contestants or self.contestants[0].family == self.baseline.family


# Scores and counts as a terminal shows them.


SMALL = 0.001  # in size: fixed decimals would leave a digit or none
ROUNDING = 1e-15  # less is what is left of a difference that should be zero


def figure(value: float, decimals: int = 4) -> str:
    """A score with fixed decimals; of one so small that they are zeros, its first two digits.

    >>> figure(0.98765), figure(-1234.5, 3), figure(-0.00031), figure(0.0)
    ('0.9877', '-1234.500', '-0.00031', '0.0000')
    """
    return f"{value:.2g}" if is_small(value) else f"{value:.{decimals}f}"


def rows_counted(n: int) -> str:
    """How many rows there are.

    >>> rows_counted(1), rows_counted(2_000)
    ('1 row', '2,000 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"


def is_small(value: float) -> bool:
    """Whether a score would be lost among decimals, and is more than rounding.

    >>> is_small(0.0003), is_small(-2e-17), is_small(0.1)
    (True, False, False)
    """
    return ROUNDING < abs(value) < SMALL
