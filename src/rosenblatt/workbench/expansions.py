"""Which tables are small enough to have their columns expanded, and how wide they are."""

from rosenblatt.preprocessing import BasisExpansion

from .bends import LEAST_VALUES
from .column_parts import MOST_CATEGORIES
from .problem import Problem

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
    text = "text" in problem.used.values()
    return "expands columns, and of a text each word is one" if text else ""


def _too_large(problem: Problem, width: int) -> str:
    n_bytes = 8 * (len(problem.train) + len(problem.dev)) * width  # of the last fit
    if n_bytes <= MOST_BYTES_EXPANDED:
        return ""
    return f"expands columns, which would take {n_bytes / 2**20:,.0f} MB"
