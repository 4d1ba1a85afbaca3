"""Bends along single columns: which are expanded, and the curves that were learned of them."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.preprocessing import BasisExpansion

from .column_parts import MOST_CATEGORIES, Dates, Numbers, Truth
from .features import TableFeatures
from .findings import Bend
from .problem import Problem

LEAST_VALUES = 10  # different ones: through fewer a line does as well, through two no bend goes
ROWS_LOOKED_AT = 10_000
POINTS = 60  # of a curve
ENDS = (0.01, 0.99)  # quantiles that it goes from and to: a single row far out is no range


class Bends(BasisExpansion):
    """Splines of columns that have many values; others, such as zeros and ones, as they are."""

    def __init__(self) -> None:
        super().__init__("spline")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns are expanded, and where the splines lie; return self."""
        X = _dense(X)
        some = np.asarray(X)[:ROWS_LOOKED_AT]
        many = [len(np.unique(column)) >= LEAST_VALUES for column in some.T]
        self.bent_ = np.flatnonzero(many)
        super().fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of X (n, d), `n_output_features_` columns."""
        return super().transform(_dense(X))

    def _parts(self, d: int, names: list[str]) -> Any:
        rest = np.setdiff1d(np.arange(d), self.bent_)
        chosen = [(self.bent_, "spline"), (rest, "identity")]
        used = [(columns, kind) for columns, kind in chosen if len(columns)]
        return [part for columns, kind in used for part in self._of(kind, columns, names)]


def _dense(X: Any) -> Any:
    """Rows of many categories come sparse if they are many; what splines make of them is not."""
    return X.toarray() if sp.issparse(X) else X


def bends_of(model: Pipeline, X: Any) -> list[Bend]:
    """What each bent column adds to a prediction over its range in some rows, farthest first.

    It is what the column adds to a row that has its mean, all else being equal.
    """
    expansion = model.named_steps.get("expansion")
    first, coef = model.steps[0][1], np.ravel(getattr(model[-1], "coef_", []))
    if not isinstance(expansion, Bends) or not isinstance(first, TableFeatures):
        return []
    sources, found = expansion.source_columns(), []
    for j, part, values in _numbers(first, X):
        if j not in expansion.bent_:
            continue
        z = np.zeros((POINTS + 1, first.n_features_out_))  # the last row is at the mean
        low, high = np.quantile(values, ENDS)
        z[:-1, j] = np.linspace(low, high, POINTS)
        mine = sources == j
        effect = expansion.transform(z)[:, mine] @ coef[mine]
        x = z[:-1, j] * part.scale + part.mean
        found.append(Bend(part.name, x, effect[:-1] - effect[-1]))
    return sorted(found, key=lambda bend: -bend.reach)


def _numbers(features: TableFeatures, X: Any) -> Any:
    """For each column of numbers its place among the features, its part, and its features (n,)."""
    place = 0
    for part in features.parts_:
        if isinstance(part, Numbers) and not isinstance(part, Truth):
            yield place, part, part.transform(X[part.name])[:, 0]
        elif isinstance(part, Dates):
            widths = [len(piece.names()) for piece in part.parts]
            table: NDArray[np.float64] = part.transform(X[part.name])
            for piece, start in zip(part.parts, np.cumsum([0, *widths[:-1]]), strict=True):
                yield place + int(start), piece, table[:, start]
        place += len(part.names())


# Which tables are small enough to have their columns expanded, and how wide they are.


MOST_FOR_PRODUCTS, MOST_FOR_SPLINES = 16, 40  # columns that are expanded
MOST_BYTES_EXPANDED = 2**27
BENT_IN_DATES = 2  # days and months have many values


def width_of(problem: Problem) -> int:
    """How many columns models see, each category having one."""
    return sum(
        min(column.n_different, MOST_CATEGORIES) if column.kind == "categorical" else 1
        for column in problem.columns
        if column.used
    )


def n_bent(problem: Problem) -> int:
    """How many columns splines bend: those of many values, and no category."""
    bent = {"date": BENT_IN_DATES, "numeric": 1}
    many = [c for c in problem.columns if c.used and c.n_different >= LEAST_VALUES]
    return sum(bent.get(column.kind, 0) for column in many)


def why_no_products(problem: Problem) -> str:
    """Why the products of all columns are too many, those of categories among them."""
    if why := _without_names(problem):
        return why
    if "numeric" not in problem.used.values():
        return "multiplies numbers, and there are none"
    width = width_of(problem)
    if width > MOST_FOR_PRODUCTS:
        return (
            f"multiplies columns, and {width} with those of categories are more than "
            f"{MOST_FOR_PRODUCTS}"
        )
    return _too_large(problem, BasisExpansion("polynomial").count(width))


def why_no_splines(problem: Problem) -> str:
    """Why splines are of no use, or too many; categories, which none bends, do not count."""
    if why := _without_names(problem):
        return why
    bent = n_bent(problem)
    if not bent:
        return f"bends columns of {LEAST_VALUES} values or more, and there are none"
    if bent > MOST_FOR_SPLINES:
        return f"bends columns, and {bent} of many values are more than {MOST_FOR_SPLINES}"
    return _too_large(problem, BasisExpansion("spline").count(bent) + width_of(problem) - bent)


def _without_names(problem: Problem) -> str:
    if not problem.is_table:
        return "expands columns, and these have neither kinds nor names"
    text = problem.has_text
    return "expands columns, and of a text each word is one" if text else ""


def _too_large(problem: Problem, width: int) -> str:
    n_bytes = 8 * (len(problem.train) + len(problem.dev)) * width  # of the last fit
    if n_bytes <= MOST_BYTES_EXPANDED:
        return ""
    return f"expands columns, which would take {n_bytes / 2**20:,.0f} MB"
