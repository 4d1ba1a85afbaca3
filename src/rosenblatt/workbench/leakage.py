"""Signs that the answer is in the question: columns that give the target away, rows seen twice."""

import numpy as np
import polars as pl

from rosenblatt.runtime import deadline

from .findings import Hint
from .problem import Problem

MOST_VALUES_SHARE = 0.5  # of the rows: a column with more values decides nothing, it names rows
SAME = 1 - 1e-9  # a correlation
NEARLY_ALL = 0.98  # of the rows, in which a column agrees with the target
MISTAKES_LEFT = 0.2  # of those that the most frequent label makes
FEW_VALUES = 20  # of a column that may agree
FEW_ROWS = 2_000  # on which most columns show that they decide nothing


def hints_of(problem: Problem) -> list[Hint]:
    """Return the signs of leakage; columns are looked at in the training part alone."""
    if not problem.is_table:
        return []
    return [Hint("leakage", text) for text in _telling_columns(problem)] + _repeated_rows(problem)


def _telling_columns(problem: Problem) -> list[str]:
    """Return a sentence for each column that decides the target alone."""
    hints = []
    frame, y = problem.some(problem.train), pl.Series("", problem.y[problem.train])
    if problem.task == "classification":  # codes are compared faster than words
        y = pl.Series("", np.unique(y.to_numpy(), return_inverse=True)[1])
    for name, kind in problem.used.items():
        deadline.check()
        column = frame[name]
        if kind == "numeric" and problem.task == "regression":
            if _copies(column, y):
                hints.append(f"{name} is {problem.target} in other units: is it known beforehand?")
            elif (share := float((column == y).mean() or 0)) >= NEARLY_ALL:
                hints.append(_agrees(name, share, problem))
        elif problem.task == "classification" and kind != "text":
            if _decides(column, y):
                hints.append(
                    f"{name} alone decides {problem.target} in the training part: would it be "
                    "known beforehand?"
                )
            elif share := _agreement(column, y):
                hints.append(_agrees(name, share, problem))
    return hints


def _agrees(name: str, share: float, problem: Problem) -> str:
    return (
        f"{name} alone agrees with {problem.target} in {share:.1%} of the training rows: would it "
        "be known beforehand?"
    )


def _agreement(column: pl.Series, y: pl.Series) -> float:
    """The share of rows whose label is the usual one of their value, if that is nearly all; else 0.

    Few values alone can agree with a target beyond chance, and a target of which one label is rare
    is right nearly always anyway: most of the mistakes of that guess must be gone.
    """
    for n in dict.fromkeys((min(FEW_ROWS, len(y)), len(y))):  # most columns show it at once
        pairs = pl.DataFrame({"x": column.head(n), "y": y.head(n)}).drop_nulls()
        if 2 * pairs.height < n or pairs["x"].n_unique() > FEW_VALUES:
            return 0.0
        counts = pairs.group_by("x", "y").len()
        right = counts.group_by("x").agg(pl.col("len").max())["len"].sum() / pairs.height
        usual = float(pairs["y"].value_counts()["count"].max() or 0) / pairs.height  # type: ignore[arg-type]
        if right < NEARLY_ALL or 1 - right > MISTAKES_LEFT * (1 - usual):
            return 0.0
    return float(right)


def _copies(column: pl.Series, y: pl.Series) -> bool:
    """Whether a column of numbers is a straight line of the target."""
    x = column.cast(pl.Float64).to_numpy()
    known = np.isfinite(x)
    if np.count_nonzero(known) < 3 or np.ptp(x[known]) == 0:
        return False
    t = y.to_numpy()[known]
    return bool(np.ptp(t) > 0 and abs(np.corrcoef(x[known], t)[0, 1]) > SAME)


def _decides(column: pl.Series, y: pl.Series) -> bool:
    """Whether rows with the same value have the same label; of numbers, whether steps do."""
    decides = _numbers_decide if column.dtype.is_numeric() else _words_decide
    if len(y) > FEW_ROWS and not decides(column.head(FEW_ROWS), y.head(FEW_ROWS)):
        return y.head(FEW_ROWS).n_unique() < 2 and decides(column, y)
    return decides(column, y)


def _words_decide(column: pl.Series, y: pl.Series) -> bool:
    pairs = pl.DataFrame({"x": column, "y": y}).drop_nulls()
    if not pairs.height or y.n_unique() < 2:
        return False
    labels = pairs.group_by("x").agg(pl.col("y").n_unique().alias("labels"))
    if labels["labels"].max() != 1:
        return False
    return labels.height <= MOST_VALUES_SHARE * pairs.height


def _numbers_decide(column: pl.Series, y: pl.Series) -> bool:
    """The same of numbers, in NumPy: there may be thousands of columns with few rows."""
    labels = y.to_physical().to_numpy()
    x = column.cast(pl.Float64).to_numpy()  # NaN where one is missing
    known = np.flatnonzero(x == x)
    order = known[np.argsort(x[known], kind="stable")]
    steps, changes = np.diff(x[order]) != 0, labels[order][1:] != labels[order][:-1]
    if not changes.any() or (changes & ~steps).any():  # one label, or two at one value
        return False
    few_values = 1 + np.count_nonzero(steps) <= MOST_VALUES_SHARE * len(order)
    return bool(few_values or np.count_nonzero(changes) == len(np.unique(labels[order])) - 1)


def _repeated_rows(problem: Problem) -> list[Hint]:
    """Return a hint if test rows are also training rows."""
    hashes = problem.X.with_columns(pl.Series("\0target", problem.y)).hash_rows(seed=0).to_numpy()
    learned = np.concatenate([problem.train, problem.dev])
    repeated = np.isin(hashes[problem.test], hashes[learned])
    n = np.count_nonzero(repeated)
    if not n:
        return []
    text = (
        f"{n:,} of {len(repeated):,} test rows ({n / len(repeated):.1%}) are also among the rows "
        "learned from: the test score flatters models that remember."
    )
    return [Hint("repeated rows", text, repeated)]
