"""What a certificate is made of: sentences with their numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Grade = Literal["proved", "checked", "observed"]

NOT_CHECKED = "not checked"  # the name of what is no more than a record

# From the strongest to the weakest.
GRADES: tuple[Grade, ...] = ("proved", "checked", "observed")


@dataclass(frozen=True)
class Claim:
    """One sentence about a fit, with the number it rests on.

    Parameters
    ----------
    name : short name, such as "margin".
    statement : the sentence, with its numbers.
    value : the number re-derived from the data.
    bound : what `value` is compared with; None for a plain measurement.
    holds : whether the sentence is good news.
    grade : "proved" (exact or interval arithmetic), "checked" (floating point, with its rounding
        allowance) or "observed" (a record of the run that cannot be re-derived).

    Examples
    --------
    >>> from rosenblatt import Claim
    >>> Claim("margin", "every row is at least 0.5 away", 0.5, 0.0, True, "checked").holds
    True
    """

    name: str
    statement: str
    value: float
    bound: float | None
    holds: bool
    grade: Grade

    @property
    def is_measurement(self) -> bool:
        """Whether the number is compared with nothing, so that it neither holds nor fails."""
        return self.bound is None and self.holds

    def to_dict(self) -> dict[str, Any]:
        """Return the claim in plain JSON types; a number that is not finite becomes a string."""
        return {
            "name": self.name,
            "statement": self.statement,
            "value": _plain(self.value),
            "bound": None if self.bound is None else _plain(self.bound),
            "holds": bool(self.holds),
            "grade": self.grade,
        }


@dataclass(frozen=True)
class Certificate:
    """What can be said of a fit, re-derived from the data and the published numbers alone.

    Parameters
    ----------
    model : name of the class whose numbers were read.
    problem : what the fit was asked to do, with its constants.
    data : what was handed over: rows, columns, weight.
    claims : tuple of `Claim`.

    Attributes
    ----------
    holds : bool
        True when something is claimed, beside what is only measured, and every claim holds.
    grade : str
        That of the weakest claim.
    verdict : str
        How many claims hold, of those that can hold or fail.

    Examples
    --------
    >>> from rosenblatt import Perceptron, certify
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], [0, 0, 1, 1]
    >>> certify(Perceptron().fit(X, y), X, y).holds
    True
    """

    model: str
    problem: str
    data: str
    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool:
        """Whether something is claimed, beside what is only measured, and every claim holds."""
        claimed = any(not claim.is_measurement for claim in self.claims)
        return claimed and all(claim.holds for claim in self.claims)

    @property
    def grade(self) -> Grade:
        """The grade of the weakest claim."""
        return max((claim.grade for claim in self.claims), key=GRADES.index, default="observed")

    @property
    def verdict(self) -> str:
        """How many claims hold, of those that can hold or fail."""
        judged = [claim for claim in self.claims if not claim.is_measurement]
        if not judged:
            return "measurements only, nothing is claimed"
        left = [c.statement.partition(":")[0] for c in self.claims if c.name == NOT_CHECKED]
        words = f"; not checked: {', '.join(left)}" if left else ""
        return f"{sum(claim.holds for claim in judged)} of {len(judged)} claims hold{words}"

    def __getitem__(self, name: str) -> Claim:
        """Return the claim of that name."""
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(f"no claim {name!r}; there are {[claim.name for claim in self.claims]}")

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __str__(self) -> str:
        lines = [f"{self.model}: {self.verdict}"]
        lines += [f"  problem: {self.problem}", f"  data: {self.data}"]
        width = max((len(claim.name) for claim in self.claims), default=0)
        for claim in self.claims:
            mark = "-  " if claim.is_measurement else "yes" if claim.holds else "NO "
            lines.append(f"  {mark}  {claim.name:<{width}}  {claim.grade:<8}  {claim.statement}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate in plain JSON types."""
        return {
            "model": self.model,
            "problem": self.problem,
            "data": self.data,
            "holds": self.holds,
            "grade": self.grade,
            "claims": [claim.to_dict() for claim in self.claims],
        }


def total_weight(weight: NDArray[np.float64]) -> str:
    """The weight of all rows in words, whole where it is a number of rows.

    >>> total_weight(np.ones(48_842)), total_weight(np.array([1.5, 1000.25]))
    ('total weight 48,842', 'total weight 1,001.75')
    """
    total = float(weight.sum())
    whole = total.is_integer() and total < 1e15
    return f"total weight {total:,.0f}" if whole else f"total weight {total:,.6g}"


def weights_in_range(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights times the power of two that fits of trees and rules give extreme ones."""
    power = int(np.frexp(weight.max(initial=0.0))[1])
    return np.ldexp(weight, int(np.clip(power, -256, 256)) - power)


def _plain(number: float) -> float | int | str:
    """A number as JSON has it."""
    if isinstance(number, int):
        return int(number)
    return float(number) if math.isfinite(number) else str(float(number))


def within(name: str, statement: str, value: float, bound: float) -> Claim:
    """A test: that a value is at most its bound; what is infinite or no number is not."""
    return Claim(name, statement, value, bound, value <= bound and math.isfinite(value), "checked")


def measured(name: str, statement: str, value: float) -> Claim:
    """A plain measurement, without a bound."""
    return Claim(name, statement, value, None, True, "checked")


def unchecked(attribute: str, why: str) -> Claim:
    """That an attribute, or a part of it, could be changed without a claim that fails."""
    return Claim(NOT_CHECKED, f"{attribute}: {why}", math.nan, None, True, "observed")


def gap_claim(gap: float, scale: float, bound: float, among: str = "") -> Claim:
    """How far the objective may be from the best possible; `scale` is its value at zero."""
    near = f"{gap:.3g}{share_at_zero(gap, scale)}"
    return within("gap", f"the objective is within {near} of the best possible{among}", gap, bound)


def share_at_zero(gap: float, scale: float) -> str:
    """The gap beside the value of the objective at zero coefficients, which `tol` is a share of.

    >>> share_at_zero(0.0008, 400.0)
    ' (2e-06 of its value without coefficients)'
    """
    return share(gap, scale, "its value without coefficients")


def distance_claim(distance: float, coefficients: NDArray[Any], among: str = "") -> Claim:
    """How far the coefficients may be from the best ones."""
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(coefficients))
    near = f"{distance:.3g}{share(distance, length, 'their own length')}"
    statement = (
        f"the coefficients are within {near} of the best ones{among} (length of the difference)"
    )
    return measured("distance", statement, distance)


def share(part: float, whole: float, what: str) -> str:
    """A number as a share of another, in brackets; nothing if there is no such share."""
    if not (math.isfinite(part) and math.isfinite(whole) and whole > 0):
        return ""
    return f" ({part / whole:.2g} of {what})"
